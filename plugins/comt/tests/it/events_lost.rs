//! Subscriptions that a host refuses, loses or cannot serve, and their end.

use std::net::Ipv4Addr;
use std::time::Duration;

use plugin_abi::{CredentialAnswer, GeneralReason, Stage};
use serde_json::json;
use windows_sim::choices::{CallBackSecurity, InterfaceReferences};

use crate::world::{Asked as _, Plugin, SimHost};
use plugin_harness::Collection;

/// Only what came since the last collection counts as told.
fn events_now(mode: &str) -> serde_json::Value {
    json!({"mode": mode, "events_max_age": "0s"})
}

fn up(ended: &Collection) -> Option<f64> {
    ended.value("Events", "Up", &[])
}

#[test]
fn a_subscription_is_stored_again_after_the_event_system_restarted() {
    let (sim, plugin) = (SimHost::new(), Plugin::new());
    let watch = plugin.watch_with(sim.port, events_now("events"));
    watch.full();
    sim.tell();
    assert_eq!(up(&watch.full()), Some(1.0));
    sim.host.restart_event_system();
    assert!(sim.publish().is_empty(), "it was transient");
    let ended = watch.full();
    assert_eq!((up(&ended), ended.count("Application")), (Some(0.0), 20));
    assert_eq!(ended.logged("Event system restarted; the subscription is stored again"), 1);
    sim.tell();
    assert_eq!(up(&watch.full()), Some(1.0));
}

#[test]
fn a_subscription_survives_connections_that_were_cut() {
    let (sim, plugin) = (SimHost::new(), Plugin::new());
    let watch = plugin.watch_with(sim.port, events_now("both"));
    watch.full();
    sim.cut();
    assert_eq!(watch.full().count("Application"), 20);
    sim.tell();
    let ended = watch.full();
    assert_eq!(up(&ended), Some(1.0));
    assert_eq!(ended.logged("Event system restarted; the subscription is stored again"), 0);
}

#[test]
fn a_host_that_cannot_call_back_is_polled_and_the_failure_names_the_address() {
    // It calls from another address than its own.
    let (sim, plugin) = (SimHost::on(Ipv4Addr::new(127, 0, 0, 2)), Plugin::new());
    let watch = plugin.watch_host("127.0.0.2", sim.port, events_now("events"));
    watch.full();
    sim.publish().remove(0).outcome.expect_err("it is no address of the target");
    let ended = watch.collect();
    let ((stage, reason, message), next_step) = (ended.partial(), ended.next_step());
    assert_eq!((stage, reason), (Stage::Plugin, "call_back_unreachable"));
    assert!(message.contains("the host removed the subscription; it was told to call 127.0.0."), "{message}");
    assert!(next_step.contains("TCP port 135"), "{next_step}");
    assert_eq!((up(&ended), ended.count("Application")), (Some(0.0), 20));
    assert_eq!(ended.value("Events", "Taken", &[]), Some(0.0));
    assert_eq!(sim.publish().len(), 1, "it was stored again");
}

#[test]
fn an_event_system_that_refuses_costs_events_alone() {
    for (rule, expected) in [
        ("event-system/8=status:0x80070005", "event_system_denied"),
        ("event-system/8=fault:5", "event_system_denied"),
        ("event-system/8=status:0x8000ffff", "server_fault"),
        ("event-system/8=garbage", "malformed_reply"),
    ] {
        let (sim, plugin) = (SimHost::new(), Plugin::new());
        let watch = plugin.watch_with(sim.port, events_now("events"));
        sim.rule(rule);
        let ended = watch.collect();
        let (_, reason, message) = ended.partial();
        assert_eq!(reason, expected, "{rule}: {message}");
        assert_eq!((up(&ended), ended.count("Application")), (Some(0.0), 20), "{rule}");
        sim.heal();
        plugin.advance(Duration::from_secs(60));
        watch.full();
        sim.tell();
        assert_eq!(up(&watch.full()), Some(1.0), "{rule}");
    }
}

