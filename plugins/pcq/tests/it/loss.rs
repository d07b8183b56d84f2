//! What was kept from the last collection is gone: it is built again within the same one.

use std::time::Duration;

use plugin_abi::{
    CredentialVerdict::{Accepted, Rejected},
    Stage,
};
use serde_json::json;

use crate::world::{Plugin, SimHost, Watch, countersets};

fn started() -> (SimHost, Plugin, Watch) {
    let (sim, plugin) = (SimHost::new(), Plugin::new());
    let watch = plugin.watch(&sim, countersets(&["HTTP Service", "Thermal Zone Information"]));
    watch.full();
    (sim, plugin, watch)
}

#[test]
fn a_query_that_the_host_forgot_is_opened_again() {
    let (sim, plugin, watch) = started();
    let registered = watch.sink.recorded().series.len();
    sim.rule("6x1=lose-handles");
    watch.full();
    assert_eq!(watch.sink.recorded().series.len(), registered, "the series are the same ones");
    assert_eq!((sim.connections(), sim.logons()), (1, (2, 0)));
    assert_eq!(sim.calls(3), 2);
    assert_eq!(plugin.lender.verdicts(), [Accepted]);
}

#[test]
fn a_service_that_stopped_takes_another_pipe_and_no_other_connection() {
    let (sim, plugin, watch) = started();
    sim.host.stop_service();
    let ended = watch.full();
    assert_eq!(sim.connections(), 1);
    assert_eq!(sim.logons(), (3, 0), "one more, over RPC");
    assert_eq!(plugin.lender.verdicts(), [Accepted, Accepted], "it was leased as well");
    assert!(ended.stage(Stage::Pipe).calls > 0 && ended.stage(Stage::Bind).calls > 0);
    assert!(ended.stages.iter().all(|report| report.stage != Stage::Tcp));
    assert_eq!(watch.full().stage(Stage::Query).calls, 1);
}

#[test]
fn a_service_that_is_still_starting_is_waited_for() {
    let (sim, _plugin, watch) = started();
    sim.host.stop_service();
    sim.behave(|behaviour| behaviour.refused_opens = 1);
    watch.full();
    assert_eq!(sim.connections(), 1);
}

#[test]
fn a_connection_that_was_cut_is_made_again() {
    let (sim, plugin, watch) = started();
    let before = watch.full().series();
    sim.cut();
    assert_eq!(watch.full().series(), before);
    assert_eq!((sim.connections(), sim.logons()), (2, (4, 0)));
    assert_eq!(plugin.lender.verdicts(), [Accepted, Accepted]);
    assert_eq!(watch.full().stage(Stage::Query).calls, 1);
}

/// Whatever a module reads of a host, and over whichever pipe.
#[test]
fn a_host_that_restarts_is_a_lost_connection_and_no_failure_of_what_is_read() {
    let facts = |counterset: &str| json!({"countersets": [{"name": counterset}], "host_info": true, "max_services": 8});
    for settings in [
        countersets(&["Processor Information"]),
        countersets(&["Memory"]),
        countersets(&["Memory", "Processor Information"]),
        facts("Processor Information"),
        facts("Memory"),
    ] {
        let (sim, plugin) = (SimHost::new(), Plugin::new());
        let watch = plugin.watch(&sim, settings.clone());
        let before = watch.full().series().len();
        sim.cut();
        assert_eq!(watch.full().series().len(), before, "{settings}: it was back before anybody noticed");
        sim.shut();
        for attempt in 0..10 {
            let ended = watch.collect();
            let (stage, reason, message) = ended.failed();
            assert_eq!(
                (stage, reason),
                (Stage::Tcp, "connection_refused"),
                "{settings}, {attempt}: {message}"
            );
        }
        sim.cut();
        assert_eq!(watch.full().series().len(), before, "{settings}: everything is back at once");
    }
}

#[test]
fn a_part_that_ends_each_connection_costs_itself_and_says_so() {
    let (sim, plugin) = (SimHost::new(), Plugin::new());
    let watch = plugin.watch(&sim, countersets(&["Memory", "Processor Information"]));
    watch.full();
    sim.rule("winreg/17=drop");
    for attempt in 0..3 {
        let ended = watch.collect();
        let (families, failure) = ended.partial();
        assert!(families.iter().any(|family| family.contains("Processor Information")), "{families:?}");
        assert_eq!(failure.reason.as_str(), "connection_reset", "{attempt}: {failure}");
    }
    assert!(sim.connections() <= 4, "it does not cost a connection a collection: {}", sim.connections());
    sim.heal();
    plugin.advance(Duration::from_secs(60));
    watch.full();
}

