//! Who gets to see a secret.

use plugin_abi::{CredentialAnswer, CredentialBroker, CredentialRequest, TargetInfo, Waiter};

use super::{World, ask, denial, lease};

#[test]
fn a_secret_goes_only_to_its_own_target() {
    let world = World::new();
    let broker = world.broker("CORP", &["*.corp.example", "10.0.0.0/8"]);
    let target = TargetInfo {
        name: "web".to_owned(),
        host: "inside.corp.example".to_owned(),
        port: None,
        identity: "corp".to_owned(),
        service_principal: None,
    };
    let waiter = Waiter::new(|| {});
    let ask = |host: &str, identity: &str| {
        broker.acquire(&CredentialRequest { configured: Some(&target), host, identity }, &waiter)
    };
    for (host, identity) in
        [("other.corp.example", "corp"), ("192.0.2.9", "corp"), ("inside.corp.example", "admin")]
    {
        let answer = ask(host, identity);
        assert!(matches!(answer, CredentialAnswer::Denied { .. }), "{host} {identity}: {answer:?}");
    }
    // The address that the name led to will do.
    assert!(matches!(ask("10.1.2.3", "corp"), CredentialAnswer::Lease(_)));
}

#[test]
fn a_name_that_resolves_outside_of_the_networks_gets_nothing() {
    let world = World::new();
    let broker = world.broker("CORP", &["*.corp.example", "10.0.0.0/8"]);
    // The first question starts the resolution, which here is done at once.
    for host in ["inside.corp.example", "astray.corp.example", "unknown.corp.example"] {
        assert!(matches!(ask(&broker, host), CredentialAnswer::Wait { .. }), "{host}");
    }
    assert!(denial(&broker, "astray.corp.example").contains("192.0.2.1"));
    let unknown = denial(&broker, "unknown.corp.example");
    assert!(unknown.contains("does not resolve (no name server answered in time)"), "{unknown}");
    lease(&broker, "inside.corp.example");
}

#[test]
fn a_secret_file_that_is_missing_is_a_denial_that_names_it() {
    let world = World::new();
    let broker = world.broker("CORP", &["*"]);
    std::fs::remove_file(world.file()).unwrap();
    assert!(denial(&broker, "a").contains("cannot be read"));
}
