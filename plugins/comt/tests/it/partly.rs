//! What cannot be read of one application, or exceeds a limit, costs nothing else.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use plugin_abi::Stage;
use plugin_harness::Collection;
use serde_json::json;
use windows_sim::choices::EndedContainer;
use windows_sim::model::{Clock, ComProcess, Counterset, Host, HostOptions, Moment, Sample, ValueSource};
use wire::{FileTime, Guid};

use crate::slow;
use crate::world::{Asked as _, Plugin, SimHost};

#[test]
fn an_application_whose_components_cannot_be_read_does_not_lose_its_neighbours() {
    let (sim, plugin) = (SimHost::new(), Plugin::new());
    let watch = plugin.watch(&sim);
    let components = watch.full().count("Component");
    for (rule, expected) in [
        ("tracker/5x1=fault:1783", (Stage::Query, "server_fault")),
        ("tracker/5x1=oversize:3", (Stage::Decode, "malformed_reply")),
    ] {
        sim.rule(rule);
        let ended = watch.collect();
        let (stage, reason, message) = ended.partial();
        assert_eq!((stage, reason), expected, "{rule}");
        assert!(message.contains("get component data by container"), "{message}");
        // The first application has three components.
        assert_eq!(ended.count("Component"), components - 21, "{rule}");
        assert_eq!((ended.count("Application"), ended.left_out("container", "unread")), (20, 1.0), "{rule}");
        let healed = watch.full();
        assert_eq!((healed.count("Component"), healed.left_out("container", "unread")), (components, 0.0));
    }
    assert_eq!(plugin.lender.verdicts().len(), 1, "nothing was opened again");
}

#[test]
fn an_application_without_an_answer_is_left_alone_for_a_while_and_the_others_are_read() {
    let (sim, plugin) = (SimHost::new(), Plugin::new());
    let watch = plugin.watch(&sim);
    let components = watch.full().count("Component");
    sim.rule("tracker/5x1=stall");
    let time = Duration::from_secs(8);
    for collection in 0..4 {
        let calls = sim.calls().1;
        let ended = watch.collect_within(time);
        let (stage, reason, message) = ended.partial();
        assert_eq!((stage, reason), (Stage::Query, "timeout"));
        assert!(message.contains("application a911ca70-0000-4000-8000-000000000001"), "{message}");
        assert!(message.ends_with("; they are asked for again in 10 minutes at the latest"), "{message}");
        assert_eq!((ended.count("Application"), ended.count("Component")), (20, components - 21));
        assert_eq!(ended.left_out("container", "stalled"), 1.0);
        assert_eq!(sim.calls().1 - calls, if collection == 0 { 6 } else { 5 });
        plugin.advance(Duration::from_secs(15));
    }
    assert_eq!(watch.full().count("Component"), components, "a minute has passed");
}

#[test]
fn what_a_host_did_not_answer_before_it_was_away_is_asked_for_as_soon_as_it_is_back() {
    let (sim, plugin) = (SimHost::new(), Plugin::new());
    let watch = plugin.watch(&sim);
    let components = watch.full().count("Component");
    sim.rule("tracker/5=stall");
    let ended = watch.collect_within(Duration::from_secs(4));
    assert_eq!((ended.partial().1, ended.count("Component")), ("timeout", 0));
    sim.heal();
    sim.shut();
    watch.collect().failed();
    sim.cut();
    assert_eq!(watch.full().count("Component"), components);
}

#[test]
fn a_container_whose_call_fails_has_ended_once_and_is_unread_after_that() {
    let (sim, plugin) = (SimHost::new(), Plugin::new());
    for status in ["0x80070057", "0x8000ffff", "0x80004005", "0x80070005", "0x80010108", "0x80110401"] {
        let watch = plugin.watch(&sim);
        let logons = plugin.lender.verdicts().len();
        sim.rule(&format!("tracker/5x1=status:{status}"));
        let ended = watch.full();
        let left_out = |ended: &Collection| ["ended", "unread"].map(|why| ended.left_out("container", why));
        assert_eq!((ended.count("Application"), left_out(&ended)), (20, [1.0, 0.0]), "{status}");
        // It is listed again, and fails again: that is no end.
        for _ in 0..3 {
            sim.rule(&format!("tracker/5x1=status:{status}"));
            let again = watch.collect();
            let (stage, _, message) = again.partial();
            assert_eq!((stage, left_out(&again)), (Stage::Query, [0.0, 1.0]), "{status}");
            assert!(message.contains("get component data by container"), "{message}");
        }
        assert_eq!(left_out(&watch.full()), [0.0, 0.0], "{status}");
        sim.rule(&format!("tracker/5x1=status:{status}"));
        assert_eq!(left_out(&watch.full()), [1.0, 0.0], "{status}: after it was read");
        assert_eq!(plugin.lender.verdicts().len(), logons + 1, "{status}: nothing was opened again");
    }
}

/// A host whose last application ends behind each list.
struct Vanishing {
    host: Host,
    asked: AtomicU32,
}

impl ValueSource for Vanishing {
    fn countersets(&self) -> Vec<&'static Counterset> {
        Vec::new()
    }

    fn moment(&self) -> Moment {
        self.host.moment()
    }

    fn sample(&self, _: Guid, _: &Moment) -> Option<Vec<Sample>> {
        None
    }

    fn com_processes(&self, moment: &Moment) -> Vec<ComProcess> {
        let mut processes = self.host.com_processes(moment);
        if self.asked.fetch_add(1, Ordering::Relaxed) > 0 {
            processes.pop();
        }
        processes
    }
}

