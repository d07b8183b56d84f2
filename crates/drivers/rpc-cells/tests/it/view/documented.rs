//! Examples of the pages "Get RPC Endpoint Information", "Get RPC Thread Information", "Get RPC Call Information", "Get RPC
//! Client Call Information", "Get RPC Cell Information", "Analyzing a Stuck Call Problem" and "Identifying the Caller From
//! the Server Thread" of Microsoft's debugger documentation. Process 0x278 is a server with a stuck call, 0x390 its
//! client. Two things differ: the pages begin headings with `##`, which is Markdown that their older print does not have;
//! and one page prints a fragment of 24 bytes as `24 (0x6F56D)`, which are not the same number.

use rpc_cells::view::{CallFilter, cell, client_calls, connections, endpoints, server_calls, threads};
use rpc_cells::{
    CallFlags, CallOrigin, CallStatus, CallTarget, CellHandle, CellId, ClientCall, ClientCallHandle,
    Connection, ConnectionFlags, Endpoint, EndpointStatus, Name, ProtocolSequence, ServerCall, Snapshot,
    Thread, ThreadStatus,
};

use crate::view::world::Process;

/// The handles of a server's objects, which keep them shown.
type Shown = (CellHandle<Endpoint>, [CellHandle<Thread>; 2], CellHandle<Connection>, CellHandle<ServerCall>);

fn server() -> (Process, Shown) {
    let server = Process::new(0x278);
    let writer = &server.writer;
    let endpoint = writer.endpoint(endpoint(ProtocolSequence::TCP, "1120"));
    let thread =
        writer.thread(Thread { status: ThreadStatus::DISPATCHED, tid: 0x1a4, last_update_ms: 0x7_2c09 });
    let connection = writer.connection(Connection {
        flags: ConnectionFlags::EXCLUSIVE,
        last_transmit_fragment_bytes: 24,
        endpoint: endpoint.id(),
        last_send_ms: 10_595_565,
        last_receive_ms: 10_595_565,
        ..Connection::default()
    });
    let call = writer.server_call(ServerCall {
        status: CallStatus::DISPATCHED,
        opnum: 0,
        interface_start: 0x19bb_5061,
        servicing_thread: thread.id(),
        flags: CallFlags::CACHED,
        last_update_ms: 0x7_2c09,
        call_id: 1,
        connection: connection.id(),
        ..ServerCall::default()
    });
    let idle = writer.thread(Thread { status: ThreadStatus::IDLE, tid: 0x31c, last_update_ms: 0x7_2bf5 });
    (server, (endpoint, [thread, idle], connection, call))
}

fn client() -> (Process, ClientCallHandle) {
    let client = Process::new(0x390);
    let call = ClientCall {
        interface_start: 0x19bb_5061,
        endpoint: Name::new("1120"),
        call_id: 1,
        ..ClientCall::default()
    };
    let target = CallTarget {
        protocol_sequence: ProtocolSequence::TCP,
        last_update_ms: 0x7_2bff,
        ..CallTarget::default()
    };
    let call = client.writer.client_call(CallOrigin::Client, call, target);
    (client, call)
}

fn endpoint(protocol_sequence: ProtocolSequence, name: &str) -> Endpoint {
    Endpoint { protocol_sequence, status: EndpointStatus::ACTIVE, name: Name::new(name) }
}

/// A server call that has ended.
fn ended(opnum: u16, interface_start: u32, thread: u16, call_id: u32, last_update_ms: u64) -> ServerCall {
    ServerCall {
        opnum,
        interface_start,
        servicing_thread: CellId { section: 0, cell: thread },
        flags: CallFlags::CACHED,
        last_update_ms,
        call_id,
        ..ServerCall::default()
    }
}

/// A process whose cells are not in the order in which it got them.
fn process(pid: u32, cells: Vec<(u16, rpc_cells::Cell)>) -> Snapshot {
    let cells = cells.into_iter().map(|(cell, object)| (CellId { section: 0, cell }, object)).collect();
    Snapshot { cells, ..Process::new(pid).snapshot() }
}

fn lines(text: &impl ToString) -> Vec<String> {
    text.to_string().lines().map(ToOwned::to_owned).collect()
}

