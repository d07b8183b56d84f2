//! What is kept from collection to collection, and what is opened again within one.

use std::time::Duration;

use plugin_sdk::testing::{FakeCompletion, FakeIdentity, FakeInstance, FakeOutcome};
use plugin_sdk::{GeneralReason, Reason, Stage};
use serde_json::{Value, json};

use crate::host::{SimHost, identity, with_password};
use crate::registry::{OPEN_LOCAL_MACHINE, QUERY_INFO_KEY, RegistrySource};

fn watch_as(sim: &SimHost, identity: FakeIdentity, settings: &Value) -> FakeInstance {
    FakeInstance::create_with::<RegistrySource>(sim.target(), settings, identity).unwrap()
}

fn watch(sim: &SimHost) -> FakeInstance {
    watch_as(sim, identity(), &json!({}))
}

fn collect(instance: &FakeInstance) -> FakeCompletion {
    instance.collect(Duration::from_secs(60)).unwrap()
}

#[track_caller]
fn full(instance: &FakeInstance) -> FakeCompletion {
    let done = collect(instance);
    assert_eq!(done.outcome, FakeOutcome::Full);
    done
}

#[track_caller]
fn failed(instance: &FakeInstance) -> (Stage, Reason) {
    match collect(instance).outcome {
        FakeOutcome::Failed(failure) => (failure.stage, failure.reason),
        other => panic!("it did not fail: {other:?}"),
    }
}

fn started() -> (SimHost, FakeInstance) {
    let sim = SimHost::new();
    let instance = watch(&sim);
    full(&instance);
    (sim, instance)
}

#[test]
fn a_handle_is_kept_from_collection_to_collection() {
    let (sim, instance) = started();
    let done = full(&instance);
    assert_eq!((sim.calls(OPEN_LOCAL_MACHINE), sim.calls(QUERY_INFO_KEY)), (1, 2));
    assert_eq!((sim.connections(), sim.logons()), (1, (2, 0)), "one logon over SMB and one over RPC");
    assert_eq!(instance.seen().verdicts, ["accepted"]);
    let calls: Vec<_> = done.stages.iter().map(|(stage, calls, ..)| (*stage, *calls)).collect();
    assert_eq!(calls, [(Stage::Query, 1)], "no other stage was passed again");
}

#[test]
fn a_host_says_once_that_it_runs_windows_and_which() {
    let (_sim, instance) = started();
    full(&instance);
    let facts = instance.seen().facts;
    let [(system, windows), (version, _)] = facts.as_slice() else { panic!("{facts:?}") };
    assert_eq!((&**system, &**windows, &**version), ("os.type", "windows", "os.version"));
}

#[test]
fn a_handle_that_the_host_forgot_is_made_again() {
    let (sim, instance) = started();
    sim.rule("winreg/16x1=lose-handles");
    full(&instance);
    assert_eq!(sim.calls(OPEN_LOCAL_MACHINE), 2);
    assert_eq!((sim.connections(), sim.logons()), (1, (2, 0)));
}

#[test]
fn a_service_that_stopped_takes_another_pipe_and_another_lease() {
    let (sim, instance) = started();
    sim.host.stop_service();
    full(&instance);
    assert_eq!((sim.connections(), sim.logons()), (1, (3, 0)));
    assert_eq!(instance.seen().verdicts, ["accepted", "accepted"]);
    assert_eq!(sim.calls(OPEN_LOCAL_MACHINE), 2, "no handle outlives its pipe");
}

#[test]
fn a_source_without_handles_keeps_its_pipe_and_opens_another_one_when_that_is_lost() {
    let sim = SimHost::new();
    let instance = watch_as(&sim, identity(), &json!({"keeps_nothing": true}));
    full(&instance);
    full(&instance);
    assert_eq!((sim.calls(OPEN_LOCAL_MACHINE), sim.logons()), (2, (2, 0)), "over one pipe");
    sim.host.stop_service();
    full(&instance);
    assert_eq!((sim.connections(), sim.logons()), (1, (3, 0)));
}

#[test]
fn a_connection_that_was_cut_is_made_again() {
    let (sim, instance) = started();
    sim.cut();
    full(&instance);
    assert_eq!((sim.connections(), sim.logons()), (2, (4, 0)));
}

#[test]
fn what_fails_right_after_it_was_opened_is_not_tried_again() {
    for rule in ["winreg/2=drop", "winreg/16=lose-handles"] {
        let sim = SimHost::new();
        sim.rule(rule);
        let instance = watch(&sim);
        failed(&instance);
        assert_eq!((sim.connections(), sim.calls(OPEN_LOCAL_MACHINE)), (1, 1), "{rule}");
    }
}

#[test]
fn what_is_lost_again_and_again_is_given_up() {
    let (sim, instance) = started();
    sim.rule("winreg/16=lose-handles");
    failed(&instance);
    assert_eq!(
        sim.calls(QUERY_INFO_KEY),
        1 + 4,
        "over the old handle, a new one, a new pipe, a new connection"
    );
    assert_eq!(sim.connections(), 2);
}

#[test]
fn a_source_that_goes_another_way_gets_another_attempt() {
    let sim = SimHost::new();
    let instance = watch_as(&sim, identity(), &json!({"detours": 2}));
    full(&instance);
    assert_eq!((sim.connections(), sim.calls(OPEN_LOCAL_MACHINE)), (1, 3), "each over a pipe of its own");
}

#[test]
fn a_password_that_is_wrong_is_shown_once() {
    let sim = SimHost::new();
    let instance = watch_as(&sim, with_password("not it"), &json!({}));
    assert_eq!(failed(&instance), (Stage::Auth, GeneralReason::WrongCredentials.into()));
    assert_eq!((sim.logons(), instance.seen().verdicts), ((0, 1), vec!["rejected"]));
}

#[test]
fn a_password_that_was_changed_is_shown_once_when_the_session_expires_and_the_exporter_hears_of_it() {
    let (sim, instance) = started();
    sim.host.change_behaviour(|behaviour| behaviour.session_expires_after = Some(1));
    full(&instance);
    sim.change_password();
    assert_eq!(failed(&instance), (Stage::Auth, GeneralReason::WrongCredentials.into()));
    assert_eq!((sim.logons().1, instance.seen().verdicts), (1, vec!["accepted", "rejected"]));
}

#[test]
fn another_association_takes_a_lease_of_its_own() {
    let sim = SimHost::new();
    let instance = watch_as(&sim, identity(), &json!({"reads_beside": true}));
    full(&instance);
    assert_eq!((sim.connections(), sim.logons()), (1, (3, 0)));
    assert_eq!(instance.seen().verdicts, ["accepted", "accepted"]);
}

#[test]
fn other_settings_of_the_transport_take_another_connection() {
    let (sim, instance) = started();
    instance.reconfigure(&json!({})).unwrap();
    full(&instance);
    assert_eq!(sim.connections(), 1, "nothing has changed");
    instance.reconfigure(&json!({"transport": {"smb": {"encryption": "disabled"}}})).unwrap();
    full(&instance);
    assert_eq!(sim.connections(), 2);
}
