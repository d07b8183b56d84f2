use com::dcom::client::{
    ENDPOINTS_MAX, Endpoint, OIDS_PER_PING_MAX, Ping, PingSet, endpoints, resolver_endpoints,
};
use com::dcom::resolver::{ComplexPingReply, ComplexPingRequest, SimplePingReply, SimplePingRequest};
use com::dcom::types::{AuthenticationService, Oid, ProtocolSequence, SetId};
use com::dcom::wire::{DualStringArray, StringBinding};
use wire::{Win32Error, encode_vec};

use crate::dcom::fixture::bindings;

fn found(addresses: &[&str], host: &str) -> Vec<(String, u16, bool)> {
    let array = DualStringArray::tcp(addresses.iter().map(ToString::to_string), Vec::new());
    let plain = |Endpoint { host, port, is_given }| (host, port, is_given);
    endpoints(&array, host).into_iter().map(plain).collect()
}

fn endpoint(host: &str, port: u16, is_given: bool) -> (String, u16, bool) {
    (host.to_owned(), port, is_given)
}

#[test]
fn bindings_are_tried_in_their_order_and_then_the_host_that_the_user_named() {
    let order = found(&["WEB1[49664]", "10.0.0.1[49664]", "fe80::1%4[49665]"], "web1.example");
    let expected = [
        endpoint("WEB1", 49664, false),
        endpoint("10.0.0.1", 49664, false),
        endpoint("fe80::1%4", 49665, false),
        endpoint("web1.example", 49664, true),
        endpoint("web1.example", 49665, true),
    ];
    assert_eq!(order, expected);
    // The user's host stays where the server puts it.
    let order = found(&["10.0.0.1[7]", "web1[7]", "10.0.0.1[7]"], "WEB1");
    assert_eq!(order, [endpoint("10.0.0.1", 7, false), endpoint("web1", 7, true)]);
}

#[test]
fn what_is_no_address_with_a_port_is_no_endpoint() {
    let wrong = [
        "web1",
        "web1[]",
        "web1[0]",
        "web1[65536]",
        "web1[-1]",
        "[5000]",
        "web1]",
        "we b[7]",
        "a\n[7]",
        "",
        "[[",
    ];
    assert_eq!(found(&wrong, "web1"), []);
    let long = "a".repeat(256);
    assert_eq!(found(&[&format!("{long}[7]")], "web1"), [] as [(String, u16, bool); 0]);
    let pipe =
        StringBinding { protocol: ProtocolSequence::NAMED_PIPE, address: r"\\web1[\pipe\x]".to_owned() };
    let array = DualStringArray { strings: vec![pipe], security: Vec::new() };
    assert_eq!(endpoints(&array, "web1"), []);
}

#[test]
fn a_server_that_names_hundreds_of_addresses_leaves_room_for_the_users_host() {
    let many: Vec<String> = (0..200).map(|number| format!("10.0.0.{number}[{}]", 1000 + number)).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let order = found(&many, "web1");
    assert_eq!(order.len(), ENDPOINTS_MAX);
    assert_eq!(order[ENDPOINTS_MAX - 1], endpoint("web1", 1007, true));
    assert!(order[..24].iter().all(|(_, _, is_given)| !is_given));
}

#[test]
fn a_resolver_is_at_its_well_known_port() {
    let order = resolver_endpoints(&bindings("10.0.0.1"), "web1");
    let order: Vec<_> = order.iter().map(|endpoint| (endpoint.host.as_str(), endpoint.port)).collect();
    assert_eq!(order, [("10.0.0.1", 135), ("web1", 135)]);
    assert_eq!(resolver_endpoints(&DualStringArray::default(), "web1").len(), 1);
}

#[test]
fn a_provider_is_the_first_that_both_have_and_none_where_the_server_wants_none() {
    let ntlm = |service| service == AuthenticationService::WINNT;
    assert_eq!(bindings("web1").provider(ntlm).unwrap().unwrap().service, AuthenticationService::WINNT);
    bindings("web1").provider(|_| false).unwrap_err();
    let open = DualStringArray::tcp(["web1".to_owned()], Vec::new());
    assert_eq!(open.provider(|_| false), Ok(None));
    // Its list is two zeros on the wire: one for a provider that is none, one for the end.
    let bytes = encode_vec(&open).unwrap();
    assert_eq!(bytes[bytes.len() - 4..], [0; 4]);
}

fn complex(ping: Option<Ping>) -> ComplexPingRequest {
    match ping {
        Some(Ping::Complex(request)) => request,
        other => panic!("{other:?}"),
    }
}

