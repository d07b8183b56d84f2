use std::cell::Cell as StdCell;
use std::io;
use std::sync::atomic::AtomicU64;

use super::*;
use crate::cell::{
    CallFlags, CallStatus, CallTarget, ClientCall, Connection, Endpoint, Kind, Malformed, Name, Operation,
    ServerCall, Thread,
};
use crate::header::{CallOrigin, Level, format};
use crate::layout::{CELL_WORDS, Capacity};
use crate::process::ProcessIdentity;
use crate::writer::Writer;

const CAPACITY: Capacity = Capacity { cells_per_section: 8, sections_max: 3 };

fn memory() -> &'static [AtomicU64] {
    let words: Vec<AtomicU64> = (0..CAPACITY.cells_max() * CELL_WORDS).map(|_| AtomicU64::new(0)).collect();
    let header = FileHeader {
        capacity: CAPACITY,
        level: Level::FULL,
        process: ProcessIdentity { pid: 7, start_ticks: 8, boot_id: 9 },
        created_ms: 10,
        name: Name::new("test"),
    };
    format(&words, &header).expect("the memory is as large as the capacity");
    words.leak()
}

fn bytes(words: &[AtomicU64]) -> Vec<u8> {
    words.iter().flat_map(|word| word.load(std::sync::atomic::Ordering::Relaxed).to_ne_bytes()).collect()
}

fn problems(source: &(impl Source + ?Sized)) -> Vec<String> {
    let snapshot = read(source, &ReadLimits::default()).expect("the header is good");
    snapshot.problems.listed().iter().map(ToString::to_string).collect()
}

/// Where a word of a cell is in the bytes of a file.
fn at(id: CellId, word: usize) -> usize {
    CAPACITY.index(id) * CELL_BYTES + 8 * word
}

#[test]
fn what_is_shown_is_read_until_its_handle_is_dropped() {
    let memory = memory();
    let writer = Writer::over(memory).expect("the header is good");
    let endpoint = writer.endpoint(Endpoint { name: Name::new("135"), ..Endpoint::default() });
    let thread = writer.thread(Thread { tid: 5, ..Thread::default() });
    let mut call = writer.client_call(CallOrigin::Client, ClientCall::default(), CallTarget::default());
    call.update(77, |call| call.opnum = 3);
    let snapshot = read(memory, &ReadLimits::default()).expect("the header is good");
    let target = call.target().id();
    assert_eq!(
        snapshot.cells.iter().map(|(id, cell)| (*id, *cell)).collect::<Vec<_>>(),
        [
            (endpoint.id(), Cell::from(*endpoint.get())),
            (thread.id(), Cell::from(*thread.get())),
            (call.call().id(), Cell::from(ClientCall { opnum: 3, target, ..ClientCall::default() })),
            (target, Cell::from(CallTarget { last_update_ms: 77, ..CallTarget::default() })),
        ]
    );
    assert!(snapshot.problems.is_empty());
    let freed = endpoint.id();
    drop(endpoint);
    let snapshot = read(memory, &ReadLimits::default()).expect("the header is good");
    assert_eq!((snapshot.get(freed), snapshot.cells.len()), (None, 3));
}

#[test]
fn sections_are_added_and_objects_without_a_cell_are_counted() {
    let memory = memory();
    let writer = Writer::over(memory).expect("the header is good");
    let mut threads = Vec::new();
    for (tid, sections) in (1..=21).zip([1; 7].into_iter().chain([2; 7]).chain([3; 7])) {
        threads.push(writer.thread(Thread { tid, ..Thread::default() }));
        let snapshot = read(memory, &ReadLimits::default()).expect("the header is good");
        assert_eq!((snapshot.sections, snapshot.cells.len()), (sections, threads.len()));
    }
    let mut hidden = writer.thread(Thread { tid: 22, ..Thread::default() });
    hidden.update(|thread| thread.last_update_ms = 1);
    assert_eq!((hidden.id(), hidden.get().last_update_ms), (CellId::NONE, 1));
    let call = writer.client_call(CallOrigin::Client, ClientCall::default(), CallTarget::default());
    assert!(!call.call().is_shown() && !call.target().is_shown());
    let snapshot = read(memory, &ReadLimits::default()).expect("the header is good");
    assert_eq!((snapshot.hidden, snapshot.cells.len()), (2, 21));
    // With room for one of the two cells of a client call, it has neither.
    drop(threads.pop());
    let call = writer.client_call(CallOrigin::Client, ClientCall::default(), CallTarget::default());
    assert!(!call.call().is_shown() && !call.target().is_shown());
    assert_eq!(call.call().get().target, CellId::NONE);
    let again = writer.thread(Thread::default());
    assert_eq!(again.id(), CellId { section: 2, cell: 7 });
}