#[test]
fn an_event_system_that_hangs_leaves_time_for_a_poll() {
    let (sim, plugin) = (SimHost::new(), Plugin::new());
    let watch = plugin.watch_with(sim.port, events_now("events"));
    sim.rule("event-system/8=stall");
    let ended = watch.collect_within(Duration::from_secs(4));
    let (_, reason, message) = ended.partial();
    assert_eq!(reason, "timeout", "{message}");
    assert_eq!(ended.count("Application"), 20);
    sim.heal();
    plugin.advance(Duration::from_secs(60));
    watch.full();
    sim.tell();
    assert_eq!(up(&watch.full()), Some(1.0));
}

#[test]
fn a_slow_event_system_gets_its_subscription_in_several_collections() {
    let (sim, plugin) = (SimHost::new(), Plugin::new());
    let watch = plugin.watch_with(sim.port, events_now("events"));
    // Half of the time is for two activations and the seven properties of a subscription.
    sim.rules(&["activator/4=delay:700ms", "event-subscription/*=delay:150ms"]);
    let mut said = Vec::new();
    while sim.stores() == 0 {
        let ended = watch.collect_within(Duration::from_secs(4));
        if sim.stores() == 0 {
            let (_, reason, message) = ended.partial();
            assert_eq!(reason, "timeout");
            assert!(message.ends_with("the next collection goes on with the subscription"), "{message}");
            said.push(message.to_owned());
            assert!(said.len() < 6, "{said:?}");
        }
        plugin.advance(Duration::from_secs(15));
    }
    assert!(!said.is_empty());
    sim.tell();
    assert_eq!(up(&watch.full()), Some(1.0));
}

#[test]
fn attempts_become_rare_while_the_host_refuses() {
    let (sim, plugin) = (SimHost::new(), Plugin::new());
    let watch = plugin.watch_with(sim.port, events_now("events"));
    sim.rule("event-system/8=status:0x80070005");
    let mut attempts = Vec::new();
    let mut second = 0;
    for pass in [0, 30, 40, 30, 40, 40, 50, 70, 80] {
        plugin.advance(Duration::from_secs(pass));
        second += pass;
        let before = sim.stores();
        assert_eq!(watch.collect().partial().1, "event_system_denied", "the reason stays");
        attempts.extend((sim.stores() > before).then_some(second));
    }
    assert_eq!(attempts, [0, 70, 140, 230, 380]);
    // Whoever changes the settings may have removed the cause.
    sim.heal();
    watch.reconfigure(json!({"mode": "events", "events_max_age": "1s"}));
    watch.full();
    sim.tell();
    assert_eq!(up(&watch.full()), Some(1.0));
}

#[test]
fn what_the_exporter_withholds_is_asked_for_with_each_collection() {
    let (sim, plugin) = (SimHost::new(), Plugin::new());
    let watch = plugin.watch_with(sim.port, events_now("events"));
    let (reason, message) = (GeneralReason::AccountLocked, "withheld until 08:05 UTC".to_owned());
    plugin.lender.answer(Some(CredentialAnswer::Denied { reason, message }));
    watch.collect().failed();
    plugin.lender.answer(None);
    watch.full();
    sim.tell();
    assert_eq!(up(&watch.full()), Some(1.0), "no pause of the plugin is added to it");
}

#[test]
fn another_mode_begins_and_ends_the_subscription() {
    let (sim, plugin) = (SimHost::new(), Plugin::new());
    let watch = plugin.watch_with(sim.port, json!({"mode": "poll"}));
    assert_eq!(watch.full().count("Events"), 0);
    assert!(sim.publish().is_empty());
    watch.reconfigure(json!({"mode": "both"}));
    watch.full();
    sim.tell();
    assert_eq!(up(&watch.full()), Some(1.0));
    let subscribed = sim.stores();
    watch.reconfigure(json!({"mode": "events", "max_applications": 3}));
    assert_eq!(watch.full().left_out("application", "limit"), 1.0);
    sim.tell();
    assert_eq!(watch.full().left_out("application", "limit"), 1.0);
    assert_eq!(sim.stores(), subscribed, "the subscription stays");
    watch.reconfigure(json!({"mode": "poll"}));
    let ended = watch.full();
    assert_eq!((ended.count("Application"), ended.count("Events"), ended.count("Process")), (20, 0, 0));
    assert!(sim.publish().is_empty(), "it was removed");
}

