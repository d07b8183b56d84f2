//! Each type of the counterset `Counter Types` is cooked here by the formulas of the Win32 documentation, and has to
//! show what the model promises.

use std::collections::BTreeMap;
use std::time::Duration;

use counters::pcq::types::CounterType as T;
use windows_sim::model::counter_types::{COUNTER_TYPES, INSTANCE_COUNT, cooked};
use windows_sim::model::{Clock, Counter, Host, HostOptions, Moment, Value, ValueSource};

use crate::host::NOON;

/// The numbers of one instance by counter, and the clocks.
pub(crate) struct Reading {
    pub(crate) at: Moment,
    pub(crate) numbers: BTreeMap<u32, u64>,
}

pub(crate) fn read(host: &Host, n: u32) -> Reading {
    let at = host.moment();
    let samples = host.sample(COUNTER_TYPES.guid, &at).unwrap();
    let sample = samples.iter().find(|sample| sample.instance.name == n.to_string()).unwrap();
    let number = |value: &Value| match value {
        Value::Dword(value) => u64::from(*value),
        Value::Large(value) => *value,
        Value::Text(_) | Value::Nothing => 0,
    };
    let numbers = COUNTER_TYPES.counters.iter().zip(&sample.values);
    Reading { at, numbers: numbers.map(|(counter, value)| (counter.id, number(value))).collect() }
}

#[expect(clippy::cast_precision_loss, reason = "displayed values are doubles")]
fn real(value: u64) -> f64 {
    value as f64
}

/// N1 − N0, in as many bits as the type has.
fn delta(counter: &Counter, older: &Reading, newer: &Reading) -> f64 {
    let (old, new) = (older.numbers[&counter.id], newer.numbers[&counter.id]);
    let is_large = counter.kind.0 & 0x300 == 0x100;
    #[expect(clippy::cast_possible_truncation, reason = "counters of four bytes wrap")]
    let narrow = (new as u32).wrapping_sub(old as u32);
    real(if is_large { new.wrapping_sub(old) } else { u64::from(narrow) })
}

fn display(counter: &Counter, older: &Reading, newer: &Reading) -> Option<f64> {
    let other = |id: Option<u32>| COUNTER_TYPES.counter(id.unwrap()).unwrap();
    let n = delta(counter, older, newer);
    let perf = real(newer.at.perf_time() - older.at.perf_time());
    let time_100ns = real(newer.at.time.0 - older.at.time.0);
    let object = || delta(other(counter.perf_time), older, newer);
    let base = || delta(other(counter.base), older, newer);
    let base_now = || real(newer.numbers[&counter.base.unwrap()]);
    let multi = || real(newer.numbers[&counter.multi.unwrap()]);
    let freq = real(newer.at.perf_freq);
    Some(match counter.kind {
        T::PERF_COUNTER_COUNTER | T::PERF_COUNTER_BULK_COUNT | T::PERF_SAMPLE_COUNTER => n / (perf / freq),
        T::PERF_COUNTER_QUEUELEN_TYPE | T::PERF_COUNTER_LARGE_QUEUELEN_TYPE => n / perf,
        T::PERF_COUNTER_100NS_QUEUELEN_TYPE => n / time_100ns,
        T::PERF_COUNTER_OBJ_TIME_QUEUELEN_TYPE => n / object(),
        T::PERF_COUNTER_TIMER => 100.0 * n / perf,
        T::PERF_COUNTER_TIMER_INV => 100.0 * (1.0 - n / perf),
        T::PERF_100NSEC_TIMER => 100.0 * n / time_100ns,
        T::PERF_100NSEC_TIMER_INV => 100.0 * (1.0 - n / time_100ns),
        T::PERF_OBJ_TIME_TIMER => 100.0 * n / object(),
        T::PERF_COUNTER_MULTI_TIMER => 100.0 * (n / perf) / multi(),
        T::PERF_100NSEC_MULTI_TIMER => 100.0 * (n / time_100ns) / multi(),
        T::PERF_COUNTER_MULTI_TIMER_INV => 100.0 * (multi() - n / perf),
        T::PERF_100NSEC_MULTI_TIMER_INV => 100.0 * (multi() - n / time_100ns),
        T::PERF_RAW_FRACTION | T::PERF_LARGE_RAW_FRACTION => {
            100.0 * real(newer.numbers[&counter.id]) / base_now()
        }
        T::PERF_SAMPLE_FRACTION
        | T::PERF_PRECISION_SYSTEM_TIMER
        | T::PERF_PRECISION_100NS_TIMER
        | T::PERF_PRECISION_OBJECT_TIMER => 100.0 * n / base(),
        T::PERF_AVERAGE_TIMER => n / freq / base(),
        T::PERF_AVERAGE_BULK => n / base(),
        T::PERF_ELAPSED_TIME => {
            let object_now = newer.numbers[&counter.perf_time.unwrap()];
            real(object_now - newer.numbers[&counter.id]) / real(newer.numbers[&counter.perf_freq.unwrap()])
        }
        T::PERF_COUNTER_DELTA | T::PERF_COUNTER_LARGE_DELTA => n,
        T::PERF_COUNTER_RAWCOUNT
        | T::PERF_COUNTER_RAWCOUNT_HEX
        | T::PERF_COUNTER_LARGE_RAWCOUNT
        | T::PERF_COUNTER_LARGE_RAWCOUNT_HEX => real(newer.numbers[&counter.id]),
        _ => return None,
    })
}

