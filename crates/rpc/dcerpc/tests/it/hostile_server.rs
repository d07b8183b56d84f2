//! What a client does with a server that does not keep to the rules.

use dcerpc::client::{CallRequest, ClientAssociation, ClientConfig, Event};
use dcerpc::pdu::{CommonHeader, Pdu};
use dcerpc::{AuthLevel, CallId, Error, Limits};
use ssp::Mechanism;

use crate::pair::{PASSWORD, Pair, WINREG, auth, pattern, server_config};

const SEALED: (Mechanism, AuthLevel) = (Mechanism::Ntlm, AuthLevel::PKT_PRIVACY);

/// A client with an open call on an association without protection.
fn client_with_call(limits: Limits) -> (ClientAssociation, CallId) {
    let config = ClientConfig { limits, ..ClientConfig::default() };
    let mut pair = Pair::with(config, server_config(), None, PASSWORD);
    pair.client.bind(&[WINREG]).unwrap();
    pair.drive();
    pair.client.poll_event();
    let call_id = pair.client.call(CallRequest { context_id: 0, opnum: 7, object: None, stub: b"" }).unwrap();
    (pair.client, call_id)
}

const FIRST: u8 = 1;
const LAST: u8 = 2;

fn response(call_id: CallId, context_id: u16, flags: u8, stub: &[u8]) -> Vec<u8> {
    let length = u16::try_from(24 + stub.len()).unwrap();
    let mut pdu = vec![5, 0, 2, flags, 0x10, 0, 0, 0];
    pdu.extend(length.to_le_bytes());
    pdu.extend([0, 0]);
    pdu.extend(call_id.0.to_le_bytes());
    pdu.extend([0xff, 0xff, 0xff, 0xff]);
    pdu.extend(context_id.to_le_bytes());
    pdu.extend([0, 0]);
    pdu.extend(stub);
    pdu
}

/// A client that was refused stays refused, and gives no response.
fn check_refused(mut client: ClientAssociation, pdus: &[Vec<u8>], expected: &str) {
    let (last, before) = pdus.split_last().unwrap();
    before.iter().for_each(|pdu| client.handle_bytes(pdu).unwrap());
    let error = client.handle_bytes(last).unwrap_err();
    assert_eq!(error.to_string(), expected);
    assert!(client.poll_event().is_none());
    assert!(matches!(client.handle_bytes(&[]), Err(Error::Failed)));
    assert!(client.poll_transmit().is_none());
}

#[test]
fn what_is_no_rpc_is_refused_with_its_reason() {
    let (client, _) = client_with_call(Limits::default());
    check_refused(client, &[b"HTTP/1.1 400 Bad".to_vec()], "malformed PDU");

    let source_of = |change: fn(&mut Vec<u8>)| {
        let (mut client, call_id) = client_with_call(Limits::default());
        let mut pdu = response(call_id, 0, FIRST | LAST, b"1234");
        change(&mut pdu);
        let Err(Error::Decode(source)) = client.handle_bytes(&pdu) else { panic!("it is malformed") };
        source.to_string()
    };
    let header = "rpcconn_common_hdr_t: ";
    assert_eq!(
        source_of(|pdu| pdu[0] = 4),
        format!("{header}`rpc_vers`: not version 5, so this is no DCE/RPC (offset 0)")
    );
    assert_eq!(source_of(|pdu| pdu[1] = 2), format!("{header}`rpc_vers_minor`: above 1 (offset 1)"));
    assert_eq!(
        source_of(|pdu| pdu[4] = 0),
        format!("{header}`packed_drep`: big-endian data is not supported (offset 4)")
    );
    assert_eq!(
        source_of(|pdu| pdu[8] = 15),
        format!("{header}`frag_length`: less than the header and the verifier (offset 8)")
    );
    assert_eq!(
        source_of(|pdu| pdu[10] = 5),
        format!("{header}`frag_length`: less than the header and the verifier (offset 8)")
    );
    assert_eq!(
        source_of(|pdu| pdu[8..10].copy_from_slice(&5841_u16.to_le_bytes())),
        "PDU: `frag_length`: 5841 is above the limit of 5840 (offset 8)"
    );
}

#[test]
fn a_fragment_that_never_ends_is_seen_by_the_driver_and_holds_no_more_than_it_is_long() {
    let (mut client, call_id) = client_with_call(Limits::default());
    let mut pdu = response(call_id, 0, FIRST | LAST, &pattern(1000));
    pdu[8..10].copy_from_slice(&5840_u16.to_le_bytes());
    client.handle_bytes(&pdu).unwrap();
    assert!(client.is_within_pdu());
    assert!(client.is_waiting());
    assert_eq!(client.poll_event(), None);
}

#[test]
fn a_response_to_another_call_is_refused() {
    let (client, call_id) = client_with_call(Limits::default());
    let other = CallId(call_id.0 + 1);
    let expected = format!("fragment of call {other} where call {call_id} is due");
    check_refused(client, &[response(other, 0, FIRST | LAST, b"")], &expected);
}