fn answer(id: u64, status: Win32Error) -> ComplexPingReply {
    ComplexPingReply { set_id: SetId(id), backoff: 0, status }
}

const OK: Win32Error = Win32Error::ERROR_SUCCESS;

fn oids(list: Option<Box<rpc::ndr::Conformant<Oid>>>) -> Vec<u64> {
    list.map(|list| list.0.iter().map(|oid| oid.0).collect()).unwrap_or_default()
}

/// A set that the resolver knows as 9, with the objects 1 and 2.
fn known() -> PingSet {
    let mut set = PingSet::default();
    assert!(set.insert(Oid(1)) && set.insert(Oid(2)) && !set.insert(Oid(2)));
    let request = complex(set.next_ping());
    assert_eq!(
        (request.set_id, request.sequence, request.add_count, request.delete_count),
        (SetId(0), 1, 2, 0)
    );
    assert_eq!((oids(request.add), request.delete), (vec![1, 2], None));
    set.complex_answered(&answer(9, OK));
    set
}

#[test]
fn a_set_is_made_pinged_changed_and_given_up() {
    assert_eq!(PingSet::default().next_ping(), None);
    let mut set = known();
    assert_eq!(set.next_ping(), Some(Ping::Simple(SimplePingRequest { set_id: SetId(9) })));
    set.simple_answered(&SimplePingReply { status: OK });
    assert!(!set.has_changes());

    assert!(set.remove(Oid(1)) && set.insert(Oid(3)) && !set.remove(Oid(7)));
    assert!(set.has_changes());
    let request = complex(set.next_ping());
    assert_eq!((request.set_id, request.sequence), (SetId(9), 2));
    assert_eq!((oids(request.add), oids(request.delete)), (vec![3], vec![1]));
    set.complex_answered(&answer(9, OK));

    assert!(set.remove(Oid(2)) && set.remove(Oid(3)));
    let request = complex(set.next_ping());
    assert_eq!((request.sequence, request.delete_count), (3, 2));
    set.complex_answered(&answer(9, OK));
    assert_eq!(set.next_ping(), None);
    // The next object begins a new set.
    set.insert(Oid(4));
    let request = complex(set.next_ping());
    assert_eq!((request.set_id, request.sequence), (SetId(0), 1));
}

#[test]
fn a_change_without_an_answer_is_sent_again_with_a_higher_number() {
    let mut set = known();
    set.insert(Oid(3));
    for sequence in [2, 3, 4] {
        let request = complex(set.next_ping());
        assert_eq!((request.sequence, oids(request.add)), (sequence, vec![3]));
    }
    set.complex_answered(&answer(0, Win32Error::ERROR_ACCESS_DENIED));
    assert_eq!(oids(complex(set.next_ping()).add), [3]);
}

#[test]
fn a_set_that_the_resolver_forgot_is_made_anew_with_all_objects() {
    for status in [Win32Error::OR_INVALID_SET, Win32Error::OR_INVALID_OID] {
        let mut set = known();
        set.insert(Oid(3));
        complex(set.next_ping());
        set.complex_answered(&answer(9, status));
        let request = complex(set.next_ping());
        assert_eq!((request.set_id, oids(request.add)), (SetId(0), vec![1, 2, 3]));
    }
    let mut set = known();
    set.next_ping().unwrap();
    set.simple_answered(&SimplePingReply { status: Win32Error::OR_INVALID_SET });
    assert_eq!(oids(complex(set.next_ping()).add), [1, 2]);
}

#[test]
fn a_set_whose_numbers_run_out_is_made_anew() {
    let mut set = known();
    set.insert(Oid(3));
    for sequence in 2..=u16::MAX {
        assert_eq!(complex(set.next_ping()).sequence, sequence);
    }
    let request = complex(set.next_ping());
    assert_eq!((request.set_id, request.sequence, oids(request.add)), (SetId(0), 1, vec![1, 2, 3]));
}

#[test]
fn many_objects_are_sent_in_parts() {
    let mut set = PingSet::default();
    let count = u64::try_from(OIDS_PER_PING_MAX).unwrap() + 1;
    (0..count).for_each(|oid| {
        set.insert(Oid(oid));
    });
    assert_eq!(usize::from(complex(set.next_ping()).add_count), OIDS_PER_PING_MAX);
    set.complex_answered(&answer(9, OK));
    assert!(set.has_changes());
    let request = complex(set.next_ping());
    assert_eq!((request.set_id, request.add_count), (SetId(9), 1));
    set.complex_answered(&answer(9, OK));
    assert!(!set.has_changes());
}
