//! Hosts whose refusal counts for themselves alone, and how one host is told from another.

use std::time::Duration;

use plugin_abi::{CredentialAnswer, CredentialBroker, CredentialVerdict};

use super::{COOLDOWN, World, ask, ask_at, attempt, denial, lease};

#[test]
fn one_host_that_refuses_what_others_accept_is_left_out_alone() {
    let world = World::new();
    let broker = world.broker("CORP", &["*"]);
    attempt(&broker, "a", CredentialVerdict::Accepted);
    attempt(&broker, "hostile", CredentialVerdict::Rejected);
    // One more host decides, the others wait.
    let second = lease(&broker, "b");
    assert!(matches!(ask(&broker, "c"), CredentialAnswer::Wait { .. }));
    broker.result(second.id, CredentialVerdict::Accepted);
    lease(&broker, "c");
    denial(&broker, "hostile");
}

#[test]
fn a_hostile_host_a_quarter_of_an_hour_after_the_logons_takes_the_secret_from_nobody_else() {
    let world = World::new();
    let broker = world.broker("CORP", &["*"]);
    attempt(&broker, "a", CredentialVerdict::Accepted);
    world.hands.move_on(Duration::from_secs(15 * 60));
    attempt(&broker, "hostile", CredentialVerdict::Rejected);
    attempt(&broker, "b", CredentialVerdict::Accepted);
    attempt(&broker, "a", CredentialVerdict::Accepted);
    denial(&broker, "hostile");
}

#[test]
fn a_host_that_was_left_out_condemns_nothing_when_it_is_tried_again() {
    let world = World::new();
    let broker = world.broker("CORP", &["*"]);
    attempt(&broker, "a", CredentialVerdict::Accepted);
    attempt(&broker, "hostile", CredentialVerdict::Rejected);
    attempt(&broker, "b", CredentialVerdict::Accepted);
    for _ in 0..3 {
        world.hands.move_on(COOLDOWN);
        attempt(&broker, "hostile", CredentialVerdict::Rejected);
        denial(&broker, "hostile");
        attempt(&broker, "a", CredentialVerdict::Accepted);
        attempt(&broker, "c", CredentialVerdict::Accepted);
    }
}

#[test]
fn one_host_by_two_names_or_at_two_addresses_does_not_confirm_its_own_refusal() {
    let world = World::new();
    let broker = world.broker("CORP", &["*"]);
    attempt(&broker, "a", CredentialVerdict::Accepted);
    attempt(&broker, "hostile", CredentialVerdict::Rejected);
    let spellings = [("hostile", "10.0.0.9"), ("Hostile.", "10.0.0.10")];
    for (host, address) in spellings {
        let answer = ask_at(&broker, host, address);
        assert!(matches!(answer, CredentialAnswer::Denied { .. }), "{host} {address}: {answer:?}");
    }
    attempt(&broker, "b", CredentialVerdict::Accepted);
}

#[test]
fn one_account_of_a_host_has_one_attempt_however_the_host_is_written() {
    let world = World::new();
    let broker = world.broker("", &["*", "127.0.0.0/8"]);
    let CredentialAnswer::Lease(first) = ask_at(&broker, "127.0.0.3", "127.0.0.3") else {
        panic!("the first one gets it")
    };
    broker.result(first.id, CredentialVerdict::Rejected);
    for host in
        ["::ffff:127.0.0.3", "[::ffff:7f00:3]", "localhost", "three.corp.example", "THREE.", "127.0.0.3"]
    {
        let answer = ask_at(&broker, host, "127.0.0.3");
        assert!(matches!(answer, CredentialAnswer::Denied { .. }), "{host}: {answer:?}");
    }
    // Who does not say where it was is asked for by name, and the name leads there.
    assert!(matches!(ask(&broker, "three.corp.example"), CredentialAnswer::Wait { .. }));
    denial(&broker, "three.corp.example");
    // Another host has another account.
    assert!(matches!(ask_at(&broker, "127.0.0.4", "127.0.0.4"), CredentialAnswer::Lease(_)));
}

#[test]
fn accounts_of_the_hosts_themselves_are_guarded_host_by_host() {
    for domain in ["", "."] {
        let world = World::new();
        let broker = world.broker(domain, &["*"]);
        for host in ["a", "b"] {
            // The name is looked up first, and leads nowhere.
            assert!(matches!(ask(&broker, host), CredentialAnswer::Wait { .. }));
        }
        attempt(&broker, "a", CredentialVerdict::Rejected);
        denial(&broker, "a");
        attempt(&broker, "b", CredentialVerdict::Accepted);
        // The host's own refusal is believed at once: there is nobody else to ask.
        attempt(&broker, "b", CredentialVerdict::Rejected);
        denial(&broker, "b");
    }
}
