//! What the host tells by events is what its model has, alone and beside polls.

use std::time::Duration;

use plugin_abi::{FamilyKey, Selects};
use plugin_host::InstanceConfig;
use serde_json::json;
use windows_sim::choices::{EventList, TrackerEventChoices};
use windows_sim::model::ComComponent;
use wire::Guid;

use crate::world::{Asked as _, Plugin, SimHost};
use plugin_harness::Collection;

/// The sum of a figure of a component over all containers of an application.
fn sum(sim: &SimHost, id: Guid, clsid: Guid, of: fn(&ComComponent) -> u32) -> f64 {
    let containers = sim.processes().into_iter().flat_map(|process| process.containers);
    let own = containers.filter(|container| container.application_id == id);
    let components = own.flat_map(|container| container.components);
    f64::from(components.filter(|component| component.clsid == clsid).map(|one| of(&one)).sum::<u32>())
}

/// Compares what only events tell with the model.
#[track_caller]
fn check(sim: &SimHost, ended: &Collection) {
    for process in sim.processes() {
        let process_id = process.process_id.to_string();
        let state = |item| ended.value("Process", item, &[&process_id]);
        assert_eq!(state("Paused"), Some(f64::from(process.is_paused)));
        assert_eq!(state("Recycling"), Some(f64::from(process.is_recycling)));
        assert_eq!(state("Service"), Some(f64::from(process.is_service)));
        assert_eq!(ended.value("Process", "Info", &[&process_id, process.exe_name]), Some(1.0));
        for container in process.containers {
            let application = container.application_id.to_string();
            let of_process = ended.value("Process Application", "Info", &[&process_id, &application]);
            assert_eq!(of_process, Some(1.0));
            let partition = container.partition_id.to_string();
            let info = [application.as_str(), container.name, &partition, "server"];
            assert_eq!(ended.value("Application", "Info", &info), Some(1.0));
            for component in &container.components {
                let clsid = component.clsid.to_string();
                let named = [application.as_str(), &clsid, component.name];
                assert_eq!(ended.value("Component", "Info", &named), Some(1.0));
                let tracked = |of| {
                    container.is_tracked.then(|| sum(sim, container.application_id, component.clsid, of))
                };
                let value = |item| ended.value("Component", item, &[&application, &clsid]);
                assert_eq!(value("Instances"), tracked(ComComponent::instances));
                assert_eq!(value("Instances Active"), tracked(|one| one.activated));
                assert_eq!(value("Instances Pooled"), tracked(|one| one.pooled));
                assert_eq!(value("Instances In Call"), tracked(|one| one.in_call));
            }
        }
    }
}

fn own(ended: &Collection, item: &str) -> Option<f64> {
    ended.value("Events", item, &[])
}

#[test]
fn a_host_is_polled_until_it_tells_its_state_and_not_after_that() {
    let (sim, plugin) = (SimHost::new(), Plugin::new());
    let watch = plugin.watch_with(sim.port, json!({"mode": "events"}));
    let first = watch.full();
    assert_eq!((first.count("Application"), own(&first, "Up")), (20, Some(0.0)));
    assert!(first.value("Component", "References", &ORDERS_CART).is_some(), "it was polled");
    let calls = sim.calls();
    for told in 1..=40_u32 {
        sim.tell();
        let ended = watch.full();
        check(&sim, &ended);
        assert_eq!((own(&ended, "Up"), own(&ended, "Taken")), (Some(1.0), Some(f64::from(told))));
        assert_eq!(ended.value("Component", "References", &ORDERS_CART), None, "events do not tell it");
        assert_eq!(ended.value("Application", "Calls/sec", &ORDERS_CART[..1]), None, "nor this");
        sim.clock.advance(Duration::from_secs(47));
    }
    assert_eq!(sim.calls(), calls, "the tracker is not asked");
    assert_eq!(watch.full().logged("COM+ events of the host arrive"), 1);
}

const ORDERS_CART: [&str; 2] =
    ["a911ca70-0000-4000-8000-000000000001", "c0990e27-0000-4000-8000-000000000011"];

