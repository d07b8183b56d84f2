//! Names of methods, and what calls of DCOM objects have besides.

use std::ops::Deref;

use rpc_cells::view::{
    CallFilter, OperationName, Place, TrailEnd, cell, client_calls, follow, operation_name, server_calls,
};
use rpc_cells::{
    CallOrigin, CallStatus, CallTarget, CellHandle, CellId, ClientCall, Connection, ConnectionTotals,
    Interface, Name, ObjectCall, Operation, ServerCall,
};

use crate::view::world::Process;

/// A process that knows a method, and its process.
struct Named {
    process: Process,
    operation: CellHandle<Operation>,
    object: CellHandle<ObjectCall>,
    _interface: CellHandle<Interface>,
}

impl Deref for Named {
    type Target = rpc_cells::Writer;

    fn deref(&self) -> &Self::Target {
        &self.process.writer
    }
}

fn named() -> Named {
    let process = Process::new(0x10);
    let writer = &process.writer;
    let uuid = "000001a0-0000-0000-c000-000000000046".parse().expect("a UUID");
    let interface = writer.interface(Interface { version: 0, uuid, name: Name::new("IRemoteSCMActivator") });
    let operation = Operation { opnum: 4, interface: interface.id(), name: Name::new("Remote\u{1b}Create") };
    let operation = writer.operation(operation);
    let object = writer.object_call(ObjectCall { ipid: uuid, causality_id: uuid });
    Named { operation, object, _interface: interface, process }
}

#[test]
fn tables_and_json_have_the_names_that_a_process_knows() {
    let named = named();
    let (operation, object) = (named.operation.id(), named.object.id());
    let _server = named.server_call(ServerCall { operation, object, ..ServerCall::default() });
    let client = ClientCall { operation, object, ..ClientCall::default() };
    let _client = named.client_call(CallOrigin::Client, client, CallTarget::default());
    let all = [named.process.snapshot()];
    let servers = server_calls(&all, &CallFilter::default());
    let clients = client_calls(&all, &CallFilter::default());
    for text in [servers.to_string(), clients.to_string()] {
        assert!(text.ends_with(" IRemoteSCMActivator.Remote\\u{1b}Create\n"), "{text}");
    }
    for json in [serde_json::to_value(&servers), serde_json::to_value(&clients)] {
        let row = &json.expect("JSON")[0];
        assert_eq!(
            (&row["interface"], &row["method"]),
            (&"IRemoteSCMActivator".into(), &"Remote\u{1b}Create".into())
        );
        let uuid = "000001a0-0000-0000-c000-000000000046".into();
        assert_eq!((&row["ipid"], &row["causality_id"]), (&uuid, &uuid));
    }
    let text = cell(&all, 0x10, servers.rows[0].found.cell)[0].to_string();
    assert!(text.contains("Operation: IRemoteSCMActivator.Remote\\u{1b}Create\nIPID: 000001a0-"), "{text}");
}

#[test]
fn a_name_needs_the_cells_of_both_the_method_and_its_interface() {
    let mut named = named();
    let operation = named.operation.id();
    let found = |named: &Named| operation_name(&named.process.snapshot(), operation).is_some();
    let snapshot = named.process.snapshot();
    let expected = OperationName { interface: "IRemoteSCMActivator", method: "Remote\u{1b}Create" };
    assert_eq!(operation_name(&snapshot, operation), Some(expected));
    assert_eq!(operation_name(&snapshot, CellId::NONE), None);
    assert_eq!(operation_name(&snapshot, named.object.id()), None);
    named.operation.update(|operation| operation.interface = CellId::NONE);
    assert!(!found(&named));
}

#[test]
fn a_call_of_another_object_or_causality_is_not_the_servers() {
    let end = |change: fn(&mut ObjectCall)| {
        let mut named = named();
        let endpoint = named.endpoint(rpc_cells::Endpoint::default());
        let object = named.object.id();
        let call = ServerCall { status: CallStatus::DISPATCHED, object, ..ServerCall::default() };
        let _server = named.server_call(call);
        let called = named.object_call(*named.object.get());
        let call = ClientCall { object: called.id(), ..ClientCall::default() };
        let client = named.client_call(CallOrigin::Client, call, CallTarget::default());
        named.object.update(change);
        assert!(endpoint.is_shown());
        follow(&[named.process.snapshot()], Place { file: 0, cell: client.call().id() }, 9, |_| true).end
    };
    assert_eq!(end(|_| {}), TrailEnd::Executing);
    assert_eq!(end(|object| object.ipid = wire::Guid::from_u128(1)), TrailEnd::NoServerCall);
    assert_eq!(end(|object| object.causality_id = wire::Guid::from_u128(1)), TrailEnd::NoServerCall);
}

#[test]
fn a_connection_says_where_it_leads_and_what_it_carried() {
    let process = Process::new(0x278);
    let target =
        CallTarget { server: Name::new("web1"), endpoint: Name::new("49152"), ..CallTarget::default() };
    let target = process.writer.connection_target(target);
    let totals = process.writer.connection_totals(ConnectionTotals {
        fragments_sent: 2,
        fragments_received: 3,
        bytes_sent: 200,
        bytes_received: 300,
    });
    let connection = Connection { totals: totals.id(), target: target.id(), ..Connection::default() };
    let connection = process.writer.connection(connection);
    let all = [process.snapshot()];
    let text = cell(&all, 0x278, connection.id())[0].to_string();
    for line in [
        "Target server: web1",
        "Target endpoint: 49152",
        "Sent: 2 fragments, 200 bytes",
        "Received: 3 fragments, 300 bytes",
    ] {
        assert!(text.lines().any(|found| found == line), "{line}: {text}");
    }
    assert!(cell(&all, 0x278, totals.id())[0].to_string().contains("Sent: 2 fragments, 200 bytes"));
}