#[test]
fn a_container_that_ends_behind_the_list_is_no_failure_whatever_the_host_calls_it() {
    for &choice in EndedContainer::ALL {
        let clock = Clock::manual(FileTime(134_116_992_000_000_000));
        let options = HostOptions { clock: clock.clone(), ..HostOptions::default() };
        let source = Arc::new(Vanishing { host: Host::new(options), asked: AtomicU32::new(0) });
        let (sim, plugin) = (SimHost::with_source(source, clock), Plugin::new());
        sim.host.change_behaviour(|behaviour| behaviour.choices.com_plus.ended_container = choice);
        let watch = plugin.watch(&sim);
        let ended = watch.full();
        assert!(ended.left_out("container", "ended") >= 1.0, "{choice:?}");
        let next = watch.full();
        assert_eq!(next.left_out("container", "ended"), 0.0, "{choice:?}: it is not listed any more");
    }
}

#[test]
fn a_host_that_answers_about_no_component_costs_few_logons() {
    let (sim, plugin) = (SimHost::new(), Plugin::new());
    let watch = plugin.watch(&sim);
    sim.rule("tracker/5=stall");
    let mut logons = Vec::new();
    for _ in 0..6 {
        let before = sim.connections();
        let ended = watch.collect_within(Duration::from_secs(4));
        assert_eq!(ended.partial().1, "timeout");
        assert_eq!((ended.count("Application"), ended.count("Component")), (20, 0));
        logons.push(sim.connections() - before);
    }
    // Two to the resolver and one to the program for each time that the object is activated.
    assert_eq!(logons, [6, 3, 0, 0, 0, 0]);
}

#[test]
fn distinct_components_are_those_of_all_containers() {
    let (sim, plugin) = (SimHost::new(), Plugin::new());
    let mut expected: BTreeMap<Guid, BTreeSet<Guid>> = BTreeMap::new();
    for container in sim.processes().into_iter().flat_map(|process| process.containers) {
        let classes = container.components.iter().map(|component| component.clsid);
        expected.entry(container.application_id).or_default().extend(classes);
    }
    let ended = plugin.watch(&sim).full();
    for (application, classes) in expected {
        let shown = ended.value("Application", "Components", &[&application.to_string()]);
        assert_eq!(shown, Some(f64::from(u32::try_from(classes.len()).unwrap())));
    }
}

#[test]
fn what_exceeds_a_limit_is_counted_and_the_same_each_time() {
    let (sim, plugin) = (SimHost::new(), Plugin::new());
    let all = plugin.watch(&sim).full();
    let watch = plugin.watch_with(sim.port, json!({"max_applications": 2, "max_components": 4}));
    for _ in 0..2 {
        let ended = watch.full();
        assert_eq!((ended.count("Application"), ended.left_out("application", "limit")), (10, 2.0));
        // Three of the first application, and one of two of the second, which has two containers.
        assert_eq!((ended.count("Component"), ended.left_out("component", "limit")), (28, 1.0));
    }
    assert_eq!((all.left_out("application", "limit"), all.left_out("component", "limit")), (0.0, 0.0));
    let calls = sim.calls().1;
    let watch = plugin.watch_with(sim.port, json!({"max_components": 3}));
    let ended = watch.full();
    assert_eq!((ended.count("Application"), ended.count("Component")), (20, 21));
    assert_eq!(ended.left_out("component", "limit"), 5.0);
    assert_eq!(sim.calls().1, calls + 1, "components that are not shown are not asked for");
}

#[test]
fn a_host_above_its_limits_is_shown_as_far_as_they_go_in_the_order_of_identifiers() {
    let (sim, plugin) = (slow::host(60, 1), Plugin::new());
    let watch = plugin.watch_with(sim.port, json!({"max_applications": 50, "max_components": 400}));
    for _ in 0..2 {
        let ended = watch.full();
        assert_eq!((ended.count("Application"), ended.count("Component")), (5 * 50, 7 * 400));
        // 44 applications with all of their components, one with four of nine, and 5 with none.
        assert_eq!(ended.left_out("application", "limit"), 10.0);
        assert_eq!(ended.left_out("component", "limit"), 5.0 + 5.0 * 9.0);
        let last = Guid::from_u128(49 << 96).to_string();
        assert_eq!(ended.value("Application", "Components", &[&last]), Some(9.0));
    }
    assert_eq!(sim.calls(), (2, 2 * 45));
}

#[test]
fn settings_that_are_wrong_are_told_by_their_place() {
    let (sim, plugin) = (SimHost::new(), Plugin::new());
    let watch = plugin.watch(&sim);
    let settings = json!({"mode": "pull", "max_applications": 0});
    let config = plugin_host::InstanceConfig { settings, ..watch.config.clone() };
    let problems = plugin.library.validate("comt", &config).expect("the source answers");
    let places: Vec<&str> = problems.iter().map(|problem| problem.pointer.as_str()).collect();
    assert_eq!(places, ["/mode", "/max_applications"]);
    assert!(problems[0].suggestion.contains("events"), "{problems:?}");
}
