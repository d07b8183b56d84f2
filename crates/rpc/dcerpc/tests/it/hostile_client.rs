//! What a server does with a client that does not keep to the rules.

use dcerpc::pdu::{Body, Pdu};
use dcerpc::server::{ServerAssociation, ServerEvent};
use dcerpc::{AuthLevel, Error, FaultStatus, Limits};
use ssp::Mechanism;

use crate::pair::{Pair, UNKNOWN, WINREG, accept, pattern, server_config};

const SEALED: (Mechanism, AuthLevel) = (Mechanism::Ntlm, AuthLevel::PKT_PRIVACY);

const FIRST: u8 = 1;
const LAST: u8 = 2;

fn request(call_id: u32, context_id: u16, opnum: u16, flags: u8, stub: &[u8]) -> Vec<u8> {
    let length = u16::try_from(24 + stub.len()).unwrap();
    let mut pdu = vec![5, 0, 0, flags, 0x10, 0, 0, 0];
    pdu.extend(length.to_le_bytes());
    pdu.extend([0, 0]);
    pdu.extend(call_id.to_le_bytes());
    pdu.extend([0xff, 0xff, 0xff, 0xff]);
    pdu.extend(context_id.to_le_bytes());
    pdu.extend(opnum.to_le_bytes());
    pdu.extend(stub);
    pdu
}

fn bound_server(limits: Limits) -> ServerAssociation {
    let mut config = server_config();
    config.limits = limits;
    let mut server = ServerAssociation::new(config, accept);
    let mut pair = Pair::new(None);
    pair.client.bind(&[WINREG]).unwrap();
    server.handle_bytes(&pair.client.poll_transmit().unwrap().bytes).unwrap();
    server.poll_transmit().unwrap();
    server
}

fn fault_in(pdu: &[u8]) -> FaultStatus {
    match Pdu::decode(pdu).unwrap().body {
        Body::Fault(fault) => fault.status,
        other => panic!("{other:?} is no fault"),
    }
}

/// The client is told by a fault, no call comes through, and the association is over.
fn check_refused(mut server: ServerAssociation, pdus: &[Vec<u8>], expected: &str, told: FaultStatus) {
    let (last, before) = pdus.split_last().unwrap();
    before.iter().for_each(|pdu| server.handle_bytes(pdu).unwrap());
    let error = server.handle_bytes(last).unwrap_err();
    assert_eq!(error.to_string(), expected);
    assert_eq!(fault_in(&server.poll_transmit().unwrap()), told);
    assert!(server.poll_event().is_none());
    assert!(matches!(server.handle_bytes(&[]), Err(Error::Failed)));
}

#[test]
fn a_call_before_the_bind_is_refused() {
    let server = ServerAssociation::new(server_config(), accept);
    let pdu = request(1, 0, 7, FIRST | LAST, b"");
    let expected = "unexpected REQUEST while not bound";
    check_refused(server, &[pdu], expected, FaultStatus::NCA_S_PROTO_ERROR);
}

#[test]
fn a_second_bind_is_refused() {
    let mut pair = Pair::bound(None);
    let bind = pair.sent.remove(0).bytes;
    check_refused(pair.server, &[bind], "unexpected BIND while bound", FaultStatus::NCA_S_PROTO_ERROR);
}

#[test]
fn an_unsealed_call_on_a_sealed_association_is_refused() {
    let pair = Pair::bound(Some(SEALED));
    let pdu = request(9, 0, 7, FIRST | LAST, b"1234");
    let expected = "PDU at authentication level NONE on an association at PKT_PRIVACY";
    check_refused(pair.server, &[pdu], expected, FaultStatus::NCA_S_FAULT_ACCESS_DENIED);
}

#[test]
fn a_call_that_was_altered_is_refused() {
    let mut pair = Pair::bound(Some(SEALED));
    let call = dcerpc::client::CallRequest { context_id: 0, opnum: 7, object: None, stub: b"1234" };
    pair.client.call(call).unwrap();
    let mut pdu = pair.client.poll_transmit().unwrap().bytes;
    pdu[22] ^= 1; // the operation, which is sent in the clear
    check_refused(pair.server, &[pdu], "check a fragment", FaultStatus::RPC_S_SEC_PKG_ERROR);
}

