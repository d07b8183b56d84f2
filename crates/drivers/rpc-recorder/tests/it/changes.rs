use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use dcerpc::{
    Auth, AuthLevel, AuthService, CallId, CallOutcome, Change, EndpointState, Observer, Observers, Role,
    Transport,
};
use rpc::Interface as _;
use rpc_cells::{
    AuthenticationLevel, AuthenticationService, CallStatus, Cell, CellId, ClientCall, Connection,
    ConnectionTotals, EndpointStatus, Level, Name, ObjectCall, ServerCall, Snapshot, Thread, ThreadStatus,
};
use rpc_recorder::{InterfaceNames, Recorder};
use wire::Guid;

use crate::memory::Cells;

rpc::interface! {
    pub interface Shelf("5e1f0000-0000-4000-8000-000000000001", 1.0) -> wire::Win32Error {
        /// How many things are on it.
        1 => ShelfCount as count() -> (count: u32);
    }
}

const PEER: std::net::IpAddr = std::net::IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 7));

/// A recorder whose clock is set, and its cells.
pub(crate) struct World {
    cells: Cells,
    recorder: Recorder,
    clock: Arc<AtomicU64>,
}

impl World {
    pub(crate) fn new(level: Level) -> Self {
        let cells = Cells::new(level);
        let clock = Arc::new(AtomicU64::new(100));
        let time = Arc::clone(&clock);
        let names = [InterfaceNames::of::<Shelf>()];
        let recorder =
            Recorder::with_clock(cells.writer.clone(), &names, move || time.load(Ordering::Relaxed));
        Self { cells, recorder, clock }
    }

    pub(crate) fn client(&self) -> Arc<dyn Observer> {
        self.association(Role::Client)
    }

    pub(crate) fn association(&self, role: Role) -> Arc<dyn Observer> {
        let (server, peer) = match role {
            Role::Client => ("web1", None),
            Role::Server => ("", Some(PEER)),
        };
        let endpoint = "49152";
        self.recorder.association(&dcerpc::AssociationInfo {
            role,
            transport: Transport::Tcp,
            server,
            endpoint,
            peer,
        })
    }

    pub(crate) fn snapshot(&self) -> Snapshot {
        let snapshot = self.cells.snapshot();
        assert!(snapshot.problems.is_empty(), "{:?}", snapshot.problems);
        snapshot
    }
}

pub(crate) fn start(observer: &dyn Observer, role: Role, call_id: u32, object: Option<Guid>, stub: &[u8]) {
    let interface = &Shelf::SYNTAX_ID;
    let call_id = CallId(call_id);
    observer.observe(role, Change::CallStarted { call_id, context_id: 0, interface, opnum: 1, object, stub });
}

pub(crate) fn end(observer: &dyn Observer, role: Role, call_id: u32) {
    let outcome = CallOutcome::Response { stub_bytes: 4 };
    observer.observe(role, Change::CallEnded { call_id: CallId(call_id), outcome });
}

macro_rules! only {
    ($snapshot:expr, $kind:ident) => {{
        let snapshot: &Snapshot = &$snapshot;
        let mut all = Vec::new();
        for (id, cell) in &snapshot.cells {
            if let Cell::$kind(one) = cell {
                all.push((*id, *one));
            }
        }
        let [one] = all[..] else { panic!("one {}: {all:?}", stringify!($kind)) };
        one
    }};
}

fn count(snapshot: &Snapshot, is_it: impl Fn(&Cell) -> bool) -> usize {
    snapshot.cells.iter().filter(|(_, cell)| is_it(cell)).count()
}

