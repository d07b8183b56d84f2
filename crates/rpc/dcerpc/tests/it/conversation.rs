use dcerpc::client::{CallRequest, ClientConfig, Event};
use dcerpc::server::{ServerAssociation, ServerEvent};
use dcerpc::{AuthLevel, Error, FaultStatus, Rejection, RejectionReason, SyntaxId};
use ssp::Mechanism;
use wire::Guid;

use crate::pair::{
    FAULTING_OPNUM, PASSWORD, PERFLIB, Pair, UNKNOWN, WINREG, accept, auth, pattern, protections,
    server_config,
};

const SEALED: Option<(Mechanism, AuthLevel)> = Some((Mechanism::Ntlm, AuthLevel::PKT_PRIVACY));

#[test]
fn calls_of_every_size_are_answered_under_every_protection() {
    for protection in protections() {
        let mut pair = Pair::bound(protection);
        for length in [0, 1, 15, 16, 17, 1000, 5_791, 5_792, 5_793, 20_000, 70_000] {
            let stub = pattern(length);
            let Event::Response { stub: echo, .. } = pair.call(7, &stub) else { panic!("{length} bytes") };
            assert!(echo == stub, "{length} bytes under {protection:?}");
            assert_eq!(pair.calls.last().unwrap().stub.len(), length);
        }
    }
}

#[test]
fn pdus_may_arrive_byte_by_byte() {
    for protection in protections() {
        let mut pair = Pair::new(protection);
        pair.chunk_bytes = 1;
        pair.client.bind(&[WINREG]).unwrap();
        pair.drive();
        assert!(matches!(pair.client.poll_event(), Some(Event::Bound { .. })));
        assert!(
            matches!(pair.call(7, &pattern(8000)), Event::Response { stub, .. } if stub == pattern(8000))
        );
    }
}

#[test]
fn no_fragment_is_longer_than_the_other_side_takes() {
    for protection in protections() {
        let auth = protection.map(auth);
        let client = ClientConfig { auth, max_recv_frag: 1433, ..ClientConfig::default() };
        let mut server = server_config();
        server.max_recv_frag = 2000;
        let mut pair = Pair::with(client, server, protection, PASSWORD);
        pair.client.bind(&[WINREG]).unwrap();
        pair.drive();
        pair.client.poll_event();
        assert!(
            matches!(pair.call(7, &pattern(9000)), Event::Response { stub, .. } if stub == pattern(9000))
        );
        assert_eq!(pair.sent.iter().map(|sent| sent.bytes.len()).max(), longest_within(2000, protection));
        assert_eq!(pair.answered.iter().map(Vec::len).max(), longest_within(1433, protection));
    }
}

/// Header 24, stub data in steps of 16, `sec_trailer` 8, signature 16.
fn longest_within(limit: usize, protection: Option<(Mechanism, AuthLevel)>) -> Option<usize> {
    let around = if protection.is_some() { 24 + 8 + 16 } else { 24 };
    Some(around + (limit - around) / 16 * 16)
}

#[test]
fn stub_data_is_hidden_at_the_level_of_privacy_only() {
    let secret = pattern(200);
    let seen_at = |level| {
        let mut pair = Pair::bound(Some((Mechanism::Negotiate, level)));
        pair.call(7, &secret);
        let request = &pair.sent.last().unwrap().bytes;
        let response = pair.answered.last().unwrap();
        [request, response].map(|pdu| pdu.windows(16).any(|window| window == &secret[..16]))
    };
    assert_eq!(seen_at(AuthLevel::PKT_PRIVACY), [false, false]);
    assert_eq!(seen_at(AuthLevel::PKT_INTEGRITY), [true, true]);
}

#[test]
fn a_reply_is_due_after_the_last_fragment_only() {
    let mut pair = Pair::bound(SEALED);
    let before = pair.sent.len();
    pair.call(7, &pattern(20_000));
    let replies: Vec<bool> = pair.sent[before..].iter().map(|sent| sent.reply).collect();
    assert_eq!(replies, [false, false, false, true]);
}

