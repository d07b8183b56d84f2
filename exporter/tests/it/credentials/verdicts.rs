//! Verdicts that outlive the process, and how many there may be.

use std::time::{Duration, Instant};

use perfmon_exporter::credentials::VerdictFile;
use plugin_abi::{CredentialAnswer, CredentialBroker, CredentialVerdict};

use super::{COOLDOWN, World, ask_at, attempt, denial};

#[test]
fn a_refusal_survives_a_restart_until_the_secret_changes() {
    let world = World::new();
    let state = world.folder.path().join("state");
    let broker = world.broker_with("CORP", &["*"], Some(&state));
    attempt(&broker, "a", CredentialVerdict::Rejected);
    drop(broker);
    let file = state.join("credentials.json");
    wait_for(|| file.exists());
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(!text.contains("hunter2"), "{text}");

    let broker = world.broker_with("CORP", &["*"], Some(&state));
    denial(&broker, "b");
    world.password("correct horse");
    attempt(&broker, "b", CredentialVerdict::Accepted);
    wait_for(|| !std::fs::read_to_string(&file).unwrap().contains("rejected"));
}

#[test]
fn an_acceptance_survives_a_restart_and_one_host_cannot_take_it_back() {
    let world = World::new();
    let state = world.folder.path().join("state");
    let broker = world.broker_with("CORP", &["*"], Some(&state));
    attempt(&broker, "a", CredentialVerdict::Accepted);
    broker.finish_writes();
    let broker = world.broker_with("CORP", &["*"], Some(&state));
    attempt(&broker, "hostile", CredentialVerdict::Rejected);
    attempt(&broker, "b", CredentialVerdict::Accepted);
    broker.finish_writes();
    // Who was left out is left out, and still has no say when its cool-down is over.
    let broker = world.broker_with("CORP", &["*"], Some(&state));
    denial(&broker, "hostile");
    world.hands.move_on(COOLDOWN);
    attempt(&broker, "hostile", CredentialVerdict::Rejected);
    attempt(&broker, "c", CredentialVerdict::Accepted);
}

#[test]
fn what_is_known_of_accounts_is_bounded_and_refusals_go_last() {
    let world = World::new();
    let broker = world.broker("", &["10.0.0.0/8"]);
    let at = |number: u32| {
        let [_, b, c, d] = number.to_be_bytes();
        format!("10.{b}.{c}.{d}")
    };
    let ask = |host: &str| match ask_at(&broker, host, host) {
        CredentialAnswer::Lease(lease) => Some(lease),
        _ => None,
    };
    for number in 0..100 {
        broker.result(ask(&at(number)).unwrap().id, CredentialVerdict::Rejected);
    }
    for number in 100..66_000 {
        broker.result(ask(&at(number)).unwrap().id, CredentialVerdict::Accepted);
    }
    let state = broker.states()["corp"];
    assert!(state.accepted + state.rejected <= 65_536, "{state:?}");
    assert_eq!(state.rejected, 100);
    assert!((0..100).all(|number| ask(&at(number)).is_none()));
}

#[test]
fn a_state_file_that_makes_no_sense_is_an_error_and_stays() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("credentials.json");
    for text in ["", "{}", r#"{"version":1,"salt":"zz","refused":[]}"#] {
        std::fs::write(&file, text).unwrap();
        VerdictFile::open(folder.path()).expect_err(text);
        assert_eq!(std::fs::read_to_string(&file).unwrap(), text);
    }
}

/// The state is written by a thread of its own.
fn wait_for(condition: impl Fn() -> bool) {
    let end = Instant::now() + Duration::from_secs(20);
    while !condition() {
        assert!(Instant::now() < end, "in time");
        std::thread::yield_now();
    }
}
