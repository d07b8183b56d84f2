//! Settings that change while alerts fire.

use plugin_contract::AlertState;
use serde_json::{Value, json};

use crate::steered::Mill;
use crate::world::{Plugin, set};

fn alert(name: &str, above: u64) -> Value {
    json!({"name": name, "counter": r"\Wheels(*)\Load", "above": above})
}

#[test]
fn alerts_that_stay_keep_their_state_and_those_that_go_are_closed() {
    let (mill, plugin) = (Mill::new(), Plugin::new());
    let watch =
        plugin.watch(&mill.sim, set(&json!([alert("stays", 80), alert("goes", 80), alert("rises", 80)])));
    mill.wheel("big", |wheel| wheel.load = 90);
    watch.full();
    mill.pass(15);
    let before = watch.full();
    assert_eq!(before.of("Alert", "Triggered").len(), 3);
    watch.reconfigure(set(&json!([alert("new", 1), alert("stays", 80), alert("rises", 99)])));
    mill.pass(15);
    let ended = watch.full();
    assert_eq!(ended.states(), ["new(big) firing", "rises(big) ok", "stays(big) firing"]);
    let triggered: Vec<f64> = ended.of("Alert", "Triggered").into_iter().map(|(_, value)| value).collect();
    assert_eq!(triggered, [1.0, 2.0, 3.0]);
    let changed = |ended: &crate::world::Ended, name: &str| {
        let all = ended.of("Alert", "Last Change Timestamp");
        all.into_iter().find(|(labels, _)| labels.contains(name)).expect("it is there").1
    };
    assert_eq!(changed(&before, "stays"), changed(&ended, "stays"));
    let mut after: Vec<(String, AlertState)> = watch.alerts().split_off(3);
    after.sort_by(|one, other| one.0.cmp(&other.0));
    let named = |name: &str, state| (format!(r"Mill/{name}/big/\Wheels(*)\Load"), state);
    assert_eq!(
        after,
        [
            named("goes", AlertState::Closed),
            named("new", AlertState::Opened),
            named("rises", AlertState::Closed)
        ]
    );
}

#[test]
fn what_waits_to_fire_and_rates_go_on_while_other_counters_come_and_go() {
    let (mill, plugin) = (Mill::new(), Plugin::new());
    let rate = json!({"name": "rate", "threshold": r"\Wheels(*)\Turns/sec > 9"});
    let slow = json!({"name": "slow", "counter": r"\Wheels(*)\Load", "above": 80, "for": "45s"});
    let level = json!({"name": "level", "counter": r"\Water\Level", "above": 1});
    let two = set(&json!([&rate, &slow]));
    let watch = plugin.watch(&mill.sim, two.clone());
    let mut turns = 0;
    let mut round = |settings: Option<&Value>| {
        if let Some(settings) = settings {
            watch.reconfigure(settings.clone());
        }
        mill.wheel("big", |wheel| (wheel.load, wheel.turns) = (90, turns));
        let ended = watch.full();
        mill.pass(15);
        turns += 150;
        ended
    };
    assert_eq!(round(None).states(), ["rate(big) waiting", "slow(big) pending"]);
    assert_eq!(round(None).states(), ["rate(big) firing", "slow(big) pending"]);
    let connections = || mill.sim.host.counts().connections.load(std::sync::atomic::Ordering::Relaxed);
    let connected = connections();
    let three = round(Some(&set(&json!([&level, &rate, &slow]))));
    assert_eq!(three.states(), ["level() firing", "rate(big) firing", "slow(big) pending"]);
    let fired = round(Some(&two));
    assert_eq!(fired.states(), ["rate(big) firing", "slow(big) firing"]);
    let labels = r"Mill|rate|\Wheels(*)\Turns/sec|big".to_owned();
    assert!(fired.of("Alert", "Triggered").contains(&(labels.clone(), 3.0)), "no sample was left out");
    assert!(fired.of("Alert", "Value").contains(&(labels, 10.0)));
    assert_eq!(connections(), connected, "nobody logs on again");
    let closed = |(_, state): &(String, AlertState)| *state == AlertState::Closed;
    let closed: Vec<String> = watch.alerts().into_iter().filter(closed).map(|(name, _)| name).collect();
    assert_eq!(closed, [r"Mill/level//\Water\Level"]);
}

#[test]
fn settings_that_cannot_be_judged_are_refused() {
    let plugin = Plugin::new();
    let check = |settings: Value| {
        let config = plugin_host::InstanceConfig { settings, ..plugin_host::InstanceConfig::default() };
        let found = plugin.library.validate("pla", &config).expect("it answers");
        found.into_iter().map(|problem| (problem.pointer, problem.message)).collect::<Vec<_>>()
    };
    let found = check(set(&json!([{"threshold": r"\Wheels(*)\Load > 8,5"}])));
    let message =
        "threshold: a comma: write decimals with a point, and thousands without a separator, at character 20";
    assert_eq!(found, [("/sets/0/alerts/0/threshold".to_owned(), message.to_owned())]);
    assert_eq!(check(set(&json!([alert("a", 1)]))), []);
}
