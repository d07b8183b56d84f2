//! The raw series of the counterset `Counter Types`, against the closed formulas that the simulator documents:
//! what goes out for each type, in which unit and part, and that nothing is lost when 32 bits wrap around.

use std::time::Duration;

use plugin_abi::Kind;
use plugin_host::testing::{Recorded, Value};
use windows_sim::model::counter_types::{At, INSTANCE_COUNT};
use windows_sim::model::{Clock, Moment};

use crate::world::{BOOT, Ended, Plugin, SimHost, countersets};

/// Not ten million, so that who takes one clock for the other is seen.
const PERF_FREQ: u64 = 3_579_545;

/// What one family has to show.
struct Row {
    item: &'static str,
    part: &'static str,
    kind: Kind,
    unit: &'static str,
    expected: Expected,
}

enum Expected {
    Whole(fn(&At) -> u64),
    /// An integer of 32 bits that goes round.
    Narrow(fn(&At) -> u64),
    /// Ticks, and how many of them are a second.
    Ticks(fn(&At) -> u64, fn(&At) -> u64),
    /// The same with 32 bits that go round.
    NarrowTicks(fn(&At) -> u64, fn(&At) -> u64),
    Seconds(fn(&At) -> f64),
}

use Expected::{Narrow, NarrowTicks, Seconds, Ticks, Whole};

/// Events since the start of the host, at so many a second.
fn events(at: &At, rate: u64) -> u64 {
    u64::try_from(u128::from(at.t) * u128::from(rate) / 10_000_000).unwrap()
}

fn perf_ticks(at: &At) -> u64 {
    at.f
}

fn ticks_100ns(_: &At) -> u64 {
    10_000_000
}

fn object_ticks(_: &At) -> u64 {
    1_000_000
}

/// Time of an object whose clock makes a million ticks a second.
fn object_time(at: &At) -> u64 {
    at.t / 10
}

/// When the host was started, in seconds since 1970.
fn boot_unix() -> f64 {
    (BOOT.0 / 10_000_000) as f64 - 11_644_473_600.0
}

fn stamp_100ns(at: &At) -> u64 {
    at.t - at.t % (10_000_000 / 64)
}

fn stamp_perf(at: &At) -> u64 {
    at.p - at.p % (at.f / 64)
}

const fn row(
    item: &'static str,
    part: &'static str,
    kind: Kind,
    unit: &'static str,
    expected: Expected,
) -> Row {
    Row { item, part, kind, unit, expected }
}