#[test]
fn a_client_call_is_shown_with_its_target_and_its_name_until_it_ends() {
    let world = World::new(Level::FULL);
    let client = world.client();
    start(&*client, Role::Client, 3, None, b"");
    let snapshot = world.snapshot();
    let (_, call): (_, ClientCall) = only!(snapshot, ClientCall);
    assert_eq!((call.call_id, call.opnum, call.interface_start), (3, 1, 0x5e1f_0000));
    assert_eq!((call.endpoint, call.servicing_thread), (Name::new("49152"), CellId::NONE));
    let Some(Cell::CallTarget(target)) = snapshot.get(call.target) else { panic!("it has a target") };
    assert_eq!((target.server, target.last_update_ms), (Name::new("web1"), 100));
    let Some(Cell::Operation(method)) = snapshot.get(call.operation) else { panic!("it has a name") };
    let Some(Cell::Interface(interface)) = snapshot.get(method.interface) else {
        panic!("and its interface")
    };
    assert_eq!((method.name.as_str(), interface.name.as_str()), ("ShelfCount", "Shelf"));

    end(&*client, Role::Client, 3);
    let snapshot = world.snapshot();
    assert_eq!(count(&snapshot, |cell| matches!(cell, Cell::ClientCall(_))), 0);
    assert_eq!(count(&snapshot, |cell| matches!(cell, Cell::CallTarget(_))), 1, "that of the connection");
    assert_eq!(count(&snapshot, |cell| matches!(cell, Cell::Operation(_))), 1, "names stay");
}

#[test]
fn a_call_of_an_object_has_its_ipid_and_its_causality() {
    let world = World::new(Level::FULL);
    let client = world.client();
    let (ipid, causality_id) = (Guid::from_u128(7), Guid::from_u128(9));
    let mut orpcthis = [5, 0, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0].to_vec();
    orpcthis.extend(causality_id.to_bytes());
    start(&*client, Role::Client, 3, Some(ipid), &orpcthis);
    let snapshot = world.snapshot();
    let (id, object): (_, ObjectCall) = only!(snapshot, ObjectCall);
    assert_eq!((object.ipid, object.causality_id), (ipid, causality_id));
    assert_eq!(only!(snapshot, ClientCall).1.object, id);
    drop(client);
    assert_eq!(count(&world.snapshot(), |cell| matches!(cell, Cell::ObjectCall(_))), 0);
}

#[test]
fn a_connection_tells_when_it_was_used_and_how_it_is_protected_until_it_is_dropped() {
    let world = World::new(Level::FULL);
    let client = world.client();
    let auth = Auth::new(AuthLevel::PKT_PRIVACY, AuthService::WINNT);
    client.observe(Role::Client, Change::Authenticated { auth });
    client.observe(Role::Client, Change::FragmentSent { bytes: 77 });
    world.clock.store(120, Ordering::Relaxed);
    client.observe(Role::Client, Change::FragmentReceived { bytes: 78 });
    client.observe(Role::Client, Change::FragmentReceived { bytes: 1000 });
    let snapshot = world.snapshot();
    let (_, connection): (_, Connection) = only!(snapshot, Connection);
    let totals =
        ConnectionTotals { fragments_sent: 1, fragments_received: 2, bytes_sent: 77, bytes_received: 1078 };
    assert_eq!(snapshot.get(connection.totals), Some(&Cell::ConnectionTotals(totals)));
    let Some(Cell::CallTarget(target)) = snapshot.get(connection.target) else {
        panic!("it leads to a host")
    };
    assert_eq!((target.server, target.endpoint), (Name::new("web1"), Name::new("49152")));
    assert_eq!((connection.last_send_ms, connection.last_receive_ms), (100, 120));
    assert_eq!(connection.last_transmit_fragment_bytes, 77);
    assert_eq!(connection.authentication_level, AuthenticationLevel::PKT_PRIVACY);
    assert_eq!(connection.authentication_service, AuthenticationService::WINNT);
    drop(client);
    assert!(world.snapshot().cells.is_empty());
}

