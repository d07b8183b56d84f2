//! Readers and writers at the same time. These run under miri, too, which finds data races:
//! `MIRIFLAGS=-Zmiri-ignore-leaks cargo +nightly miri test -p rpc-cells --test it -- races levels`.

use std::sync::atomic::{AtomicBool, Ordering};

use rpc_cells::{Capacity, Cell, Level, Problem, ReadLimits, ServerCall, Writer, read};

use crate::levels::memory;

const UPDATES: u32 = if cfg!(miri) { 60 } else { 200_000 };

/// All fields of a call have the same number.
fn numbered(number: u32) -> ServerCall {
    ServerCall {
        call_id: number,
        caller_pid: number,
        caller_tid: number,
        interface_start: number,
        last_update_ms: number.into(),
        ..ServerCall::default()
    }
}

fn check(cell: &Cell) {
    let Cell::ServerCall(call) = cell else { unreachable!("only calls are written") };
    assert_eq!(*call, numbered(call.call_id), "half a cell");
}

#[test]
fn readers_beside_writers_see_whole_cells_only() {
    let capacity = Capacity { cells_per_section: 4, sections_max: 2 };
    let memory = memory(Level::FULL, capacity);
    let writer = Writer::over(memory).expect("the header is good");
    let is_over = AtomicBool::new(false);
    let writers = 3;
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..writers)
            .map(|_| {
                let writer = writer.clone();
                scope.spawn(move || {
                    for number in 0..UPDATES / 10 {
                        // Cells change their owners as well.
                        let mut call = writer.server_call(numbered(number));
                        (1..10).for_each(|more| call.update(|call| *call = numbered(number + more)));
                    }
                })
            })
            .collect();
        let readers = [(), ()].map(|()| {
            scope.spawn(|| {
                let mut seen = 0;
                while !is_over.load(Ordering::Relaxed) || seen == 0 {
                    let snapshot = read(memory, &ReadLimits::default()).expect("the header is good");
                    snapshot.cells.iter().for_each(|(_, cell)| check(cell));
                    let problems = snapshot.problems.listed();
                    let is_honest = |problem: &Problem| matches!(problem, Problem::Changing { .. });
                    assert!(problems.iter().all(is_honest), "{problems:?}");
                    seen += 1;
                }
                seen
            })
        });
        threads.into_iter().for_each(|thread| thread.join().expect("writers do not fail"));
        is_over.store(true, Ordering::Relaxed);
        readers.into_iter().for_each(|reader| assert!(reader.join().expect("readers do not fail") > 0));
    });
    let snapshot = read(memory, &ReadLimits::default()).expect("the header is good");
    assert!(snapshot.cells.is_empty() && snapshot.problems.is_empty(), "all handles are dropped");
}