#[test]
fn a_state_is_shown_again_until_it_is_too_old_and_then_the_host_is_polled() {
    let (sim, plugin) = (SimHost::new(), Plugin::new());
    let watch = plugin.watch_with(sim.port, json!({"mode": "events"}));
    watch.full();
    sim.tell();
    let first = watch.full();
    let calls = sim.calls();
    assert_eq!(watch.full().all_but("Events"), first.all_but("Events"));
    assert_eq!(sim.calls(), calls);
    // From now on only what came since the last collection counts.
    watch.reconfigure(json!({"mode": "events", "events_max_age": "0s"}));
    for _ in 0..2 {
        let ended = watch.full();
        assert_eq!((own(&ended, "Up"), ended.count("Process")), (Some(0.0), 0));
        assert!(ended.value("Component", "References", &ORDERS_CART).is_some(), "it was polled");
        assert_eq!(ended.logged("COM+ events of the host do not arrive; it is polled"), 1);
    }
    sim.tell();
    let ended = watch.full();
    assert_eq!(own(&ended, "Up"), Some(1.0));
    check(&sim, &ended);
    assert_eq!(ended.logged("COM+ events of the host arrive"), 2);
}

#[test]
fn of_several_events_the_newest_is_shown_and_the_others_are_counted() {
    let (sim, plugin) = (SimHost::new(), Plugin::new());
    let watch = plugin.watch_with(sim.port, json!({"mode": "events"}));
    watch.full();
    for _ in 0..3 {
        sim.clock.advance(Duration::from_secs(31));
        sim.tell();
    }
    let ended = watch.full();
    check(&sim, &ended);
    assert_eq!((own(&ended, "Taken"), own(&ended, "Superseded")), (Some(1.0), Some(2.0)));
    let last = own(&ended, "Last Time").expect("an event came");
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("it is after 1970");
    assert!((0.0..600.0).contains(&(now.as_secs_f64() - last)), "{last}");
    for reason in [
        "address",
        "malformed",
        "empty",
        "size",
        "memory",
        "authentication",
        "connections",
        "unfinished",
        "slow",
        "protocol",
        "unreadable",
    ] {
        assert!(ended.value("Events", "Refused", &[reason]).is_some(), "{reason}");
    }
    assert_eq!(ended.value("Events", "Refused", &["unreadable"]), Some(0.0));
    assert!(ended.value("Event Listener", "Refused Connections", &[]).is_some());
}

#[test]
fn polls_and_events_complete_each_other() {
    let (sim, plugin) = (SimHost::new(), Plugin::new());
    let watch = plugin.watch_with(sim.port, json!({"mode": "both"}));
    assert_eq!(watch.full().value("Component", "Instances Active", &ORDERS_CART), None);
    for _ in 0..3 {
        sim.tell();
        let ended = watch.full();
        check(&sim, &ended);
        assert!(ended.value("Component", "References", &ORDERS_CART).is_some());
        assert!(ended.value("Application", "Calls/sec", &ORDERS_CART[..1]).is_some());
        sim.clock.advance(Duration::from_secs(101));
    }
    // What the tracker refuses, events tell all the same.
    sim.rule("tracker/4=status:0x80070005");
    sim.tell();
    let ended = watch.collect();
    assert_eq!(ended.partial().1, "com_access_denied");
    check(&sim, &ended);
    assert_eq!(ended.value("Component", "References", &ORDERS_CART), None);
}

#[test]
fn metrics_are_the_same_whatever_the_host_chooses_about_its_events() {
    let (sim, plugin) = (SimHost::new(), Plugin::new());
    let watch = plugin.watch_with(sim.port, json!({"mode": "events"}));
    watch.full();
    sim.tell();
    let usual = watch.full();
    let all = TrackerEventChoices::each_alone();
    assert!(all.len() > 20);
    for choices in all {
        sim.behave(|behaviour| behaviour.choices.tracker_events = choices.clone());
        sim.tell();
        let ended = watch.full();
        if choices.event_list == EventList::Containers {
            // Nothing is known of processes then, and all else is the same.
            let rows = |ended: &Collection| {
                let mut rows = ended.all_but("Events");
                rows.retain(|(name, ..)| !name.starts_with("Process"));
                rows
            };
            assert_eq!((rows(&ended), ended.count("Process")), (rows(&usual), 0));
        } else {
            assert_eq!(ended.all_but("Events"), usual.all_but("Events"), "{choices:?}");
        }
    }
}