#[test]
fn each_interface_of_a_bind_has_its_answer() {
    let mut pair = Pair::new(SEALED);
    pair.client.bind(&[UNKNOWN, PERFLIB, WINREG]).unwrap();
    pair.drive();
    let Some(Event::Bound { contexts }) = pair.client.poll_event() else { panic!("two of three are there") };
    let refused = (Rejection::PROVIDER_REJECTION, RejectionReason::ABSTRACT_SYNTAX_NOT_SUPPORTED);
    let outcomes: Vec<_> = contexts.iter().map(|context| (context.context_id, context.outcome)).collect();
    assert_eq!(outcomes, [(0, Err(refused)), (1, Ok(())), (2, Ok(()))]);

    let call = |context_id| CallRequest { context_id, opnum: 1, object: None, stub: &[] };
    assert!(matches!(pair.client.call(call(0)), Err(Error::UnknownContext { context_id: 0 })));
    assert!(matches!(pair.client.call(call(3)), Err(Error::UnknownContext { context_id: 3 })));
    pair.client.call(call(1)).unwrap();
    pair.drive();
    assert_eq!(pair.calls[0].interface, PERFLIB);
}

#[test]
fn a_bind_of_which_nothing_is_accepted_says_which_interface_and_why() {
    let mut pair = Pair::new(SEALED);
    pair.client.bind(&[UNKNOWN]).unwrap();
    let error = pair.try_drive().unwrap_err();
    assert_eq!(
        error.to_string(),
        "interface 00000000-0000-0000-0000-000000000001 v1.0 refused: PROVIDER_REJECTION, \
         ABSTRACT_SYNTAX_NOT_SUPPORTED"
    );
}

#[test]
fn an_interface_in_a_newer_version_than_the_servers_is_refused() {
    let mut pair = Pair::new(None);
    pair.client.bind(&[SyntaxId { version_minor: 1, ..WINREG }]).unwrap();
    assert!(matches!(pair.try_drive(), Err(Error::ContextRefused { .. })));
}

#[test]
fn a_further_interface_can_be_added_and_a_refused_one_harms_nothing() {
    for protection in protections() {
        let mut pair = Pair::bound(protection);
        assert_eq!(pair.client.alter_context(PERFLIB).unwrap(), 1);
        pair.drive();
        assert!(
            matches!(pair.client.poll_event(), Some(Event::Altered { context }) if context.outcome.is_ok())
        );
        pair.client.call(CallRequest { context_id: 1, opnum: 3, object: None, stub: b"x" }).unwrap();
        pair.drive();
        assert_eq!(pair.calls.last().map(|call| call.interface), Some(PERFLIB));
        pair.client.poll_event().unwrap();

        pair.client.alter_context(UNKNOWN).unwrap();
        pair.drive();
        assert!(
            matches!(pair.client.poll_event(), Some(Event::Altered { context }) if context.outcome.is_err())
        );
        assert!(matches!(pair.call(7, b"still there"), Event::Response { .. }));
    }
}

#[test]
fn an_object_reaches_the_server_on_every_fragment() {
    for protection in protections() {
        let mut pair = Pair::bound(protection);
        let object = Guid::from_u128(0x1234);
        let stub = pattern(12_000);
        pair.client.call(CallRequest { context_id: 0, opnum: 3, object: Some(object), stub: &stub }).unwrap();
        pair.drive();
        assert_eq!(pair.calls[0].object, Some(object));
        assert!(pair.calls[0].stub == stub);
    }
}

#[test]
fn a_fault_tells_its_status_and_the_next_call_works() {
    for protection in protections() {
        let mut pair = Pair::bound(protection);
        let event = pair.call(FAULTING_OPNUM, b"");
        assert!(matches!(event, Event::Fault { status: FaultStatus::NCA_S_OP_RNG_ERROR, .. }), "{event:?}");
        assert!(matches!(pair.call(7, b"next"), Event::Response { stub, .. } if stub == b"next"));
    }
}

#[test]
fn one_call_is_open_at_a_time() {
    let mut pair = Pair::bound(SEALED);
    let request = CallRequest { context_id: 0, opnum: 7, object: None, stub: b"" };
    pair.client.call(request).unwrap();
    assert_eq!(pair.client.call(request).unwrap_err().to_string(), "cannot call: a call is open");
    pair.drive();
    assert!(matches!(pair.client.poll_event(), Some(Event::Response { .. })));
    pair.client.call(request).unwrap();
}

