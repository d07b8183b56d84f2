//! What the aggregate of a counterset shows from reply to reply.

use counter_types::aggregate::{Accumulator, Scope, Share};
use counter_types::{CounterType, Family, Part, RawClocks, Value, plan};
use counters::pcq::types::{AggregateFunc, CounterId, InstanceType};
use counters::pcq::wire::CounterRegInfo;
use proptest::prelude::*;

use AggregateFunc as A;
use CounterType as T;
use InstanceType as I;

/// One family of one counter, its aggregate, and the instances by their names.
struct Watch {
    family: Family,
    accumulator: Accumulator,
    there: Vec<(char, Share)>,
}

fn counter(counter_type: T, aggregate_func: A) -> CounterRegInfo {
    let of = CounterId(1);
    let new = CounterRegInfo::new(CounterId(0), counter_type);
    CounterRegInfo { aggregate_func, base_counter_id: of, multi_id: of, ..new }
}

fn families(counter: &CounterRegInfo, base: T) -> Vec<Family> {
    plan(&[*counter, CounterRegInfo::new(CounterId(1), base)], |_| Some("Thing"))
}

fn watch(counter_type: T, function: A, instances: I) -> Watch {
    let counter = counter(counter_type, function);
    let family = plan(&[counter], |_| Some("Thing")).remove(0);
    let accumulator = Accumulator::new(&counter, &family.exposition, instances).unwrap();
    Watch { family, accumulator, there: Vec::new() }
}

impl Watch {
    /// A reply with these instances and values.
    fn reply(&mut self, values: &[(char, u64)]) -> Option<Value> {
        self.accumulator.begin();
        let (there, gone): (Vec<_>, Vec<_>) =
            self.there.drain(..).partition(|(name, _)| values.iter().any(|(other, _)| other == name));
        self.there = there;
        for (name, value) in values {
            let known = self.there.iter().position(|(other, _)| other == name);
            let index = known.unwrap_or_else(|| {
                self.there.push((*name, Share::default()));
                self.there.len() - 1
            });
            self.accumulator.add(&mut self.there[index].1, *value);
        }
        for (_, share) in &gone {
            self.accumulator.leave(share);
        }
        let clocks = RawClocks { perf_freq: 1, ..RawClocks::default() };
        self.accumulator.export(&self.family.exposition, &clocks)
    }
}

fn integer(value: u64) -> Option<Value> {
    Some(Value::U64(value))
}

const EVENTS: T = T::PERF_COUNTER_BULK_COUNT;
const MOMENTARY: T = T::PERF_COUNTER_RAWCOUNT;

#[test]
fn a_sum_of_counters_never_falls() {
    let mut sum = watch(EVENTS, A::TOTAL, I::MULTIPLE_AGGREGATE);
    assert_eq!(sum.reply(&[('a', 100), ('b', 50)]), integer(150));
    assert_eq!(sum.reply(&[('a', 110), ('b', 53)]), integer(163));
    // b has ended.
    assert_eq!(sum.reply(&[('a', 120)]), integer(173));
    // c has come and has counted 7 by now; a was restarted and has counted 4 since.
    assert_eq!(sum.reply(&[('a', 4), ('c', 7)]), integer(184));
    assert_eq!(sum.reply(&[]), integer(184));
    assert_eq!(sum.reply(&[('d', 1)]), integer(185));
}

#[test]
fn a_sum_of_32_bit_counters_goes_on_when_one_goes_round() {
    let mut sum = watch(T::PERF_COUNTER_COUNTER, A::TOTAL, I::GLOBAL_AGGREGATE);
    let near = u64::from(u32::MAX) - 4;
    assert_eq!(sum.reply(&[('a', near), ('b', near)]), integer(2 * near));
    // Ten more of a, which was five before the turn; one more of b.
    assert_eq!(sum.reply(&[('a', 5), ('b', near + 1)]), integer(2 * near + 11));
}

#[test]
fn the_mean_least_and_greatest_of_counters_are_those_of_each_interval() {
    let replies: [&[(char, u64)]; 3] =
        [&[('a', 10), ('b', 20)], &[('a', 13), ('b', 30)], &[('a', 113), ('b', 31)]];
    let check = |function, expected: [u64; 3]| {
        let mut watch = watch(EVENTS, function, I::MULTIPLE_AGGREGATE);
        assert_eq!(replies.map(|reply| watch.reply(reply)), expected.map(integer), "{function}");
    };
    // 15; (3 + 10) / 2 = 6.5, of which the half is kept; (100 + 1) / 2 = 50.5, with the half 51.
    check(A::AVERAGE, [15, 21, 72]);
    // 10, then 3 more, then 1 more.
    check(A::MINIMUM, [10, 13, 14]);
    // 20, then 10 more, then 100 more.
    check(A::MAXIMUM, [20, 30, 130]);
}