#[rustfmt::skip]
const ROWS: &[Row] = &[
    row("Raw Count Hex", "", Kind::Gauge, "", Whole(|at| 0xC0DE_0000 + at.n)),
    row("Large Raw Count Hex", "", Kind::Gauge, "", Whole(|at| 0xFEED_C0DE_0000_0000 + at.n)),
    row("Text", "", Kind::Info, "", Whole(|_| 1)),
    row("Raw Count", "", Kind::Gauge, "", Whole(|at| 100 * at.n + at.t / 10_000_000 % 60)),
    row("Large Raw Count", "", Kind::Gauge, "", Whole(|at| (at.n << 40) + at.t / 10_000_000)),
    row("Delta", "", Kind::Counter, "", Narrow(|at| events(at, at.r))),
    row("Large Delta", "", Kind::Counter, "", Whole(|at| events(at, 1_000 * at.r))),
    row("Sample Counter", "", Kind::Counter, "", Narrow(|at| events(at, 2 * at.r))),
    row("Queue Length", "", Kind::Counter, "seconds", NarrowTicks(|at| at.p * at.n, perf_ticks)),
    row("Large Queue Length", "", Kind::Counter, "seconds", Ticks(|at| at.p * at.n, perf_ticks)),
    row("100ns Queue Length", "", Kind::Counter, "seconds", Ticks(|at| at.t * at.n, ticks_100ns)),
    row("Object Time Queue Length", "", Kind::Counter, "seconds", Ticks(|at| object_time(at) * at.n, object_ticks)),
    row("Counter", "", Kind::Counter, "", Narrow(|at| events(at, at.r))),
    row("Bulk Count", "", Kind::Counter, "", Whole(|at| events(at, 1_000 * at.r))),
    row("Timer", "", Kind::Counter, "seconds", Ticks(|at| at.p * at.n / 10, perf_ticks)),
    row("Timer Inverse", "inactive", Kind::Counter, "seconds", Ticks(|at| at.p * (10 - at.n) / 10, perf_ticks)),
    row("100ns Timer", "", Kind::Counter, "seconds", Ticks(|at| at.t * at.n / 10, ticks_100ns)),
    row("100ns Timer Inverse", "inactive", Kind::Counter, "seconds", Ticks(|at| at.t * (10 - at.n) / 10, ticks_100ns)),
    row("Object Time Timer", "", Kind::Counter, "seconds", Ticks(|at| object_time(at) * at.n / 10, object_ticks)),
    // Four things each, and how many they are.
    row("Multi Timer", "", Kind::Counter, "seconds", Ticks(|at| 4 * at.p * at.n / 10, perf_ticks)),
    row("Multi Timer", "base", Kind::Gauge, "", Whole(|_| 4)),
    row("Multi Timer Inverse", "inactive", Kind::Counter, "seconds", Ticks(|at| 4 * at.p * (10 - at.n) / 10, perf_ticks)),
    row("Multi Timer Inverse", "base", Kind::Gauge, "", Whole(|_| 4)),
    row("100ns Multi Timer", "", Kind::Counter, "seconds", Ticks(|at| 4 * at.t * at.n / 10, ticks_100ns)),
    row("100ns Multi Timer", "base", Kind::Gauge, "", Whole(|_| 4)),
    row("100ns Multi Timer Inverse", "inactive", Kind::Counter, "seconds", Ticks(|at| 4 * at.t * (10 - at.n) / 10, ticks_100ns)),
    row("100ns Multi Timer Inverse", "base", Kind::Gauge, "", Whole(|_| 4)),
    // Fractions and averages: what is divided, and by what.
    row("Raw Fraction", "", Kind::Gauge, "", Whole(|at| at.n)),
    row("Raw Fraction", "base", Kind::Gauge, "", Whole(|_| 8)),
    row("Large Raw Fraction", "", Kind::Gauge, "", Whole(|at| at.n << 33)),
    row("Large Raw Fraction", "base", Kind::Gauge, "", Whole(|_| 8 << 33)),
    row("Sample Fraction", "", Kind::Counter, "", Narrow(|at| events(at, 100 * at.n))),
    row("Sample Fraction", "base", Kind::Counter, "", Narrow(|at| events(at, 1_000))),
    row("Average Timer", "", Kind::Counter, "seconds", NarrowTicks(average_timer, perf_ticks)),
    row("Average Timer", "base", Kind::Counter, "", Narrow(|at| events(at, 100 * at.n))),
    row("Average Bulk", "", Kind::Counter, "", Whole(|at| events(at, at.r) * 512 * at.n)),
    row("Average Bulk", "base", Kind::Counter, "", Narrow(|at| events(at, at.r))),
    // Instance n was started n minutes after the host.
    row("Elapsed Time", "start_time", Kind::Gauge, "seconds", Seconds(|at| boot_unix() + (60 * at.n) as f64)),
    row("Precision System Timer", "", Kind::Counter, "seconds", Ticks(|at| stamp_perf(at) * at.n / 10, perf_ticks)),
    row("Precision System Timer", "base", Kind::Counter, "seconds", Ticks(stamp_perf, perf_ticks)),
    row("Precision 100ns Timer", "", Kind::Counter, "seconds", Ticks(|at| stamp_100ns(at) * at.n / 10, ticks_100ns)),
    row("Precision 100ns Timer", "base", Kind::Counter, "seconds", Ticks(stamp_100ns, ticks_100ns)),
    row("Precision Object Timer", "", Kind::Counter, "seconds", Ticks(|at| object_time(at) * at.n / 10, object_ticks)),
    row("Precision Object Timer", "base", Kind::Counter, "seconds", Ticks(object_time, object_ticks)),
];

/// Ticks of 100 · n operations a second, each of which takes n thousandths of a second.
fn average_timer(at: &At) -> u64 {
    let operations = u128::from(events(at, 100 * at.n) * at.n);
    u64::try_from(operations * u128::from(at.f) / 1_000).unwrap()
}

/// What 32 bits show that began at `first` and go round: the first value as it is, and everything that came since.
fn unwrapped(formula: fn(&At) -> u64, first: &At, now: &At) -> u64 {
    formula(first) % (1 << 32) + (formula(now) - formula(first))
}

fn assert_shows(row: &Row, first: &At, now: &At, shown: Value) {
    #[expect(clippy::cast_precision_loss, reason = "what is scaled is a double")]
    let seconds = |ticks: u64, freq: fn(&At) -> u64| ticks as f64 / freq(now) as f64;
    let expected = match row.expected {
        Whole(formula) => Value::U64(formula(now)),
        Narrow(formula) => Value::U64(unwrapped(formula, first, now)),
        Ticks(formula, freq) => Value::F64(seconds(formula(now), freq)),
        NarrowTicks(formula, freq) => Value::F64(seconds(unwrapped(formula, first, now), freq)),
        Seconds(formula) => Value::F64(formula(now)),
    };
    let same = match (expected, shown) {
        (Value::F64(expected), Value::F64(shown)) => (expected - shown).abs() <= expected.abs() * 1e-12,
        (expected, shown) => expected == shown,
    };
    assert!(same, "{} {} of instance {}: {shown:?}, not {expected:?}", row.item, row.part, now.n);
}

