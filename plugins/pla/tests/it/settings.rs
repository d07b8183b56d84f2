//! Settings that change while alerts fire.

use plugin_abi::AlertState;
use plugin_host::testing::RecordedOutcome;
use serde_json::{Value, json};

use crate::logging::Place;
use crate::steered::Mill;
use crate::world::{Plugin, SimHost, set};

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

#[test]
fn a_host_may_lack_the_counters_of_what_is_optional_and_of_nothing_else() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("water.xml");
    std::fs::write(&file, WATER_SET).expect("it is written");
    let alert = |optional: &Value| match optional {
        Value::Null => json!({"name": "a", "counter": LEVEL, "below": 60}),
        _ => json!({"name": "a", "counter": LEVEL, "below": 60, "optional": optional}),
    };
    let other = json!({"name": "Other", "alerts": [{"counter": LEVEL, "below": 10}]});
    for (sets, is_excused) in [
        (json!([{"name": "Mill", "alerts": [alert(&Value::Null)]}]), false),
        (json!([{"name": "Mill", "alerts": [alert(&json!(true))]}]), true),
        (json!([{"name": "Mill", "optional": true, "alerts": [alert(&Value::Null)]}]), true),
        (json!([{"name": "Mill", "optional": true, "alerts": [alert(&json!(false))]}]), false),
        (json!([{"name": "Mill", "optional": true, "counters": [LEVEL]}]), true),
        (json!([{"name": "Mill", "counters": [LEVEL]}]), false),
        (json!([{"name": "Mill", "optional": true, "file": file}]), true),
        (json!([{"name": "Mill", "file": file}]), false),
        (json!([{"name": "Mill", "optional": true, "alerts": [alert(&Value::Null)]}, other]), false),
    ] {
        let (mill, plugin, place) = (Mill::new(), Plugin::new(), Place::new());
        mill.set_water_away(true);
        let watch = plugin.watch(&mill.sim, place.settings(&sets));
        let ended = watch.collect();
        if is_excused {
            assert_eq!(ended.outcome, RecordedOutcome::Full, "{sets}");
            assert!(ended.states().iter().all(|state| state.ends_with(" waiting")), "{sets}");
        } else {
            assert!(ended.partial().contains("has no counterset `Water`"), "{sets}");
        }
        // It is judged as soon as it comes.
        mill.set_water_away(false);
        for _ in 0..20 {
            mill.pass(15);
            watch.collect();
        }
        assert!(watch.full().states().iter().all(|state| !state.ends_with(" waiting")), "{sets}");
        plugin.end(watch);
    }
}

#[test]
fn what_is_optional_is_complete_only_where_the_host_says_that_it_lacks_it() {
    let (sim, plugin) = (SimHost::new(), Plugin::new());
    sim.behave(|behaviour| behaviour.refuses_performance_data = true);
    let alerts = json!([{"name": "a", "counter": r"\Memory\Available Bytes", "above": 1, "optional": true}]);
    let ended = plugin.watch(&sim, set(&alerts)).collect();
    assert!(ended.partial().contains("classic counters cannot be read"), "{}", ended.partial());
}

const LEVEL: &str = r"\Water\Level";
const WATER_SET: &str = r"<DataCollectorSet><AlertDataCollector><Name>a</Name><Alert>\Water\Level&lt;60</Alert>
</AlertDataCollector></DataCollectorSet>";
