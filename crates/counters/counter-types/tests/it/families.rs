//! The families of countersets.

use counter_types::{CounterType as T, Kind, Part, Scale, Unit, plan};
use counters::pcq::types::{Attrib, CounterId, CounterType};
use counters::pcq::wire::CounterRegInfo;
use expect_test::{Expect, expect};

fn counter(id: u32, counter_type: CounterType) -> CounterRegInfo {
    CounterRegInfo::new(CounterId(id), counter_type)
}

fn check(counters: &[CounterRegInfo], names: &[(u32, &'static str)], expected: &Expect) {
    let name_of = |id: CounterId| names.iter().find(|(other, _)| *other == id.0).map(|(_, name)| *name);
    let mut text = String::new();
    for family in plan(counters, name_of) {
        let name = name_of(family.item).unwrap_or("?");
        let exposition = family.exposition;
        let source = family.source.0;
        text += &format!("{name}|{}|{}: {:?}", exposition.part, exposition.unit, exposition.kind);
        text +=
            &format!(" of {source} {:?}{}", exposition.scale, if exposition.wraps { " wraps" } else { "" });
        if let (Some(time), Some(freq)) = (family.clock.time, family.clock.freq) {
            text += &format!(" by {}/{}", time.0, freq.0);
        }
        text.push('\n');
    }
    expected.assert_eq(&text);
}

#[test]
fn processor_information_shows_a_base_with_each_counter_that_it_divides() {
    let base =
        |id, of| CounterRegInfo { base_counter_id: CounterId(of), ..counter(id, T::PERF_AVERAGE_BULK) };
    let counters = [
        counter(0, T::PERF_100NSEC_TIMER_INV),
        base(26, 27),
        CounterRegInfo { attrib: Attrib::NO_DISPLAYABLE, ..counter(27, T::PERF_AVERAGE_BASE) },
        base(28, 27),
        counter(30, T::PERF_COUNTER_RAWCOUNT),
    ];
    let names = [
        (0, "% Processor Time"),
        (26, "% Processor Utility"),
        (28, "% Privileged Utility"),
        (30, "% Performance Limit"),
    ];
    check(
        &counters,
        &names,
        &expect![[r#"
            % Processor Time|inactive|seconds: Counter of 0 HundredNanoseconds
            % Processor Utility||: Counter of 26 One
            % Processor Utility|base|: Counter of 27 One wraps
            % Privileged Utility||: Counter of 28 One
            % Privileged Utility|base|: Counter of 27 One wraps
            % Performance Limit||ratio: Gauge of 30 Percent
        "#]],
    );
}

#[test]
fn every_kind_of_base_and_clock_is_found() {
    let over =
        |id, counter_type, of| CounterRegInfo { base_counter_id: CounterId(of), ..counter(id, counter_type) };
    let multi =
        |id, counter_type, of| CounterRegInfo { multi_id: CounterId(of), ..counter(id, counter_type) };
    let object = |info| CounterRegInfo { perf_time_id: CounterId(90), perf_freq_id: CounterId(91), ..info };
    let hidden = |info| CounterRegInfo { attrib: Attrib::NO_DISPLAYABLE, ..info };
    let counters = [
        over(1, T::PERF_RAW_FRACTION, 2),
        counter(2, T::PERF_RAW_BASE),
        over(3, T::PERF_SAMPLE_FRACTION, 4),
        counter(4, T::PERF_SAMPLE_BASE),
        over(5, T::PERF_AVERAGE_TIMER, 6),
        counter(6, T::PERF_AVERAGE_BASE),
        over(7, T::PERF_PRECISION_100NS_TIMER, 8),
        counter(8, T::PERF_LARGE_RAW_BASE),
        over(9, T::PERF_LARGE_RAW_FRACTION, 8),
        multi(10, T::PERF_100NSEC_MULTI_TIMER_INV, 11),
        counter(11, T::PERF_COUNTER_MULTI_BASE),
        object(counter(12, T::PERF_OBJ_TIME_TIMER)),
        object(over(13, T::PERF_PRECISION_OBJECT_TIMER, 8)),
        object(counter(14, T::PERF_ELAPSED_TIME)),
        hidden(counter(90, T::PERF_COUNTER_LARGE_RAWCOUNT)),
        hidden(counter(91, T::PERF_COUNTER_LARGE_RAWCOUNT)),
    ];
    let names = [
        (1, "Part"),
        (3, "Hits"),
        (5, "Avg. Time"),
        (7, "% Precise"),
        (9, "% Large Part"),
        (10, "% Idle Of Many"),
        (12, "% Object"),
        (13, "% Precise Object"),
        (14, "Elapsed Time"),
    ];
    check(
        &counters,
        &names,
        &expect![[r#"
            Part||: Gauge of 1 One
            Part|base|: Gauge of 2 One
            Hits||: Counter of 3 One wraps
            Hits|base|: Counter of 4 One wraps
            Avg. Time||seconds: Counter of 5 PerfFreq wraps
            Avg. Time|base|: Counter of 6 One wraps
            % Precise||seconds: Counter of 7 HundredNanoseconds
            % Precise|base|seconds: Counter of 8 HundredNanoseconds
            % Large Part||: Gauge of 9 One
            % Large Part|base|: Gauge of 8 One
            % Idle Of Many|inactive|seconds: Counter of 10 HundredNanoseconds
            % Idle Of Many|base|: Gauge of 11 One
            % Object||seconds: Counter of 12 ObjectFreq by 90/91
            % Precise Object||seconds: Counter of 13 ObjectFreq by 90/91
            % Precise Object|base|seconds: Counter of 8 ObjectFreq by 90/91
            Elapsed Time|start_time|seconds: Gauge of 14 Beginning by 90/91
        "#]],
    );
}

#[test]
fn a_base_of_nobody_goes_out_alone() {
    let families = plan(&[counter(1, T::PERF_AVERAGE_BASE)], |_| Some("Operations Base"));
    assert_eq!(families.len(), 1);
    let exposition = families[0].exposition;
    assert_eq!((exposition.kind, exposition.part, exposition.wraps), (Kind::Counter, Part::Whole, true));
}

#[test]
fn a_base_that_is_not_there_leaves_the_numerator_alone() {
    let lost = CounterRegInfo { base_counter_id: CounterId(9), ..counter(1, T::PERF_RAW_FRACTION) };
    let none = counter(2, T::PERF_AVERAGE_BULK);
    let families = plan(&[lost, none], |_| None);
    assert_eq!(families.iter().map(|family| family.source.0).collect::<Vec<_>>(), [1, 2]);
}

#[test]
fn an_id_that_occurs_twice_counts_once() {
    let counters = [counter(1, T::PERF_COUNTER_RAWCOUNT), counter(1, T::PERF_COUNTER_BULK_COUNT)];
    let families = plan(&counters, |_| Some("Bytes"));
    assert_eq!(families.len(), 1);
    let exposition = families[0].exposition;
    assert_eq!((exposition.kind, exposition.unit, exposition.scale), (Kind::Gauge, Unit::Bytes, Scale::One));
}

// A host may report the maximum number of counters, each with a base.
#[test]
fn a_set_of_very_many_counters_is_planned_in_one_pass() {
    let counters: Vec<_> = (0..1 << 16).map(|id| counter(id, T::PERF_AVERAGE_BASE)).collect();
    assert_eq!(plan(&counters, |_| None).len(), counters.len());
}

// The base of a precision timer is the time of day since 1601, or a clock that nobody knows.
#[test]
fn only_a_count_that_cannot_have_gone_round_counts_since_the_host_was_started() {
    let base = CounterRegInfo { attrib: Attrib::NO_DISPLAYABLE, ..counter(9, T::PERF_LARGE_RAW_BASE) };
    let counted = |counter_type: T| {
        let over_base = CounterRegInfo { base_counter_id: CounterId(9), ..counter(0, counter_type) };
        let families = plan(&[over_base, base], |_| None);
        let counted = families.iter().filter(|family| family.exposition.counts_since_beginning());
        counted.map(|family| family.exposition.part.as_str()).collect::<Vec<_>>()
    };
    let precise =
        [T::PERF_PRECISION_SYSTEM_TIMER, T::PERF_PRECISION_100NS_TIMER, T::PERF_PRECISION_OBJECT_TIMER];
    for counter_type in precise.into_iter().chain([T::PERF_COUNTER_BULK_COUNT, T::PERF_AVERAGE_BULK]) {
        assert_eq!(counted(counter_type), [""], "{counter_type}");
    }
    assert_eq!(counted(T::PERF_100NSEC_TIMER_INV), ["inactive"]);
    let uncounted = [T::PERF_COUNTER_COUNTER, T::PERF_SAMPLE_FRACTION, T::PERF_AVERAGE_TIMER];
    for counter_type in uncounted.into_iter().chain([T::PERF_COUNTER_LARGE_RAWCOUNT, T::PERF_ELAPSED_TIME]) {
        assert_eq!(counted(counter_type), [""; 0], "{counter_type}");
    }
}
