//! The displayed value of two samples, type by type.

use counter_types::{ALL, Cooked, CounterType, Formula, RawClocks, Reading, Width, cook, properties};
use proptest::prelude::*;

use CounterType as T;

/// Two replies with two seconds between them, on clocks of 1 kHz, 10 MHz and 50 Hz.
const OLDER: RawClocks = RawClocks {
    perf_time: 10_000,
    perf_freq: 1_000,
    time_100ns: 5_000_000_000,
    object_time: Some(700),
    object_freq: Some(50),
};
const NEWER: RawClocks =
    RawClocks { perf_time: 12_000, time_100ns: 5_020_000_000, object_time: Some(800), ..OLDER };

/// A type, its value and its base in two samples, and what they display.
struct Row {
    counter_type: T,
    n: [u64; 2],
    b: [u64; 2],
    expected: f64,
}

const fn row(counter_type: T, n: [u64; 2], expected: f64) -> Row {
    over(counter_type, n, [0, 0], expected)
}

const fn over(counter_type: T, n: [u64; 2], b: [u64; 2], expected: f64) -> Row {
    Row { counter_type, n, b, expected }
}

const TERA: u64 = 1 << 40;

// The arithmetic is by hand, from the formulas of the Win32 pages as decided in Formula's documentation.
const ROWS: &[Row] = &[
    // 300 events in 2000 ticks of 1/1000 s.
    row(T::PERF_COUNTER_COUNTER, [500, 800], 150.0),
    row(T::PERF_COUNTER_BULK_COUNT, [TERA, TERA + 300], 150.0),
    row(T::PERF_SAMPLE_COUNTER, [500, 800], 150.0),
    row(T::PERF_COUNTER_DELTA, [500, 800], 300.0),
    row(T::PERF_COUNTER_LARGE_DELTA, [TERA, TERA + 300], 300.0),
    // Momentary values.
    row(T::PERF_COUNTER_RAWCOUNT, [9, 7], 7.0),
    row(T::PERF_COUNTER_RAWCOUNT_HEX, [9, 7], 7.0),
    row(T::PERF_COUNTER_LARGE_RAWCOUNT, [9, TERA], 1_099_511_627_776.0),
    row(T::PERF_COUNTER_LARGE_RAWCOUNT_HEX, [9, TERA], 1_099_511_627_776.0),
    // 1.5 in IEEE 754: exponent 0x3FF, half of the mantissa.
    row(T::PERF_DOUBLE_RAW, [0, 0x3FF8_0000_0000_0000], 1.5),
    // 500 of 2000 ticks: 25 %; or 75 % where they are the idle ones.
    row(T::PERF_COUNTER_TIMER, [TERA, TERA + 500], 25.0),
    row(T::PERF_COUNTER_TIMER_INV, [TERA, TERA + 500], 75.0),
    // 5,000,000 of 20,000,000.
    row(T::PERF_100NSEC_TIMER, [TERA, TERA + 5_000_000], 25.0),
    row(T::PERF_100NSEC_TIMER_INV, [TERA, TERA + 5_000_000], 75.0),
    // 25 of 100 ticks of the object's clock.
    row(T::PERF_OBJ_TIME_TIMER, [100, 125], 25.0),
    // The bases are time stamps of their own, 1600 ticks apart: 400 / 1600.
    over(T::PERF_PRECISION_SYSTEM_TIMER, [TERA, TERA + 400], [TERA, TERA + 1_600], 25.0),
    over(T::PERF_PRECISION_100NS_TIMER, [TERA, TERA + 400], [TERA, TERA + 1_600], 25.0),
    over(T::PERF_PRECISION_OBJECT_TIMER, [TERA, TERA + 400], [TERA, TERA + 1_600], 25.0),
    // Four things, 2000 ticks in 2000: one of four was busy …
    over(T::PERF_COUNTER_MULTI_TIMER, [TERA, TERA + 2_000], [4, 4], 25.0),
    over(T::PERF_100NSEC_MULTI_TIMER, [TERA, TERA + 20_000_000], [4, 4], 25.0),
    // … or was idle, so that three were busy: 100 · (4 − 1).
    over(T::PERF_COUNTER_MULTI_TIMER_INV, [TERA, TERA + 2_000], [4, 4], 300.0),
    over(T::PERF_100NSEC_MULTI_TIMER_INV, [TERA, TERA + 20_000_000], [4, 4], 300.0),
    row(T::PERF_COUNTER_MULTI_BASE, [4, 4], 4.0),
    // 6000 / 2000, 60,000,000 / 20,000,000 and 300 / 100: three in the queue.
    row(T::PERF_COUNTER_QUEUELEN_TYPE, [1_000, 7_000], 3.0),
    row(T::PERF_COUNTER_LARGE_QUEUELEN_TYPE, [TERA, TERA + 6_000], 3.0),
    row(T::PERF_COUNTER_100NS_QUEUELEN_TYPE, [TERA, TERA + 60_000_000], 3.0),
    row(T::PERF_COUNTER_OBJ_TIME_QUEUELEN_TYPE, [TERA, TERA + 300], 3.0),
    // 3 of 8.
    over(T::PERF_RAW_FRACTION, [1, 3], [4, 8], 37.5),
    over(T::PERF_LARGE_RAW_FRACTION, [1, 3 * TERA], [4, 8 * TERA], 37.5),
    row(T::PERF_RAW_BASE, [4, 8], 8.0),
    row(T::PERF_LARGE_RAW_BASE, [4, 8], 8.0),
    // 30 hits in 120 tries.
    over(T::PERF_SAMPLE_FRACTION, [10, 40], [100, 220], 25.0),
    row(T::PERF_SAMPLE_BASE, [100, 220], 220.0),
    // 3000 ticks of 1/1000 s in 6 operations.
    over(T::PERF_AVERAGE_TIMER, [1_000, 4_000], [10, 16], 0.5),
    // 6144 bytes in 6 operations.
    over(T::PERF_AVERAGE_BULK, [4_096, 10_240], [10, 16], 1_024.0),
    row(T::PERF_AVERAGE_BASE, [10, 16], 16.0),
    // It began at 300, it is 800 now, 50 ticks are a second.
    row(T::PERF_ELAPSED_TIME, [300, 300], 10.0),
];

