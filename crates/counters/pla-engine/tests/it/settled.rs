use std::time::Duration;

use counter_types::{CounterType, RawClocks, Reading};
use pla_engine::{Judge, Rule};

#[test]
fn known_instances_are_judged_without_an_allocation() {
    let mut judge =
        Judge::new(Rule::new(r"\Process(*)\Threads>80".parse().unwrap(), Duration::from_secs(15)));
    let names: Vec<String> = (0..100).map(|number| number.to_string()).collect();
    let mut round = |seconds: u64| {
        let now = Duration::from_secs(seconds);
        for (name, value) in names.iter().zip(0..) {
            let slot = judge.instance(name, now).unwrap();
            let reading = Reading { value, base: None, clocks: RawClocks::default() };
            judge.sample(slot, CounterType::PERF_COUNTER_LARGE_RAWCOUNT, &reading, now);
        }
        judge.finish(now);
    };
    round(15);
    let allocations = allocation_counter::measure(|| round(30));
    assert_eq!(allocations.count_total, 0);
}
