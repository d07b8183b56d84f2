//! Sets of the host itself: judged, shown and refreshed.

use std::time::Duration;

use ms_pla::Category;
use plugin_host::testing::RecordedOutcome;
use serde_json::json;
use windows_sim::choices::PlaChoices;
use wire::FileTime;

use crate::objects::Objects;
use crate::steered::Mill;
use crate::world::{Ended, NOON, Plugin};

const COLLECTION: &str = "pla-set-collection";
const FILL: u16 = 14;

pub(crate) fn each_time() -> serde_json::Value {
    json!([{"host": ["Mill*"], "refresh": "0s"}])
}

/// The states that sets of the host have.
pub(crate) fn status(ended: &Ended) -> Vec<String> {
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
fn sets_in_folders_are_wanted_by_their_names_and_by_patterns() {
    let (mill, plugin) = (Mill::new(), Plugin::new());
    let objects = Objects::of(&mill.sim);
    let names = [r"Mill\Day", r"Mill\Night", r"Other\Night"];
    for name in names {
        objects.store(name, &[r"\Water\Level<60"]);
    }
    for (wanted, expected) in [
        (&[r"Mill\Day"][..], &names[..1]),
        (&[r"mill\day", r"Other\*"], &[names[0], names[2]]),
        (&[r"*\Night"], &names[1..]),
        (&[r"Mill\*"], &names[..2]),
        (&["Day"], &[]),
    ] {
        let watch = plugin.watch(&mill.sim, objects.settings(&json!([{"host": wanted}])));
        let shown: Vec<_> =
            watch.full().of("Set", "Serial Number").into_iter().map(|(name, _)| name).collect();
        assert_eq!(shown, expected, "{wanted:?}");
    }
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

#[test]
fn sets_above_the_room_for_all_are_shown_without_alerts_that_are_left_out() {
    let (mill, plugin) = (Mill::new(), Plugin::new());
    let objects = Objects::of(&mill.sim);
    let thresholds: Vec<String> = (0..9_990).map(|number| format!(r"\Water\Level>{number}")).collect();
    let thresholds: Vec<&str> = thresholds.iter().map(String::as_str).collect();
    objects.store("Mill 1", &thresholds);
    objects.store("Mill 2", &thresholds[..20]);
    // It has no series of the alerts.
    let watch = plugin.watch_on_demand(&mill.sim, objects.settings(&each_time()));
    for _ in 0..2 {
        let ended = watch.full();
        assert_eq!(ended.of("Set", "Info").len(), 2);
        assert_eq!(ended.of("Set", "Alerts"), [("Mill 1".to_owned(), 9_990.0), ("Mill 2".to_owned(), 10.0)]);
        let problems = ended.of("Set", "Problems");
        assert!(problems.contains(&("Mill 1|limit".to_owned(), 0.0)), "{problems:?}");
        assert!(problems.contains(&("Mill 2|limit".to_owned(), 1.0)), "{problems:?}");
        mill.pass(15);
    }
}

#[test]
fn sets_of_a_slow_host_are_read_in_several_collections_and_shown_as_they_come() {
    let (mill, plugin) = (Mill::new(), Plugin::new());
    let objects = Objects::of(&mill.sim);
    (0..40).for_each(|number| objects.store(&format!("Mill {number:02}"), &[r"\Water\Level<60"]));
    let rule = "pla-set/52=delay:40ms".parse().expect("a rule of the simulator");
    mill.sim.behave(|behaviour| behaviour.rules = vec![rule]);
    let watch = plugin.watch(&mill.sim, objects.settings(&json!([{"host": ["Mill*"]}])));
    let (mut shown, mut said) = (0, Vec::new());
    loop {
        // The sets get a third of it, and together they take longer.
        let ended = watch.collect_within(Duration::from_secs(3));
        let now = ended.of("Set", "Info").len();
        assert!(now >= shown, "{now} after {shown}: {ended:?}");
        shown = now;
        mill.pass(15);
        match &ended.outcome {
            RecordedOutcome::Partial(..) => said.push(ended.partial().to_owned()),
            _ => break,
        }
        assert!(said.len() < 100, "{said:?}");
    }
    assert_eq!(shown, 40);
    // With those that the host comes with.
    assert!(said.iter().any(|said| said.contains(" of 43 sets in the time that there was")), "{said:?}");
    // Nothing is read twice, unless a machine that is very busy lost the connection in between.
    let lost = said.iter().filter(|said| !said.contains("in the time")).count() as u64;
    let calls = objects.calls(COLLECTION, 8);
    assert!((43..=43 * (1 + lost)).contains(&calls), "{calls}: {said:?}");
}

#[test]
fn sets_that_were_read_stay_when_the_host_hangs_at_one_and_the_others_follow() {
    let (mill, plugin) = (Mill::new(), Plugin::new());
    let objects = Objects::of(&mill.sim);
    (1..=5).for_each(|number| objects.store(&format!("Mill {number}"), &[r"\Water\Level<60"]));
    let rule = "pla-set/52+2x1=stall".parse().expect("a rule of the simulator");
    mill.sim.behave(|behaviour| behaviour.rules = vec![rule]);
    let watch = plugin.watch(&mill.sim, objects.settings(&each_time()));
    let ended = watch.collect_within(Duration::from_secs(9));
    ended.partial();
    assert_eq!(ended.of("Set", "Info").len(), 2);
    mill.pass(15);
    assert_eq!(watch.full().of("Set", "Info").len(), 5);
}
