//! Sets of the host itself: judged, shown and refreshed, and what a fault of theirs costs.

use std::time::Duration;

use ms_dtyp::FileTime;
use ms_pla::Category;
use plugin_host::testing::RecordedOutcome;
use serde_json::json;
use windows_sim::choices::PlaChoices;
use windows_sim::{ActivationMode, ObjectBindings};

use crate::objects::Objects;
use crate::steered::Mill;
use crate::world::{Ended, NOON, Plugin};

const COLLECTION: &str = "pla-set-collection";
const FILL: u16 = 14;

fn each_time() -> serde_json::Value {
    json!([{"host": ["Mill*"], "refresh": "0s"}])
}

fn status(ended: &Ended) -> Vec<String> {
    let all = ended.of("Set", "Status").into_iter();
    all.filter(|(_, value)| *value > 0.0).map(|(labels, _)| labels).collect()
}

#[test]
fn a_set_of_the_host_is_judged_and_shown_and_follows_the_host() {
    let (mill, plugin) = (Mill::new(), Plugin::new());
    let objects = Objects::of(&mill.sim);
    objects.store("Mill watch", &[r"\Wheels(*)\Load>80"]);
    let watch = plugin.watch(&mill.sim, objects.settings(&each_time()));
    mill.wheel("big", |wheel| wheel.load = 90);
    let ended = watch.full();
    assert_eq!(ended.states(), ["High(big) firing"]);
    assert_eq!(ended.of("Set", "Info"), [("Mill watch|host|".to_owned(), 1.0)]);
    assert_eq!(ended.of("Set", "Alerts"), [("Mill watch".to_owned(), 1.0)]);
    assert_eq!(status(&ended), ["Mill watch|stopped"]);
    assert_eq!(ended.of("Set", "Status").len(), 5);
    assert_eq!(ended.of("Set", "Serial Number"), [("Mill watch".to_owned(), 7.0)]);
    assert!(ended.of("Set", "Collectors").contains(&("Mill watch|alert".to_owned(), 1.0)));

    let sets = mill.sim.host.data_collector_sets();
    sets.start(Category::Server, "Mill watch", NOON).expect("it is stopped");
    mill.pass(15);
    let ended = watch.full();
    assert_eq!(status(&ended), ["Mill watch|running"]);
    assert_eq!(ended.of("Set", "Serial Number"), [("Mill watch".to_owned(), 8.0)]);

    objects.store("Mill watch", &[r"\Wheels(*)\Load>95", r"\Water\Level<60"]);
    mill.pass(15);
    let ended = watch.full();
    assert_eq!(ended.states(), ["High() firing", "High(big) ok"]);

    sets.remove(Category::Server, "Mill watch", FileTime(NOON.0 + 1)).expect_err("it runs");
    sets.stop(Category::Server, "Mill watch", NOON).expect("it runs");
    sets.remove(Category::Server, "Mill watch", NOON).expect("it is stopped");
    mill.pass(15);
    let ended = watch.full();
    assert_eq!(ended.states(), [""; 0]);
    assert_eq!(ended.of("Set", "Info"), []);
}

#[test]
fn sets_are_read_at_each_refresh_over_one_activation() {
    let (mill, plugin) = (Mill::new(), Plugin::new());
    let objects = Objects::of(&mill.sim);
    objects.store("Mill watch", &[r"\Water\Level<60"]);
    let rare = plugin.watch(&mill.sim, objects.settings(&json!([{"host": ["Mill*"]}])));
    rare.full();
    objects.store("Mill watch", &[r"\Water\Level<40"]);
    mill.pass(15);
    assert_eq!(rare.full().states(), ["High() firing"], "the next refresh is in five minutes");
    assert_eq!(objects.calls(COLLECTION, FILL), 1);

    let often = plugin.watch(&mill.sim, objects.settings(&each_time()));
    often.full();
    let logons = objects.logons();
    for _ in 0..3 {
        mill.pass(15);
        often.full();
    }
    assert_eq!(objects.calls(COLLECTION, FILL), 5);
    assert_eq!(objects.logons(), logons, "nobody logs on in the steady state");
    // Connections end now and then.
    objects.cut();
    often.full();
    assert_eq!(objects.calls(COLLECTION, FILL), 6);
}