#[test]
fn a_response_to_no_call_is_refused() {
    let mut pair = Pair::bound(None);
    pair.call(7, b"");
    let pdu = pair.answered.pop().unwrap();
    check_refused(pair.client, &[pdu], "unexpected RESPONSE while no call is open");
}

#[test]
fn a_response_on_another_context_is_refused() {
    let (client, call_id) = client_with_call(Limits::default());
    let pdu = response(call_id, 1, FIRST | LAST, b"");
    check_refused(client, &[pdu], "fragment on presentation context 1 where 0 is due");
}

#[test]
fn fragments_out_of_order_are_refused() {
    let (client, call_id) = client_with_call(Limits::default());
    let last = response(call_id, 0, LAST, b"");
    check_refused(client, &[last], "fragments out of order: the first one is missing");

    let (client, call_id) = client_with_call(Limits::default());
    let first = response(call_id, 0, FIRST, b"");
    check_refused(client, &[first.clone(), first], "fragments out of order: a first one follows another");
}

#[test]
fn a_response_without_end_is_refused_by_its_fragments_and_by_its_bytes() {
    let limits = Limits { fragments_max: 3, ..Limits::default() };
    let (client, call_id) = client_with_call(limits);
    let mut pdus = vec![response(call_id, 0, FIRST, b"")];
    pdus.extend(core::iter::repeat_n(response(call_id, 0, 0, b""), 3));
    check_refused(client, &pdus, "fragments of a call exceeds the limit of 3");

    let limits = Limits { stub_bytes_max: 5000, ..Limits::default() };
    let (client, call_id) = client_with_call(limits);
    let half = response(call_id, 0, FIRST, &pattern(3000));
    let rest = response(call_id, 0, LAST, &pattern(2001));
    check_refused(client, &[half, rest], "stub data of a call exceeds the limit of 5000");
}

/// The sealed answer to a call, and the client that waits for it.
fn sealed_answer() -> (ClientAssociation, Vec<u8>) {
    let mut pair = Pair::bound(Some(SEALED));
    let mut answer = pair.answer_to(&pattern(40));
    (pair.client, answer.remove(0))
}

fn trailer_of(pdu: &[u8]) -> usize {
    pdu.len() - Pdu::decode(pdu).unwrap().header.verifier_len()
}

#[test]
fn an_unsealed_reply_on_a_sealed_association_is_refused() {
    let (client, answer) = sealed_answer();
    let call_id = Pdu::decode(&answer).unwrap().header.call_id;
    let expected = "PDU at authentication level NONE on an association at PKT_PRIVACY";
    check_refused(client, &[response(call_id, 0, FIRST | LAST, b"1234")], expected);
}

#[test]
fn a_reply_at_a_lower_level_is_refused() {
    let (client, mut answer) = sealed_answer();
    let trailer = trailer_of(&answer);
    answer[trailer + 1] = AuthLevel::PKT_INTEGRITY.0;
    let expected = "PDU at authentication level PKT_INTEGRITY on an association at PKT_PRIVACY";
    check_refused(client, &[answer], expected);
}

#[test]
fn a_reply_of_another_security_context_is_refused() {
    for offset in [0, 4] {
        let (client, mut answer) = sealed_answer();
        let trailer = trailer_of(&answer);
        answer[trailer + offset] ^= 3;
        check_refused(client, &[answer], "verifier of another security context");
    }
}

#[test]
fn padding_that_is_longer_than_the_body_is_refused() {
    let (client, mut answer) = sealed_answer();
    let trailer = trailer_of(&answer);
    answer[trailer + 2] = 49; // of 48
    check_refused(client, &[answer], "malformed PDU");
}

#[test]
fn a_reply_that_was_altered_anywhere_is_refused() {
    // The flags, the hint, the stub data, the padding length, the signature.
    for from_trailer in [None, Some(-1), Some(2), Some(10)] {
        let (mut client, mut answer) = sealed_answer();
        let at = from_trailer.map_or(16, |offset| trailer_of(&answer).wrapping_add_signed(offset));
        answer[at] ^= 1;
        let error = client.handle_bytes(&answer).unwrap_err();
        assert!(matches!(error, Error::Security { doing: "check a fragment", .. }), "{error:?}");
        assert_eq!(client.poll_event(), None);
    }
}

#[test]
fn a_reply_that_is_sent_twice_is_refused() {
    let mut pair = Pair::bound(Some(SEALED));
    let first = pair.answer_to(b"first").remove(0);
    pair.client.handle_bytes(&first).unwrap();
    pair.client.poll_event().unwrap();
    pair.client.call(CallRequest { context_id: 0, opnum: 7, object: None, stub: b"next" }).unwrap();
    assert!(matches!(pair.client.handle_bytes(&first), Err(Error::Security { .. })));
}