#[test]
fn a_cancel_reaches_the_server_which_still_answers() {
    let mut pair = Pair::bound(SEALED);
    let call_id = pair.client.call(CallRequest { context_id: 0, opnum: 7, object: None, stub: b"" }).unwrap();
    pair.client.cancel(call_id).unwrap();
    while let Some(sent) = pair.client.poll_transmit() {
        pair.server.handle_bytes(&sent.bytes).unwrap();
    }
    assert!(matches!(pair.server.poll_event(), Some(ServerEvent::Request(_))));
    assert!(matches!(pair.server.poll_event(), Some(ServerEvent::Cancelled(id)) if id == call_id));
    pair.server.fault(call_id, FaultStatus::NCA_S_FAULT_CANCEL).unwrap();
    pair.drive();
    let expected = Event::Fault { call_id, status: FaultStatus::NCA_S_FAULT_CANCEL };
    assert_eq!(pair.client.poll_event(), Some(expected));
}

#[test]
fn an_orphans_late_answer_is_thrown_away_and_does_not_disturb_the_next_call() {
    for protection in protections() {
        let mut pair = Pair::bound(protection);
        let late = pair.answer_to(&pattern(20_000));
        let call_id = last_call(&late);
        pair.client.handle_bytes(&late[0]).unwrap();
        pair.client.orphan(call_id).unwrap();
        pair.client.call(CallRequest { context_id: 0, opnum: 7, object: None, stub: b"next" }).unwrap();
        late[1..].iter().for_each(|fragment| pair.client.handle_bytes(fragment).unwrap());
        assert_eq!(pair.client.poll_event(), None);
        pair.drive();
        assert!(matches!(pair.client.poll_event(), Some(Event::Response { stub, .. }) if stub == b"next"));
    }
}

fn last_call(fragments: &[Vec<u8>]) -> dcerpc::CallId {
    dcerpc::pdu::Pdu::decode(&fragments[0]).unwrap().header.call_id
}

#[test]
fn an_orphan_that_the_server_still_works_on_is_never_answered() {
    let mut pair = Pair::bound(None);
    let call_id = pair.client.call(CallRequest { context_id: 0, opnum: 7, object: None, stub: b"" }).unwrap();
    pair.client.orphan(call_id).unwrap();
    while let Some(sent) = pair.client.poll_transmit() {
        pair.server.handle_bytes(&sent.bytes).unwrap();
    }
    pair.serve();
    assert_eq!(pair.server.poll_transmit(), None);
    assert!(matches!(pair.server_events.pop_front(), Some(ServerEvent::Orphaned(id)) if id == call_id));
}

#[test]
fn two_calls_sent_at_once_are_answered_in_any_order() {
    let request = |call_id: u8, text: &[u8; 4]| {
        let header = [5, 0, 0, 3, 0x10, 0, 0, 0, 28, 0, 0, 0, call_id, 0, 0, 0, 4, 0, 0, 0, 0, 0, 7, 0];
        [header.as_slice(), text].concat()
    };
    let mut pair = Pair::bound(None);
    pair.server.handle_bytes(&[request(10, b"abcd"), request(11, b"efgh")].concat()).unwrap();
    let ids: Vec<_> = core::iter::from_fn(|| match pair.server.poll_event() {
        Some(ServerEvent::Request(call)) => Some(call.call_id),
        _ => None,
    })
    .collect();
    assert_eq!(ids.len(), 2);
    pair.server.respond(ids[1], b"second").unwrap();
    pair.server.respond(ids[0], b"first").unwrap();
    assert!(pair.server.poll_transmit().unwrap().ends_with(b"second"));
    assert!(pair.server.poll_transmit().unwrap().ends_with(b"first"));
    assert!(matches!(pair.server.respond(ids[0], b""), Err(Error::UnknownCall { .. })));
}

#[test]
fn a_call_that_wants_no_answer_gets_none() {
    let mut server = ServerAssociation::new(server_config(), accept);
    let mut pair = Pair::bound(None);
    server.handle_bytes(&pair.sent[0].bytes).unwrap();
    server.poll_transmit();
    pair.client.call(CallRequest { context_id: 0, opnum: 7, object: None, stub: b"" }).unwrap();
    let mut request = pair.client.poll_transmit().unwrap().bytes;
    request[3] |= 0x40; // PFC_MAYBE
    server.handle_bytes(&request).unwrap();
    let Some(ServerEvent::Request(call)) = server.poll_event() else { panic!("a call came in") };
    server.respond(call.call_id, b"nobody listens").unwrap();
    assert_eq!(server.poll_transmit(), None);
}