fn readings(row: &Row) -> [Reading; 2] {
    let reading = |index: usize, clocks| Reading { value: row.n[index], base: Some(row.b[index]), clocks };
    [reading(0, OLDER), reading(1, NEWER)]
}

fn cooked(counter_type: T, [older, newer]: &[Reading; 2]) -> Cooked {
    cook(counter_type, Some(older), newer)
}

fn formula(row: &Row) -> Formula {
    properties(row.counter_type).unwrap().formula
}

/// Those whose formula takes the difference of two samples.
fn differences() -> impl Iterator<Item = &'static Row> {
    ROWS.iter().filter(|row| formula(row).needs_two())
}

fn with_formula(formulas: &[Formula]) -> impl Iterator<Item = &'static Row> {
    ROWS.iter().filter(|row| formulas.contains(&formula(row)))
}

#[test]
fn every_type_displays_what_its_formula_says() {
    for row in ROWS {
        assert_eq!(
            cooked(row.counter_type, &readings(row)),
            Cooked::Value(row.expected),
            "{}",
            row.counter_type
        );
    }
    let numberless = [T::PERF_COUNTER_TEXT, T::PERF_COUNTER_NODATA];
    for counter_type in numberless {
        assert_eq!(cook(counter_type, None, &Reading::default()), Cooked::NoValue);
    }
    let proved: Vec<_> = ROWS.iter().map(|row| row.counter_type).chain(numberless).collect();
    assert!(ALL.iter().all(|row| proved.contains(&row.counter_type)), "a type is not proved here");
}

#[test]
fn a_type_that_nobody_described_displays_its_value() {
    let reading = Reading { value: 7, ..Reading::default() };
    assert_eq!(cook(CounterType(0x7777_7777), None, &reading), Cooked::Value(7.0));
}

#[test]
fn one_sample_is_enough_only_where_nothing_is_subtracted() {
    for row in ROWS {
        let [_, newer] = readings(row);
        let expected = if formula(row).needs_two() { Cooked::NeedsTwo } else { Cooked::Value(row.expected) };
        assert_eq!(cook(row.counter_type, None, &newer), expected, "{}", row.counter_type);
    }
}

