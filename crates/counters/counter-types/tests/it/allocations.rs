//! The work for each value of a reply does not allocate, and the state of each host is small.

use allocation_counter::measure;
use counter_types::aggregate::{Accumulator, Share};
use counter_types::{
    Cooked, CounterType, NamePattern, PatternText, RawClocks, Reading, Selection, Widen, Width, cook, plan,
};
use counters::pcq::types::{AggregateFunc, CounterId, InstanceType};
use counters::pcq::wire::CounterRegInfo;

#[test]
fn values_are_widened_scaled_cooked_and_aggregated_without_an_allocation() {
    let counter = CounterRegInfo {
        aggregate_func: AggregateFunc::AVERAGE,
        ..CounterRegInfo::new(CounterId(0), CounterType::PERF_COUNTER_COUNTER)
    };
    let exposition = plan(&[counter], |_| None)[0].exposition;
    let mut mean = Accumulator::new(&counter, &exposition, InstanceType::GLOBAL_AGGREGATE_HISTORY).unwrap();
    let mut shares = [Share::default(); 8];
    let mut widen = Widen::new();
    let clocks = |perf_time| RawClocks { perf_time, perf_freq: 10, ..RawClocks::default() };
    let allocated = measure(|| {
        for round in 1..100 {
            mean.begin();
            shares.iter_mut().for_each(|share| mean.add(share, round));
            assert!(mean.export(&exposition, &clocks(round)).is_some());
            let widened = widen.update(round, Width::Bits32);
            assert!(exposition.export(widened.total, &clocks(round)).is_some());
            let at = |time| Reading { value: time, base: None, clocks: clocks(time) };
            assert_ne!(cook(counter.counter_type, Some(&at(round)), &at(round + 1)), Cooked::NoValue);
        }
        shares.iter().for_each(|share| mean.leave(share));
    });
    assert_eq!(allocated.count_total, 0);
}

#[test]
fn instances_are_chosen_without_an_allocation() {
    let all = Selection::default();
    let wildcard = NamePattern::new(&PatternText::Wildcard("*,_Total".to_owned())).unwrap();
    let allocated = measure(|| {
        assert!(
            all.wants_instance("0,_Total") && wildcard.matches("0,_Total") && !wildcard.matches("_Total")
        );
    });
    assert_eq!(allocated.count_total, 0);
}

// Thousands of hosts have dozens of them each, and a compiled expression takes tens of kilobytes.
#[test]
fn names_and_wildcards_are_kept_in_little_memory() {
    for text in [
        PatternText::Plain("Avg. Disk sec/Read".to_owned()),
        PatternText::Plain("% Processor Time".to_owned()),
        PatternText::Wildcard("Hyper-V *".to_owned()),
    ] {
        let mut pattern = None;
        let allocated = measure(|| pattern = Some(NamePattern::new(&text)));
        assert!(pattern.is_some_and(|pattern| pattern.is_ok()));
        assert!(allocated.bytes_max < 1_024, "{text:?}: {} bytes", allocated.bytes_max);
    }
}
