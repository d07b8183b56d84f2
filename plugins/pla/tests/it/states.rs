//! Each state of an alert, and what becomes of it when values are missing.

use plugin_abi::AlertState;
use plugin_host::testing::RecordedOutcome;
use serde_json::json;

use crate::steered::Mill;
use crate::world::{Plugin, set};

#[test]
fn a_rate_waits_for_its_second_sample() {
    let (mill, plugin) = (Mill::new(), Plugin::new());
    let watch =
        plugin.watch(&mill.sim, set(&json!([{"name": "a", "threshold": r"\Wheels(*)\Turns/sec > 9"}])));
    let first = watch.full();
    assert_eq!((first.states(), first.of("Alert", "Value").len()), (vec!["a(big) waiting".to_owned()], 0));
    mill.pass(15);
    mill.wheel("big", |wheel| wheel.turns = 150);
    let second = watch.full();
    assert_eq!(second.states(), ["a(big) firing"]);
    assert_eq!(second.of("Alert", "Value")[0].1, 10.0);
}

#[test]
fn what_the_host_does_not_have_is_unresolved_and_said() {
    let (mill, plugin) = (Mill::new(), Plugin::new());
    let alerts = json!([
        {"name": "typo", "counter": r"\Wheels(*)\Lord", "above": 1},
        {"name": "set", "counter": r"\Whells(*)\Load", "above": 1},
        {"name": "other", "counter": r"\\db7\Wheels(*)\Load", "above": 1},
        {"name": "own", "counter": r"\\WEB1\Wheels(*)\Load", "above": 1},
        {"name": "lone", "counter": r"\Wheels\Load", "above": 1},
    ]);
    let watch = plugin.watch(&mill.sim, set(&alerts));
    let ended = watch.collect();
    let said = ended.partial();
    assert!(said.contains(r"`Wheels` has no counter `Lord`; did you mean `Load`?"), "{said}");
    assert!(said.contains(r"\Wheels\Load: `Wheels` has instances"), "{said}");
    assert!(
        said.contains(r"\Whells(*)\Load: the host has no counterset `Whells`; did you mean `Wheels`?"),
        "{said}"
    );
    assert!(!said.contains("db7"), "another host is no failure of this one: {said}");
    assert_eq!(
        ended.states(),
        ["lone() unresolved", "other() unresolved", "own(big) ok", "set() unresolved", "typo() unresolved"]
    );
    let problems = ended.of("Set", "Problems");
    assert!(problems.contains(&("Mill|other_host".to_owned(), 1.0)), "{problems:?}");
}

#[test]
fn a_text_is_unsupported() {
    let (mill, plugin) = (Mill::new(), Plugin::new());
    let watch =
        plugin.watch(&mill.sim, set(&json!([{"name": "a", "counter": r"\Wheels(*)\Maker", "above": 1}])));
    assert_eq!(watch.full().states(), ["a() unsupported"]);
}

#[test]
fn an_average_of_nothing_is_zero_above_and_below() {
    let (mill, plugin) = (Mill::new(), Plugin::new());
    let alert =
        |name: &str, operator: &str| json!({"name": name, "counter": r"\Wheels(*)\Grain/Sack", operator: 1});
    let watch = plugin.watch(&mill.sim, set(&json!([alert("a", "above"), alert("b", "below")])));
    watch.full();
    mill.pass(15);
    mill.wheel("big", |wheel| (wheel.grain, wheel.sacks) = (40, 2));
    assert_eq!(watch.full().states(), ["a(big) firing", "b(big) ok"]);
    // No sack since the last sample.
    for _ in 0..3 {
        mill.pass(15);
        assert_eq!(watch.full().states(), ["a(big) ok", "b(big) firing"]);
    }
}

