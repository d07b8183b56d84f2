//! Countersets are found by name, and what an odd answer about one of them costs.

use counter_poll::{Catalog, Client, Lookup, Which};
use dcerpc::FaultStatus;
use test_support::future::now;

use crate::host::{CallError, MemoryHost, client};

const REGISTRATION: u16 = 1;

fn enumerated(client: &mut Client<MemoryHost>) -> Catalog {
    let mut catalog = Catalog::default();
    catalog.enumerated(now(client.enumerate_counter_set()).unwrap());
    catalog
}

fn named(name: &str) -> Which {
    Which::Name(name.to_owned())
}

#[test]
fn a_counterset_is_found_by_its_name_and_read_once() {
    let mut client = client();
    let mut catalog = enumerated(&mut client);
    let found = now(catalog.find(&mut client, &named("processor information"))).unwrap();
    let [Lookup::Found(counterset)] = &found[..] else { panic!("{found:?}") };
    assert_eq!(counterset.name, "Processor Information");
    assert!(counterset.counters.iter().any(|counter| counter.name == "% Processor Time"));
    let calls = client.channel().calls.len();
    now(catalog.find(&mut client, &named("Processor Information"))).unwrap();
    assert_eq!(client.channel().calls.len(), calls, "it is known");
}

#[test]
fn a_fault_over_one_counterset_leaves_the_others() {
    let mut client = client();
    let mut catalog = enumerated(&mut client);
    let found = now(catalog.find(&mut client, &named("HTTP Service"))).unwrap();
    assert!(matches!(found[..], [Lookup::Found(_)]), "its name is known from now on");
    catalog.forget(guid_of(&found));
    // What was asked for together and one by one.
    for _ in 0..200 {
        client.channel().fail(REGISTRATION, CallError::Fault(FaultStatus::RPC_X_BAD_STUB_DATA));
    }
    let found = now(catalog.find(&mut client, &named("HTTP Service"))).unwrap();
    assert!(matches!(&found[..], [Lookup::Unusable(name, _)] if name == "HTTP Service"), "{found:?}");
}

#[test]
fn a_connection_that_is_lost_ends_the_search() {
    let mut client = client();
    let mut catalog = enumerated(&mut client);
    client.channel().fail(REGISTRATION, CallError::Lost);
    now(catalog.find(&mut client, &named("HTTP Service"))).unwrap_err();
    assert_eq!(client.channel().calls, [0, REGISTRATION]);
}

#[test]
fn a_counterset_that_does_not_answer_is_not_asked_about_in_the_next_collection() {
    let mut client = client();
    let mut catalog = enumerated(&mut client);
    catalog.begin(std::time::Duration::ZERO);
    client.channel().fail(REGISTRATION, CallError::Timeout);
    now(catalog.find(&mut client, &named("HTTP Service"))).unwrap_err();
    assert_eq!(catalog.stalls_met(), 1);
    catalog.begin(std::time::Duration::from_secs(1));
    let found = now(catalog.find(&mut client, &named("HTTP Service"))).unwrap();
    assert!(matches!(found[..], [Lookup::Found(_)]), "the others are asked about: {found:?}");
    assert_eq!(catalog.stalls_met(), 0);
    let unnamed = catalog.nameless().unwrap();
    assert!(unnamed.trouble.to_string().contains("did not answer"), "{unnamed:?}");
}

fn guid_of(found: &[Lookup]) -> wire::Guid {
    let [Lookup::Found(counterset)] = found else { panic!("{found:?}") };
    counterset.provider.guid().unwrap()
}