#[test]
fn a_host_that_ends_is_down_with_the_reason_until_it_returns_whatever_it_is_asked_for() {
    for names in [&["Memory"][..], &["Thermal Zone Information"], &["Memory", "Thermal Zone Information"]] {
        let (sim, plugin) = (SimHost::new(), Plugin::new());
        let watch = plugin.watch(&sim, countersets(names));
        watch.full();
        for _ in 0..2 {
            sim.shut();
            for _ in 0..3 {
                let ended = watch.collect();
                let (_, reason, message) = ended.failed();
                assert!(reason.starts_with("connection_re"), "{names:?}: {reason}: {message}");
            }
            sim.cut();
            watch.full();
        }
    }
}

#[test]
fn a_connection_that_ends_in_the_middle_of_a_call_is_made_again() {
    let (sim, _plugin, watch) = started();
    sim.rule("6x1=drop");
    watch.full();
    sim.rule("6x1=truncate");
    watch.full();
    assert_eq!(watch.full().stage(Stage::Query).calls, 1);
}

#[test]
fn a_session_that_expired_is_authenticated_again_over_the_same_connection() {
    let (sim, _plugin, watch) = started();
    sim.behave(|behaviour| behaviour.session_expires_after = Some(1));
    watch.full();
    sim.behave(|behaviour| behaviour.session_expires_after = None);
    watch.full();
    assert_eq!(sim.connections(), 1);
    assert!(sim.logons().0 > 2, "it was authenticated again");
    assert_eq!(sim.logons().1, 0);
}

#[test]
fn a_password_that_was_changed_is_shown_once_when_the_session_expires_and_the_exporter_hears_of_it() {
    let (sim, plugin, watch) = started();
    sim.behave(|behaviour| behaviour.session_expires_after = Some(1));
    watch.full();
    sim.change_account(|account| account.password = ssp::Secret::new("another one"));
    let ended = watch.collect();
    assert_eq!(sim.logons().1, 1, "one wrong attempt");
    let (stage, reason, _) = ended.failed();
    assert_eq!((stage, reason), (Stage::Auth, "wrong_credentials"));
    assert_eq!(plugin.lender.verdicts().last(), Some(&Rejected));
}

#[test]
fn a_password_that_was_changed_is_shown_once_when_the_pipe_is_lost() {
    let (sim, plugin, watch) = started();
    sim.host.stop_service();
    sim.change_account(|account| account.password = ssp::Secret::new("another one"));
    let ended = watch.collect();
    assert_eq!(sim.logons().1, 1, "one wrong attempt: {:?}", ended.outcome);
    assert_eq!(plugin.lender.verdicts().len(), 2);
    ended.failed();
    plugin.lender.change_password("another one");
    watch.full();
    assert_eq!(sim.logons().1, 1);
}

#[test]
fn what_is_lost_again_and_again_is_given_up() {
    for rule in ["6=lose-handles", "6=drop", "6=truncate"] {
        let (sim, _plugin, watch) = started();
        let (calls, connections) = (sim.calls(6), sim.connections());
        sim.rule(rule);
        watch.collect().failed();
        let (calls, connections) = (sim.calls(6) - calls, sim.connections() - connections);
        assert!((2..=4).contains(&calls) && connections <= 2, "{rule}: {calls}, {connections}");
        sim.heal();
        watch.full();
    }
}

#[test]
fn what_fails_right_after_it_was_made_is_not_tried_again() {
    for rule in ["6=lose-handles", "6=drop", "3=drop", "7=drop", "0=truncate"] {
        let (sim, plugin) = (SimHost::new(), Plugin::new());
        sim.rule(rule);
        let watch = plugin.watch(&sim, countersets(&["HTTP Service"]));
        watch.collect().failed();
        assert_eq!(sim.connections(), 1, "{rule}");
        sim.heal();
        watch.full();
    }
}

#[test]
fn no_query_is_left_open_on_a_connection_that_lives() {
    let (sim, _plugin, watch) = started();
    // Each of them leaves the connection standing; the simulator holds 64 queries for one.
    for round in 0..10 {
        for rule in [
            "6x1=fault:0x1c000012",
            "6x1=corrupt:total-size",
            "6x1=corrupt:block-size",
            "6x1=corrupt:out-size",
        ] {
            sim.rule(rule);
            watch.collect();
            assert!(sim.calls(3) - sim.calls(4) <= 1, "round {round}: {rule}");
            sim.heal();
            watch.full();
        }
    }
    assert_eq!(sim.connections(), 1);
}

#[test]
fn a_host_that_falls_silent_fails_at_the_deadline_and_comes_back() {
    let (sim, plugin, watch) = started();
    sim.rule("6x1=stall");
    let ended = watch.collect_within(Duration::from_secs(1));
    let (stage, reason, _) = ended.failed();
    assert_eq!((stage, reason), (Stage::Query, "timeout"));
    assert_eq!(plugin.lender.verdicts(), [Accepted], "nothing was tried after the deadline");
    watch.full();
    assert_eq!(sim.connections(), 2);
}
