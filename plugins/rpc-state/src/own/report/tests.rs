use std::sync::atomic::AtomicU64;

use rpc_cells::{
    CallOrigin, Capacity, CellHandle, Endpoint, FileHeader, Interface, Level, Name, Object,
    Operation as OperationCell, ProcessIdentity, ProtocolSequence, ReadLimits, Thread, Writer, format, read,
};

use super::super::files::FileCounts;
use super::super::samples::samples;
use super::*;
use crate::series::Value;

const NOW_MS: u64 = 100_000;
const LIMITS: ReportLimits = ReportLimits { connections: 100, operations: 100 };

/// The memory of a process with this name, and what it keeps there.
struct Memory {
    words: &'static [AtomicU64],
    writer: Writer,
    kept: Vec<Box<dyn std::any::Any>>,
}

impl Memory {
    fn new(name: &str) -> Self {
        let capacity = Capacity { cells_per_section: 64, sections_max: 1 };
        let words: Vec<AtomicU64> = (0..capacity.bytes_max() / 8).map(|_| AtomicU64::new(0)).collect();
        let words: &'static [AtomicU64] = words.leak();
        let process = ProcessIdentity { pid: 7, start_ticks: 1, boot_id: 1 };
        let header =
            FileHeader { capacity, level: Level::FULL, process, created_ms: 0, name: Name::new(name) };
        format(words, &header).expect("there is room");
        Self { words, writer: Writer::over(words).expect("it has a header"), kept: Vec::new() }
    }

    /// Keeps an object, and returns the id of its cell.
    fn keep<O: Object + 'static>(&mut self, show: impl FnOnce(&Writer) -> CellHandle<O>) -> CellId {
        let handle = show(&self.writer);
        let id = handle.id();
        self.kept.push(Box::new(handle));
        id
    }

    fn client_call(&mut self, call: ClientCall, last_update_ms: u64) {
        let target = CallTarget { last_update_ms, ..CallTarget::default() };
        self.kept.push(Box::new(self.writer.client_call(CallOrigin::Client, call, target)));
    }

    fn server_call(&mut self, status: CallStatus, opnum: u16, last_update_ms: u64) {
        let call =
            ServerCall { status, opnum, last_update_ms, interface_start: 0xb6, ..ServerCall::default() };
        self.keep(|writer| writer.server_call(call));
    }

    fn report(&self, limits: ReportLimits) -> Report {
        let snapshot = read(self.words, &ReadLimits::default()).expect("it has a header");
        let mut report = Report::new(limits);
        report.add(&snapshot, false, NOW_MS);
        report
    }

    /// The samples whose family is of this item, as text.
    fn rows(&self, object: &str, item: &str, limits: ReportLimits) -> Vec<String> {
        rows(&self.report(limits), object, item)
    }
}

fn rows(report: &Report, object: &str, item: &str) -> Vec<String> {
    let samples = samples(report, &FileCounts::default());
    let of_family = samples.iter().filter(|sample| {
        let family = &super::super::families::FAMILIES[sample.family];
        (family.object, family.item) == (object, item)
    });
    let text = of_family.map(|sample| {
        // All are of the same process.
        let labels = sample.labels.iter().filter(|(name, _)| !matches!(*name, "owner" | "process_id"));
        let labels: Vec<String> = labels.map(|(name, value)| format!("{name}={value}")).collect();
        match sample.value {
            Value::Count(count) => format!("{} {count}", labels.join(" ")),
            Value::Seconds(seconds) => format!("{} {seconds}s", labels.join(" ")),
        }
    });
    text.collect()
}

#[test]
fn objects_are_counted_by_status_also_those_that_there_are_none_of() {
    let mut memory = Memory::new("comt");
    for status in [EndpointStatus::ACTIVE, EndpointStatus::ACTIVE, EndpointStatus::INACTIVE] {
        memory.keep(|writer| writer.endpoint(Endpoint { status, ..Endpoint::default() }));
    }
    for status in [ThreadStatus::DISPATCHED, ThreadStatus::IDLE, ThreadStatus(9)] {
        memory.keep(|writer| writer.thread(Thread { status, ..Thread::default() }));
    }
    for status in [CallStatus::ALLOCATED, CallStatus::DISPATCHED] {
        memory.server_call(status, 1, 1);
    }
    memory.client_call(ClientCall::default(), 1);
    for (item, expected) in [
        ("Endpoints", vec!["status=active 2", "status=allocated 0", "status=inactive 1"]),
        (
            "Threads",
            vec![
                "status=allocated 0",
                "status=dispatched 1",
                "status=idle 1",
                "status=other 1",
                "status=processing 0",
            ],
        ),
        ("Server Calls", vec!["status=active 0", "status=allocated 1", "status=dispatched 1"]),
        ("Client Calls", vec![" 1"]),
        ("Connections", vec!["role=client 0", "role=server 0"]),
    ] {
        assert_eq!(memory.rows("Process", item, LIMITS), expected, "{item}");
    }
}

