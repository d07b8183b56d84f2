//! Sets of the host that alerts start there.

use ms_pla::Category;
use serde_json::{Value, json};

use crate::objects::Objects;
use crate::steered::Mill;
use crate::world::{Ended, NOON, Plugin, Watch};

/// See section 3.1.2.5.2.3.3 of [MS-DCOM].
const CREATE_INSTANCE: u16 = 4;

fn settings(objects: &Objects, sets: &Value, control: &Value) -> Value {
    let mut settings = objects.settings(sets);
    settings["control"] = control.clone();
    settings
}

fn starting(set: &str) -> Value {
    json!([{"name": "Watch", "alerts": [
        {"name": "High", "counter": r"\Wheels(*)\Load", "above": 80, "start_set": set}
    ]}])
}

/// Wheels fall and rise.
fn rise(mill: &Mill, watch: &Watch) -> Ended {
    for load in [1, 90] {
        for wheel in ["big", "small"] {
            mill.wheel(wheel, |wheel| wheel.load = load);
        }
        mill.pass(31);
        watch.full();
    }
    mill.pass(15);
    watch.full()
}

fn triggered(ended: &Ended) -> Vec<(String, f64)> {
    let all = ended.of("Alert", "Actions").into_iter();
    all.filter(|(labels, _)| labels.starts_with("Watch|High|trigger")).collect()
}

fn counts(done: f64, failed: f64, skipped: f64) -> Vec<(String, f64)> {
    let all = [("done", done), ("failed", failed), ("skipped", skipped)];
    all.map(|(result, count)| (format!("Watch|High|trigger|{result}"), count)).to_vec()
}

#[test]
fn an_alert_has_the_host_start_a_set_once_when_it_begins_to_fire() {
    let (mill, plugin) = (Mill::new(), Plugin::new());
    let objects = Objects::of(&mill.sim);
    objects.store("Mill trace", &[r"\Water\Level<60"]);
    let sets = mill.sim.host.data_collector_sets();
    let watch = plugin.watch(&mill.sim, settings(&objects, &starting("Mill trace"), &json!(["Mill*"])));
    mill.wheel("big", |wheel| wheel.load = 1);
    watch.full();
    assert_eq!(objects.calls("activator", CREATE_INSTANCE), 0, "before an alert fires");
    // Two instances begin together.
    assert_eq!(triggered(&rise(&mill, &watch)), counts(1.0, 0.0, 1.0));
    sets.stop(Category::Server, "Mill trace", NOON).expect("it was started");
    // A minute later they fire again, while somebody else has started the set.
    sets.start(Category::Server, "Mill trace", NOON).expect("it was stopped");
    assert_eq!(triggered(&rise(&mill, &watch)), counts(1.0, 0.0, 3.0));
    assert_eq!(objects.calls("activator", CREATE_INSTANCE), 1, "the object is kept");
}

#[test]
fn a_set_that_the_host_does_not_have_is_a_failed_action_and_no_failed_collection() {
    let (mill, plugin) = (Mill::new(), Plugin::new());
    let objects = Objects::of(&mill.sim);
    let watch = plugin.watch(&mill.sim, settings(&objects, &starting("Mill trace"), &json!(["*"])));
    mill.wheel("big", |wheel| wheel.load = 90);
    assert_eq!(watch.full().states(), ["High(big) firing"]);
    mill.pass(15);
    assert_eq!(triggered(&watch.full()), counts(0.0, 1.0, 0.0));
    // Without its objects the host has its counters all the same.
    objects.shut();
    mill.wheel("small", |wheel| wheel.load = 90);
    mill.pass(15);
    watch.full();
    mill.pass(15);
    assert_eq!(triggered(&watch.full()), counts(0.0, 2.0, 0.0));
}

#[test]
fn an_alert_starts_sets_in_folders_and_none_of_another_category() {
    for (set, expected) in [(r"Mill\Trace", 1.0), (r"System\System Diagnostics", 0.0)] {
        let (mill, plugin) = (Mill::new(), Plugin::new());
        let objects = Objects::of(&mill.sim);
        objects.store(r"Mill\Trace", &[r"\Water\Level<60"]);
        let path = tempfile::NamedTempFile::new().expect("a file");
        let text = format!(
            "<DataCollectorSet><Name>Watch</Name><AlertDataCollector><Name>High</Name><Alert>\\Wheels(*)\\Load&gt;80</Alert>\
             <TriggerDataCollectorSet>{set}</TriggerDataCollectorSet></AlertDataCollector></DataCollectorSet>"
        );
        std::fs::write(path.path(), text).expect("a file");
        let sets = json!([{"file": path.path()}]);
        let watch = plugin.watch(&mill.sim, settings(&objects, &sets, &json!(["*"])));
        let ended = watch.full();
        let refused = ended.of("Set", "Problems").contains(&("Watch|triggered_set".to_owned(), 1.0));
        assert_eq!(refused, expected == 0.0, "{set}");
        assert_eq!(triggered(&rise(&mill, &watch))[0].1, expected, "{set}");
    }
}

#[test]
fn alerts_start_only_sets_of_the_host_that_the_settings_name() {
    let (mill, plugin) = (Mill::new(), Plugin::new());
    let objects = Objects::of(&mill.sim);
    objects.store("Mill trace", &[r"\Water\Level<60"]);
    let path = tempfile::NamedTempFile::new().expect("a file");
    let set = "<DataCollectorSet><Name>Watch</Name><AlertDataCollector><Name>High</Name><Alert>\\Wheels(*)\\Load&gt;80</Alert>\
               <TriggerDataCollectorSet>Mill trace</TriggerDataCollectorSet></AlertDataCollector></DataCollectorSet>";
    std::fs::write(path.path(), set).expect("a file");
    let sets = json!([{"file": path.path()}, {"host": ["Mill*"], "refresh": "0s"}]);
    let watch = plugin.watch(&mill.sim, settings(&objects, &sets, &json!(["Other*"])));
    mill.wheel("big", |wheel| wheel.load = 90);
    let ended = watch.full();
    assert!(ended.of("Set", "Problems").contains(&("Watch|triggered_set".to_owned(), 1.0)));
    mill.pass(15);
    assert_eq!(triggered(&watch.full()), counts(0.0, 0.0, 0.0));
    let stored = mill.sim.host.data_collector_sets();
    stored.stop(Category::Server, "Mill trace", NOON).expect_err("nobody started it");
}
