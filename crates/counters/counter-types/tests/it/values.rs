//! From raw values to exported values.

use counter_types::{CounterType, Exposition, Kind, Part, RawClocks, Unit, Value, plan};
use counters::pcq::types::CounterId;
use counters::pcq::wire::CounterRegInfo;

const CLOCKS: RawClocks = RawClocks {
    perf_time: 900,
    perf_freq: 10,
    time_100ns: NEW_YEAR,
    object_time: Some(5000),
    object_freq: Some(100),
};
/// 2020-01-01T00:00:00Z, in 100 ns since 1601 and in seconds since 1970 (`date -d 2020-01-01Z +%s`).
const NEW_YEAR: u64 = (1_577_836_800 + 11_644_473_600) * 10_000_000;
const NEW_YEAR_UNIX: f64 = 1_577_836_800.0;

fn exposition(counter_type: CounterType, name: &'static str) -> Exposition {
    let counter = CounterRegInfo::new(CounterId(0), counter_type);
    plan(&[counter], |_| Some(name)).remove(0).exposition
}

fn check(counter_type: CounterType, kind: Kind, unit: Unit, part: Part, value: Value) {
    let exposition = exposition(counter_type, "Thing");
    assert_eq!((exposition.kind, exposition.unit, exposition.part), (kind, unit, part), "{counter_type}");
    assert_eq!(exposition.export(4000, &CLOCKS), Some(value), "{counter_type}");
    assert_eq!(exposition.is_integer(), matches!(value, Value::U64(_)), "{counter_type}");
}

#[test]
fn every_type_goes_out_as_the_table_in_the_documentation_says() {
    use CounterType as T;
    use Kind::{Counter, Gauge, Info, Unknown};
    use Part::{Inactive, StartTime, Whole};
    let raw = Value::U64(4000);
    for counter_type in [
        T::PERF_COUNTER_COUNTER,
        T::PERF_COUNTER_BULK_COUNT,
        T::PERF_SAMPLE_COUNTER,
        T::PERF_COUNTER_DELTA,
        T::PERF_COUNTER_LARGE_DELTA,
        T::PERF_SAMPLE_FRACTION,
        T::PERF_AVERAGE_BULK,
    ] {
        check(counter_type, Counter, Unit::None, Whole, raw);
    }
    for counter_type in [
        T::PERF_COUNTER_RAWCOUNT,
        T::PERF_COUNTER_RAWCOUNT_HEX,
        T::PERF_COUNTER_LARGE_RAWCOUNT,
        T::PERF_COUNTER_LARGE_RAWCOUNT_HEX,
        T::PERF_RAW_FRACTION,
        T::PERF_LARGE_RAW_FRACTION,
    ] {
        check(counter_type, Gauge, Unit::None, Whole, raw);
    }
    let perf_freq = Value::F64(400.0);
    for counter_type in [
        T::PERF_COUNTER_TIMER,
        T::PERF_COUNTER_MULTI_TIMER,
        T::PERF_PRECISION_SYSTEM_TIMER,
        T::PERF_AVERAGE_TIMER,
        T::PERF_COUNTER_QUEUELEN_TYPE,
        T::PERF_COUNTER_LARGE_QUEUELEN_TYPE,
    ] {
        check(counter_type, Counter, Unit::Seconds, Whole, perf_freq);
    }
    for counter_type in [T::PERF_COUNTER_TIMER_INV, T::PERF_COUNTER_MULTI_TIMER_INV] {
        check(counter_type, Counter, Unit::Seconds, Inactive, perf_freq);
    }
    let hundred_nanoseconds = Value::F64(0.0004);
    for counter_type in [
        T::PERF_100NSEC_TIMER,
        T::PERF_100NSEC_MULTI_TIMER,
        T::PERF_PRECISION_100NS_TIMER,
        T::PERF_COUNTER_100NS_QUEUELEN_TYPE,
    ] {
        check(counter_type, Counter, Unit::Seconds, Whole, hundred_nanoseconds);
    }
    for counter_type in [T::PERF_100NSEC_TIMER_INV, T::PERF_100NSEC_MULTI_TIMER_INV] {
        check(counter_type, Counter, Unit::Seconds, Inactive, hundred_nanoseconds);
    }
    let object_freq = Value::F64(40.0);
    for counter_type in
        [T::PERF_OBJ_TIME_TIMER, T::PERF_PRECISION_OBJECT_TIMER, T::PERF_COUNTER_OBJ_TIME_QUEUELEN_TYPE]
    {
        check(counter_type, Counter, Unit::Seconds, Whole, object_freq);
    }
    // It began (5000 - 4000) / 100 = 10 s before the reply, by the object's own clock.
    check(T::PERF_ELAPSED_TIME, Gauge, Unit::Seconds, StartTime, Value::F64(NEW_YEAR_UNIX - 10.0));
    check(T::PERF_COUNTER_TEXT, Info, Unit::None, Whole, raw);
    check(CounterType(0x7777_7777), Unknown, Unit::None, Whole, raw);
}

