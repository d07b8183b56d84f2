//! A process that keeps cells, for tests that kill it or cut its file. Each step is told on standard output; the next one
//! begins when a line comes in.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a process of a test fails by panicking")]

use std::io::{BufRead, Write};
use std::path::Path;

use rpc_cells::{
    CallFlags, CallOrigin, CallStatus, CallTarget, Capacity, ClientCall, Connection, Endpoint,
    EndpointStatus, Level, Memory, Name, ProtocolSequence, RunDirectory, SectionFile, SectionFileOptions,
    ServerCall, SigbusGuard, Thread, ThreadStatus, Writer,
};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [doing, directory] = arguments.as_slice() else { panic!("expected what to do, and a directory") };
    let directory = Path::new(directory);
    match doing.as_str() {
        "call" => hang_in_a_call(directory),
        "spin" => update_without_end(directory),
        "truncated" => work_in_a_truncated_file(directory),
        "full" => run_out_of_space(directory),
        "fault" => fault_elsewhere(directory),
        other => panic!("{other} is not known"),
    }
}

fn file(directory: &Path) -> SectionFile {
    let guard = SigbusGuard::install().unwrap();
    let capacity = Capacity { cells_per_section: 64, sections_max: 4 };
    let options = SectionFileOptions { name: "child", level: Level::SERVER, capacity, now_ms: 1_000 };
    RunDirectory::open(directory).unwrap().create(guard, &options).unwrap()
}

/// A server call whose method makes a client call that is never answered.
fn hang_in_a_call(directory: &Path) {
    let file = file(directory);
    let path = file.path().display().to_string();
    let writer = Writer::over(file).unwrap();
    let endpoint = writer.endpoint(Endpoint {
        protocol_sequence: ProtocolSequence::TCP,
        status: EndpointStatus::ACTIVE,
        name: Name::new("1120"),
    });
    let connection = writer.connection(Connection { endpoint: endpoint.id(), ..Connection::default() });
    let mut thread = writer.thread(Thread { status: ThreadStatus::IDLE, tid: 420, last_update_ms: 1_001 });
    let mut call = writer.server_call(ServerCall {
        status: CallStatus::ACTIVE,
        interface_start: 0x19bb_5061,
        servicing_thread: thread.id(),
        flags: CallFlags::CACHED,
        call_id: 1,
        connection: connection.id(),
        ..ServerCall::default()
    });
    thread.update(|thread| thread.status = ThreadStatus::DISPATCHED);
    call.update(|call| {
        call.status = CallStatus::DISPATCHED;
        call.last_update_ms = 1_002;
    });
    let _client_call = writer.client_call(
        CallOrigin::ServerCall,
        ClientCall {
            opnum: 2,
            servicing_thread: thread.id(),
            endpoint: Name::new("135"),
            ..ClientCall::default()
        },
        CallTarget {
            protocol_sequence: ProtocolSequence::TCP,
            last_update_ms: 1_003,
            server: Name::new("host-b"),
            ..CallTarget::default()
        },
    );
    say(&path);
}

/// Threads that update cells until the process is killed. All fields of a cell have the same number.
fn update_without_end(directory: &Path) {
    let writer = Writer::over(file(directory)).unwrap();
    std::thread::scope(|scope| {
        for number in 0..2 {
            let mut call = writer.server_call(ServerCall::default());
            scope.spawn(move || {
                for number in (number..u64::MAX).step_by(2) {
                    call.update(|call| {
                        call.last_update_ms = number;
                        call.call_id = low_half(number);
                        call.caller_pid = low_half(number);
                        call.caller_tid = low_half(number);
                    });
                }
            });
        }
        say("spinning");
    });
}

fn low_half(number: u64) -> u32 {
    let [a, b, c, d, ..] = number.to_le_bytes();
    u32::from_le_bytes([a, b, c, d])
}

/// Goes on while its file is cut to nothing.
fn work_in_a_truncated_file(directory: &Path) {
    let file = std::sync::Arc::new(file(directory));
    let path = file.path().display().to_string();
    let writer = Writer::over(Shared(std::sync::Arc::clone(&file))).unwrap();
    let mut thread = writer.thread(Thread::default());
    say(&path);
    thread.update(|thread| thread.tid = 1);
    // Of other pages, and of sections that are not there yet.
    let threads: Vec<_> = (0..200).map(|tid| writer.thread(Thread { tid, ..Thread::default() })).collect();
    assert!(threads.iter().all(rpc_cells::CellHandle::is_shown));
    say(&format!("{} pages lost", file.pages_lost()));
}

struct Shared(std::sync::Arc<SectionFile>);

impl Memory for Shared {
    fn words(&self) -> &[std::sync::atomic::AtomicU64] {
        self.0.words()
    }

    fn grow(&self, sections: u16) -> bool {
        self.0.grow(sections)
    }
}

/// Has room for two sections, and then for none.
fn run_out_of_space(directory: &Path) {
    let limit = |bytes| {
        let limit = rustix::process::Rlimit { current: Some(bytes), maximum: None };
        rustix::process::setrlimit(rustix::process::Resource::Fsize, limit).unwrap();
    };
    limit(2 * 64 * 128);
    let writer = Writer::over(file(directory)).unwrap();
    let threads: Vec<_> = (0..200).map(|tid| writer.thread(Thread { tid, ..Thread::default() })).collect();
    let shown = threads.iter().filter(|thread| thread.is_shown()).count();
    println!("{shown} shown, {} hidden", writer.hidden());
    limit(4096);
    let options = SectionFileOptions {
        name: "second",
        level: Level::FULL,
        capacity: Capacity { cells_per_section: 64, sections_max: 4 },
        now_ms: 1,
    };
    let guard = SigbusGuard::install().unwrap();
    let error = RunDirectory::open(directory).unwrap().create(guard, &options).err().unwrap();
    println!("{error}");
}

/// Is sent a SIGBUS that no file of cells is the reason of. The handler of the standard library, which was there first,
/// takes one for a fault that will come again, and leaves it to the default action.
fn fault_elsewhere(directory: &Path) {
    let _file = file(directory);
    say("ready");
    for time in ["once", "twice"] {
        rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::BUS).unwrap();
        say(time);
    }
}

/// Says something, and waits for a line, or for the end of the test.
fn say(text: &str) {
    let mut stdout = std::io::stdout().lock();
    writeln!(stdout, "{text}").unwrap();
    stdout.flush().unwrap();
    std::io::stdin().lock().read_line(&mut String::new()).unwrap();
}
