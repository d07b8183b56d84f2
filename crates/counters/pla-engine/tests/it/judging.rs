use std::time::Duration;

use counter_types::{CounterType, RawClocks, Reading};
use pla_engine::{AlertState, INSTANCES_MAX, Judge, Judgement, Rule, Slot, Trigger};

const INTERVAL: u64 = 15;
/// A value as it is.
const PLAIN: CounterType = CounterType::PERF_COUNTER_LARGE_RAWCOUNT;
/// A rate, which needs two samples.
const RATE: CounterType = CounterType::PERF_COUNTER_COUNTER;

fn judge(threshold: &str) -> Judge {
    Judge::new(Rule::new(threshold.parse().expect("a threshold"), Duration::from_secs(INTERVAL)))
}

fn at(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

fn reading(seconds: u64, value: u64) -> Reading {
    let clocks = RawClocks { perf_time: seconds * 1000, perf_freq: 1000, ..RawClocks::default() };
    Reading { value, base: None, clocks }
}

/// A judge with one instance, and samples of it.
struct One {
    judge: Judge,
    slot: Slot,
}

impl One {
    fn new(threshold: &str) -> Self {
        Self::of(judge(threshold))
    }

    fn of(mut judge: Judge) -> Self {
        let slot = judge.instance("", at(0)).expect("there is room");
        Self { judge, slot }
    }

    fn sample(&mut self, counter_type: CounterType, seconds: u64, value: u64) -> Option<Trigger> {
        let trigger = self.judge.sample(self.slot, counter_type, &reading(seconds, value), at(seconds));
        self.judge.finish(at(seconds));
        trigger
    }

    fn state(&self) -> (AlertState, u64) {
        let Judgement { state, since, .. } = self.judge.state(self.slot);
        (state, since.as_secs())
    }
}

#[test]
fn each_sample_across_the_threshold_triggers_without_hysteresis() {
    let mut one = One::new(r"\System\Threads>80");
    let mut triggers = Vec::new();
    for (seconds, value) in [(15, 80), (30, 81), (45, 200), (60, 80), (75, 81)] {
        triggers.extend(
            one.sample(PLAIN, seconds, value).map(|trigger| (seconds, trigger.value, trigger.is_first)),
        );
    }
    assert_eq!(triggers, [(30, 81.0, true), (45, 200.0, false), (75, 81.0, true)]);
    assert_eq!(one.state(), (AlertState::Firing, 75));
    assert_eq!(one.judge.state(one.slot).triggered, 3);
    let mut below = One::new(r"\Memory\Available MBytes<100");
    assert_eq!(below.sample(PLAIN, 15, 100), None);
    assert!(below.sample(PLAIN, 30, 99).is_some());
}

#[test]
fn a_rate_waits_for_its_second_sample_and_wraps() {
    let mut one = One::new(r"\System\System Calls/sec>10");
    assert_eq!(one.sample(RATE, 15, 0xffff_ff00), None);
    assert_eq!(one.state(), (AlertState::Waiting, 0));
    let trigger = one.sample(RATE, 30, 0xffff_ff00_u32.wrapping_add(300).into()).unwrap();
    assert_eq!((trigger.value, one.state()), (20.0, (AlertState::Firing, 30)));
}

#[test]
fn a_reboot_gives_no_value_and_changes_nothing() {
    let mut one = One::new(r"\System\System Calls/sec>10");
    one.sample(RATE, 115, 0);
    assert!(one.sample(RATE, 130, 300).is_some());
    // The host's own clock begins again.
    let rebooted = one.judge.sample(one.slot, RATE, &reading(3, 5), at(145));
    assert_eq!((rebooted, one.state()), (None, (AlertState::Firing, 130)));
    assert!(one.judge.sample(one.slot, RATE, &reading(18, 305), at(160)).is_some());
}

#[test]
fn a_rule_can_want_a_value_to_stay_across() {
    let mut rule = judge(r"\System\Threads>80").rule().clone();
    rule.hold = at(30);
    let mut one = One::of(Judge::new(rule));
    let states: Vec<_> = [(15, 90), (30, 90), (45, 90), (60, 90), (75, 10), (90, 90)]
        .map(|(seconds, value)| (one.sample(PLAIN, seconds, value).is_some(), one.state().0))
        .into();
    assert_eq!(
        states,
        [
            (false, AlertState::Pending),
            (false, AlertState::Pending),
            (true, AlertState::Firing),
            (true, AlertState::Firing),
            (false, AlertState::Ok),
            (false, AlertState::Pending),
        ]
    );
}

#[test]
fn without_data_for_two_intervals_an_alert_neither_fires_nor_is_ok() {
    let mut one = One::new(r"\System\Threads>80");
    one.sample(PLAIN, 15, 90);
    one.judge.finish(at(30));
    assert_eq!(one.state(), (AlertState::Firing, 15), "one interval may be late");
    one.judge.finish(at(45));
    assert_eq!(one.state(), (AlertState::NoData, 45));
    let trigger = one.sample(PLAIN, 60, 90).unwrap();
    assert!(trigger.is_first);
}

#[test]
fn a_value_that_is_no_number_never_triggers() {
    let mut one = One::new(r"\Thing\Share>1");
    // An average without its base has no value.
    let mean = CounterType::PERF_AVERAGE_BULK;
    let sample = |value, base| Reading { base, ..reading(15, value) };
    assert_eq!(one.judge.sample(one.slot, mean, &sample(10, Some(1)), at(15)), None);
    assert!(one.judge.sample(one.slot, mean, &sample(30, Some(3)), at(30)).is_some());
    assert_eq!(one.judge.sample(one.slot, mean, &sample(50, None), at(45)), None);
    assert_eq!(one.state(), (AlertState::Firing, 30));
    assert_eq!(one.judge.sample(one.slot, mean, &sample(70, None), at(60)), None);
    assert_eq!(one.state(), (AlertState::NoData, 60));
}

#[test]
fn an_average_of_nothing_is_zero() {
    let mut below = One::new(r"\Thing\Share<1");
    let mean = CounterType::PERF_AVERAGE_BULK;
    let idle = Reading { base: Some(3), ..reading(15, 30) };
    assert_eq!(below.judge.sample(below.slot, mean, &idle, at(15)), None, "one sample is not enough");
    assert!(below.judge.sample(below.slot, mean, &idle, at(30)).is_some());
    assert_eq!(below.state(), (AlertState::Firing, 30));
}

#[test]
fn a_counter_without_a_number_is_unsupported() {
    let mut one = One::new(r"\Thing\Text>1");
    assert_eq!(one.sample(CounterType::PERF_COUNTER_NODATA, 15, 7), None);
    assert_eq!(one.state(), (AlertState::Unsupported, 15));
    one.sample(CounterType::PERF_COUNTER_NODATA, 3600 * 24, 7);
    assert_eq!(one.state(), (AlertState::Unsupported, 15));
}

#[test]
fn instances_are_judged_by_themselves_and_forgotten_long_after_they_ended() {
    let mut judge = judge(r"\Process(*)\Threads>80");
    let mut round = |seconds: u64, values: &[(&str, u64)]| {
        for (name, value) in values {
            let slot = judge.instance(name, at(seconds)).unwrap();
            judge.sample(slot, PLAIN, &reading(seconds, *value), at(seconds));
        }
        judge.finish(at(seconds));
        let mut states: Vec<_> =
            judge.judgements().map(|(name, judgement)| (name.to_owned(), judgement.state)).collect();
        states.sort_by(|one, other| one.0.cmp(&other.0));
        states
    };
    let named = |name: &str, state| (name.to_owned(), state);
    let all = round(15, &[("a", 90), ("b", 10)]);
    assert_eq!(all, [named("a", AlertState::Firing), named("b", AlertState::Ok)]);
    let all = round(45, &[("b", 90), ("c", 10)]);
    assert_eq!(
        all,
        [named("a", AlertState::NoData), named("b", AlertState::Firing), named("c", AlertState::Ok)]
    );
    let all = round(15 + 240 * INTERVAL, &[("b", 10), ("d", 90)]);
    assert_eq!(all.len(), 3, "a is forgotten, c is not yet: {all:?}");
    assert!(all.iter().all(|(name, _)| name != "a"));
}

#[test]
fn a_part_of_nothing_is_no_value() {
    let mut one = One::new(r"\LogicalDisk(Z:)\% Free Space<10");
    let of = |seconds, base| Reading { base: Some(base), ..reading(seconds, 0) };
    let free = CounterType::PERF_RAW_FRACTION;
    assert_eq!(one.judge.sample(one.slot, free, &of(15, 0), at(15)), None);
    assert_eq!(one.state(), (AlertState::Waiting, 0));
    assert!(one.judge.sample(one.slot, free, &of(30, 100), at(30)).is_some(), "none of 100 is free");
}

#[test]
fn no_value_is_made_of_samples_of_two_instances_of_one_name() {
    let mut one = One::new(r"\Process(svchost#1)\IO Data Operations/sec>5");
    one.judge.identify(one.slot, Some(700));
    one.sample(RATE, 15, 0);
    assert_eq!(one.sample(RATE, 30, 150).map(|trigger| trigger.value), Some(10.0));
    one.judge.identify(one.slot, Some(812));
    assert_eq!(one.sample(RATE, 45, 9_000), None);
    assert_eq!(one.state(), (AlertState::Firing, 30), "one sample says nothing");
    one.judge.identify(one.slot, Some(812));
    assert_eq!(one.sample(RATE, 60, 9_015), None);
    assert_eq!((one.state(), one.judge.state(one.slot).value), ((AlertState::Ok, 60), Some(1.0)));
}

#[test]
fn the_time_that_another_instance_was_across_does_not_count() {
    let rule = Rule { hold: at(30), ..judge(r"\Process(svchost#1)\Private Bytes>80").rule().clone() };
    let mut one = One::of(Judge::new(rule));
    for (seconds, id) in [(15, 700), (30, 700), (45, 812), (60, 812)] {
        one.judge.identify(one.slot, Some(id));
        assert_eq!(one.sample(PLAIN, seconds, 90), None, "{seconds} s");
    }
    assert!(one.sample(PLAIN, 75, 90).is_some());
}

#[test]
fn a_counter_that_the_host_lacks_is_unresolved_until_it_comes() {
    let mut one = judge(r"\Nothing\Here>1");
    let whole = |judge: &Judge| {
        let all: Vec<_> =
            judge.judgements().map(|(name, one)| (name.to_owned(), one.state, one.since)).collect();
        all
    };
    assert_eq!(whole(&one), [(String::new(), AlertState::Waiting, at(0))]);
    one.without_counter(AlertState::Unresolved, at(15));
    one.without_counter(AlertState::Unresolved, at(30));
    assert_eq!(whole(&one), [(String::new(), AlertState::Unresolved, at(15))]);
    let slot = one.instance("", at(45)).unwrap();
    one.sample(slot, PLAIN, &reading(45, 5), at(45));
    assert_eq!(whole(&one), [(String::new(), AlertState::Firing, at(45))]);
}

#[test]
fn instances_above_the_limit_are_counted() {
    let mut judge = judge(r"\Process(*)\Threads>80");
    for number in 0..INSTANCES_MAX {
        assert!(judge.instance(&number.to_string(), at(0)).is_some());
    }
    assert_eq!((judge.instance("one more", at(0)), judge.left_out()), (None, 1));
    assert!(judge.instance("7", at(0)).is_some());
    judge.finish(at(240 * INTERVAL));
    assert!(judge.instance("one more", at(3600)).is_some(), "those that were never sampled are forgotten");
}

#[test]
fn another_rule_keeps_what_was_sampled_and_begins_to_wait_anew() {
    let mut rule = judge(r"\System\System Calls/sec>10").rule().clone();
    rule.hold = at(15);
    let mut one = One::of(Judge::new(rule.clone()));
    for (seconds, value) in [(15, 0), (30, 300), (45, 600)] {
        one.sample(RATE, seconds, value);
    }
    assert_eq!(one.state(), (AlertState::Firing, 45));
    rule.threshold.limit = 15.0;
    one.judge.set_rule(rule);
    assert_eq!(one.state(), (AlertState::Firing, 45));
    one.sample(RATE, 60, 900);
    assert_eq!(
        one.state(),
        (AlertState::Pending, 60),
        "the rate needs no new first sample, the hold begins again"
    );
    one.sample(RATE, 75, 1200);
    assert_eq!(one.state(), (AlertState::Firing, 75));
    assert!(one.judge.has_instance("") && !one.judge.has_instance("other"));
}
