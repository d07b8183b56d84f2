//! What a collection shows of processes that run.

use rpc_cells::{
    CallOrigin, CallStatus, CallTarget, ClientCall, Connection, ConnectionTotals, Endpoint, EndpointStatus,
    Interface, Name, Operation, ServerCall, Thread, ThreadStatus, Writer, boot_ms,
};
use serde_json::json;

use crate::world::{Asked as _, Folder, Plugin};

/// A call of a client that has waited for so long.
fn waiting_call(writer: &Writer, wait_ms: u64) -> impl Sized + use<> {
    let interface = Interface { name: Name::new("IGetTrackingData"), ..Interface::default() };
    let interface = writer.interface(interface);
    let operation = Operation { opnum: 4, interface: interface.id(), name: Name::new("GetContainerData") };
    let operation = writer.operation(operation);
    let call = ClientCall { opnum: 4, operation: operation.id(), ..ClientCall::default() };
    let last_update_ms = boot_ms().saturating_sub(wait_ms).max(1);
    let target = CallTarget { last_update_ms, ..CallTarget::default() };
    (writer.client_call(CallOrigin::Client, call, target), interface, operation)
}

#[test]
fn a_call_that_hangs_is_shown_with_its_wait_until_it_ends() {
    let (folder, plugin) = (Folder::new(), Plugin::new());
    let writer = folder.writer("run", "comt");
    let watch = plugin.watch(&[&folder.path("run")]);
    let idle = watch.full();
    assert_eq!(idle.figure("Process", "Longest Wait", "comt client"), 0.0);
    assert_eq!(idle.shown("Operation", "Calls"), []);

    let call = waiting_call(&writer, 1_000);
    let hanging = watch.full();
    let labels = "comt client IGetTrackingData GetContainerData";
    assert_eq!(hanging.shown("Operation", "Calls"), [(labels.to_owned(), 1.0)]);
    let wait = hanging.figure("Operation", "Longest Wait", labels);
    assert!((1.0..60.0).contains(&wait), "{wait}");
    assert_eq!(hanging.figure("Process", "Longest Wait", "comt client"), wait);
    assert_eq!(hanging.figure("Process", "Client Calls", "comt"), 1.0);

    drop(call);
    let over = watch.full();
    assert_eq!(over.shown("Operation", "Calls"), []);
    assert_eq!(over.shown("Operation", "Longest Wait"), []);
    assert_eq!(over.figure("Process", "Longest Wait", "comt client"), 0.0);
    assert_eq!(over.figure("Process", "Client Calls", "comt"), 0.0);
}

#[test]
fn series_of_what_stays_are_registered_once() {
    let (folder, plugin) = (Folder::new(), Plugin::new());
    let writer = folder.writer("run", "comt");
    let status = EndpointStatus::ACTIVE;
    let endpoint = writer.endpoint(Endpoint { status, name: Name::new("49152"), ..Endpoint::default() });
    let _thread = writer.thread(Thread { status: ThreadStatus::DISPATCHED, ..Thread::default() });
    let mut totals = writer.connection_totals(ConnectionTotals::default());
    let peer = Some([192, 0, 2, 7].into());
    let connection =
        Connection { endpoint: endpoint.id(), totals: totals.id(), peer, ..Connection::default() };
    let connection = writer.connection(connection);
    let call = ServerCall {
        status: CallStatus::DISPATCHED,
        interface_start: 0xb600_40e0,
        opnum: 4,
        connection: connection.id(),
        last_update_ms: boot_ms(),
        ..ServerCall::default()
    };
    let _call = writer.server_call(call);
    let watch = plugin.watch(&[&folder.path("run")]);
    let first = watch.full();
    let labels = format!("comt {} server 192.0.2.7 49152", connection.id());
    for sent in 1..5_u32 {
        totals.update(|totals| totals.bytes_sent += 100);
        let next = watch.full();
        assert_eq!(next.recorded.series.len(), first.recorded.series.len());
        assert_eq!(next.figure("Connection", "Sent Bytes", &labels), f64::from(100 * sent));
        assert_eq!(next.figure("Process", "Endpoints", "comt active"), 1.0);
        assert_eq!(next.figure("Process", "Threads", "comt dispatched"), 1.0);
        assert_eq!(next.figure("Operation", "Calls", "comt server 0xb60040e0 0x4"), 1.0);
    }
    drop(connection);
    let closed = watch.full();
    assert_eq!(closed.shown("Connection", "Sent Bytes"), []);
    assert_eq!(closed.figure("Process", "Connections", "comt server"), 0.0);
}

#[test]
fn processes_come_and_go_in_several_directories() {
    let (folder, plugin) = (Folder::new(), Plugin::new());
    let first = folder.writer("first", "comt");
    let second = folder.writer("second", "server");
    let watch = plugin.watch(&[&folder.path("first"), &folder.path("second")]);
    let both = watch.full();
    let calls = |owner: &str| (owner.to_owned(), 0.0);
    assert_eq!(both.shown("Process", "Client Calls"), [calls("comt"), calls("server")]);
    assert_eq!(both.shown("State", "Files"), [("dead".to_owned(), 0.0), ("running".to_owned(), 2.0)]);
    drop(first);
    assert_eq!(watch.full().shown("Process", "Client Calls"), [calls("server")]);
    drop(second);
    let none = watch.full();
    assert_eq!(none.shown("Process", "Client Calls"), []);
    assert_eq!(none.figure("State", "Files", "running"), 0.0);
}

#[test]
fn what_exceeds_a_limit_is_counted() {
    let (folder, plugin) = (Folder::new(), Plugin::new());
    let writer = folder.writer("run", "comt");
    let now_ms = boot_ms();
    let _connections: Vec<_> = (0..5)
        .map(|_| writer.connection(Connection { last_send_ms: now_ms, ..Connection::default() }))
        .collect();
    let directories = [folder.path("run")];
    let watch = plugin.watch_with(json!({"directories": directories, "max_connections": 2}));
    let ended = watch.full();
    assert_eq!(ended.shown("Connection", "Since Last Send").len(), 2);
    assert_eq!(ended.figure("State", "Left Out", "connection"), 3.0);
    assert_eq!(ended.figure("Process", "Connections", "comt client"), 5.0);
    let settings = json!({"directories": directories, "max_connections": 5});
    let config = plugin_host::InstanceConfig { settings, ..watch.config.clone() };
    watch.instance.reconfigure(&config).unwrap();
    let ended = watch.full();
    assert_eq!(ended.shown("Connection", "Since Last Send").len(), 5);
    assert_eq!(ended.figure("State", "Left Out", "connection"), 0.0);
}

#[test]
fn settings_that_are_wrong_are_told_by_their_place() {
    let (folder, plugin) = (Folder::new(), Plugin::new());
    let watch = plugin.watch(&[&folder.path("run")]);
    let settings = json!({"directories": ["run"], "max_operations": 1_000_000});
    let config = plugin_host::InstanceConfig { settings, ..watch.config.clone() };
    let problems = plugin.0.library.validate("rpc_state", &config).unwrap();
    let places: Vec<&str> = problems.iter().map(|problem| problem.pointer.as_str()).collect();
    assert_eq!(places, ["/directories/0", "/max_operations"]);
}