#[test]
fn a_host_that_refuses_its_sets_has_its_counters_judged_all_the_same() {
    let (mill, plugin) = (Mill::new(), Plugin::new());
    let objects = Objects::of(&mill.sim);
    objects.store("Mill watch", &[r"\Water\Level<60"]);
    mill.sim.behave(|behaviour| behaviour.activation = ActivationMode::AccessDenied);
    let sets = json!([
        {"host": ["Mill*"], "refresh": "0s"},
        {"name": "Own", "alerts": [{"counter": r"\Wheels(*)\Load", "above": 80}]},
    ]);
    let watch = plugin.watch(&mill.sim, objects.settings(&sets));
    mill.wheel("big", |wheel| wheel.load = 90);
    let ended = watch.collect();
    let message = ended.partial();
    assert!(message.contains("E_ACCESSDENIED"), "{message}");
    assert_eq!(ended.reason(), "pla_access_denied");
    assert_eq!(ended.states(), ["Load(big) firing"]);
    assert_eq!(ended.of("Set", "Info"), [("Own|configuration|".to_owned(), 1.0)]);
    watch.collect();
    let logons = objects.logons();
    mill.pass(15);
    watch.collect().partial();
    assert_eq!(objects.logons(), logons, "a pause follows the second failure");
    mill.sim.behave(|behaviour| behaviour.activation = ActivationMode::Open);
    watch.full();
    assert_eq!(watch.full().states(), ["High() firing", "Load(big) firing"]);
}

#[test]
fn what_was_read_holds_while_the_host_cannot_be_asked() {
    let (mill, plugin) = (Mill::new(), Plugin::new());
    let objects = Objects::of(&mill.sim);
    objects.store("Mill watch", &[r"\Water\Level<60"]);
    let watch = plugin.watch(&mill.sim, objects.settings(&each_time()));
    watch.full();
    objects.shut();
    mill.pass(15);
    let ended = watch.collect();
    assert!(ended.partial().contains("Performance Logs and Alerts (DCOM-In)"), "{}", ended.partial());
    assert_eq!(ended.states(), ["High() firing"]);
    assert!(ended.of("Set", "Problems").contains(&("Mill watch|host".to_owned(), 1.0)));
    objects.cut();
    watch.collect();
    let ended = watch.full();
    assert!(ended.of("Set", "Problems").contains(&("Mill watch|host".to_owned(), 0.0)));
}

#[test]
fn a_blocked_dynamic_port_is_explained() {
    let (mill, plugin) = (Mill::new(), Plugin::new());
    let objects = Objects::of(&mill.sim);
    mill.sim.behave(|behaviour| behaviour.object_bindings = ObjectBindings::Blocked);
    let ended = plugin.watch(&mill.sim, objects.settings(&each_time())).collect();
    ended.partial();
    assert_eq!(ended.reason(), "pla_port_blocked");
    assert!(
        ended.next_step().contains("-DisplayGroup 'Performance Logs and Alerts'"),
        "{}",
        ended.next_step()
    );
}

#[test]
fn without_counters_the_sets_are_shown_and_the_target_is_not_down() {
    let (mill, plugin) = (Mill::new(), Plugin::new());
    let objects = Objects::of(&mill.sim);
    objects.store("Mill watch", &[r"\Water\Level<60"]);
    let watch = plugin.watch(&mill.sim, objects.settings(&json!([{"host": ["Mill*"]}])));
    watch.full();
    mill.sim.shut();
    for _ in 0..3 {
        mill.pass(15);
        let ended = watch.collect();
        let RecordedOutcome::Partial(families, Some(failure)) = &ended.outcome else { panic!("{ended:?}") };
        assert_eq!(failure.reason.as_str(), "connection_refused");
        let named = families.iter().map(|id| &*ended.recorded.families[*id as usize].object);
        assert!(named.into_iter().all(|object| object == "Set"), "{families:?}");
        assert_eq!(status(&ended), ["Mill watch|stopped"]);
    }
    objects.shut();
    let ended = watch.collect();
    assert!(matches!(ended.outcome, RecordedOutcome::Failed(_)), "nothing of the host answers: {ended:?}");
    objects.cut();
    mill.sim.cut();
    watch.collect();
    watch.collect();
    assert_eq!(watch.full().states(), ["High() firing"]);
}

