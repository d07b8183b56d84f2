use std::sync::atomic::{AtomicU64, Ordering};

use dcerpc::client::{CallRequest, ClientAssociation, ClientConfig};
use dcerpc::server::{ServerAssociation, ServerConfig, ServerEvent};
use dcerpc::{AssociationInfo, AuthService, Observers, Role, SyntaxId, Transport};
use rpc_cells::{CallStatus, Cell, ClientCall, Level, ServerCall, Snapshot};
use rpc_recorder::Recorder;
use wire::Guid;

use crate::memory::Cells;

const ECHO: SyntaxId = SyntaxId::new(Guid::from_u128(0x1111_2222_0000_0000_0000_0000_0000_0001), 1, 0);

const WORKS: &str = "both ends are ours";

/// A client and a server of one process, both recorded.
struct World {
    cells: Cells,
    client: ClientAssociation,
    server: ServerAssociation,
    _recorder: Recorder,
}

impl World {
    fn new(level: Level) -> Self {
        let cells = Cells::new(level);
        let clock = AtomicU64::new(0);
        let now_ms = move || clock.fetch_add(1, Ordering::Relaxed);
        let recorder = Recorder::with_clock(cells.writer.clone(), &[], now_ms);
        let info = |role, server| AssociationInfo {
            role,
            transport: Transport::Tcp,
            server,
            endpoint: "1001",
            peer: None,
        };
        let mut client = ClientAssociation::new(ClientConfig::default(), None).expect(WORKS);
        client.set_observer(recorder.association(&info(Role::Client, "host-a.example")));
        let mut server = ServerAssociation::new(ServerConfig::new(vec![ECHO]), |_: AuthService| None);
        server.set_observer(recorder.association(&info(Role::Server, "")));
        let mut world = Self { cells, client, server, _recorder: recorder };
        world.client.bind(&[ECHO]).expect(WORKS);
        world.send_requests();
        world.send_answers();
        world
    }

    fn send_requests(&mut self) {
        while let Some(sent) = self.client.poll_transmit() {
            self.server.handle_bytes(&sent.bytes).expect(WORKS);
        }
    }

    fn send_answers(&mut self) {
        while let Some(sent) = self.server.poll_transmit() {
            self.client.handle_bytes(&sent).expect(WORKS);
        }
        while self.client.poll_event().is_some() {}
    }

    /// The client calls an object, and the call arrives.
    fn call(&mut self) {
        let object = Some(Guid::from_u128(3));
        let mut stub = [5, 0, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0].to_vec();
        stub.extend(Guid::from_u128(9).to_bytes());
        self.client.call(CallRequest { context_id: 0, opnum: 4, object, stub: &stub }).expect(WORKS);
        self.send_requests();
    }

    fn dispatch(&mut self) -> dcerpc::CallId {
        let event = self.server.poll_event();
        let call =
            event.and_then(|event| if let ServerEvent::Request(call) = event { Some(call) } else { None });
        call.expect(WORKS).call_id
    }

    fn answer(&mut self, call_id: dcerpc::CallId) {
        self.server.respond(call_id, &[0; 4]).expect(WORKS);
        self.send_answers();
    }

    fn snapshot(&self) -> Snapshot {
        let snapshot = self.cells.snapshot();
        assert!(snapshot.problems.is_empty(), "{:?}", snapshot.problems);
        snapshot
    }
}

pub(crate) fn server_calls(snapshot: &Snapshot) -> Vec<ServerCall> {
    let calls = snapshot.cells.iter().filter_map(|(_, cell)| match cell {
        Cell::ServerCall(call) => Some(*call),
        _ => None,
    });
    calls.collect()
}

pub(crate) fn client_calls(snapshot: &Snapshot) -> Vec<ClientCall> {
    let calls = snapshot.cells.iter().filter_map(|(_, cell)| match cell {
        Cell::ClientCall(call) => Some(*call),
        _ => None,
    });
    calls.collect()
}

#[test]
fn a_call_has_cells_at_both_ends_while_it_lasts_and_its_servers_cell_is_cached() {
    let mut world = World::new(Level::FULL);
    world.call();
    let snapshot = world.snapshot();
    let (server, client) = (server_calls(&snapshot)[0], client_calls(&snapshot)[0]);
    assert_eq!((server.status, server.opnum, server.interface_start), (CallStatus::ACTIVE, 4, 0x1111_2222));
    assert_eq!((client.opnum, client.interface_start), (4, 0x1111_2222));
    assert_eq!((client.call_id, client.endpoint.as_str()), (server.call_id, "1001"));
    for object in [server.object, client.object] {
        let Some(Cell::ObjectCall(object)) = snapshot.get(object) else { panic!("no object") };
        assert_eq!((object.ipid, object.causality_id), (Guid::from_u128(3), Guid::from_u128(9)));
    }
    let call_id = world.dispatch();
    let snapshot = world.snapshot();
    let server = server_calls(&snapshot)[0];
    assert_eq!(server.status, CallStatus::DISPATCHED);
    assert!(matches!(snapshot.get(server.servicing_thread), Some(Cell::Thread(_))));
    world.answer(call_id);
    let snapshot = world.snapshot();
    assert_eq!(client_calls(&snapshot), []);
    assert_eq!(server_calls(&snapshot)[0].status, CallStatus::ALLOCATED);
    world.call();
    assert_eq!(server_calls(&world.snapshot()).len(), 1);
}

#[test]
fn only_client_calls_within_a_server_call_are_kept_at_level_server() {
    let mut world = World::new(Level::SERVER);
    world.call();
    assert_eq!(client_calls(&world.snapshot()), []);
    let call_id = world.dispatch();
    world.answer(call_id);
    world.call();
    let call_id = world.dispatch();
    let mut other = World::new(Level::SERVER);
    let World { client, server, .. } = &mut world;
    server.execute(call_id, || {
        // Another recorder's client does not call because of this one.
        other.call();
        client.orphan(call_id).unwrap();
        client.call(CallRequest { context_id: 0, opnum: 5, object: None, stub: &[] }).unwrap();
    });
    let snapshot = world.snapshot();
    let made = client_calls(&snapshot);
    assert_eq!(made.len(), 1);
    assert_eq!((made[0].opnum, made[0].servicing_thread), (5, server_calls(&snapshot)[0].servicing_thread));
    assert_eq!(client_calls(&other.snapshot()), []);
}

#[test]
fn cells_go_with_their_association_and_none_are_kept_at_level_none() {
    let world = World::new(Level::FULL);
    let connections = |cells: &Cells| {
        let snapshot = cells.snapshot();
        snapshot.cells.iter().filter(|(_, cell)| matches!(cell, Cell::Connection(_))).count()
    };
    let World { cells, client, server, .. } = world;
    assert_eq!(connections(&cells), 2);
    drop(client);
    assert_eq!(connections(&cells), 1);
    drop(server);
    assert_eq!(connections(&cells), 0);
    let mut none = World::new(Level::NONE);
    none.call();
    assert_eq!(none.snapshot().cells, []);
}

#[test]
fn what_a_recorder_does_for_a_call_allocates_nothing() {
    let mut costs = [Level::NONE, Level::FULL].map(|level| {
        let mut world = World::new(level);
        let mut round = || {
            world.call();
            let call_id = world.dispatch();
            world.answer(call_id);
        };
        // The first call makes the cells of its connection.
        round();
        allocation_counter::measure(round).count_total
    });
    costs.sort_unstable();
    assert_eq!(costs[0], costs[1]);
    assert!(costs[0] > 0, "the PDUs themselves are allocated");
}