#[test]
fn momentary_values_are_aggregated_anew_each_time() {
    let check = |function, expected: [Option<Value>; 3]| {
        let mut watch = watch(MOMENTARY, function, I::GLOBAL_AGGREGATE);
        let replies: [&[(char, u64)]; 3] = [&[('a', 4), ('b', 7)], &[('a', 2)], &[]];
        assert_eq!(replies.map(|reply| watch.reply(reply)), expected, "{function}");
    };
    check(A::TOTAL, [integer(11), integer(2), integer(0)]);
    check(A::AVERAGE, [Some(Value::F64(5.5)), Some(Value::F64(2.0)), None]);
    check(A::MINIMUM, [integer(4), integer(2), None]);
    check(A::MAXIMUM, [integer(7), integer(2), None]);
}

#[test]
fn with_a_history_those_that_have_gone_still_count() {
    let check = |function, expected: [Option<Value>; 3]| {
        let mut watch = watch(MOMENTARY, function, I::GLOBAL_AGGREGATE_HISTORY);
        let replies: [&[(char, u64)]; 3] = [&[('a', 4), ('b', 7)], &[('a', 2)], &[('a', 3)]];
        assert_eq!(replies.map(|reply| watch.reply(reply)), expected, "{function}");
    };
    check(A::TOTAL, [integer(11), integer(9), integer(10)]);
    check(A::AVERAGE, [5.5, 4.5, 5.0].map(|mean| Some(Value::F64(mean))));
    check(A::MAXIMUM, [integer(7), integer(7), integer(7)]);
    // A counter that does not go up any more is the slowest of all.
    let mut least = watch(EVENTS, A::MINIMUM, I::GLOBAL_AGGREGATE_HISTORY);
    assert_eq!(least.reply(&[('a', 4), ('b', 7)]), integer(4));
    assert_eq!(least.reply(&[('a', 10)]), integer(4));
}

#[test]
fn doubles_are_added_as_numbers() {
    let mut sum = watch(T::PERF_DOUBLE_RAW, A::TOTAL, I::GLOBAL_AGGREGATE_HISTORY);
    let reply = [('a', 1.5_f64.to_bits()), ('b', (-0.25_f64).to_bits())];
    assert_eq!(sum.reply(&reply), Some(Value::F64(1.25)));
    assert_eq!(sum.reply(&reply[..1]), Some(Value::F64(1.25)));
    let mut least = watch(T::PERF_DOUBLE_RAW, A::MINIMUM, I::GLOBAL_AGGREGATE);
    assert_eq!(least.reply(&reply), Some(Value::F64(-0.25)));
}

#[test]
fn the_least_busy_is_the_most_idle() {
    let mut least = watch(T::PERF_COUNTER_TIMER_INV, A::MINIMUM, I::GLOBAL_AGGREGATE);
    assert_eq!(least.family.exposition.part, Part::Inactive);
    assert_eq!(least.reply(&[('a', 10), ('b', 20)]), Some(Value::F64(20.0)));
    let mut oldest = watch(T::PERF_ELAPSED_TIME, A::MAXIMUM, I::GLOBAL_AGGREGATE);
    oldest.accumulator.begin();
    oldest.accumulator.add(&mut Share::default(), 300);
    oldest.accumulator.add(&mut Share::default(), 200);
    let clocks = RawClocks {
        perf_time: 1_000,
        perf_freq: 100,
        time_100ns: UNIX_EPOCH + SECOND * 60,
        ..RawClocks::default()
    };
    // A start at tick 200 of 1000 is 8 s before the 60th second.
    assert_eq!(oldest.accumulator.export(&oldest.family.exposition, &clocks), Some(Value::F64(52.0)));
}

const SECOND: u64 = 10_000_000;
/// 1970 in 100 ns since 1601: 11,644,473,600 s.
const UNIX_EPOCH: u64 = 11_644_473_600 * SECOND;

#[test]
fn both_sides_of_a_ratio_are_added_up() {
    let bulk = counter(T::PERF_AVERAGE_BULK, A::TOTAL);
    let families = families(&bulk, T::PERF_AVERAGE_BASE);
    let mut sums: Vec<_> = families
        .iter()
        .map(|family| Accumulator::new(&bulk, &family.exposition, I::MULTIPLE_AGGREGATE).unwrap())
        .collect();
    // 1000 bytes in 10 operations, and 200 in one.
    for (sum, values) in sums.iter_mut().zip([[1_000, 200], [10, 1]]) {
        sum.begin();
        values.into_iter().for_each(|value| sum.add(&mut Share::default(), value));
    }
    let shown: Vec<_> = sums
        .iter()
        .zip(&families)
        .map(|(sum, family)| sum.export(&family.exposition, &RawClocks::default()))
        .collect();
    assert_eq!(shown, [integer(1_200), integer(11)]);
}

