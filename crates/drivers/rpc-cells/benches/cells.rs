//! What cells cost: updates of an object beside a memcpy of as many bytes, and reads of 10,000 cells beside a memcpy of
//! their file.
//!
//! `cargo bench -p rpc-cells` prints the tables. Guarded numbers: an update takes at most 50 ns, and 10,000 cells are read
//! in at most 5 ms, from a file as well. That an update allocates nothing is a test.
#![allow(clippy::unwrap_used, reason = "a benchmark fails by panicking")]

use std::fs::File;
use std::hint::black_box;
use std::process::ExitCode;

use rpc_cells::{
    CallStatus, Capacity, Endpoint, Level, Name, ReadLimits, RunDirectory, SectionFileOptions, ServerCall,
    SigbusGuard, Writer, read,
};
use test_support::race::{Race, Results};

const ROUNDS: usize = 30;
const UPDATES: u32 = 100_000;
const CELLS: u32 = 10_000;
const UPDATE_NS_MAX: f64 = 50.0;
const READ_MS_MAX: f64 = 5.0;
/// How many times a goal is a failure: a busy machine spoils times.
const FAILURE: f64 = 2.0;

fn main() -> ExitCode {
    let directory = tempfile::tempdir().unwrap();
    let directory = RunDirectory::open(directory.path()).unwrap();
    let options =
        SectionFileOptions { name: "bench", level: Level::FULL, capacity: Capacity::default(), now_ms: 1 };
    let file = directory.create(SigbusGuard::install().unwrap(), &options).unwrap();
    let path = file.path().to_owned();
    let writer = Writer::over(file).unwrap();
    let updates = updates(&writer);
    let reads = reads(&writer, &File::open(path).unwrap());
    let holds = judge(&updates, UPDATE, "ns", 1.0, UPDATE_NS_MAX)
        & judge(&updates, NAME, "ns", 1.0, UPDATE_NS_MAX)
        & judge(&reads, READ, "ms for 10,000 cells", f64::from(CELLS) / 1e6, READ_MS_MAX);
    if holds { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

const UPDATE: &str = "update of a server call";
const NAME: &str = "update of an endpoint, with its name";
const READ: &str = "10,000 cells of a file, typed";

fn updates(writer: &Writer) -> Results {
    let mut call = writer.server_call(ServerCall::default());
    let mut endpoint = writer.endpoint(Endpoint::default());
    let (from, mut to) = ([7_u64; 7], [0_u64; 7]);
    let results = Race::new("updates of one cell", "update", UPDATES.into())
        .contestant("memcpy of 56 bytes", || {
            for _ in 0..UPDATES {
                black_box(&mut to).copy_from_slice(black_box(&from));
            }
        })
        .contestant(UPDATE, || {
            for number in 0..UPDATES {
                call.update(|call| {
                    call.status = CallStatus::DISPATCHED;
                    call.call_id = black_box(number);
                    call.last_update_ms = black_box(number).into();
                });
            }
        })
        .contestant(NAME, || {
            for _ in 0..UPDATES {
                endpoint.update(|endpoint| endpoint.name = Name::new(black_box("\\PIPE\\InitShutdown")));
            }
        })
        .contestant("a call shown, dispatched, hidden", || {
            for number in 0..UPDATES {
                let mut call =
                    writer.server_call(ServerCall { call_id: black_box(number), ..ServerCall::default() });
                call.update(|call| call.status = CallStatus::DISPATCHED);
            }
        })
        .run(ROUNDS);
    println!("{results}");
    results
}

fn reads(writer: &Writer, file: &File) -> Results {
    let calls: Vec<_> = (0..CELLS)
        .map(|call_id| writer.server_call(ServerCall { call_id, ..ServerCall::default() }))
        .collect();
    assert!(calls.iter().all(rpc_cells::CellHandle::is_shown));
    let from = vec![1_u8; 128 * CELLS as usize];
    let mut to = vec![0_u8; from.len()];
    let results = Race::new("reads of 10,000 cells", "cell", CELLS.into())
        .contestant("memcpy", || black_box(&mut to).copy_from_slice(black_box(&from)))
        .contestant(READ, || {
            let snapshot = read(black_box(file), &ReadLimits::default()).unwrap();
            assert_eq!(snapshot.cells.len(), CELLS as usize);
        })
        .run(ROUNDS);
    println!("{results}");
    results
}

fn judge(results: &Results, name: &str, unit: &str, factor: f64, goal: f64) -> bool {
    let measured = results.nanos_a_unit(name).unwrap() * factor;
    let verdict = if measured <= goal { "met" } else { "missed" };
    println!("  goal: {name} within {goal} {unit}: {measured:.3} ({verdict})");
    measured <= FAILURE * goal
}