#[test]
fn an_instance_for_one_question_only_polls() {
    let (sim, plugin) = (SimHost::new(), Plugin::new());
    for mode in ["events", "both"] {
        let watch = plugin.watch_on_demand(sim.port, json!({"mode": mode}));
        let ended = watch.full();
        assert_eq!((ended.count("Application"), ended.count("Events")), (20, 0));
        assert!(sim.publish().is_empty(), "{mode}");
    }
}

#[test]
fn limits_hold_for_events_too() {
    let (sim, plugin) = (SimHost::new(), Plugin::new());
    let settings = json!({"mode": "events", "max_applications": 2, "max_components": 4, "max_processes": 1});
    let watch = plugin.watch_with(sim.port, settings);
    watch.full();
    sim.tell();
    let ended = watch.full();
    assert_eq!((ended.left_out("application", "limit"), ended.left_out("component", "limit")), (2.0, 1.0));
    // Of two applications without calls per second; of four tracked components five figures; and what they are.
    assert_eq!((ended.count("Application"), ended.count("Component")), (2 * (4 + 1), 4 * (5 + 1)));
    let processes = sim.processes().len() as f64;
    assert_eq!((ended.left_out("process", "limit"), ended.count("Process")), (processes - 1.0, 3 + 1));
}

#[test]
fn changes_of_processes_are_reported_where_that_is_wanted() {
    let (sim, plugin) = (SimHost::new(), Plugin::new());
    let watch = plugin.watch_with(sim.port, json!({"mode": "events", "log_changes": true}));
    watch.full();
    let mut before: Vec<(u32, bool)> = Vec::new();
    let mut expected = 0;
    for _ in 0..60 {
        sim.tell();
        watch.full();
        let now: Vec<(u32, bool)> =
            sim.processes().iter().map(|one| (one.process_id, one.is_paused)).collect();
        expected += now.iter().filter(|(id, is_paused)| *is_paused && before.contains(&(*id, false))).count();
        before = now;
        sim.clock.advance(Duration::from_secs(13));
    }
    let ended = watch.full();
    assert!(expected > 0, "a process was paused");
    assert_eq!(ended.events("complus.process.paused").len(), expected);
    let body = ended.events("complus.process.paused")[0];
    assert!(body.starts_with("Process 2") && body.ends_with("of COM+ applications is paused"), "{body}");
    let silent = plugin.watch_with(sim.port, json!({"mode": "poll"}));
    assert_eq!(silent.full().events("complus.process.paused"), [""; 0]);
}

#[test]
fn a_family_that_only_events_tell_needs_a_mode_with_events() {
    let (sim, plugin) = (SimHost::new(), Plugin::new());
    let watch = plugin.watch_with(sim.port, json!({}));
    let asked = |mode: &str, object: &str, item: &str| {
        let config = InstanceConfig { settings: json!({"mode": mode}), ..watch.config.clone() };
        let [namespace, object, item] = ["complus", object, item].map(str::to_owned);
        let family = FamilyKey { namespace, object, item, part: String::new() };
        plugin.library.selects("comt", &config, &family).expect("the source answers")
    };
    for (object, item) in [("Process", "Paused"), ("Component", "Instances Active"), ("Application", "Info")]
    {
        let Selects::No(problems) = asked("poll", object, item) else { panic!("polls do not tell {item}") };
        assert_eq!((problems[0].pointer.as_str(), problems[0].suggestion.as_str()), ("/mode", "both"));
        assert_eq!(asked("both", object, item), Selects::Yes, "{item}");
    }
    assert_eq!(asked("poll", "Component", "Instances Pooled"), Selects::Yes);
}
