//! What a host is asked for, and when: only for what is due, and all of that at a time.

use plugin_host::testing::RecordedOutcome;
use serde_json::json;

use crate::steered::Mill;
use crate::world::{Plugin, SimHost, set};

const LOAD: &str = r"\Wheels(*)\Load";

#[test]
fn each_due_interval_is_one_call_of_each_kind_and_no_logon() {
    let (sim, plugin) = (SimHost::new(), Plugin::new());
    let alerts = json!([
        {"name": "a", "counter": r"\Processor Information(_Total)\% Processor Time", "above": -1, "sample_interval": "1m"},
        {"name": "b", "counter": r"\Thermal Zone Information(*)\Temperature", "above": 1, "sample_interval": "1m"},
        {"name": "c", "counter": r"\Memory\Available Bytes", "above": 1, "sample_interval": "2m"},
    ]);
    let watch = plugin.watch(&sim, set(&alerts));
    watch.full();
    let logons = sim.logons();
    let mut fetched = Vec::new();
    for _ in 0..8 {
        sim.pass(std::time::Duration::from_secs(15));
        let before = sim.fetches();
        let ended = watch.full();
        let after = sim.fetches();
        fetched.push((after.0 - before.0, after.1 - before.1));
        assert!(ended.of("Alert", "Value").iter().any(|(labels, _)| labels.starts_with("Mill|c|")));
    }
    assert_eq!(fetched, [(0, 0), (0, 0), (0, 0), (1, 0), (0, 0), (0, 0), (0, 0), (1, 1)]);
    assert_eq!(sim.logons(), logons);
}

#[test]
fn values_stay_until_the_next_sample_and_rates_are_those_of_the_whole_interval() {
    let (mill, plugin) = (Mill::new(), Plugin::new());
    let alerts = json!([
        {"name": "load", "counter": LOAD, "above": 80, "sample_interval": "1m"},
        {"name": "turns", "counter": r"\Wheels(*)\Turns/sec", "above": 80, "sample_interval": "1m"},
    ]);
    let watch = plugin.watch(&mill.sim, set(&alerts));
    mill.wheel("big", |wheel| wheel.load = 90);
    watch.full();
    let calls = mill.sim.calls(6);
    for _ in 0..3 {
        mill.pass(15);
        mill.wheel("big", |wheel| (wheel.load, wheel.turns) = (1, wheel.turns + 150));
        let ended = watch.full();
        assert_eq!(ended.states(), ["load(big) firing", "turns(big) waiting"]);
        assert_eq!(ended.of("Alert", "Value").first().map(|(_, value)| *value), Some(90.0));
    }
    assert_eq!(mill.sim.calls(6), calls, "nothing was due");
    mill.pass(15);
    mill.wheel("big", |wheel| wheel.turns += 150);
    let ended = watch.full();
    assert_eq!(ended.states(), ["load(big) ok", "turns(big) ok"]);
    let values: Vec<f64> = ended.of("Alert", "Value").into_iter().map(|(_, value)| value).collect();
    assert_eq!(values, [1.0, 10.0]);
    assert_eq!(mill.sim.calls(6) - calls, 1);
}

#[test]
fn a_host_that_is_away_while_nothing_is_due_is_not_missed() {
    let (mill, plugin) = (Mill::new(), Plugin::new());
    let alerts = json!([{"name": "load", "counter": LOAD, "above": 80, "sample_interval": "1m"}]);
    let watch = plugin.watch(&mill.sim, set(&alerts));
    watch.full();
    mill.sim.shut();
    mill.pass(30);
    assert_eq!(watch.full().states(), ["load(big) ok"]);
    mill.pass(30);
    assert!(matches!(watch.collect().outcome, RecordedOutcome::Failed(_)), "now it is due");
    mill.sim.cut();
    mill.pass(15);
    mill.wheel("big", |wheel| wheel.load = 90);
    let ended = watch.full();
    assert_eq!(ended.states(), ["load(big) firing"], "what failed is due at once");
    assert_eq!(ended.of("Alert", "Evaluation Lag")[0].1, 15.0);
}

#[test]
fn classic_counters_that_were_not_read_stay_due_and_have_no_data_after_two_intervals() {
    let (sim, plugin) = (SimHost::new(), Plugin::new());
    let alerts = json!([
        {"name": "memory", "counter": r"\Memory\Available Bytes", "above": 1, "sample_interval": "1m"},
        {"name": "zone", "counter": r"\Thermal Zone Information(*)\Temperature", "above": 1, "sample_interval": "1m"},
    ]);
    let watch = plugin.watch(&sim, set(&alerts));
    let states = watch.full().states();
    assert_eq!(states[0], "memory() firing");
    sim.behave(|behaviour| behaviour.refuses_performance_data = true);
    sim.cut();
    let mut fetched = Vec::new();
    for _ in 0..8 {
        sim.pass(std::time::Duration::from_secs(15));
        let before = sim.calls(6);
        let states = watch.collect().states();
        assert!(states[1].ends_with("firing"), "{states:?}");
        fetched.push((sim.calls(6) - before, states[0].clone()));
    }
    let queries: Vec<u64> = fetched.iter().map(|(queries, _)| *queries).collect();
    assert_eq!(queries[..3], [0, 0, 0]);
    assert_eq!(queries[4..7], [0, 0, 0], "what was read is not asked for again");
    assert_eq!(fetched[6].1, "memory() firing");
    assert_eq!(fetched[7].1, "memory() no_data");
}

#[test]
fn a_set_that_names_no_counter_of_the_host_costs_it_nothing() {
    let (mill, plugin) = (Mill::new(), Plugin::new());
    let watch =
        plugin.watch(&mill.sim, set(&json!([{"name": "a", "counter": r"\\db7\Wheels(*)\Load", "above": 1}])));
    assert_eq!(watch.full().states(), ["a() unresolved"]);
    let calls: u64 = (0..8).map(|opnum| mill.sim.calls(opnum)).sum();
    mill.pass(15);
    assert_eq!(watch.full().states(), ["a() unresolved"]);
    assert_eq!((0..8).map(|opnum| mill.sim.calls(opnum)).sum::<u64>(), calls);
}