#[test]
fn the_longest_wait_is_that_of_calls_in_progress() {
    for (client, server, expected) in [
        (vec![], vec![], ["role=client 0s", "role=server 0s"]),
        (vec![99_000, 40_000], vec![], ["role=client 60s", "role=server 0s"]),
        (vec![], vec![(CallStatus::ACTIVE, 98_500)], ["role=client 0s", "role=server 1.5s"]),
        (vec![], vec![(CallStatus::ALLOCATED, 1)], ["role=client 0s", "role=server 0s"]),
        // Without a time, and with one of another boot.
        (vec![0, NOW_MS + 5_000], vec![(CallStatus::DISPATCHED, 0)], ["role=client 0s", "role=server 0s"]),
    ] {
        let mut memory = Memory::new("comt");
        client.iter().for_each(|last_ms| memory.client_call(ClientCall::default(), *last_ms));
        server.iter().for_each(|(status, last_ms)| memory.server_call(*status, 3, *last_ms));
        assert_eq!(memory.rows("Process", "Longest Wait", LIMITS), expected, "{client:?} {server:?}");
    }
}

#[test]
fn calls_are_counted_by_operation_with_names_or_numbers() {
    let mut memory = Memory::new("comt");
    let interface = Interface { name: Name::new("ITrack"), ..Interface::default() };
    let interface = memory.keep(|writer| writer.interface(interface));
    let operation = OperationCell { opnum: 4, interface, name: Name::new("Get\u{1b}") };
    let operation = memory.keep(|writer| writer.operation(operation));
    let named = ClientCall { opnum: 4, interface_start: 0xb600_40e0, operation, ..ClientCall::default() };
    memory.client_call(named, 90_000);
    memory.client_call(named, 95_000);
    memory.client_call(ClientCall { operation: CellId::NONE, ..named }, 0);
    memory.server_call(CallStatus::DISPATCHED, 0x1f, 99_999);
    memory.server_call(CallStatus::ALLOCATED, 0x20, 1);
    assert_eq!(
        memory.rows("Operation", "Calls", LIMITS),
        [
            "role=client interface=0xb60040e0 operation=0x4 1",
            "role=client interface=ITrack operation=Get\\u{1b} 2",
            "role=server interface=0x000000b6 operation=0x1f 1",
        ]
    );
    assert_eq!(
        memory.rows("Operation", "Longest Wait", LIMITS),
        [
            "role=client interface=ITrack operation=Get\\u{1b} 10s",
            "role=server interface=0x000000b6 operation=0x1f 0.001s",
        ]
    );
}

#[test]
fn above_the_limit_those_operations_are_shown_whose_calls_wait_longest() {
    let mut memory = Memory::new("comt");
    for (opnum, last_update_ms) in [(1, 60_000), (2, 50_000), (3, 99_000), (4, 50_000), (5, 50_000)] {
        memory.server_call(CallStatus::DISPATCHED, opnum, last_update_ms);
    }
    for (operations, expected, left_out) in
        [(5, vec!["0x1", "0x2", "0x3", "0x4", "0x5"], 0), (2, vec!["0x2", "0x4"], 3), (0, vec![], 5)]
    {
        let report = memory.report(ReportLimits { operations, ..LIMITS });
        let shown: Vec<&str> = report.operations.keys().map(|key| key.operation.as_str()).collect();
        assert_eq!(shown, expected);
        let row = format!("kind=operation {left_out}");
        assert!(rows(&report, "State", "Left Out").contains(&row), "{row}");
        assert_eq!(rows(&report, "Process", "Longest Wait")[1], "role=server 50s", "limits change no sum");
    }
}