#[test]
fn a_file_that_is_cut_short_is_read_as_far_as_it_goes() {
    let memory = memory();
    let writer = Writer::over(memory).expect("the header is good");
    let threads: Vec<_> = (0..10).map(|tid| writer.thread(Thread { tid, ..Thread::default() })).collect();
    let bytes = bytes(memory);
    for length in 0..bytes.len() {
        let cut = &bytes[..length];
        if length < CELL_BYTES {
            let error = read(cut, &ReadLimits::default()).expect_err("there is no header");
            assert_eq!(
                error.to_string(),
                format!("cut short: the header needs 128 bytes, {length} are there")
            );
            continue;
        }
        let snapshot = read(cut, &ReadLimits::default()).expect("the header is good");
        let whole = length / CELL_BYTES;
        let shown = threads.iter().filter(|thread| CAPACITY.index(thread.id()) < whole).count();
        assert_eq!(snapshot.cells.len(), shown, "{length}");
        let expected = (whole < 16).then(|| Problem::CutShort { first_missing: CAPACITY.id(whole) });
        assert_eq!(snapshot.problems.listed(), expected.as_slice(), "{length}");
    }
}

#[test]
fn a_cell_that_no_writer_wrote_is_a_problem_and_the_others_are_read() {
    let memory = memory();
    let writer = Writer::over(memory).expect("the header is good");
    let threads = [1, 2].map(|tid| writer.thread(Thread { tid, ..Thread::default() }));
    let mut bytes = bytes(memory);
    // The sequence number is 1, so the current copy is the second.
    bytes[at(threads[0].id(), 8)] = 99;
    let snapshot = read(&bytes[..], &ReadLimits::default()).expect("the header is good");
    assert_eq!(snapshot.cells, [(threads[1].id(), Cell::from(*threads[1].get()))]);
    let reason = Malformed::Kind(Kind(99));
    assert_eq!(snapshot.problems.listed(), [Problem::Malformed { cell: threads[0].id(), reason }]);
}

#[test]
fn references_that_point_nowhere_are_problems() {
    let memory = memory();
    let writer = Writer::over(memory).expect("the header is good");
    let nowhere = CellId { section: 9, cell: 9 };
    let thread = writer.thread(Thread::default());
    let _connection = writer.connection(Connection { endpoint: thread.id(), ..Connection::default() });
    let mut call = writer.server_call(ServerCall {
        status: CallStatus::ACTIVE,
        servicing_thread: nowhere,
        connection: nowhere,
        ..ServerCall::default()
    });
    let text = |field: &str, of: CellId, expected: &str| {
        format!("field `{field}` of cell {of} names cell 0009.0009 as {expected}, which is FREE")
    };
    assert_eq!(
        problems(memory),
        [
            "field `Endpoint` of cell 0000.0002 names cell 0000.0001 as ENDPOINT, which is THREAD".to_owned(),
            text("ServicingTID", call.id(), "THREAD"),
            text("Connection", call.id(), "CONNECTION"),
        ]
    );
    call.update(|call| call.status = CallStatus::ALLOCATED);
    assert_eq!(problems(memory).len(), 2, "the thread of a call that is not in progress is out of date");
    call.update(|call| call.flags = CallFlags::LRPC);
    assert_eq!(problems(memory).len(), 1, "a call within one host has no connection");
}

#[test]
fn names_that_point_nowhere_are_problems() {
    let memory = memory();
    let writer = Writer::over(memory).expect("the header is good");
    let nowhere = CellId { section: 9, cell: 9 };
    let operation = writer.operation(Operation { interface: nowhere, ..Operation::default() });
    let server = ServerCall { object: nowhere, operation: nowhere, ..ServerCall::default() };
    let server = writer.server_call(server);
    let client = ClientCall { object: nowhere, operation: operation.id(), ..ClientCall::default() };
    let client = writer.client_call(CallOrigin::Client, client, CallTarget::default());
    let text = |field: &str, of: CellId, expected: &str| {
        format!("field `{field}` of cell {of} names cell 0009.0009 as {expected}, which is FREE")
    };
    assert_eq!(
        problems(memory),
        [
            text("Interface", operation.id(), "INTERFACE"),
            text("Object", server.id(), "OBJECT_CALL"),
            text("Operation", server.id(), "OPERATION"),
            text("Object", client.call().id(), "OBJECT_CALL"),
        ]
    );
}