#[test]
fn endpoints_are_listed_as_documented() {
    use ProtocolSequence as P;
    let winlogon = process(
        0xa8,
        vec![
            (1, endpoint(P::NAMED_PIPE, "\\PIPE\\InitShutdown").into()),
            (3, endpoint(P::NAMED_PIPE, "\\PIPE\\SfcApi").into()),
            (8, endpoint(P::LOCAL, "OLE5").into()),
        ],
    );
    let schedule = process(
        0x22c,
        vec![(1, endpoint(P::LOCAL, "LRPC0000022c.00000001").into()), (3, endpoint(P::TCP, "1058").into())],
    );
    let (server, _shown) = server();
    let all = [winlogon, schedule, server.snapshot()];
    assert_eq!(
        lines(&endpoints(&all, None)),
        [
            "Searching for endpoint info ...",
            "PID  CELL ID   ST PROTSEQ        ENDPOINT",
            "-------------------------------------------------------",
            "00a8 0000.0001 01            NMP \\PIPE\\InitShutdown",
            "00a8 0000.0003 01            NMP \\PIPE\\SfcApi",
            "00a8 0000.0008 01           LRPC OLE5",
            "022c 0000.0001 01           LRPC LRPC0000022c.00000001",
            "022c 0000.0003 01            TCP 1058",
            "0278 0000.0001 01            TCP 1120",
        ]
    );
    let one = lines(&endpoints(&all, Some("1120")));
    assert_eq!(one[3..], ["0278 0000.0001 01            TCP 1120"]);
}

#[test]
fn threads_are_listed_as_documented() {
    let (server, _shown) = server();
    let all = [server.snapshot()];
    assert_eq!(
        lines(&threads(&all, Some(0x278), None)),
        [
            "Searching for thread info ...",
            "PID  CELL ID   ST TID      LASTTIME",
            "-----------------------------------",
            "0278 0000.0002 01 000001a4 00072c09",
            "0278 0000.0005 03 0000031c 00072bf5",
        ]
    );
    assert_eq!(lines(&threads(&all, Some(0x278), Some(0x31c)))[3..], ["0278 0000.0005 03 0000031c 00072bf5"]);
    assert_eq!(lines(&threads(&all, Some(0x279), None)).len(), 3);
}

#[test]
fn connections_of_all_processes_or_of_one_are_listed() {
    let ((server, _shown), other) = (server(), Process::new(0x390));
    let peer = Some("192.0.2.7".parse().expect("an address"));
    let _connection = other.writer.connection(Connection { peer, ..Connection::default() });
    let all = [server.snapshot(), other.snapshot()];
    let pids: Vec<u32> = connections(&all, None).rows.iter().map(|row| row.found.pid).collect();
    assert_eq!(pids, [0x278, 0x390]);
    let one = serde_json::to_value(connections(&all, Some(0x278))).expect("JSON");
    assert_eq!(one[0]["endpoint"], "0000.0001");
    assert_eq!(
        (&one[0]["last_transmit_fragment_bytes"], &one[0]["last_send_ms"]),
        (&24.into(), &10_595_565.into())
    );
    assert_eq!(connections(&all, Some(0x390)).rows[0].peer, peer);
    assert!(connections(&all, Some(0x391)).rows.is_empty());
}

#[test]
fn server_calls_are_listed_as_documented() {
    let over = |connection, call| ServerCall { connection: CellId { section: 0, cell: connection }, ..call };
    let from = |caller_pid, caller_tid, call: ServerCall| ServerCall {
        flags: CallFlags::CACHED | CallFlags::LRPC,
        caller_pid,
        caller_tid,
        ..call
    };
    let services = process(
        0xc4,
        vec![
            (2, over(0x10, ended(0xf, 0x8227_3fdc, 7, 2, 0x3_595d)).into()),
            (6, over(5, ended(9, 0x367a_bb81, 0x15, 0x4d, 0x1_85bd)).into()),
            (0xf, from(0xec, 0x3bc, ended(8, 0x8227_3fdc, 0x1e, 0xbaad_f00d, 0x3_66b4)).into()),
        ],
    );
    let (server, _shown) = server();
    let all = [services, server.snapshot()];
    assert_eq!(
        lines(&server_calls(&all, &CallFilter::default())),
        [
            "Searching for call info ...",
            "PID  CELL ID   ST PNO IFSTART  TIDNUMBER CALLFLAG CALLID   LASTTIME CONN/CLN",
            "----------------------------------------------------------------------------",
            "00c4 0000.0002 00 00f 82273fdc 0000.0007 00000001 00000002 0003595d 0000.0010",
            "00c4 0000.0006 00 009 367abb81 0000.0015 00000001 0000004d 000185bd 0000.0005",
            "00c4 0000.000f 00 008 82273fdc 0000.001e 00000009 baadf00d 000366b4 00ec.03bc",
            "0278 0000.0004 02 000 19bb5061 0000.0002 00000001 00000001 00072c09 0000.0003",
        ]
    );
    let found =
        |filter| server_calls(&all, &filter).rows.iter().map(|row| row.found.cell.cell).collect::<Vec<_>>();
    let filter = CallFilter::default();
    assert_eq!(found(CallFilter { call_id: Some(0x4d), ..filter }), [6]);
    assert_eq!(found(CallFilter { interface_start: Some(0x8227_3fdc), ..filter }), [2, 0xf]);
    assert_eq!(found(CallFilter { opnum: Some(8), ..filter }), [0xf]);
    assert_eq!(found(CallFilter { pid: Some(0x278), ..filter }), [4]);
    let stuck =
        CallFilter { call_id: Some(1), interface_start: Some(0x19bb_5061), opnum: Some(0), pid: Some(0x278) };
    assert_eq!(found(stuck), [4]);
}

