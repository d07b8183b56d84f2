use dcerpc::client::{CallRequest, ClientAssociation, ClientConfig, Event};
use dcerpc::pdu::{BindNakReason, Body, Pdu, PfcFlags, encode_pdu};
use dcerpc::server::{ServerAssociation, ServerEvent};
use dcerpc::{AuthLevel, AuthService, Error, FaultStatus, Rejection, RejectionReason, SyntaxId};
use wire::Guid;

use crate::pair::{UNKNOWN, WINREG, accept, server_config};

/// The bytes of a file in `tests/data`: hexadecimal digits, and comments after `#`.
fn hex(text: &str) -> Vec<u8> {
    let lines = text.lines().map(|line| line.split('#').next().unwrap_or_default());
    let digits: Vec<char> = lines.flat_map(str::chars).filter(|c| !c.is_whitespace()).collect();
    let byte = |pair: &[char]| u8::from_str_radix(&pair.iter().collect::<String>(), 16).unwrap();
    digits.chunks(2).map(byte).collect()
}

const BIND_IMPACKET_NTLM: &str = include_str!("../data/bind_impacket_ntlm.hex");
const BIND_SAMBA_SPNEGO: &str = include_str!("../data/bind_samba_spnego.hex");
const BIND_ACK_SAMBA_NTLM: &str = include_str!("../data/bind_ack_samba_ntlm.hex");
const BIND_ACK_SAMBA_REFUSED: &str = include_str!("../data/bind_ack_samba_refused.hex");
const BIND_NAK_SAMBA: &str = include_str!("../data/bind_nak_samba.hex");
const AUTH3_IMPACKET: &str = include_str!("../data/auth3_impacket.hex");
const ALTER_CONTEXT_RESP_SAMBA: &str = include_str!("../data/alter_context_resp_samba.hex");
const REQUEST_IMPACKET_OBJECT: &str = include_str!("../data/request_impacket_object.hex");
const REQUEST_IMPACKET_SIGNED: &str = include_str!("../data/request_impacket_signed.hex");
const FAULT_SAMBA: &str = include_str!("../data/fault_samba.hex");

#[test]
fn a_bind_of_impacket_is_read_and_written_alike() {
    let bytes = hex(BIND_IMPACKET_NTLM);
    let Pdu { header, body: Body::Bind(bind), verifier } = Pdu::decode(&bytes).unwrap() else {
        panic!("it is a bind")
    };
    assert_eq!((bind.max_xmit_frag, bind.max_recv_frag, bind.assoc_group_id), (4280, 4280, 0));
    assert_eq!(bind.contexts.0[0].abstract_syntax, WINREG);
    assert_eq!(bind.contexts.0[0].transfer_syntaxes, [SyntaxId::NDR]);
    let trailer = verifier.unwrap().trailer;
    assert_eq!((trailer.auth_type, trailer.auth_level), (AuthService::WINNT, AuthLevel::PKT_PRIVACY));
    let again = encode_pdu(header.packet_type, header.flags, header.call_id, Some(&bind), verifier).unwrap();
    assert_eq!(again, bytes);
}

#[test]
fn a_bind_of_samba_with_feature_negotiation_is_read_and_written_alike() {
    let bytes = hex(BIND_SAMBA_SPNEGO);
    let Pdu { header, body: Body::Bind(bind), verifier } = Pdu::decode(&bytes).unwrap() else {
        panic!("it is a bind")
    };
    assert!(header.flags.contains(PfcFlags::SUPPORT_HEADER_SIGN));
    assert_eq!(bind.contexts.0[1].transfer_syntaxes[0].bind_time_features(), Some(3));
    let again = encode_pdu(header.packet_type, header.flags, header.call_id, Some(&bind), verifier).unwrap();
    assert_eq!(again, bytes);
}

#[test]
fn the_server_answers_a_feature_negotiation_with_what_it_can() {
    let mut server = ServerAssociation::new(server_config(), accept);
    server.handle_bytes(&hex(BIND_SAMBA_SPNEGO)).unwrap();
    let ack = server.poll_transmit().unwrap();
    let Pdu { header, body: Body::BindAck(ack), .. } = Pdu::decode(&ack).unwrap() else {
        panic!("it is a bind_ack")
    };
    assert!(header.flags.contains(PfcFlags::SUPPORT_HEADER_SIGN), "the flag is echoed");
    let results: Vec<_> = ack.results.0.iter().map(|result| (result.result, result.reason.0)).collect();
    assert_eq!(results, [(Rejection::ACCEPTANCE, 0), (Rejection::NEGOTIATE_ACK, 3)]);
}