#[test]
fn a_client_that_never_ends_its_authentication_is_denied() {
    let mut pair = Pair::new(Some(SEALED));
    pair.client.bind(&[WINREG]).unwrap();
    pair.server.handle_bytes(&pair.client.poll_transmit().unwrap().bytes).unwrap();
    pair.server.poll_transmit().unwrap();
    pair.server.handle_bytes(&request(2, 0, 7, FIRST | LAST, b"")).unwrap();
    assert_eq!(fault_in(&pair.server.poll_transmit().unwrap()), FaultStatus::NCA_S_FAULT_ACCESS_DENIED);
    assert!(pair.server.poll_event().is_none());
}

#[test]
fn a_first_leg_that_is_no_token_is_a_bind_nak() {
    let mut pair = Pair::new(Some(SEALED));
    pair.client.bind(&[WINREG]).unwrap();
    let mut bind = pair.client.poll_transmit().unwrap().bytes;
    let token = bind.len() - 1 - bind.iter().rev().position(|&byte| byte == b'N').unwrap();
    bind[token] = b'X';
    assert!(matches!(pair.server.handle_bytes(&bind), Err(Error::Security { .. })));
    let nak = pair.server.poll_transmit().unwrap();
    assert!(matches!(Pdu::decode(&nak).unwrap().body, Body::BindNak(_)));
}

#[test]
fn an_auth3_out_of_nowhere_is_refused() {
    let mut pair = Pair::bound(Some(SEALED));
    let auth3 = pair.sent.pop().unwrap().bytes;
    let expected = "unexpected AUTH3 while not authenticating";
    check_refused(pair.server, &[auth3], expected, FaultStatus::NCA_S_PROTO_ERROR);
}

#[test]
fn a_second_security_context_is_refused() {
    let pair = Pair::bound(Some((Mechanism::Negotiate, AuthLevel::PKT_PRIVACY)));
    let again = pair.sent[1].bytes.clone();
    let expected = "verifier of another security context";
    check_refused(pair.server, &[again], expected, FaultStatus::NCA_S_FAULT_ACCESS_DENIED);
}

#[test]
fn a_context_that_nobody_bound_is_a_fault_and_no_end() {
    let mut server = bound_server(Limits::default());
    server.handle_bytes(&request(5, 3, 7, FIRST | LAST, b"")).unwrap();
    assert_eq!(fault_in(&server.poll_transmit().unwrap()), FaultStatus::NCA_S_INVALID_PRES_CONTEXT_ID);
    server.handle_bytes(&request(6, 0, 7, FIRST | LAST, b"")).unwrap();
    assert!(matches!(server.poll_event(), Some(ServerEvent::Request(_))));
}

#[test]
fn too_many_calls_at_once_are_told_that_the_server_is_busy() {
    let limits = Limits { calls_max: 2, ..Limits::default() };
    let mut server = bound_server(limits);
    for call_id in 5..8 {
        server.handle_bytes(&request(call_id, 0, 7, FIRST | LAST, b"")).unwrap();
    }
    let fault = server.poll_transmit().unwrap();
    assert_eq!(fault_in(&fault), FaultStatus::NCA_S_SERVER_TOO_BUSY);
    assert_eq!(Pdu::decode(&fault).unwrap().header.call_id.0, 7);
    assert_eq!(core::iter::from_fn(|| server.poll_event()).count(), 2);
}

#[test]
fn a_call_id_that_is_in_use_is_refused() {
    let mut server = bound_server(Limits::default());
    let pdu = request(5, 0, 7, FIRST | LAST, b"");
    server.handle_bytes(&pdu).unwrap();
    let error = server.handle_bytes(&pdu).unwrap_err();
    assert_eq!(error.to_string(), "fragments out of order: the call is open already");
}

