//! Batches of 65,536 (u32, f64) into 1,000,000 registered series, from a plugin through the C ABI into the store.
//!
//! Every value differs from the one before. Guarded numbers: within 2 × of a memcpy of the same ids and values by
//! ascending id, within 5 × shuffled; the registration within 2 s.
//!
//! `cargo bench -p perfmon-exporter --bench ingest -- --json FILE` also writes the figures.
#![allow(clippy::panic, missing_docs, reason = "a benchmark fails by panicking")]

#[path = "support/linked.rs"]
mod linked;
mod support;

use std::cell::{Cell, RefCell};
use std::process::ExitCode;
use std::sync::Arc;

use plugin_sdk::{Output, SeriesId};
use series::model::{Target, Value};
use series::pipeline::{Catalog, Limits, NoObserver, Scope};
use test_support::race::{Goal, Race, thread_cpu_time};

use self::linked::Linked;
use self::support::rows;
use self::support::workload::{self, BATCH_ROWS};

const SERIES: usize = 1_000_000;
const REGISTRATION_S_MAX: f64 = 2.0;

const MEMCPY: &str = "memcpy of ids and values";
const ASCENDING: &str = "ABI batches, ascending ids";
const SHUFFLED: &str = "ABI batches, shuffled ids";
const COMPLETED: &str = "end of the collection: new snapshot";
const PUSHED: &str = "Output::push_f64, ascending ids";
const GOALS: [Goal<'static>; 2] = [
    Goal { name: ASCENDING, yardstick: MEMCPY, ratio: 2.0 },
    Goal { name: SHUFFLED, yardstick: MEMCPY, ratio: 5.0 },
];

fn main() -> ExitCode {
    let limits = Limits { series_max: SERIES, ..Limits::default() };
    let scope = Scope::new(Catalog::new(), Target::new("host.example.com"), limits);
    let store = scope.store(Arc::new(NoObserver));
    let mut linked = Linked::new(&store, SERIES);

    let begun = thread_cpu_time();
    let ascending = linked.register(SERIES);
    let registering = thread_cpu_time().saturating_sub(begun);

    let mut shuffled = ascending.clone();
    workload::Random(7).shuffle(&mut shuffled);
    let (mut copied_ids, mut copied_values) = (ascending.clone(), vec![0_f64; SERIES]);
    let (round, values) = (Cell::new(0), RefCell::new(Vec::new()));
    let output = RefCell::new(&mut linked.output);

    let results =
        Race::new("Ingest of batches of 65,536 into 1,000,000 registered series", "value", SERIES as u64)
            .step(|| {
                round.set(round.get() + 1);
                values.replace(workload::values(SERIES, round.get()));
            })
            .contestant(MEMCPY, || copy(&ascending, &values.borrow(), &mut copied_ids, &mut copied_values))
            .contestant(ASCENDING, || send(&mut output.borrow_mut(), &ascending, &values.borrow()))
            .step(|| workload::complete(&*store, round.get()))
            .contestant(SHUFFLED, || send(&mut output.borrow_mut(), &shuffled, &values.borrow()))
            .contestant(COMPLETED, || workload::complete(&*store, round.get()))
            .contestant(PUSHED, || {
                let mut output = output.borrow_mut();
                ascending.iter().zip(&*values.borrow()).for_each(|(&id, &value)| output.push_f64(id, value));
                output.flush();
            })
            .step(|| workload::complete(&*store, round.get()))
            .run(rows::rounds());

    assert_eq!(linked.output.rejected(), 0, "the host took every row");
    let (snapshot, last) = (store.snapshot(), values.borrow()[SERIES - 1]);
    assert_eq!(snapshot.series(), SERIES);
    let id = u32::try_from(ascending[SERIES - 1].index()).expect("ids are small here");
    assert_eq!(snapshot.values().value(id), Some(Value::F64(last)), "the value is where it belongs");

    let holds = results.judge(&GOALS);
    let registering_s = registering.as_secs_f64();
    println!("  registering them through the ABI: {registering_s:.3} s (at most {REGISTRATION_S_MAX} s)");
    let memcpy = [("memcpy", MEMCPY)];
    let race = |name, ours, note| rows::race(&results, name, "ns/value", ours, &memcpy, note);
    let path =
        "from the plugin SDK through the C ABI and its checks into the store; memcpy of ids and values";
    rows::write(vec![
        race("ingest", ASCENDING, path),
        race("ingest, shuffled", SHUFFLED, path),
        race("ingest, value by value", PUSHED, "for information: as a plugin sends that has no columns"),
        race("snapshot", COMPLETED, "for information: the end of a collection of 1,000,000 series"),
        rows::row("register", "s", registering_s, &[], "1,000,000 series, on the same way"),
    ]);
    if holds && registering_s <= REGISTRATION_S_MAX { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// The yardstick: the bytes of the batches, and nothing else.
fn copy(ids: &[SeriesId], values: &[f64], copied_ids: &mut [SeriesId], copied_values: &mut [f64]) {
    for start in (0..ids.len()).step_by(BATCH_ROWS) {
        let rows = start..ids.len().min(start + BATCH_ROWS);
        copied_ids[rows.clone()].copy_from_slice(&ids[rows.clone()]);
        copied_values[rows.clone()].copy_from_slice(&values[rows]);
        std::hint::black_box((&mut *copied_ids, &mut *copied_values));
    }
}

fn send(output: &mut Output, ids: &[SeriesId], values: &[f64]) {
    for (ids, values) in ids.chunks(BATCH_ROWS).zip(values.chunks(BATCH_ROWS)) {
        output.send_f64(ids, values);
    }
}
