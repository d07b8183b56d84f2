//! Sets of a host that refuses them or is away: what is said, and what holds.

use std::time::Duration;

use plugin_host::testing::RecordedOutcome;
use serde_json::json;
use windows_sim::{ActivationMode, ObjectBindings};

use crate::live::{each_time, status};
use crate::objects::Objects;
use crate::steered::Mill;
use crate::world::Plugin;

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
    let logons = objects.logons();
    mill.pass(15);
    watch.collect().partial();
    assert_eq!(objects.logons(), logons, "a pause follows");
    mill.sim.behave(|behaviour| behaviour.activation = ActivationMode::Open);
    mill.pass(45);
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
    mill.pass(15);
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
        ended.next_step().contains("Enable-NetFirewallRule -Name 'PerfLogsAlerts-*'"),
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
    // Nobody logs on meanwhile, so that there is no pause.
    for _ in 0..10 {
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
    mill.pass(15);
    watch.collect();
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
    assert_eq!(ended.reason(), "pla_set_not_read");
    assert!(ended.next_step().contains("1,048,576 characters"), "{}", ended.next_step());
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
fn a_set_whose_text_is_too_long_costs_itself_alone() {
    for (chars, is_read) in [(1_000_000, true), (1_048_577, false)] {
        let (mill, plugin) = (Mill::new(), Plugin::new());
        let objects = Objects::of(&mill.sim);
        objects.store("Mill small", &[r"\Water\Level<60"]);
        objects.store_described("Mill large", &"d".repeat(chars));
        let watch = plugin.watch(&mill.sim, objects.settings(&each_time()));
        let ended = watch.collect();
        let shown: Vec<_> = ended.of("Set", "Info").into_iter().map(|(labels, _)| labels).collect();
        if is_read {
            assert_eq!(ended.outcome, RecordedOutcome::Full);
            assert_eq!(shown, ["Mill large|host|", "Mill small|host|"]);
            continue;
        }
        let message = ended.partial();
        assert!(message.starts_with("set `Mill large`: "), "{message}");
        assert_eq!(ended.reason(), "pla_set_not_read");
        assert!(ended.next_step().contains("more than 1,048,576 characters"), "{}", ended.next_step());
        assert_eq!(shown, ["Mill small|host|"]);
        assert_eq!(ended.states(), ["High() firing"]);
        assert_eq!(ended.logged("A set of the host cannot be read"), 1);
        mill.pass(15);
        let ended = watch.collect();
        ended.partial();
        assert_eq!(ended.logged("A set of the host cannot be read"), 1, "it is said once");
    }
}

#[test]
fn problems_of_a_set_above_the_limit_are_counted_and_said_once() {
    let (mill, plugin) = (Mill::new(), Plugin::new());
    let objects = Objects::of(&mill.sim);
    let thresholds = vec![r"\Water\Level<6,0"; 1_100];
    objects.store("Mill some", &thresholds[..25]);
    objects.store("Mill watch", &thresholds);
    let watch = plugin.watch(&mill.sim, objects.settings(&each_time()));
    for _ in 0..2 {
        let ended = watch.full();
        let said = |set: &str| -> Vec<String> {
            let logs = ended.recorded.logs.iter().filter(|log| log.level == plugin_abi::Level::Warn);
            let fields = logs.map(|log| log.fields.iter().map(|(name, value)| (&**name, &**value)).collect());
            let fields =
                fields.filter(|fields: &std::collections::HashMap<_, _>| fields.get("set") == Some(&set));
            fields.filter_map(|fields| fields.get("problem").map(|&problem| problem.to_owned())).collect()
        };
        for (set, last) in [("Mill some", "and 5 more"), ("Mill watch", "and 1080 more")] {
            assert_eq!((said(set).len(), said(set).last().map(String::as_str)), (21, Some(last)));
        }
        let problems = ended.of("Set", "Problems");
        assert!(problems.contains(&("Mill watch|limit".to_owned(), 1.0)), "{problems:?}");
        assert!(problems.contains(&("Mill watch|threshold".to_owned(), 1_000.0)), "{problems:?}");
        mill.pass(15);
    }
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
    let later = |seconds| {
        // The host's clock stays, or it would miss pings.
        plugin.advance(Duration::from_secs(seconds));
        watch.collect().partial();
    };
    (0..9).for_each(|_| later(60));
    assert_eq!(objects.logons(), logons);
    [60, 15].into_iter().for_each(later);
    assert!(objects.logons().0 > logons.0, "another logon is tried each ten minutes");
}