#[test]
fn a_bind_ack_of_samba_is_read() {
    let bytes = hex(BIND_ACK_SAMBA_NTLM);
    let Pdu { body: Body::BindAck(ack), verifier, .. } = Pdu::decode(&bytes).unwrap() else {
        panic!("it is a bind_ack")
    };
    assert_eq!((ack.max_xmit_frag, ack.max_recv_frag, ack.assoc_group_id), (5840, 5840, 0xbd59));
    assert_eq!(ack.results.0[0].result, Rejection::ACCEPTANCE);
    assert!(verifier.unwrap().token.starts_with(b"NTLMSSP\0\x02"));
}

#[test]
fn a_final_alter_context_resp_of_samba_is_read() {
    let bytes = hex(ALTER_CONTEXT_RESP_SAMBA);
    let pdu = Pdu::decode(&bytes).unwrap();
    assert!(matches!(&pdu.body, Body::BindAck(response) if response.sec_addr.is_empty()));
    assert_eq!(pdu.verifier.unwrap().token.len(), 29);
}

#[test]
fn an_auth3_of_impacket_is_read_whatever_its_padding() {
    let bytes = hex(AUTH3_IMPACKET);
    let pdu = Pdu::decode(&bytes).unwrap();
    assert_eq!(pdu.body, Body::Auth3);
    assert!(pdu.verifier.unwrap().token.starts_with(b"NTLMSSP\0\x03"));
}

#[test]
fn a_refusal_by_samba_names_the_interface() {
    let mut client = ClientAssociation::new(ClientConfig::default(), None).unwrap();
    client.bind(&[UNKNOWN]).unwrap();
    let error = client.handle_bytes(&hex(BIND_ACK_SAMBA_REFUSED)).unwrap_err();
    let reason = RejectionReason::ABSTRACT_SYNTAX_NOT_SUPPORTED;
    assert!(matches!(
        error,
        Error::ContextRefused { interface: UNKNOWN, result: Rejection::PROVIDER_REJECTION, reason: r } if r == reason
    ));
}

#[test]
fn a_bind_nak_of_samba_names_its_reason() {
    let mut client = ClientAssociation::new(ClientConfig::default(), None).unwrap();
    client.bind(&[WINREG]).unwrap();
    let error = client.handle_bytes(&hex(BIND_NAK_SAMBA)).unwrap_err();
    let expected = BindNakReason::AUTHENTICATION_TYPE_NOT_RECOGNIZED;
    assert!(matches!(error, Error::BindRefused { reason } if reason == expected));
}

#[test]
fn a_request_of_impacket_with_an_object_is_served() {
    let mut server = ServerAssociation::new(server_config(), accept);
    let bytes = hex(REQUEST_IMPACKET_OBJECT);
    let mut client = ClientAssociation::new(ClientConfig::default(), None).unwrap();
    client.bind(&[WINREG]).unwrap();
    server.handle_bytes(&client.poll_transmit().unwrap().bytes).unwrap();
    server.handle_bytes(&bytes).unwrap();
    let Some(ServerEvent::Request(call)) = server.poll_event() else { panic!("a call came in") };
    let object: Guid = "11111111-2222-3333-4444-555555555555".parse().unwrap();
    assert_eq!((call.opnum, call.object, call.stub.as_slice()), (7, Some(object), b"abcd".as_slice()));
}

#[test]
fn the_padding_of_a_signed_request_is_no_stub_data() {
    let bytes = hex(REQUEST_IMPACKET_SIGNED);
    let Pdu { body: Body::Request(request, stub), verifier, .. } = Pdu::decode(&bytes).unwrap() else {
        panic!("it is a request")
    };
    assert_eq!((request.opnum, request.alloc_hint, stub.len()), (7, 13, 13));
    assert_eq!(verifier.unwrap().trailer.auth_pad_length, 3);
}

#[test]
fn a_fault_of_samba_tells_its_status() {
    let mut client = ClientAssociation::new(ClientConfig::default(), None).unwrap();
    let mut server = ServerAssociation::new(server_config(), accept);
    client.bind(&[WINREG]).unwrap();
    server.handle_bytes(&client.poll_transmit().unwrap().bytes).unwrap();
    client.handle_bytes(&server.poll_transmit().unwrap()).unwrap();
    client.poll_event();
    let call_id =
        client.call(CallRequest { context_id: 0, opnum: 26, object: None, stub: &[0; 20] }).unwrap();
    client.handle_bytes(&hex(FAULT_SAMBA)).unwrap();
    let status = FaultStatus::NCA_S_FAULT_CONTEXT_MISMATCH;
    assert_eq!(client.poll_event(), Some(Event::Fault { call_id, status }));
}