#[test]
fn a_fault_with_a_signature_that_does_not_match_is_told_and_ends_the_association() {
    let (mut client, mut answer) = sealed_answer();
    answer[2] = 3; // FAULT
    let error = client.handle_bytes(&answer).unwrap_err();
    assert!(matches!(error, Error::Security { .. }), "{error:?}");
    assert!(matches!(client.poll_event(), Some(Event::Fault { .. })));
}

#[test]
fn a_server_that_sends_no_token_is_refused() {
    let mut plain = Pair::new(None);
    plain.client.bind(&[WINREG]).unwrap();
    plain.drive();
    let ack_without_token = plain.answered.remove(0);

    let mut pair = Pair::new(Some(SEALED));
    pair.client.bind(&[WINREG]).unwrap();
    let expected = "authentication did not end: the server sends no token";
    pair.client.poll_transmit().unwrap();
    check_refused(pair.client, &[ack_without_token], expected);
}

#[test]
fn a_server_that_lowers_the_level_in_its_ack_is_refused() {
    let mut pair = Pair::new(Some(SEALED));
    pair.client.bind(&[WINREG]).unwrap();
    pair.server.handle_bytes(&pair.client.poll_transmit().unwrap().bytes).unwrap();
    let mut ack = pair.server.poll_transmit().unwrap();
    let trailer = trailer_of(&ack);
    ack[trailer + 1] = AuthLevel::CONNECT.0;
    let expected = "PDU at authentication level CONNECT on an association at PKT_PRIVACY";
    check_refused(pair.client, &[ack], expected);
}

#[test]
fn a_server_that_answers_to_other_contexts_or_takes_next_to_nothing_is_refused() {
    let ack = || {
        let mut pair = Pair::new(None);
        pair.client.bind(&[WINREG]).unwrap();
        let bind = pair.client.poll_transmit().unwrap().bytes;
        pair.server.handle_bytes(&bind).unwrap();
        (pair.client, pair.server.poll_transmit().unwrap())
    };
    let (mut client, mut bytes) = ack();
    bytes[18..20].copy_from_slice(&100_u16.to_le_bytes()); // max_recv_frag
    let Err(Error::Decode(error)) = client.handle_bytes(&bytes) else { panic!("it is refused") };
    assert_eq!(error.field, "max_recv_frag");

    let (mut client, mut bytes) = ack();
    bytes[28] = 0; // n_results
    let Err(Error::Decode(error)) = client.handle_bytes(&bytes) else { panic!("it is refused") };
    assert_eq!(error.field, "n_results");

    let (mut client, mut bytes) = ack();
    bytes[28] = 200; // n_results
    let Err(Error::Decode(error)) = client.handle_bytes(&bytes) else { panic!("it is refused") };
    assert_eq!(error.field, "p_results");
}

#[test]
fn an_authentication_without_end_is_refused() {
    let limits = Limits { auth_legs_max: 1, ..Limits::default() };
    let config = ClientConfig { limits, ..ClientConfig::with_auth(auth(SEALED)) };
    let mut pair = Pair::with(config, server_config(), Some(SEALED), PASSWORD);
    pair.client.bind(&[WINREG]).unwrap();
    let error = pair.try_drive().unwrap_err();
    assert_eq!(error.to_string(), "authentication did not end: it has too many legs");
}

#[test]
fn an_answer_to_another_bind_is_refused() {
    let mut pair = Pair::new(None);
    pair.client.bind(&[WINREG]).unwrap();
    pair.server.handle_bytes(&pair.client.poll_transmit().unwrap().bytes).unwrap();
    let mut ack = pair.server.poll_transmit().unwrap();
    ack[CommonHeader::FIXED_PART_SIZE - 4] = 77;
    check_refused(pair.client, &[ack], "fragment of call 77 where call 1 is due");
}

#[test]
fn a_shutdown_is_news_and_no_error() {
    let (mut client, _) = client_with_call(Limits::default());
    client.handle_bytes(&[5, 0, 17, 3, 0x10, 0, 0, 0, 16, 0, 0, 0, 0, 0, 0, 0]).unwrap();
    assert_eq!(client.poll_event(), Some(Event::Shutdown));
}

#[test]
fn too_many_orphans_are_refused_and_their_client_lives_on() {
    let limits = Limits { orphans_max: 1, ..Limits::default() };
    let (mut client, call_id) = client_with_call(limits);
    client.orphan(call_id).unwrap();
    let call_id = client.call(CallRequest { context_id: 0, opnum: 7, object: None, stub: b"" }).unwrap();
    assert!(matches!(client.orphan(call_id), Err(Error::LimitExceeded { limit: 1, .. })));
    client.handle_bytes(&response(call_id, 0, FIRST | LAST, b"alive")).unwrap();
    assert!(matches!(client.poll_event(), Some(Event::Response { stub, .. }) if stub == b"alive"));
}