// A time stamp is no amount: the sum of the shares of two timers is both of their times over one clock.
#[test]
fn the_time_stamps_of_precision_timers_are_not_added_up() {
    let timer = counter(T::PERF_PRECISION_100NS_TIMER, A::TOTAL);
    let base = families(&timer, T::PERF_LARGE_RAW_BASE)[1];
    assert_eq!(base.exposition.part, Part::Base);
    let mut mean = Accumulator::new(&timer, &base.exposition, I::GLOBAL_AGGREGATE).unwrap();
    mean.begin();
    mean.add(&mut Share::default(), 20_000_000);
    mean.add(&mut Share::default(), 20_000_000);
    assert_eq!(mean.export(&base.exposition, &RawClocks::default()), Some(Value::F64(2.0)));
}

#[test]
fn what_has_no_aggregate_gets_none() {
    let none = |counter_type, function, instances| {
        let counter = counter(counter_type, function);
        let family = families(&counter, T::PERF_RAW_BASE)[0];
        Accumulator::new(&counter, &family.exposition, instances).is_none()
    };
    assert!(none(EVENTS, A::UNDEFINED, I::GLOBAL_AGGREGATE));
    assert!(none(EVENTS, AggregateFunc(9), I::GLOBAL_AGGREGATE));
    assert!(none(EVENTS, A::TOTAL, I::MULTIPLE));
    assert!(none(EVENTS, A::TOTAL, I::INSTANCE_AGGREGATE));
    assert!(none(T::PERF_COUNTER_TEXT, A::TOTAL, I::GLOBAL_AGGREGATE));
    assert!(none(T(0x7777_7777), A::TOTAL, I::GLOBAL_AGGREGATE));
    assert!(none(T::PERF_ELAPSED_TIME, A::TOTAL, I::GLOBAL_AGGREGATE), "a sum of moments");
    assert!(
        none(T::PERF_RAW_FRACTION, A::MINIMUM, I::GLOBAL_AGGREGATE),
        "the least ratio is not that of the least"
    );
    assert!(!none(T::PERF_RAW_FRACTION, A::TOTAL, I::GLOBAL_AGGREGATE));
}

// [MS-PCQ] 2.2.4.1: 4 and 0xC are of all instances, 6 of those that the client chose, 0x16 is not implemented.
#[test]
fn the_type_of_a_counterset_says_whose_aggregate_it_is() {
    let scopes = [0, 2, 4, 6, 0xC, 0x16].map(|instances| Scope::of(InstanceType(instances)));
    let (all, chosen) = (Some(Scope::All), Some(Scope::Chosen));
    assert_eq!(scopes, [None, None, all, chosen, all, None]);
}

#[test]
fn an_instance_that_is_another_one_of_the_same_name_brings_all_it_has() {
    let mut sum = watch(EVENTS, A::TOTAL, I::GLOBAL_AGGREGATE);
    sum.reply(&[('a', 100)]);
    sum.there[0].1.begin_anew();
    // Its value is higher than the last one of the first instance, and all of it is new.
    assert_eq!(sum.reply(&[('a', 130)]), integer(230));
}

#[test]
fn another_host_has_an_aggregate_of_its_own() {
    for history in [I::GLOBAL_AGGREGATE, I::GLOBAL_AGGREGATE_HISTORY] {
        let mut sum = watch(EVENTS, A::TOTAL, history);
        sum.reply(&[('a', 100), ('b', 50)]);
        sum.reply(&[('a', 104)]);
        sum.accumulator.begin_anew();
        sum.there[0].1.begin_anew();
        assert_eq!(sum.reply(&[('a', 130)]), integer(130));
        assert_eq!(sum.reply(&[('a', 131)]), integer(131));
    }
}

/// Replies in which up to three instances begin, end, count, wrap and are reset.
fn replies() -> impl Strategy<Value = Vec<Vec<(char, u64)>>> {
    let instance = (prop::char::range('a', 'c'), 0..u64::from(u32::MAX));
    let reply = prop::collection::btree_map(instance.0, instance.1, 0..4);
    prop::collection::vec(reply.prop_map(|reply| reply.into_iter().collect()), 1..20)
}

proptest! {
    #[test]
    fn no_aggregate_of_counters_ever_falls(replies in replies(), has_history: bool) {
        let instances = if has_history { I::GLOBAL_AGGREGATE_HISTORY } else { I::GLOBAL_AGGREGATE };
        for function in [A::TOTAL, A::AVERAGE, A::MINIMUM, A::MAXIMUM] {
            let mut watch = watch(T::PERF_COUNTER_COUNTER, function, instances);
            let mut before = 0;
            for reply in &replies {
                let Some(Value::U64(now)) = watch.reply(reply) else { panic!("no value") };
                prop_assert!(now >= before, "{function} fell from {before} to {now}");
                before = now;
            }
        }
    }
}
