//! The client's side, against our server in memory.

use counters::rrp::types::AccessMask;
use counters::rrp::winreg::{EnumerateRegistryKeyRequest, Limits, OpenRegistryKeyRequest, RegistryClient};
use counters::rrp::{Error, PROVIDERS_KEY, enumerate_counter_sets};
use rpc::Message;
use test_support::future::now;
use wire::{Guid, Win32Error};

use crate::rrp::fixture::{FakeRegistry, Loop};

const PROVIDER: &str = "{383487a6-3676-4870-a4e7-d45b30c35629}";
const OTHER_PROVIDER: &str = "{F82FB576-E941-4956-A2C7-A0CF83F6450A}";
const PROCESSOR: &str = "{b4fc721a-0378-476f-89ba-a5a79f810b36}";
const DISK: &str = "{7F9D0F6E-3B5A-4D7E-9C6B-0D5C2F1A4E33}";

fn client(server: FakeRegistry) -> RegistryClient<Loop> {
    RegistryClient::new(Loop::new(server))
}

fn guids(texts: &[&str]) -> Vec<Guid> {
    let mut guids: Vec<Guid> = texts.iter().map(|text| text.parse().unwrap()).collect();
    guids.sort_unstable();
    guids
}

#[test]
fn the_countersets_of_all_providers_are_listed_once_each() {
    let list: &[(&str, &[&str])] =
        &[(PROVIDER, &[PROCESSOR, "Strings"]), (OTHER_PROVIDER, &[PROCESSOR, DISK]), ("Notes", &[DISK])];
    let mut client = client(FakeRegistry::with_counter_sets(list));
    let found = now(enumerate_counter_sets(&mut client)).unwrap();
    assert_eq!(found.counter_sets, guids(&[PROCESSOR, DISK]));
    assert_eq!(found.denied_providers, 0);
    // Nothing stays open, and nothing was opened for more than reading.
    let server = &client.channel().server;
    assert!(server.open.is_empty());
    assert_eq!(server.asked_for[0], AccessMask::MAXIMUM_ALLOWED);
    assert!(server.asked_for[1..].iter().all(|mask| *mask == AccessMask::KEY_READ));
    // Root, list, its size, 3 names and the end, close twice; of each provider open, size, 2 names, end, close.
    assert_eq!(client.channel().calls, 3 + 4 + 2 + 2 * 6);
}

#[test]
fn more_than_256_countersets_are_listed() {
    let names: Vec<String> = (0..700).map(|n| format!("{{{}}}", Guid::from_u128(n))).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut client = client(FakeRegistry::with_counter_sets(&[(PROVIDER, &names)]));
    let found = now(enumerate_counter_sets(&mut client)).unwrap();
    assert_eq!(found.counter_sets, (0..700).map(Guid::from_u128).collect::<Vec<_>>());
}

#[test]
fn a_provider_that_the_caller_may_not_see_is_counted() {
    let list: &[(&str, &[&str])] = &[(PROVIDER, &[PROCESSOR]), (OTHER_PROVIDER, &[DISK])];
    let mut server = FakeRegistry::with_counter_sets(list);
    server.deny(&format!(r"{PROVIDERS_KEY}\{OTHER_PROVIDER}"));
    let mut client = client(server);
    let found = now(enumerate_counter_sets(&mut client)).unwrap();
    assert_eq!((found.counter_sets, found.denied_providers), (guids(&[PROCESSOR]), 1));
}

#[test]
fn a_provider_that_is_removed_meanwhile_is_passed_over() {
    let list: &[(&str, &[&str])] = &[(PROVIDER, &[PROCESSOR]), (OTHER_PROVIDER, &[DISK])];
    let mut client = client(FakeRegistry::with_counter_sets(list));
    // After the list of providers was read: root, list, size, two names, end.
    client.channel().change_before =
        Some((7, |server| server.remove(&format!(r"{PROVIDERS_KEY}\{OTHER_PROVIDER}"))));
    let found = now(enumerate_counter_sets(&mut client)).unwrap();
    assert_eq!((found.counter_sets, found.denied_providers), (guids(&[PROCESSOR]), 0));
}

#[test]
fn a_host_without_the_list_says_so_and_keeps_no_key_open() {
    let mut client = client(FakeRegistry::default());
    let error = now(enumerate_counter_sets(&mut client)).unwrap_err();
    assert_eq!(error.status(), Some(Win32Error::ERROR_FILE_NOT_FOUND));
    assert_eq!(error.method(), OpenRegistryKeyRequest::METHOD);
    assert!(client.channel().server.open.is_empty());
}

#[test]
fn a_list_above_the_limits_is_refused_and_all_keys_are_closed() {
    let list: &[(&str, &[&str])] = &[(PROVIDER, &[PROCESSOR, DISK]), (OTHER_PROVIDER, &[DISK])];
    let check = |limits: Limits, expected: &str| {
        let mut client = client(FakeRegistry::with_counter_sets(list)).with_limits(limits);
        let error = now(enumerate_counter_sets(&mut client)).unwrap_err();
        assert_eq!(error.to_string(), format!("enumerate registry key: the server has more {expected}"));
        assert!(matches!(error, Error::LimitExceeded { .. }));
        assert_eq!(error.method(), EnumerateRegistryKeyRequest::METHOD);
        assert!(client.channel().server.open.is_empty());
    };
    let limits = Limits::default();
    check(Limits { sub_keys_max: 1, ..limits }, "subkeys than the limit of 1");
    check(Limits { counter_sets_max: 2, ..limits }, "countersets than the limit of 2");
}

#[test]
fn a_path_with_a_nul_is_not_sent() {
    let mut client = client(FakeRegistry::default());
    let root = now(client.open_local_machine()).unwrap();
    let error = now(client.open_key(&root, "SOFTWARE\0")).unwrap_err();
    assert!(matches!(error, Error::Rpc(rpc::Error::Request { .. })));
    assert_eq!(error.method().name, "BaseRegOpenKey");
    assert_eq!(client.channel().calls, 1);
}

#[test]
fn a_key_that_was_closed_elsewhere_is_a_fault() {
    let mut client = client(FakeRegistry::default());
    let root = now(client.open_local_machine()).unwrap();
    client.channel().server.open.clear();
    let error = now(client.query_info_key(&root)).unwrap_err();
    let expected = "query info of registry key: fault 0x1c00001a: the server does not know the context handle (any more)";
    assert_eq!(error.to_string(), expected);
}