// The same change gives the same value at any start value; also if the counter wraps.
#[test]
fn values_and_bases_go_round_unnoticed() {
    for row in differences() {
        let turn = match properties(row.counter_type).unwrap().width() {
            Width::Bits32 => u64::from(u32::MAX),
            Width::Bits64 => u64::MAX,
        };
        let mut around = readings(row);
        let shift = (turn - row.n[0]) & turn;
        for reading in &mut around {
            reading.value = reading.value.wrapping_add(shift) & turn;
        }
        assert!(around[1].value < around[0].value, "{} has to go round", row.counter_type);
        assert_eq!(cooked(row.counter_type, &around), Cooked::Value(row.expected), "{}", row.counter_type);
    }
    let narrow_bases = [T::PERF_SAMPLE_FRACTION, T::PERF_AVERAGE_TIMER, T::PERF_AVERAGE_BULK];
    for row in ROWS.iter().filter(|row| narrow_bases.contains(&row.counter_type)) {
        let mut around = readings(row);
        let shift = u64::from(u32::MAX) - row.b[0];
        for (reading, base) in around.iter_mut().zip(row.b) {
            reading.base = Some((base + shift) & u64::from(u32::MAX));
        }
        assert!(around[1].base < around[0].base, "{} has to go round", row.counter_type);
        assert_eq!(cooked(row.counter_type, &around), Cooked::Value(row.expected), "{}", row.counter_type);
    }
}

#[test]
fn a_provider_that_was_started_anew_is_no_turn() {
    for row in differences() {
        let mut fallen = readings(row);
        fallen[0].value = 1 << 31;
        fallen[1].value = 99;
        assert_eq!(cooked(row.counter_type, &fallen), Cooked::Restarted, "{}", row.counter_type);
    }
    for row in with_formula(&[Formula::Share, Formula::Mean, Formula::MeanTime]) {
        let mut fallen = readings(row);
        fallen[0].base = Some(1_000_000);
        fallen[1].base = Some(5);
        assert_eq!(cooked(row.counter_type, &fallen), Cooked::Restarted, "base of {}", row.counter_type);
    }
}

#[test]
fn a_host_that_was_started_anew_makes_no_rate_even_where_its_counters_have_grown() {
    for row in differences() {
        let mut restarted = readings(row);
        restarted[1].clocks.perf_time = 9_999;
        assert_eq!(cooked(row.counter_type, &restarted), Cooked::Restarted, "{}", row.counter_type);
    }
}

#[test]
fn nothing_is_divided_by_zero() {
    let over_base = [Formula::Share, Formula::Mean, Formula::MeanTime, Formula::Part];
    let over_things = [Formula::BusyOfMany, Formula::IdleOfMany];
    for row in with_formula(&over_base).chain(with_formula(&over_things)) {
        let mut still = readings(row);
        let is_of_one = matches!(formula(row), Formula::Part | Formula::BusyOfMany | Formula::IdleOfMany);
        if is_of_one {
            still[1].base = Some(0);
            assert_eq!(cooked(row.counter_type, &still), Cooked::Undefined, "{}", row.counter_type);
        }
        still[1].base = None;
        if row.counter_type != T::PERF_PRECISION_OBJECT_TIMER {
            assert_eq!(cooked(row.counter_type, &still), Cooked::Undefined, "{} without", row.counter_type);
        }
    }
    let over_time = [Formula::Rate, Formula::QueueLength, Formula::Busy, Formula::Idle];
    for row in with_formula(&over_time).chain(with_formula(&over_things)) {
        let [older, mut newer] = readings(row);
        newer.clocks = older.clocks;
        let cooked = cook(row.counter_type, Some(&older), &newer);
        assert_eq!(cooked, Cooked::Undefined, "{} at one moment", row.counter_type);
    }
    for row in with_formula(&[Formula::Rate, Formula::MeanTime, Formula::Elapsed]) {
        let mut stopped = readings(row);
        stopped[1].clocks.perf_freq = 0;
        stopped[1].clocks.object_freq = Some(0);
        assert_eq!(cooked(row.counter_type, &stopped), Cooked::Undefined, "{} without F", row.counter_type);
    }
}