#[test]
fn a_name_that_another_set_has_is_left_out_and_counted() {
    let (mill, plugin) = (Mill::new(), Plugin::new());
    let objects = Objects::of(&mill.sim);
    objects.store("Mill watch", &[r"\Water\Level<60"]);
    let sets = json!([
        {"name": "Mill watch", "alerts": [{"counter": r"\Wheels(*)\Load", "above": 80}]},
        {"host": ["Mill*"], "refresh": "0s"},
    ]);
    let watch = plugin.watch(&mill.sim, objects.settings(&sets));
    let ended = watch.full();
    assert_eq!(ended.states(), ["Load(big) ok"]);
    assert_eq!(ended.of("Set", "Info"), [("Mill watch|configuration|".to_owned(), 1.0)]);
    assert!(ended.of("Set", "Problems").contains(&("Mill watch|name".to_owned(), 1.0)));
    watch.reconfigure(objects.settings(&each_time()));
    mill.pass(15);
    assert_eq!(watch.full().states(), ["High() firing"]);
}

#[test]
fn a_set_that_cannot_be_read_costs_itself_alone() {
    let (mill, plugin) = (Mill::new(), Plugin::new());
    let objects = Objects::of(&mill.sim);
    objects.store("Mill one", &[r"\Water\Level<60"]);
    objects.store("Mill two", &[r"\Water\Level<70"]);
    let watch = plugin.watch(&mill.sim, objects.settings(&each_time()));
    let rule = "pla-set/52x1=status:0x80070005".parse().expect("a rule of the simulator");
    mill.sim.behave(|behaviour| behaviour.rules = vec![rule]);
    let ended = watch.collect();
    let message = ended.partial();
    assert!(message.starts_with("set `Mill one`: ") && message.contains("E_ACCESSDENIED"), "{message}");
    assert_eq!(ended.of("Set", "Info"), [("Mill two|host|".to_owned(), 1.0)]);
    mill.pass(15);
    assert_eq!(watch.full().of("Set", "Info").len(), 2);
    // What was read before holds.
    let rule = "pla-set/52x1=status:0x80004005".parse().expect("a rule of the simulator");
    mill.sim.behave(|behaviour| behaviour.rules = vec![rule]);
    mill.pass(15);
    let ended = watch.collect();
    ended.partial();
    assert_eq!(ended.of("Set", "Info").len(), 2);
    let problems = ended.of("Set", "Problems");
    assert!(problems.contains(&("Mill one|host".to_owned(), 1.0)), "{problems:?}");
    assert!(problems.contains(&("Mill two|host".to_owned(), 0.0)), "{problems:?}");
}

#[test]
fn a_right_that_is_granted_counts_after_a_while() {
    let (mill, plugin) = (Mill::new(), Plugin::new());
    let objects = Objects::of(&mill.sim);
    objects.store("Mill watch", &[r"\Water\Level<60"]);
    let watch = plugin.watch(&mill.sim, objects.settings(&each_time()));
    let rule = "pla-set/52=status:0x80070005".parse().expect("a rule of the simulator");
    mill.sim.behave(|behaviour| behaviour.rules = vec![rule]);
    watch.collect().partial();
    let logons = objects.logons();
    for _ in 0..19 {
        watch.collect().partial();
    }
    assert_eq!(objects.logons(), logons);
    watch.collect().partial();
    assert!(objects.logons() > logons, "another logon is tried now and then");
}