#[test]
fn a_connection_has_its_role_and_peer_what_it_carried_and_when() {
    let mut memory = Memory::new("comt");
    let endpoint = Endpoint { name: Name::new("49152"), ..Endpoint::default() };
    let endpoint = memory.keep(|writer| writer.endpoint(endpoint));
    let totals =
        ConnectionTotals { fragments_sent: 1, fragments_received: 2, bytes_sent: 30, bytes_received: 40 };
    let totals = memory.keep(|writer| writer.connection_totals(totals));
    let accepted = Connection {
        endpoint,
        totals,
        peer: Some([192, 0, 2, 7].into()),
        last_receive_ms: 99_500,
        ..Connection::default()
    };
    memory.keep(|writer| writer.connection(accepted));
    let target = CallTarget {
        protocol_sequence: ProtocolSequence::TCP,
        server: Name::new("web1"),
        endpoint: Name::new("135"),
        ..CallTarget::default()
    };
    let target = memory.keep(|writer| writer.connection_target(target));
    memory.keep(|writer| {
        writer.connection(Connection { target, last_send_ms: 1_000, ..Connection::default() })
    });
    let server = "connection=0000.0003 role=server peer=192.0.2.7 endpoint=49152";
    let client = "connection=0000.0005 role=client server=web1 endpoint=135";
    for (item, expected) in [
        ("Sent Fragments", vec![format!("{server} 1")]),
        ("Received Fragments", vec![format!("{server} 2")]),
        ("Sent Bytes", vec![format!("{server} 30")]),
        ("Received Bytes", vec![format!("{server} 40")]),
        ("Since Last Send", vec![format!("{client} 99s")]),
        ("Since Last Receive", vec![format!("{server} 0.5s")]),
    ] {
        assert_eq!(memory.rows("Connection", item, LIMITS), expected, "{item}");
    }
    let report = memory.report(ReportLimits { connections: 1, ..LIMITS });
    assert_eq!(rows(&report, "Process", "Connections"), ["role=client 1", "role=server 1"]);
    assert_eq!(rows(&report, "Connection", "Since Last Receive"), [format!("{server} 0.5s")]);
    assert_eq!(rows(&report, "State", "Left Out")[0], "kind=connection 1");
}

#[test]
fn two_files_of_one_owner_are_added_up_and_a_dead_process_is_another() {
    let mut memory = Memory::new("comt");
    memory.client_call(ClientCall::default(), 90_000);
    memory.keep(|writer| writer.connection(Connection { last_send_ms: 1, ..Connection::default() }));
    let mut snapshot = read(memory.words, &ReadLimits::default()).expect("it has a header");
    snapshot.hidden = 3;
    let mut report = Report::new(LIMITS);
    report.add(&snapshot, false, NOW_MS);
    report.add(&snapshot, false, NOW_MS);
    report.add(&snapshot, true, NOW_MS);
    assert_eq!(rows(&report, "Process", "Client Calls"), [" 2", "dead=true 1"]);
    assert_eq!(rows(&report, "Process", "Hidden Objects"), [" 6", "dead=true 3"]);
    let waits = rows(&report, "Operation", "Calls");
    assert_eq!(waits[0], "role=client interface=0x00000000 operation=0x0 2");
    assert!(waits[1].starts_with("dead=true role=client"), "{waits:?}");
    // The second file has a cell of the same number, which would be the same series.
    assert_eq!(rows(&report, "Connection", "Since Last Send").len(), 2);
    assert_eq!(rows(&report, "State", "Left Out")[0], "kind=connection 1");
}

#[test]
fn no_two_samples_are_of_one_series() {
    let mut memory = Memory::new("");
    for opnum in [1, 1, 2] {
        memory.server_call(CallStatus::ACTIVE, opnum, 1);
        memory.keep(|writer| writer.connection(Connection { last_send_ms: 1, ..Connection::default() }));
    }
    let samples = samples(&memory.report(LIMITS), &FileCounts::default());
    let mut keys: Vec<_> = samples.iter().map(|sample| (sample.family, &sample.labels)).collect();
    keys.sort_unstable();
    keys.dedup();
    assert_eq!(keys.len(), samples.len());
    assert!(samples.iter().all(|sample| sample.labels.iter().all(|(_, value)| !value.is_empty())));
}