#[test]
fn a_header_that_lies_about_its_sections_is_limited() {
    let mut bytes = bytes(memory());
    let mut with = |sections: u64| {
        bytes[8 * SECTIONS_WORD..8 * SECTIONS_WORD + 8].copy_from_slice(&sections.to_ne_bytes());
        problems(&bytes[..])
    };
    for (sections, is_problem) in [(1, false), (3, false), (0, true), (4, true), (u64::MAX, true)] {
        let text = format!("the header counts {sections} sections; there are at least 1 and at most 3");
        assert_eq!(with(sections), is_problem.then_some(text).as_slice(), "{sections}");
    }
}

#[test]
fn there_are_limits_of_cells_and_of_problems() {
    let memory = memory();
    let writer = Writer::over(memory).expect("the header is good");
    let threads: Vec<_> = (0..7).map(|_| writer.thread(Thread::default())).collect();
    let limits = ReadLimits { cells_max: 3, ..ReadLimits::default() };
    let snapshot = read(memory, &limits).expect("the header is good");
    assert_eq!(snapshot.cells.len(), 3);
    assert_eq!(snapshot.problems.listed(), [Problem::TooManyCells { cells_max: 3 }]);
    let mut bytes = bytes(memory);
    threads.iter().for_each(|thread| bytes[at(thread.id(), 8)] = 99);
    let limits = ReadLimits { problems_max: 2, ..ReadLimits::default() };
    let snapshot = read(&bytes[..], &limits).expect("the header is good");
    assert_eq!((snapshot.problems.listed().len(), snapshot.problems.more()), (2, 5));
}

/// A file whose first object changes at each of the first `changes` reads that touch it, as if its writer were quicker than
/// any reader. Between two changes, the copy that is written is half old and half new.
struct Restless {
    bytes: Vec<u8>,
    changes: u64,
    reads: StdCell<u64>,
}

const RESTLESS: CellId = CellId { section: 0, cell: 1 };

impl Source for Restless {
    fn read_at(&self, offset: u64, bytes: &mut [u8]) -> io::Result<usize> {
        let mut now = self.bytes.clone();
        let changes = self.reads.get().min(self.changes);
        // Skips the read of the header.
        self.reads.set(self.reads.get() + u64::from(bytes.len() > CELL_BYTES || offset != 0));
        now[at(RESTLESS, 0)..][..8].copy_from_slice(&changes.to_ne_bytes());
        let half_written = if changes < self.changes { usize::from(changes & 1 == 0) } else { 2 };
        for copy in 0..2 {
            let tid = if copy == half_written { 0xbad } else { changes };
            now[at(RESTLESS, 1 + 7 * copy)] = Kind::THREAD.0;
            now[at(RESTLESS, 2 + 7 * copy)..][..8].copy_from_slice(&tid.to_ne_bytes());
        }
        now[..].read_at(offset, bytes)
    }
}

#[test]
fn a_cell_that_changes_is_read_again_a_limited_number_of_times() {
    let limits = ReadLimits { retries_max: 4, ..ReadLimits::default() };
    for (changes, is_read) in [(0, true), (1, true), (3, true), (12, true), (13, false), (99, false)] {
        let restless = Restless { bytes: bytes(memory()), changes, reads: StdCell::new(0) };
        let snapshot = read(&restless, &limits).expect("the header is good");
        let last_update_ms = changes;
        let thread = Cell::from(Thread { last_update_ms, ..Thread::default() });
        if is_read {
            assert_eq!(snapshot.cells, [(RESTLESS, thread)], "{changes}");
        } else {
            assert_eq!(snapshot.cells, [], "{changes}");
            assert_eq!(snapshot.problems.listed(), [Problem::Changing { cell: RESTLESS }], "{changes}");
        }
        assert!(restless.reads.get() <= 3 + 3 * 4, "{changes}");
    }
}
