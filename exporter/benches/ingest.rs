//! Batches of 65,536 (u32, f64) into 1,000,000 registered series.
//!
//! Goals: within 2 × of a memcpy of the same bytes by ascending id, within 5 × shuffled.
#![allow(clippy::panic, missing_docs, reason = "a benchmark fails by panicking")]

mod support;

use self::support::meter::{self, ROUNDS, Row};
use self::support::workload;

const SERIES: usize = 1_000_000;

fn main() {
    let mut registering = Row::new("registering the series", SERIES);
    let fleet = registering.round(|| workload::Fleet::with_targets(SERIES, 1));
    let store = &*fleet.stores[0];

    let ascending = workload::ids(SERIES);
    let mut shuffled = ascending.clone();
    workload::Random(7).shuffle(&mut shuffled);
    let mut copied_ids = vec![0_u32; SERIES];
    let mut copied_values = vec![0_f64; SERIES];

    let mut copy = Row::new("memcpy of the batches", SERIES);
    let mut in_order = Row::new("ingest by ascending id", SERIES);
    let mut at_random = Row::new("ingest shuffled", SERIES);
    let mut commit = Row::new("end of the collection", SERIES);
    for round in 0..ROUNDS + 1 {
        let values = workload::values(SERIES, round);
        copy.round(|| {
            for start in (0..SERIES).step_by(workload::BATCH_ROWS) {
                let rows = start..SERIES.min(start + workload::BATCH_ROWS);
                copied_ids[rows.clone()].copy_from_slice(&ascending[rows.clone()]);
                copied_values[rows.clone()].copy_from_slice(&values[rows]);
                std::hint::black_box((&mut copied_ids, &mut copied_values));
            }
        });
        in_order.round(|| workload::send(store, &ascending, &values));
        commit.round(|| workload::complete(store, round));
        at_random.round(|| workload::send(store, &shuffled, &values));
        commit.round(|| workload::complete(store, round));
    }
    meter::print("Ingest into 1,000,000 series", &[copy, in_order, at_random, commit, registering]);
}
