use std::sync::atomic::AtomicU64;

use rpc_cells::{
    CallOrigin, CallTarget, Capacity, Cell, ClientCall, Connection, Endpoint, FileHeader, Kind, Level, Name,
    ProcessIdentity, ReadLimits, ServerCall, Thread, Writer, format, read,
};

/// Memory of a file that has this level.
pub(crate) fn memory(level: Level, capacity: Capacity) -> &'static [AtomicU64] {
    let words: Vec<AtomicU64> = (0..capacity.bytes_max() / 8).map(|_| AtomicU64::new(0)).collect();
    let process = ProcessIdentity { pid: 7, start_ticks: 8, boot_id: 9 };
    let header = FileHeader { capacity, level, process, created_ms: 10, name: Name::new("test") };
    format(&words, &header).expect("the memory is as large as the capacity");
    words.leak()
}

#[test]
fn each_level_shows_what_the_documentation_says() {
    let kinds = |level| {
        let memory = memory(level, Capacity { cells_per_section: 16, sections_max: 1 });
        let writer = Writer::over(memory).expect("the header is good");
        let endpoint = writer.endpoint(Endpoint::default());
        let thread = writer.thread(Thread::default());
        let connection = writer.connection(Connection::default());
        let call = writer.server_call(ServerCall::default());
        let calls = [CallOrigin::Client, CallOrigin::ServerCall]
            .map(|origin| writer.client_call(origin, ClientCall::default(), CallTarget::default()));
        let cells = read(memory, &ReadLimits::default()).expect("the header is good").cells;
        let kinds: Vec<Kind> = cells.iter().map(|(_, cell)| cell.kind()).collect();
        assert_eq!(writer.hidden(), 0, "what the level leaves out has not been without a cell");
        drop((endpoint, thread, connection, call, calls));
        kinds
    };
    let server = [Kind::ENDPOINT, Kind::THREAD, Kind::CONNECTION, Kind::SERVER_CALL];
    let client = [Kind::CLIENT_CALL, Kind::CALL_TARGET];
    assert_eq!(kinds(Level::NONE), []);
    assert_eq!(kinds(Level::SERVER), [&server[..], &client].concat());
    assert_eq!(kinds(Level::FULL), [&server[..], &client, &client].concat());
}

#[test]
fn memory_without_a_good_header_has_no_writer() {
    let empty: &'static [AtomicU64] = &[];
    let error = Writer::over(empty).expect_err("no header");
    assert_eq!(error.to_string(), "cut short: the header needs 128 bytes, 0 are there");
    let memory = memory(Level::FULL, Capacity { cells_per_section: 16, sections_max: 2 });
    let error = Writer::over(&memory[..16 * 31]).expect_err("a part of the memory");
    assert_eq!(
        error.to_string(),
        "16 cells in each of 2 sections are outside of the limits, or of the memory"
    );
}

#[test]
fn a_new_writer_of_the_same_memory_shows_only_its_own_objects() {
    let memory = memory(Level::FULL, Capacity { cells_per_section: 16, sections_max: 1 });
    let first = Writer::over(memory).expect("the header is good");
    drop(first.thread(Thread { tid: 1, ..Thread::default() }));
    let second = Writer::over(memory).expect("the header is good");
    let thread = second.thread(Thread { tid: 2, ..Thread::default() });
    let cells = read(memory, &ReadLimits::default()).expect("the header is good").cells;
    assert_eq!(cells, [(thread.id(), Cell::Thread(*thread.get()))]);
}
