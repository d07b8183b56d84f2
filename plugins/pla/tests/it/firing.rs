//! Alerts that begin and end to fire.

use plugin_abi::AlertState;
use serde_json::json;

use crate::steered::Mill;
use crate::world::{Plugin, set};

const LOAD: &str = r"\Wheels(*)\Load";

#[test]
fn an_alert_fires_while_the_value_is_across_and_resolves_then() {
    let (mill, plugin) = (Mill::new(), Plugin::new());
    let watch = plugin.watch(&mill.sim, set(&json!([{"name": "High", "counter": LOAD, "above": 80}])));
    mill.wheel("big", |wheel| wheel.load = 80);
    let ended = watch.full();
    assert_eq!(ended.states(), ["High(big) ok"]);
    assert_eq!(ended.of("Alert", "Threshold"), [(format!("Mill|High|{LOAD}|>"), 80.0)]);
    mill.pass(15);
    mill.wheel("big", |wheel| wheel.load = 81);
    let ended = watch.full();
    assert_eq!(ended.states(), ["High(big) firing"]);
    let labels = format!("Mill|High|{LOAD}|big");
    assert_eq!(ended.of("Alert", "Firing"), [(labels.clone(), 1.0)]);
    assert_eq!(ended.of("Alert", "Value"), [(labels.clone(), 81.0)]);
    mill.pass(15);
    let ended = watch.full();
    assert_eq!(ended.of("Alert", "Triggered"), [(labels.clone(), 2.0)], "Windows acts on each sample");
    mill.pass(15);
    mill.wheel("big", |wheel| wheel.load = 3);
    let ended = watch.full();
    assert_eq!(ended.states(), ["High(big) ok"]);
    assert_eq!(ended.of("Alert", "Firing"), [(labels, 0.0)]);
    let id = format!("Mill/High/big/{LOAD}");
    assert_eq!(watch.alerts(), [(id.clone(), AlertState::Opened), (id, AlertState::Closed)]);
    let said = &ended.recorded.events;
    let event =
        |text: &str| ("pla.alert".to_owned(), format!("Alert `High` of `Mill`: `{LOAD}` of `big` {text}"));
    assert_eq!(said[..], [event("is 81, above 80"), event("is 3, no longer above 80")]);
}

#[test]
fn an_alert_that_goes_on_firing_is_repeated_from_time_to_time() {
    let (mill, plugin) = (Mill::new(), Plugin::new());
    let watch = plugin.watch(&mill.sim, set(&json!([{"counter": LOAD, "above": 80}])));
    mill.wheel("big", |wheel| wheel.load = 90);
    for _ in 0..22 {
        watch.full();
        mill.pass(15);
    }
    let states: Vec<AlertState> = watch.alerts().into_iter().map(|(_, state)| state).collect();
    assert_eq!(states, [AlertState::Opened, AlertState::Open]);
}

#[test]
fn an_alert_can_want_a_value_to_stay_across() {
    let (mill, plugin) = (Mill::new(), Plugin::new());
    let watch =
        plugin.watch(&mill.sim, set(&json!([{"name": "a", "counter": LOAD, "above": 80, "for": "30s"}])));
    mill.wheel("big", |wheel| wheel.load = 90);
    let mut states = Vec::new();
    for _ in 0..3 {
        states.extend(watch.full().states());
        mill.pass(15);
    }
    assert_eq!(states, ["a(big) pending", "a(big) pending", "a(big) firing"]);
}

#[test]
fn an_alert_with_a_longer_interval_is_judged_when_it_is_due() {
    let (mill, plugin) = (Mill::new(), Plugin::new());
    let alerts = json!([
        {"name": "each", "counter": LOAD, "above": 80},
        {"name": "slow", "counter": LOAD, "above": 80, "sample_interval": "1m"},
        {"name": "once", "counter": LOAD, "above": 80, "sample_interval": "once"},
    ]);
    let watch = plugin.watch(&mill.sim, set(&alerts));
    assert_eq!(watch.full().states(), ["each(big) ok", "once(big) ok", "slow(big) ok"]);
    mill.wheel("big", |wheel| wheel.load = 90);
    let (calls, mut rounds) = (mill.sim.calls(6), Vec::new());
    for _ in 0..4 {
        mill.pass(15);
        let fires = watch.full().of("Alert", "Firing");
        rounds.push(fires.into_iter().map(|(_, value)| value).collect::<Vec<_>>());
    }
    assert_eq!(rounds[..3], [[1.0, 0.0, 0.0]; 3].map(Vec::from));
    assert_eq!(rounds[3], [1.0, 0.0, 1.0]);
    assert_eq!(mill.sim.calls(6) - calls, 4, "all counters come by one call");
    mill.pass(100);
    let lag = watch.full().of("Alert", "Evaluation Lag");
    assert_eq!(lag.into_iter().map(|(_, lag)| lag).collect::<Vec<_>>(), [85.0, 0.0, 40.0]);
}

#[test]
fn an_alert_without_events_has_metrics_only() {
    let (mill, plugin) = (Mill::new(), Plugin::new());
    let watch =
        plugin.watch(&mill.sim, set(&json!([{"name": "a", "counter": LOAD, "above": 80, "event": false}])));
    mill.wheel("big", |wheel| wheel.load = 90);
    assert_eq!(watch.full().states(), ["a(big) firing"]);
    assert_eq!(watch.alerts(), []);
}

#[test]
fn a_probe_shows_the_sets_and_judges_nothing() {
    let (mill, plugin) = (Mill::new(), Plugin::new());
    let watch = plugin.watch_on_demand(&mill.sim, set(&json!([{"counter": LOAD, "above": 80}])));
    mill.wheel("big", |wheel| wheel.load = 90);
    let ended = watch.full();
    assert_eq!(ended.states(), [""; 0]);
    assert_eq!(ended.of("Set", "Info"), [("Mill|configuration|".to_owned(), 1.0)]);
    assert_eq!(watch.alerts(), []);
    assert_eq!(mill.sim.calls(6), 0, "no values are fetched");
}

#[test]
fn a_threshold_says_on_which_side_it_fires_also_when_that_changes() {
    let (mill, plugin) = (Mill::new(), Plugin::new());
    let alert = |side: &str| set(&json!([{"name": "Load", "counter": LOAD, side: 80}]));
    let watch = plugin.watch(&mill.sim, alert("above"));
    mill.wheel("big", |wheel| wheel.load = 90);
    let ended = watch.full();
    assert_eq!(ended.states(), ["Load(big) firing"]);
    assert_eq!(ended.of("Alert", "Threshold"), [(format!("Mill|Load|{LOAD}|>"), 80.0)]);
    watch.reconfigure(alert("below"));
    mill.pass(15);
    let ended = watch.full();
    assert_eq!(ended.states(), ["Load(big) ok"]);
    assert_eq!(ended.of("Alert", "Threshold"), [(format!("Mill|Load|{LOAD}|<"), 80.0)]);
}