#[test]
fn too_many_contexts_are_refused_one_by_one() {
    let limits = Limits { contexts_max: 1, ..Limits::default() };
    let mut config = server_config();
    config.limits = limits;
    let mut server = ServerAssociation::new(config, accept);
    let mut pair = Pair::new(None);
    pair.client.bind(&[WINREG, WINREG, UNKNOWN]).unwrap();
    server.handle_bytes(&pair.client.poll_transmit().unwrap().bytes).unwrap();
    pair.client.handle_bytes(&server.poll_transmit().unwrap()).unwrap();
    let Some(dcerpc::client::Event::Bound { contexts }) = pair.client.poll_event() else {
        panic!("one is there")
    };
    let accepted: Vec<bool> = contexts.iter().map(|context| context.outcome.is_ok()).collect();
    assert_eq!(accepted, [true, false, false]);
}

#[test]
fn a_call_without_end_is_refused_by_its_fragments_and_by_its_bytes() {
    let limits = Limits { fragments_max: 2, ..Limits::default() };
    let first = request(5, 0, 7, FIRST, b"");
    let more = request(5, 0, 7, 0, b"");
    let expected = "fragments of a call exceeds the limit of 2";
    let told = FaultStatus::NCA_S_FAULT_REMOTE_NO_MEMORY;
    check_refused(bound_server(limits), &[first, more.clone(), more], expected, told);

    let limits = Limits { stub_bytes_max: 1000, ..Limits::default() };
    let pdu = request(5, 0, 7, FIRST | LAST, &pattern(1001));
    check_refused(bound_server(limits), &[pdu], "stub data of a call exceeds the limit of 1000", told);
}

#[test]
fn fragments_of_different_calls_are_not_mixed() {
    let first = request(5, 0, 7, FIRST, b"");
    let told = FaultStatus::NCA_S_PROTO_ERROR;
    let check = |second, expected: &str| {
        check_refused(bound_server(Limits::default()), &[first.clone(), second], expected, told);
    };
    check(request(6, 0, 7, LAST, b""), "fragment of call 6 where call 5 is due");
    check(request(5, 1, 7, LAST, b""), "fragment on presentation context 1 where 0 is due");
    check(request(5, 0, 8, LAST, b""), "fragments out of order: operation or object changes within a call");
    check(request(5, 0, 7, FIRST, b""), "fragments out of order: a first one follows another");
}

#[test]
fn a_call_that_was_begun_and_orphaned_is_forgotten() {
    let mut server = bound_server(Limits::default());
    server.handle_bytes(&request(5, 0, 7, FIRST, b"")).unwrap();
    assert!(server.is_within_pdu());
    server.handle_bytes(&[5, 0, 19, 3, 0x10, 0, 0, 0, 16, 0, 0, 0, 5, 0, 0, 0]).unwrap();
    assert!(!server.is_within_pdu());
    server.handle_bytes(&request(6, 0, 7, FIRST | LAST, b"next")).unwrap();
    assert!(matches!(server.poll_event(), Some(ServerEvent::Request(call)) if call.stub == b"next"));
}

#[test]
fn a_client_that_takes_next_to_nothing_is_refused() {
    let mut pair = Pair::new(None);
    pair.client.bind(&[WINREG]).unwrap();
    let mut bind = pair.client.poll_transmit().unwrap().bytes;
    bind[18..20].copy_from_slice(&1431_u16.to_le_bytes()); // max_recv_frag
    let error = pair.server.handle_bytes(&bind).unwrap_err();
    assert_eq!(error.to_string(), "bind refused: LOCAL_LIMIT_EXCEEDED");
    let nak = pair.server.poll_transmit().unwrap();
    assert!(matches!(Pdu::decode(&nak).unwrap().body, Body::BindNak(_)));
}

#[test]
fn a_pdu_that_is_the_servers_to_send_is_refused() {
    let mut pair = Pair::bound(None);
    let ack = pair.answered.remove(0);
    let expected = "unexpected BIND_ACK while serving: it is not for a client to send";
    check_refused(pair.server, &[ack], expected, FaultStatus::NCA_S_PROTO_ERROR);
}
