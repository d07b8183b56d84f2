//! Many alerts, and many instances.

use plugin_contract::AlertState;
use serde_json::{Value, json};

use crate::steered::Mill;
use crate::world::{Plugin, set};

#[test]
fn ten_thousand_alerts_are_judged_by_one_call_and_report_a_bounded_number_of_events() {
    let (mill, plugin) = (Mill::new(), Plugin::new());
    let alerts: Vec<Value> = (0..10_000)
        .map(|number| {
            let wheel = number % 100;
            json!({"name": number.to_string(), "counter": format!(r"\Wheels({wheel})\Load"), "above": 80})
        })
        .collect();
    for number in 0..100 {
        mill.wheel(&number.to_string(), |wheel| wheel.load = 90);
    }
    let watch = plugin.watch(&mill.sim, set(json!(alerts)));
    watch.full();
    let calls = mill.sim.calls(6);
    mill.pass(15);
    let ended = watch.full();
    assert_eq!(mill.sim.calls(6) - calls, 1);
    assert_eq!(ended.of("Alert", "Firing").iter().filter(|(_, value)| *value == 1.0).count(), 10_000);
    assert_eq!(watch.alerts().len(), 1_000, "as many as the exporter takes of one target");
    // One that ends makes room for another.
    mill.wheel("7", |wheel| wheel.load = 1);
    mill.pass(15);
    watch.full();
    let closed = watch.alerts().iter().filter(|(_, state)| *state == AlertState::Closed).count();
    mill.pass(15);
    watch.full();
    let opened = watch.alerts().iter().filter(|(_, state)| *state == AlertState::Opened).count();
    assert!(closed > 0);
    assert_eq!(opened, 1_000 + closed);
}

#[test]
fn more_alerts_than_that_are_refused() {
    let plugin = Plugin::new();
    let alerts: Vec<Value> = (0..10_001)
        .map(|number| json!({"name": number.to_string(), "counter": r"\Wheels(*)\Load", "above": 80}))
        .collect();
    let settings = set(json!(alerts));
    let config = plugin_host::InstanceConfig { settings, ..plugin_host::InstanceConfig::default() };
    let found = plugin.library.validate("pla", &config).expect("it answers");
    assert_eq!(found[0].message, "all sets together have more than 10000 alerts");
}

#[test]
fn instances_above_the_limit_are_counted_and_not_judged() {
    let (mill, plugin) = (Mill::new(), Plugin::new());
    for number in 0..300 {
        mill.wheel(&number.to_string(), |_| {});
    }
    let alerts: Vec<Value> = (0..100)
        .map(|number| json!({"name": number.to_string(), "counter": r"\Wheels(*)\Load", "above": 80}))
        .collect();
    let watch = plugin.watch(&mill.sim, set(json!(alerts)));
    let ended = watch.full();
    let judged = ended.of("Alert", "Firing").len();
    assert!((19_000..=20_100).contains(&judged), "{judged} instances");
    assert!(ended.of("Alert", "Instances Left Out")[0].1 >= 10_000.0);
}