// Windows shows and logs 0 for the mean time of a read of a disk that nobody reads.
#[test]
fn what_is_averaged_over_no_operation_is_zero_and_only_that() {
    for row in with_formula(&[Formula::Share, Formula::Mean, Formula::MeanTime]) {
        let check = |n: [u64; 2], b: [Option<u64>; 2], expected| {
            let [older, newer] = readings(row);
            let pair =
                [Reading { value: n[0], base: b[0], ..older }, Reading { value: n[1], base: b[1], ..newer }];
            assert_eq!(cooked(row.counter_type, &pair), expected, "{} {n:?} {b:?}", row.counter_type);
        };
        check([7, 7], [Some(4), Some(4)], Cooked::Value(0.0));
        check([0, 0], [Some(0), Some(0)], Cooked::Value(0.0));
        check([7, 9], [Some(4), Some(4)], Cooked::Value(0.0));
        check([9, 7], [Some(1 << 20), Some(1 << 20)], Cooked::Restarted);
        check([7, 7], [Some(1 << 20), Some(5)], Cooked::Restarted);
        check([7, 7], [None, Some(4)], Cooked::Undefined);
        assert_eq!(cook(row.counter_type, None, &readings(row)[1]), Cooked::NeedsTwo);
        let mut anew = readings(row);
        anew[1] = Reading { base: anew[0].base, ..anew[1] };
        anew[1].clocks.perf_time = 0;
        assert_eq!(cooked(row.counter_type, &anew), Cooked::Restarted, "{}", row.counter_type);
    }
}

// [MS-PCQ] 2.2.4.2 has the object's clock in its formula, and winperf.h a base.
#[test]
fn a_precision_timer_of_an_objects_clock_needs_no_base() {
    let row = ROWS.iter().find(|row| row.counter_type == T::PERF_PRECISION_OBJECT_TIMER).unwrap();
    let without = readings(row).map(|reading| Reading { base: None, ..reading });
    // 400 of 100 ticks of the object's clock.
    assert_eq!(cooked(row.counter_type, &without), Cooked::Value(400.0));
}

#[test]
fn another_host_of_the_name_makes_no_value_even_where_its_counters_are_higher() {
    for row in differences() {
        let mut moved = readings(row);
        for (reading, time) in moved.iter_mut().zip([132_223_104_000_000_000, 132_223_104_020_000_000]) {
            reading.clocks.time_100ns = time;
        }
        let mut faster = moved;
        faster[1].clocks.perf_freq = 2_000;
        moved[1].clocks.perf_time += 70_000;
        for pair in [moved, faster] {
            assert_eq!(cooked(row.counter_type, &pair), Cooked::Restarted, "{}", row.counter_type);
        }
    }
}

#[test]
fn setting_the_time_of_day_leaves_what_is_displayed_alone() {
    const HOUR: i64 = 3_600 * 10_000_000;
    for row in differences() {
        for step in [HOUR, -HOUR, -20_000_000, 10 * HOUR] {
            let mut set = readings(row);
            set[0].clocks.time_100ns = 10_000_000_000_000;
            set[1].clocks.time_100ns = 10_000_020_000_000_u64.wrapping_add_signed(step);
            let shown = cooked(row.counter_type, &set);
            assert_eq!(shown, Cooked::Value(row.expected), "{} by {step}", row.counter_type);
        }
    }
}

// The time of day moves in steps of up to 16 ms, and the timers of 100 ns with it.
#[test]
fn the_steps_of_the_time_of_day_are_believed() {
    let at = |perf_time, time_100ns, value| {
        let clocks = RawClocks { perf_time, time_100ns, ..OLDER };
        Reading { value, base: None, clocks }
    };
    let (older, newer) = (at(10_000, 5_000_000_000, 0), at(10_100, 5_001_160_000, 290_000));
    // 0.1 s by the performance clock, and 290,000 of 1,160,000 by the day's.
    assert_eq!(cook(T::PERF_100NSEC_TIMER, Some(&older), &newer), Cooked::Value(25.0));
}