#[test]
fn a_probe_shows_the_sets() {
    let (mill, plugin) = (Mill::new(), Plugin::new());
    let objects = Objects::of(&mill.sim);
    objects.store("Mill watch", &[r"\Water\Level<60", r"\Water\Depth>1"]);
    let ended = plugin.watch_on_demand(&mill.sim, objects.settings(&each_time())).collect();
    assert!(ended.partial().contains("Depth"), "{}", ended.partial());
    assert_eq!(status(&ended), ["Mill watch|stopped"]);
    assert_eq!(ended.states(), [""; 0]);
}

#[test]
fn the_metrics_are_the_same_whatever_the_host_chooses() {
    let (mill, plugin) = (Mill::new(), Plugin::new());
    let objects = Objects::of(&mill.sim);
    objects.store("Mill watch", &[r"\Water\Level<60"]);
    let sets = json!([{"host": ["*"]}, {"host": ["*"], "category": "system"},
        {"host": ["*"], "category": "session"}, {"host": ["*"], "category": "boot_session"}]);
    let pages = |choices: PlaChoices| {
        mill.sim.behave(|behaviour| behaviour.choices.performance_logs = choices);
        let watch = plugin.watch(&mill.sim, objects.settings(&sets));
        // The sets that hosts come with name counters that the mill does not have.
        watch.collect().page()
    };
    let expected = pages(PlaChoices::default());
    for set in ["Mill watch", "Web Server Load", "System Diagnostics", "EventLog-Orders", "Disk at Boot"] {
        assert!(expected.contains(&format!("Set Info {set}|host| 1")), "{expected}");
    }
    let all = PlaChoices::each_alone();
    assert!(all.len() > 20);
    for choices in all {
        assert_eq!(pages(choices), expected, "{choices:?}");
    }
}

#[test]
fn the_next_start_follows_the_schedules_and_the_local_time_of_the_host() {
    let (mill, plugin) = (Mill::new(), Plugin::new());
    let objects = Objects::of(&mill.sim);
    let key = r"SYSTEM\CurrentControlSet\Control\TimeZoneInformation";
    // One hour east of UTC.
    let offset = windows_sim::registry::RegistryValue::dword((-60_i32).cast_unsigned());
    mill.sim.host.registry().set_value(key, "ActiveTimeBias", offset, NOON);
    let sets = json!([{"host": ["Web Server Load"], "refresh": "0s"}]);
    let ended = plugin.watch(&mill.sim, objects.settings(&sets)).collect();
    let [(set, start)] = &ended.of("Set", "Next Start Timestamp")[..] else { panic!("{ended:?}") };
    assert_eq!(set, "Web Server Load");
    // Every day at four.
    assert_eq!(start.rem_euclid(86_400.0), 3.0 * 3_600.0);
    let objects_without = json!([{"host": ["Low Memory"], "refresh": "0s"}]);
    let ended = plugin.watch(&mill.sim, objects.settings(&objects_without)).collect();
    assert_eq!(ended.of("Set", "Next Start Timestamp"), [], "it has no schedules");
}

#[test]
fn five_hundred_sets_take_two_calls_each() {
    let (mill, plugin) = (Mill::new(), Plugin::new());
    let objects = Objects::of(&mill.sim);
    for number in 0..497 {
        objects.store_ten(&format!("Mill {number:03}"));
    }
    let sets = json!([{"host": ["*"], "refresh": "0s"}]);
    let watch = plugin.watch(&mill.sim, objects.settings(&sets));
    // The sets get a third of it, which lasts on a busy machine, too.
    let ended = watch.collect_within(Duration::from_secs(180));
    // With those that the host comes with.
    assert_eq!(ended.of("Set", "Info").len(), 500);
    assert_eq!(ended.of("Set", "Collectors").iter().map(|(_, number)| number).sum::<f64>(), 4_976.0);
    let calls = |service, opnum| objects.calls(service, opnum);
    assert_eq!((calls(COLLECTION, 8), calls("pla-set", 52)), (500, 500));
    assert_eq!((calls("pla-set", 20), calls("pla-set", 33)), (0, 0), "the XML has name and status");
    assert_eq!(calls("rem-unknown", 5) + calls("rem-unknown2", 5), 8, "references are given back together");
}