#[test]
fn a_server_call_is_active_then_dispatched_then_kept_for_the_next() {
    let world = World::new(Level::SERVER);
    let server = world.association(Role::Server);
    let call = |world: &World| -> ServerCall { only!(world.snapshot(), ServerCall).1 };
    server.observe(Role::Server, Change::FragmentReceived { bytes: 24 });
    start(&*server, Role::Server, 3, None, b"");
    assert_eq!(call(&world).status, CallStatus::ACTIVE);
    let entered = Change::MethodEntered { call_id: CallId(3) };
    world.clock.store(130, Ordering::Relaxed);
    server.observe(Role::Server, entered);
    let snapshot = world.snapshot();
    let (thread_id, thread): (_, Thread) = only!(snapshot, Thread);
    assert_eq!(thread.status, ThreadStatus::DISPATCHED);
    let dispatched = call(&world);
    assert_eq!((dispatched.status, dispatched.servicing_thread), (CallStatus::DISPATCHED, thread_id));
    assert_eq!(dispatched.last_update_ms, 130);
    let (connection_id, connection): (_, Connection) = only!(snapshot, Connection);
    assert_eq!((dispatched.connection, connection.peer), (connection_id, Some(PEER)));
    let (endpoint_id, endpoint): (_, rpc_cells::Endpoint) = only!(snapshot, Endpoint);
    assert_eq!((connection.endpoint, endpoint.name), (endpoint_id, Name::new("49152")));

    server.observe(Role::Server, Change::MethodLeft { call_id: CallId(3) });
    end(&*server, Role::Server, 3);
    server.observe(Role::Server, Change::Settled);
    assert_eq!(call(&world).status, CallStatus::ALLOCATED);
    assert_eq!(only!(world.snapshot(), Thread).1.status, ThreadStatus::IDLE);
    start(&*server, Role::Server, 4, None, b"");
    assert_eq!((call(&world).status, call(&world).call_id), (CallStatus::ACTIVE, 4));
    drop(server);
    let snapshot = world.snapshot();
    assert_eq!(count(&snapshot, |cell| matches!(cell, Cell::ServerCall(_) | Cell::Connection(_))), 0);
    assert_eq!(
        count(&snapshot, |cell| matches!(cell, Cell::Endpoint(_))),
        1,
        "the server may be called again"
    );
}

#[test]
fn without_client_state_only_calls_that_a_server_call_makes_are_kept() {
    let world = World::new(Level::SERVER);
    let (client, server) = (world.client(), world.association(Role::Server));
    start(&*client, Role::Client, 3, None, b"");
    assert_eq!(count(&world.snapshot(), |cell| matches!(cell, Cell::ClientCall(_))), 0);
    end(&*client, Role::Client, 3);
    start(&*server, Role::Server, 9, None, b"");
    server.observe(Role::Server, Change::MethodEntered { call_id: CallId(9) });
    start(&*client, Role::Client, 4, None, b"");
    let (_, made): (_, ClientCall) = only!(world.snapshot(), ClientCall);
    let (thread, _): (_, Thread) = only!(world.snapshot(), Thread);
    assert_eq!((made.call_id, made.servicing_thread), (4, thread));
    server.observe(Role::Server, Change::MethodLeft { call_id: CallId(9) });
    end(&*client, Role::Client, 4);
    start(&*client, Role::Client, 5, None, b"");
    assert_eq!(count(&world.snapshot(), |cell| matches!(cell, Cell::ClientCall(_))), 0);
}

#[test]
fn nothing_is_kept_at_level_none() {
    let world = World::new(Level::NONE);
    let (client, server) = (world.client(), world.association(Role::Server));
    start(&*client, Role::Client, 3, None, b"");
    start(&*server, Role::Server, 3, None, b"");
    assert_eq!(world.snapshot().cells, []);
}

#[test]
fn an_endpoint_has_the_state_that_its_server_tells() {
    let world = World::new(Level::SERVER);
    for (state, expected) in [
        (EndpointState::Opening, EndpointStatus::ALLOCATED),
        (EndpointState::Listening, EndpointStatus::ACTIVE),
        (EndpointState::Closed, EndpointStatus::INACTIVE),
    ] {
        world.recorder.endpoint(Transport::NamedPipe, r"\PIPE\winreg", state);
        assert_eq!(only!(world.snapshot(), Endpoint).1.status, expected);
    }
}

#[test]
fn calls_after_the_first_allocate_nothing() {
    let world = World::new(Level::FULL);
    let (client, server) = (world.client(), world.association(Role::Server));
    let round = |call_id| {
        for (observer, role) in [(&client, Role::Client), (&server, Role::Server)] {
            start(&**observer, role, call_id, None, b"");
            observer.observe(role, Change::FragmentSent { bytes: 100 });
            observer.observe(role, Change::FragmentReceived { bytes: 100 });
            if role == Role::Server {
                observer.observe(role, Change::MethodEntered { call_id: CallId(call_id) });
                observer.observe(role, Change::MethodLeft { call_id: CallId(call_id) });
            }
            end(&**observer, role, call_id);
        }
    };
    round(1);
    let allocations = allocation_counter::measure(|| round(2));
    assert_eq!(allocations.count_total, 0);
}