fn at(n: u32, clock: &Clock) -> At {
    At::new(n, &Moment { time: clock.now(), boot: BOOT, perf_freq: PERF_FREQ })
}

fn value_of(recorded: &Recorded, row: &Row, n: u32) -> Value {
    let family =
        recorded.families.iter().position(|family| family.item == row.item && family.part == row.part);
    let family = family.unwrap_or_else(|| panic!("no family of {} {}", row.item, row.part));
    let label = ("counter_instance".to_owned(), n.to_string());
    let mut series = recorded.series.iter();
    let found = series.find(|series| series.family as usize == family && series.labels.contains(&label));
    found.and_then(|series| series.value).unwrap_or_else(|| panic!("no value of {} of {n}", row.item))
}

fn assert_all_shown(ended: &Ended, first: &[At], clock: &Clock) {
    for row in ROWS {
        for n in 1..=INSTANCE_COUNT {
            let shown = value_of(&ended.recorded, row, n);
            assert_shows(row, &first[n as usize - 1], &at(n, clock), shown);
        }
    }
}

#[test]
fn every_counter_type_goes_out_raw_in_its_unit_with_its_base() {
    let (sim, plugin) = (SimHost::with_options(|options| options.perf_freq = PERF_FREQ), Plugin::new());
    let ended = plugin.watch(&sim, countersets(&["Counter Types"])).full();
    let mut found: Vec<_> = ended
        .families()
        .map(|family| (family.item.as_str(), family.part.as_str(), family.kind, family.unit.as_str()))
        .collect();
    let mut expected: Vec<_> = ROWS.iter().map(|row| (row.item, row.part, row.kind, row.unit)).collect();
    found.sort_by_key(|row| (row.0, row.1));
    expected.sort_by_key(|row| (row.0, row.1));
    assert_eq!(found, expected);
    let first: Vec<At> = (1..=INSTANCE_COUNT).map(|n| at(n, &sim.clock)).collect();
    assert_all_shown(&ended, &first, &sim.clock);
}

// Ten steps of 40 s: the counters of the fourth instance go round after 429 s at ten million events a second, twice as
// often at twice the rate, and never make 2³¹ events in one step.
#[test]
fn counters_of_32_bits_grow_on_when_they_wrap_around() {
    let (sim, plugin) = (SimHost::with_options(|options| options.perf_freq = PERF_FREQ), Plugin::new());
    let watch = plugin.watch(&sim, countersets(&["Counter Types"]));
    watch.full();
    let first: Vec<At> = (1..=INSTANCE_COUNT).map(|n| at(n, &sim.clock)).collect();
    let mut has_wrapped = false;
    for _ in 0..12 {
        sim.clock.advance(Duration::from_secs(40));
        let ended = watch.full();
        assert_all_shown(&ended, &first, &sim.clock);
        let counter = ROWS.iter().find(|row| row.item == "Counter").unwrap();
        has_wrapped |= matches!(value_of(&ended.recorded, counter, 4), Value::U64(value) if value >= 1 << 32);
    }
    assert!(has_wrapped, "the test has to see a wrap");
}

#[test]
fn widened_counters_go_on_over_a_new_connection() {
    let (sim, plugin) = (SimHost::with_options(|options| options.perf_freq = PERF_FREQ), Plugin::new());
    let watch = plugin.watch(&sim, countersets(&["Counter Types"]));
    watch.full();
    let first: Vec<At> = (1..=INSTANCE_COUNT).map(|n| at(n, &sim.clock)).collect();
    for _ in 0..12 {
        sim.clock.advance(Duration::from_secs(40));
        sim.cut();
        assert_all_shown(&watch.full(), &first, &sim.clock);
    }
}

#[test]
fn a_text_is_a_label_of_a_series_with_value_one() {
    let (sim, plugin) = (SimHost::new(), Plugin::new());
    let recorded = &plugin.watch(&sim, countersets(&["Counter Types"])).full().recorded;
    let family = recorded.families.iter().position(|family| family.item == "Text").unwrap();
    let texts: Vec<_> = recorded.series.iter().filter(|series| series.family as usize == family).collect();
    let labels: Vec<_> = texts.iter().map(|series| series.labels.clone()).collect();
    let expected: Vec<_> = (1..=INSTANCE_COUNT)
        .map(|n| {
            vec![("counter_instance".to_owned(), n.to_string()), ("text".to_owned(), format!("text {n}"))]
        })
        .collect();
    assert_eq!(labels, expected);
    assert!(texts.iter().all(|series| series.value == Some(Value::U64(1))));
}