fn check(perf_freq: u64, interval: Duration) {
    let clock = Clock::manual(NOON);
    let host = Host::new(HostOptions { clock: clock.clone(), perf_freq, ..HostOptions::default() });
    for n in 1..=INSTANCE_COUNT {
        let older = read(&host, n);
        clock.advance(interval);
        let newer = read(&host, n);
        for counter in COUNTER_TYPES.counters {
            let Some(shown) = display(counter, &older, &newer) else { continue };
            let promised = cooked(counter.id, n, &older.at, &newer.at).unwrap();
            let error = (shown - promised).abs() / promised.abs().max(1.0);
            assert!(error < 1e-4, "{} of instance {n}: {shown} instead of {promised}", counter.name);
        }
    }
}

#[test]
fn every_type_shows_what_its_formula_promises() {
    check(10_000_000, Duration::from_secs(15));
}

// With a frequency of its own, a client that takes one clock for the other is seen.
#[test]
fn the_clocks_are_not_taken_for_each_other() {
    check(3_579_545, Duration::from_millis(1_500));
}

// The types of the table in [MS-PCQ] 2.2.4.2, by their numbers there.
#[test]
fn there_is_a_counter_of_every_type() {
    const TABLE: [u32; 34] = [
        0x1041_0400,
        0x2041_0500,
        0x0045_0400,
        0x0045_0500,
        0x0055_0500,
        0x0065_0500,
        0x1041_0500,
        0x0000_0B00,
        0x0001_0000,
        0x0001_0100,
        0x0000_0000,
        0x0000_0100,
        0x20C2_0400,
        0x0041_0400,
        0x2141_0500,
        0x3024_0500,
        0x4003_0401,
        0x3002_0400,
        0x4003_0402,
        0x4002_0500,
        0x2061_0500,
        0x2057_0500,
        0x2047_0500,
        0x2067_0500,
        0x2051_0500,
        0x2151_0500,
        0x2241_0500,
        0x2341_0500,
        0x2251_0500,
        0x2351_0500,
        0x2002_0400,
        0x4003_0403,
        0x2002_0500,
        0x4003_0500,
    ];
    let types: Vec<u32> = COUNTER_TYPES.counters.iter().map(|counter| counter.kind.0).collect();
    let missing: Vec<u32> = TABLE.into_iter().filter(|kind| !types.contains(kind)).collect();
    assert_eq!(missing, []);
}

// 2³² events at ten million a second are over after 429 s, so the fast instance wraps within any 430 s.
#[test]
fn the_fast_instance_wraps_and_the_others_only_grow() {
    let clock = Clock::manual(NOON);
    let host = Host::new(HostOptions { clock: clock.clone(), ..HostOptions::default() });
    let mut falls = [0; 5];
    let mut last = [0; 5];
    for _ in 0..44 {
        for n in 1..=INSTANCE_COUNT {
            let value = read(&host, n).numbers[&13];
            let n = n as usize;
            falls[n] += u32::from(value < last[n]);
            last[n] = value;
        }
        clock.advance(Duration::from_secs(10));
    }
    assert_eq!(falls, [0, 0, 0, 0, 1]);
}
