//! The formulas of the crate `counter-types`, against what the counterset `Counter Types` promises by closed formulas.

use std::time::Duration;

use counter_types::{Cooked, RawClocks, cook, properties};
use counters::pcq::types::CounterType as T;
use windows_sim::model::counter_types::{COUNTER_TYPES, INSTANCE_COUNT, cooked};
use windows_sim::model::{Clock, Counter, Host, HostOptions};

use crate::counter_types::{Reading, read};
use crate::host::NOON;

/// What a client knows of one counter, with its numbers off by one unit in the directions given: all raw values are
/// rounded down, so that what they promise lies between.
fn sample(counter: &Counter, from: &Reading, off: [i64; 3]) -> counter_types::Reading {
    let number = |id: u32, off: i64| from.numbers[&id].wrapping_add_signed(off);
    let clocks = RawClocks {
        perf_time: from.at.perf_time().wrapping_add_signed(off[2]),
        perf_freq: from.at.perf_freq,
        time_100ns: from.at.time.0,
        object_time: counter.perf_time.map(|id| number(id, off[2])),
        object_freq: counter.perf_freq.map(|id| number(id, 0)),
    };
    // How many things a multi timer covers is no measurement.
    let base = counter.base.map(|id| number(id, off[1])).or(counter.multi.map(|id| number(id, 0)));
    counter_types::Reading { value: number(counter.id, off[0]), base, clocks }
}

/// All answers within one raw unit of each number.
fn answers(counter: &Counter, older: &Reading, newer: &Reading) -> Vec<f64> {
    let is_measured = properties(counter.kind).is_some_and(|row| row.formula.needs_two());
    let offs: &[i64] = if is_measured { &[-1, 0, 1] } else { &[0] };
    let older = sample(counter, older, [0; 3]);
    let mut answers = Vec::new();
    for n in offs {
        for b in offs {
            for d in [-1, 0, 1] {
                match cook(counter.kind, Some(&older), &sample(counter, newer, [*n, *b, d])) {
                    Cooked::Value(value) => answers.push(value),
                    other => panic!("{}: {other:?}", counter.name),
                }
            }
        }
    }
    answers
}

/// Compares all counters of an instance, and answers how many there were and how many of them went round.
fn check(n: u32, older: &Reading, newer: &Reading) -> (u32, u32) {
    let (mut compared, mut wrapped) = (0, 0);
    for counter in COUNTER_TYPES.counters.iter().filter(|counter| counter.is_displayed()) {
        if matches!(counter.kind, T::PERF_COUNTER_TEXT | T::PERF_COUNTER_NODATA) {
            let newer = sample(counter, newer, [0; 3]);
            assert_eq!(cook(counter.kind, None, &newer), Cooked::NoValue, "{}", counter.name);
            continue;
        }
        let promised = cooked(counter.id, n, &older.at, &newer.at).unwrap();
        let answers = answers(counter, older, newer);
        let least = answers.iter().copied().fold(f64::INFINITY, f64::min);
        let greatest = answers.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let rounding = promised.abs() * 1e-12;
        assert!(
            least - rounding <= promised && promised <= greatest + rounding,
            "{} of instance {n}: {least} to {greatest} instead of {promised}",
            counter.name
        );
        compared += 1;
        let has_wrapped = |id: u32| newer.numbers[&id] < older.numbers[&id];
        let is_rising = properties(counter.kind).is_some_and(|row| row.formula.needs_two());
        wrapped += u32::from(is_rising && (has_wrapped(counter.id) || counter.base.is_some_and(has_wrapped)));
    }
    (compared, wrapped)
}

// The fourth instance makes up to twenty million events a second, so that 2³¹ of them take more than the 100 s of the
// longest interval, and each of its 32-bit counters goes round several times.
#[test]
fn every_type_is_cooked_to_what_its_closed_formula_promises() {
    let clock = Clock::manual(NOON);
    // With a frequency of its own, so that who takes one clock for the other is seen.
    let options = HostOptions { clock: clock.clone(), perf_freq: 3_579_545, ..HostOptions::default() };
    let host = Host::new(options);
    let read_all = || (1..=INSTANCE_COUNT).map(|n| read(&host, n)).collect::<Vec<_>>();
    let mut wraps = 0;
    let mut older = read_all();
    for interval_ms in [1_000, 15_000, 100_000, 40_000, 997, 60_000].repeat(6) {
        clock.advance(Duration::from_millis(interval_ms));
        let newer = read_all();
        for n in 1..=INSTANCE_COUNT {
            let index = n as usize - 1;
            let (compared, wrapped) = check(n, &older[index], &newer[index]);
            assert_eq!(compared, 31);
            wraps += wrapped;
        }
        older = newer;
    }
    assert!(wraps > 10, "only {wraps} went round");
}