#[test]
fn without_a_performance_clock_a_step_back_leaves_nothing_to_divide_by() {
    let busy = ROWS.iter().find(|row| row.counter_type == T::PERF_100NSEC_TIMER).unwrap();
    let mut alone = readings(busy).map(|reading| Reading {
        clocks: RawClocks { perf_time: 0, perf_freq: 0, ..reading.clocks },
        ..reading
    });
    assert_eq!(cooked(busy.counter_type, &alone), Cooked::Value(25.0));
    alone[1].clocks.time_100ns = 1;
    assert_eq!(cooked(busy.counter_type, &alone), Cooked::Undefined);
}

#[test]
fn an_object_clock_that_is_missing_is_the_performance_clock() {
    let timer = ROWS.iter().find(|row| row.counter_type == T::PERF_OBJ_TIME_TIMER).unwrap();
    let without = readings(timer).map(|reading| {
        let clocks = RawClocks { object_time: None, object_freq: None, ..reading.clocks };
        Reading { clocks, ..reading }
    });
    // 25 of 2000 ticks.
    assert_eq!(cooked(timer.counter_type, &without), Cooked::Value(1.25));
}

#[test]
fn idle_time_that_is_read_late_is_not_less_than_nothing() {
    let row = over(T::PERF_COUNTER_TIMER_INV, [0, 2_003], [0, 0], 0.0);
    assert_eq!(cooked(row.counter_type, &readings(&row)), Cooked::Value(0.0));
    let many = over(T::PERF_COUNTER_MULTI_TIMER_INV, [0, 8_003], [4, 4], 0.0);
    assert_eq!(cooked(many.counter_type, &readings(&many)), Cooked::Value(0.0));
}

#[test]
fn two_processors_do_twice_the_work_of_one() {
    let row = over(T::PERF_100NSEC_TIMER, [0, 40_000_000], [0, 0], 200.0);
    assert_eq!(cooked(row.counter_type, &readings(&row)), Cooked::Value(200.0));
}

#[test]
fn what_begins_after_the_reply_was_made_has_not_elapsed() {
    let row = row(T::PERF_ELAPSED_TIME, [801, 801], 0.0);
    assert_eq!(cooked(row.counter_type, &readings(&row)), Cooked::Value(0.0));
}

#[test]
fn what_never_began_by_the_time_of_day_has_not_elapsed_since_1601() {
    let new_year_2020 = 132_223_104_000_000_000;
    let clocks = RawClocks { object_time: Some(new_year_2020), object_freq: Some(10_000_000), ..NEWER };
    let reading = |value| Reading { value, base: None, clocks };
    assert_eq!(cook(T::PERF_ELAPSED_TIME, None, &reading(0)), Cooked::Undefined);
    let five_seconds_ago = new_year_2020 - 50_000_000;
    assert_eq!(cook(T::PERF_ELAPSED_TIME, None, &reading(five_seconds_ago)), Cooked::Value(5.0));
}

#[test]
fn a_double_that_is_no_number_is_none() {
    let reading = Reading { value: f64::NAN.to_bits(), ..Reading::default() };
    assert_eq!(cook(T::PERF_DOUBLE_RAW, None, &reading), Cooked::Undefined);
}

fn any_clocks() -> impl Strategy<Value = RawClocks> {
    any::<(u64, u64, u64, Option<u64>, Option<u64>)>().prop_map(
        |(perf_time, perf_freq, time_100ns, object_time, object_freq)| RawClocks {
            perf_time,
            perf_freq,
            time_100ns,
            object_time,
            object_freq,
        },
    )
}

fn any_reading() -> impl Strategy<Value = Reading> {
    (any::<u64>(), any::<Option<u64>>(), any_clocks()).prop_map(|(value, base, clocks)| Reading {
        value,
        base,
        clocks,
    })
}

fn any_type() -> impl Strategy<Value = T> {
    prop_oneof![(0..ALL.len()).prop_map(|index| ALL[index].counter_type), any::<u32>().prop_map(CounterType)]
}

proptest! {
    #[test]
    fn whatever_a_host_sends_is_displayed_as_a_finite_number_or_not_at_all(
        counter_type in any_type(), older in any_reading(), newer in any_reading(),
    ) {
        if let Cooked::Value(value) = cook(counter_type, Some(&older), &newer) {
            prop_assert!(value.is_finite());
            // Only a double can be below zero.
            prop_assert!(value >= 0.0 || counter_type == T::PERF_DOUBLE_RAW, "{value}");
        }
    }
}
