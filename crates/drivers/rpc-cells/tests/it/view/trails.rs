use rpc_cells::view::{Place, Trail, TrailEnd, follow};
use rpc_cells::{
    CallFlags, CallOrigin, CallStatus, CallTarget, CellHandle, CellId, ClientCall, ClientCallHandle,
    Connection, Endpoint, EndpointStatus, Name, ProtocolSequence, ServerCall, Thread, ThreadStatus,
};

use crate::view::world::Process;

/// A server with a call in progress, and its client call if it makes one.
struct Server {
    process: Process,
    endpoint: CellHandle<Endpoint>,
    thread: CellHandle<Thread>,
    connection: CellHandle<Connection>,
    call: CellHandle<ServerCall>,
    made: Option<ClientCallHandle>,
}

impl Server {
    fn new(pid: u32, endpoint: &str, call_id: u32) -> Self {
        let process = Process::new(pid);
        let endpoint = process.writer.endpoint(Endpoint {
            protocol_sequence: ProtocolSequence::TCP,
            status: EndpointStatus::ACTIVE,
            name: Name::new(endpoint),
        });
        let thread = process.writer.thread(Thread { status: ThreadStatus::DISPATCHED, ..Thread::default() });
        let connection =
            process.writer.connection(Connection { endpoint: endpoint.id(), ..Connection::default() });
        let call = process.writer.server_call(ServerCall {
            status: CallStatus::DISPATCHED,
            servicing_thread: thread.id(),
            call_id,
            connection: connection.id(),
            ..ServerCall::default()
        });
        Self { process, endpoint, thread, connection, call, made: None }
    }

    fn calls(mut self, server: &str, endpoint: &str, call_id: u32) -> Self {
        self.made = Some(client_call(&self.process, self.thread.id(), server, endpoint, call_id));
        self
    }
}

fn client_call(
    process: &Process,
    thread: CellId,
    server: &str,
    endpoint: &str,
    call_id: u32,
) -> ClientCallHandle {
    let call = ClientCall {
        servicing_thread: thread,
        endpoint: Name::new(endpoint),
        call_id,
        ..ClientCall::default()
    };
    let target = CallTarget {
        protocol_sequence: ProtocolSequence::TCP,
        last_update_ms: 1,
        server: Name::new(server),
        ..CallTarget::default()
    };
    process.writer.client_call(CallOrigin::ServerCall, call, target)
}

/// Follows call 1 to endpoint `1001`, which process 0x10 makes.
fn trail(servers: &[Server], hops_max: usize) -> Trail {
    let client = Process::new(0x10);
    let call = client_call(&client, CellId::NONE, "", "1001", 1);
    let mut all = vec![client.snapshot()];
    all.extend(servers.iter().map(|server| server.process.snapshot()));
    let start = Place { file: 0, cell: call.call().id() };
    let trail = follow(&all, start, hops_max, |server| server == "localhost");
    assert!(trail.hops.first().is_none_or(|hop| hop.client_call == start));
    trail
}

fn files(trail: &Trail) -> Vec<usize> {
    trail.hops.iter().map(|hop| hop.server_call.file).collect()
}

#[test]
fn a_call_is_followed_to_the_server_that_all_wait_for() {
    let servers = [
        Server::new(0x30, "1002", 2),
        Server::new(0x20, "1001", 1).calls("localhost", "1002", 2),
        Server::new(0x40, "1003", 1),
    ];
    let trail = trail(&servers, 10);
    assert_eq!((files(&trail), &trail.end), (vec![2, 1], &TrailEnd::Executing));
    let last = trail.hops[1];
    let at = |cell| Place { file: 1, cell };
    assert_eq!((last.endpoint, last.server_call), (at(servers[0].endpoint.id()), at(servers[0].call.id())));
    assert_eq!(last.thread, Some(at(servers[0].thread.id())));
    let made = servers[1].made.as_ref().expect("it calls the other");
    assert_eq!(last.client_call, Place { file: 2, cell: made.call().id() });
}

#[test]
fn a_trail_ends_where_the_call_leaves_the_machine() {
    let servers = [Server::new(0x20, "1001", 1).calls("host-b", "135", 7)];
    let trail = trail(&servers, 10);
    assert_eq!((files(&trail), trail.end), (vec![1], TrailEnd::OtherMachine { server: "host-b".to_owned() }));
}

#[test]
fn calls_in_a_circle_end() {
    let servers = [
        Server::new(0x20, "1001", 1).calls("", "1002", 2),
        Server::new(0x30, "1002", 2).calls("", "1001", 1),
    ];
    let trail = trail(&servers, 10);
    assert_eq!((files(&trail), trail.end), (vec![1, 2], TrailEnd::Loop));
}

#[test]
fn a_trail_has_a_maximum() {
    let servers = [
        Server::new(0x20, "1001", 1).calls("", "1002", 2),
        Server::new(0x30, "1002", 2).calls("", "1003", 3),
        Server::new(0x40, "1003", 3),
    ];
    assert_eq!(files(&trail(&servers, 10)), [1, 2, 3]);
    let short = trail(&servers, 2);
    assert_eq!((files(&short), short.end), (vec![1, 2], TrailEnd::TooLong));
}

#[test]
fn only_a_call_in_progress_with_the_same_numbers_is_the_servers() {
    let end = |change: fn(&mut ServerCall)| {
        let mut server = Server::new(0x20, "1001", 1);
        server.call.update(change);
        trail(&[server], 10).end
    };
    assert_eq!(end(|_| {}), TrailEnd::Executing);
    assert_eq!(end(|call| call.status = CallStatus::ACTIVE), TrailEnd::Executing);
    assert_eq!(end(|call| call.status = CallStatus::ALLOCATED), TrailEnd::NoServerCall);
    assert_eq!(end(|call| call.call_id = 2), TrailEnd::NoServerCall);
    assert_eq!(end(|call| call.opnum = 2), TrailEnd::NoServerCall);
    assert_eq!(end(|call| call.interface_start = 2), TrailEnd::NoServerCall);
    assert_eq!(end(|call| call.flags = CallFlags::LRPC), TrailEnd::NoServerCall, "of another process");
    let local = |call: &mut ServerCall| {
        call.flags = CallFlags::LRPC;
        call.caller_pid = 0x10;
    };
    assert_eq!(end(local), TrailEnd::Executing);
}

#[test]
fn a_call_that_came_through_another_endpoint_is_not_the_servers() {
    let mut server = Server::new(0x20, "1001", 1);
    let other = server.process.writer.endpoint(Endpoint::default());
    let (other, connection) = (other.id(), server.call.get().connection);
    assert_eq!(server.connection.id(), connection);
    server.connection.update(|connection| connection.endpoint = other);
    assert_eq!(trail(&[server], 10).end, TrailEnd::NoServerCall);
}

#[test]
fn what_is_missing_is_said() {
    assert_eq!(trail(&[], 10).end, TrailEnd::NoEndpoint);
    assert_eq!(trail(&[Server::new(0x20, "10010", 1)], 10).end, TrailEnd::NoEndpoint);
    let twice = [Server::new(0x20, "1001", 1), Server::new(0x30, "1001", 1)];
    assert_eq!(trail(&twice, 10).end, TrailEnd::Ambiguous { candidates: 2 });
    let server = Server::new(0x20, "1001", 1);
    let all = [server.process.snapshot()];
    for place in [Place { file: 0, cell: server.call.id() }, Place { file: 9, cell: CellId::NONE }] {
        assert_eq!(follow(&all, place, 10, |_| true).end, TrailEnd::NotAClientCall);
    }
}