#[test]
fn an_instance_that_goes_has_no_data_and_fires_anew_when_it_returns() {
    let (mill, plugin) = (Mill::new(), Plugin::new());
    let watch =
        plugin.watch(&mill.sim, set(&json!([{"name": "a", "counter": r"\Wheels(*)\Load", "above": 80}])));
    mill.wheel("small", |wheel| wheel.load = 99);
    assert_eq!(watch.full().states(), ["a(big) ok", "a(small) firing"]);
    mill.remove("small");
    mill.pass(15);
    assert_eq!(watch.full().states(), ["a(big) ok", "a(small) firing"], "one sample may be late");
    mill.pass(15);
    assert_eq!(watch.full().states(), ["a(big) ok", "a(small) no_data"]);
    mill.wheel("small", |wheel| wheel.load = 99);
    mill.pass(15);
    let ended = watch.full();
    assert_eq!(ended.states(), ["a(big) ok", "a(small) firing"]);
    let bodies: Vec<&str> = ended.recorded.events.iter().map(|(_, body)| body.as_str()).collect();
    assert!(bodies[1].ends_with("has no data any more"), "{bodies:?}");
    let states: Vec<AlertState> = watch.alerts().into_iter().map(|(_, state)| state).collect();
    assert_eq!(states, [AlertState::Opened, AlertState::Closed, AlertState::Opened]);
    // Long after it is gone its series are, too.
    mill.remove("small");
    mill.pass(4 * 3600);
    assert_eq!(watch.full().states(), ["a(big) ok"]);
}

#[test]
fn an_instance_that_never_was_there_is_not_waited_for_for_ever() {
    let (mill, plugin) = (Mill::new(), Plugin::new());
    let watch =
        plugin.watch(&mill.sim, set(&json!([{"name": "a", "counter": r"\Wheels(bog)\Load", "above": 80}])));
    assert_eq!(watch.full().states(), ["a() waiting"]);
    mill.pass(30);
    assert_eq!(watch.full().states(), ["a() no_data"]);
    mill.wheel("BOG", |wheel| wheel.load = 99);
    mill.pass(15);
    assert_eq!(watch.full().states(), ["a(bog) firing"], "names have no case");
}

#[test]
fn a_host_that_was_away_keeps_what_fires_and_begins_to_wait_anew() {
    let (mill, plugin) = (Mill::new(), Plugin::new());
    let alerts = json!([
        {"name": "a", "counter": r"\Water\Level", "below": 10},
        {"name": "b", "counter": r"\Water\Level", "below": 10, "for": "30s"},
    ]);
    let watch = plugin.watch(&mill.sim, set(&alerts));
    mill.level(5);
    assert_eq!(watch.full().states(), ["a() firing", "b() pending"]);
    mill.sim.shut();
    mill.pass(60);
    assert!(matches!(watch.collect().outcome, RecordedOutcome::Failed(_)));
    mill.sim.cut();
    let ended = watch.full();
    assert_eq!(ended.states(), ["a() firing", "b() pending"], "nobody knows what was in between");
    assert_eq!(watch.alerts().len(), 1, "it is one alert");
}

#[test]
fn a_host_that_was_started_anew_is_searched_and_judged_again() {
    let (mill, plugin) = (Mill::new(), Plugin::new());
    let watch =
        plugin.watch(&mill.sim, set(&json!([{"name": "a", "threshold": r"\Wheels(*)\Turns/sec > 9"}])));
    mill.wheel("big", |wheel| wheel.turns = 1_000_000);
    watch.full();
    mill.restart();
    mill.wheel("big", |wheel| wheel.turns = 0);
    mill.pass(15);
    watch.full();
    for turns in [100, 250] {
        mill.wheel("big", |wheel| wheel.turns = turns);
        mill.pass(15);
        watch.full();
    }
    mill.wheel("big", |wheel| wheel.turns = 400);
    mill.pass(15);
    let ended = watch.full();
    assert_eq!(ended.of("Alert", "Value")[0].1, 10.0);
    assert_eq!(ended.states(), ["a(big) firing"]);
}