#[test]
fn a_counter_type_without_a_value_gives_no_family() {
    let counter = CounterRegInfo::new(CounterId(0), CounterType::PERF_COUNTER_NODATA);
    assert_eq!(plan(&[counter], |_| None), []);
}

#[test]
fn integers_beyond_two_to_the_53rd_stay_exact() {
    let bulk = exposition(CounterType::PERF_COUNTER_BULK_COUNT, "Bytes/sec");
    let value = (1 << 53) + 1;
    assert_eq!(bulk.export(value, &CLOCKS), Some(Value::U64(value)));
    assert_eq!(bulk.unit, Unit::Bytes);
}

#[test]
fn percent_of_a_momentary_value_is_a_ratio_and_of_a_timer_is_not() {
    let limit = exposition(CounterType::PERF_COUNTER_RAWCOUNT, "% Performance Limit");
    assert_eq!((limit.unit, limit.export(55, &CLOCKS)), (Unit::Ratio, Some(Value::F64(0.55))));
    let time = exposition(CounterType::PERF_100NSEC_TIMER, "% Processor Time");
    assert_eq!(time.unit, Unit::Seconds);
    // Numerator over base is percent; the numerator alone is nothing.
    let free = exposition(CounterType::PERF_RAW_FRACTION, "% Free Space");
    assert_eq!((free.unit, free.export(55, &CLOCKS)), (Unit::None, Some(Value::U64(55))));
}

#[test]
fn a_clock_that_stands_still_gives_no_value() {
    let stopped = RawClocks::default();
    let timer = exposition(CounterType::PERF_COUNTER_TIMER, "Thing");
    assert_eq!(timer.export(1, &stopped), None);
    let elapsed = exposition(CounterType::PERF_ELAPSED_TIME, "Thing");
    assert_eq!(elapsed.export(1, &RawClocks { object_freq: Some(0), ..CLOCKS }), None);
}

#[test]
fn a_counter_whose_object_clock_is_missing_goes_by_the_performance_clock() {
    let without = RawClocks { object_time: None, object_freq: None, ..CLOCKS };
    let elapsed = exposition(CounterType::PERF_ELAPSED_TIME, "Thing");
    assert_eq!(elapsed.export(400, &without), Some(Value::F64(NEW_YEAR_UNIX - 50.0)));
    // A start time in the future gives no elapsed time.
    assert_eq!(elapsed.export(1000, &without), Some(Value::F64(NEW_YEAR_UNIX)));
    let timer = exposition(CounterType::PERF_OBJ_TIME_TIMER, "Thing");
    assert_eq!(timer.export(400, &without), Some(Value::F64(40.0)));
}

// Processes are timed by the time of day: whatever the reply's own clock says, the answer does not move.
#[test]
fn a_start_on_the_clock_of_the_day_is_exact() {
    let process = exposition(CounterType::PERF_ELAPSED_TIME, "Elapsed Time");
    for wavering in [0, 3, 500] {
        let clocks = RawClocks {
            object_time: Some(NEW_YEAR + 70_000_000),
            object_freq: Some(10_000_000),
            time_100ns: NEW_YEAR + 70_000_000 + wavering,
            ..CLOCKS
        };
        assert_eq!(process.export(NEW_YEAR + 5_000_000, &clocks), Some(Value::F64(NEW_YEAR_UNIX + 0.5)));
    }
}

#[test]
fn what_never_began_has_no_start() {
    let elapsed = exposition(CounterType::PERF_ELAPSED_TIME, "Thing");
    let of_day = RawClocks { object_time: Some(NEW_YEAR), object_freq: Some(10_000_000), ..CLOCKS };
    assert_eq!(elapsed.export(0, &of_day), None, "in 1601");
    let since_boot = Some(Value::F64(NEW_YEAR_UNIX - 50.0));
    assert_eq!(elapsed.export(0, &CLOCKS), since_boot, "when its clock did: 5000 ticks of 1/100 s ago");
    assert_eq!(elapsed.export(4000, &RawClocks { time_100ns: 0, ..CLOCKS }), None, "without a time of day");
}

#[test]
fn a_hundred_nanoseconds_become_the_nearest_seconds() {
    let timer = exposition(CounterType::PERF_100NSEC_TIMER, "Thing");
    assert_eq!(timer.export(3, &CLOCKS), Some(Value::F64(0.000_000_3)));
}

#[test]
fn a_double_is_not_the_integer_of_its_bits() {
    let exposition = exposition(CounterType::PERF_DOUBLE_RAW, "% Load");
    assert_eq!((exposition.kind, exposition.unit), (Kind::Gauge, Unit::None));
    assert!(!exposition.is_integer());
    assert_eq!(exposition.export(0x3FF8_0000_0000_0000, &CLOCKS), Some(Value::F64(1.5)));
}