#[test]
fn client_calls_are_listed_as_documented() {
    let (client, _call) = client();
    let all = [client.snapshot()];
    assert_eq!(
        lines(&client_calls(&all, &CallFilter::default())),
        [
            "Searching for call info ...",
            "PID  CELL ID   PNO  IFSTART  TIDNUMBER CALLID   LASTTIME PS CLTNUMBER ENDPOINT",
            "------------------------------------------------------------------------------",
            "0390 0000.0001 0000 19bb5061 0000.0000 00000001 00072bff 07 0000.0002 1120",
        ]
    );
    assert!(client_calls(&all, &CallFilter { call_id: Some(2), ..CallFilter::default() }).rows.is_empty());
}

#[test]
fn single_cells_are_shown_as_documented() {
    let (server, _shown) = server();
    let caller = ServerCall {
        status: CallStatus::ACTIVE,
        flags: CallFlags::CACHED | CallFlags::LRPC,
        caller_pid: 0xd0,
        caller_tid: 0x1ac,
        ..ended(11, 0x8227_3fdc, 0x3e, 0, 1_453_459)
    };
    let all = [server.snapshot(), process(0xc4, vec![(0x19, caller.into())])];
    let shown = |pid, id: &str| {
        let texts = cell(&all, pid, id.parse().expect("a cell id"));
        assert_eq!(texts.len(), 1);
        lines(&texts[0])
    };
    assert_eq!(
        shown(0x278, "0.2"),
        [
            "Getting cell info ...",
            "Thread",
            "Status: Dispatched",
            "Thread ID: 0x1A4 (420)",
            "Last update time (in seconds since boot):470.25 (0x1D6.19)",
        ]
    );
    assert_eq!(
        shown(0x278, "0.4"),
        [
            "Getting cell info ...",
            "Call",
            "Status: Dispatched",
            "Procedure Number: 0",
            "Interface UUID start (first DWORD only): 19BB5061",
            "Call ID: 0x1 (1)",
            "Servicing thread identifier: 0x0.2",
            "Call Flags: cached",
            "Last update time (in seconds since boot):470.25 (0x1D6.19)",
            "Owning connection identifier: 0x0.3",
        ]
    );
    assert_eq!(
        shown(0xc4, "0.19"),
        [
            "Getting cell info ...",
            "Call",
            "Status: Active",
            "Procedure Number: 11",
            "Interface UUID start (first DWORD only): 82273FDC",
            "Call ID: 0x0 (0)",
            "Servicing thread identifier: 0x0.3E",
            "Call Flags: cached, LRPC",
            "Last update time (in seconds since boot):1453.459 (0x5AD.1CB)",
            "Caller (PID/TID) is: d0.1ac (208.428)",
        ]
    );
    assert_eq!(
        shown(0x278, "0.3"),
        [
            "Getting cell info ...",
            "Connection",
            "Connection flags: Exclusive",
            "Authentication Level: Default",
            "Authentication Service: None",
            "Last Transmit Fragment Size: 24 (0x18)",
            "Endpoint for the connection: 0x0.1",
            "Last send time (in seconds since boot):10595.565 (0x2963.235)",
            "Last receive time (in seconds since boot):10595.565 (0x2963.235)",
        ]
    );
    assert!(cell(&all, 0x278, CellId::NONE).is_empty());
}

#[test]
fn rows_are_json_with_names_of_values_and_numbers_of_fields() {
    let (client, _call) = client();
    let json =
        serde_json::to_value(client_calls(&[client.snapshot()], &CallFilter::default())).expect("JSON");
    assert_eq!(
        json,
        serde_json::json!([{
            "pid": 0x390, "owner": "exporter", "cell": "0000.0001", "opnum": 0, "interface_start": 0x19bb_5061,
            "servicing_thread": "0000.0000", "call_id": 1, "endpoint": "1120", "target": "0000.0002",
            "last_update_ms": 0x7_2bff, "protocol_sequence": "TCP", "server": "",
            "interface": null, "method": null, "ipid": null, "causality_id": null,
        }])
    );
}