#[test]
fn a_subscription_that_is_not_removed_at_once_is_removed_later() {
    const NOT_REMOVED: &str = "Subscription of COM+ events not removed from the host, which does not answer; tried again in \
                               10 minutes at the latest";
    for rule in ["event-system/12=fault:5", "event-system/12=fault:1783"] {
        let (sim, plugin) = (SimHost::new(), Plugin::new());
        let watch = plugin.watch_with(sim.port, json!({"mode": "both"}));
        watch.full();
        watch.reconfigure(json!({"mode": "poll"}));
        sim.rule(rule);
        for _ in 0..10 {
            let ended = watch.full();
            assert_eq!((ended.count("Application"), ended.count("Events")), (20, 0), "{rule}");
            assert_eq!(ended.logged(NOT_REMOVED), 1, "{rule}");
        }
        assert_eq!(sim.publish().len(), 1, "{rule}: it is still there");
        sim.heal();
        plugin.advance(Duration::from_secs(600));
        watch.full();
        assert!(sim.publish().is_empty(), "{rule}");
        assert_eq!(watch.full().logged("Subscription of COM+ events removed from the host"), 1, "{rule}");
    }
}

#[test]
fn call_backs_that_authenticate_are_taken_or_named_once() {
    const REFUSED: &str = "Call-backs of the host are refused";
    for &security in CallBackSecurity::ALL {
        let (sim, plugin) = (SimHost::new(), Plugin::new());
        sim.choose(|choices| choices.com_plus.call_back_security = security);
        let watch = plugin.watch_with(sim.port, events_now("events"));
        watch.full();
        let is_taken = !matches!(security, CallBackSecurity::MachineSigned | CallBackSecurity::Kerberos);
        for _ in 0..4 {
            sim.publish();
            let ended = watch.collect();
            assert_eq!(up(&ended), Some(f64::from(is_taken)), "{security:?}");
            assert_eq!(ended.logged(REFUSED), usize::from(!is_taken), "{security:?}");
            let refused = ended.value("Events", "Refused", &["authentication"]);
            assert_eq!(refused > Some(0.0), !is_taken, "{security:?}");
        }
    }
}

#[test]
fn a_subscription_that_comes_with_one_reference_is_stored() {
    let (sim, plugin) = (SimHost::new(), Plugin::new());
    sim.choose(|choices| choices.com_plus.interface_references = InterfaceReferences::One);
    let watch = plugin.watch_with(sim.port, events_now("events"));
    watch.full();
    sim.tell();
    assert_eq!(up(&watch.full()), Some(1.0));
}

#[test]
fn an_instance_that_ends_removes_its_subscription_and_gives_its_objects_back() {
    let (sim, plugin) = (SimHost::new(), Plugin::new());
    let watch = plugin.watch_with(sim.port, json!({"mode": "both"}));
    watch.full();
    sim.tell();
    drop(watch);
    plugin.wait_ended();
    assert!(sim.publish().is_empty());
}

#[test]
fn two_targets_with_one_address_and_one_name_have_subscriptions_of_their_own() {
    let (sim, plugin) = (SimHost::new(), Plugin::new());
    let watches = [0, 1].map(|_| plugin.watch_with(sim.port, json!({"mode": "events"})));
    watches.iter().for_each(|watch| drop(watch.full()));
    let deliveries = sim.publish();
    assert_eq!(deliveries.len(), 2);
    assert_ne!(deliveries[0].subscription, deliveries[1].subscription);
    for watch in &watches {
        let ended = watch.full();
        assert_eq!((up(&ended), ended.value("Events", "Taken", &[])), (Some(1.0), Some(1.0)));
    }
}
