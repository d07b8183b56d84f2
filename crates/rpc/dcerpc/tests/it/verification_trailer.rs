//! What a server makes of verification trailers ([MS-RPCE] 2.2.2.13), and which ones our client sends.

use dcerpc::client::{CallRequest, Event};
use dcerpc::pdu::{Command, CommandKind, Header2, PacketType, Pdu, VerificationTrailer};
use dcerpc::{AuthLevel, CallId, FaultStatus, SyntaxId};
use ssp::Mechanism;

use crate::pair::{PERFLIB, Pair, WINREG, pattern, protections};

const SIGNED: (Mechanism, AuthLevel) = (Mechanism::Negotiate, AuthLevel::PKT_INTEGRITY);

/// By hand, as the specification draws them.
const SIGNATURE: [u8; 8] = [0x8a, 0xe3, 0x13, 0x71, 0x02, 0xf4, 0x36, 0x71];
const BITMASK: [u8; 8] = [1, 0, 4, 0, 1, 0, 0, 0];
const WINREG_BYTES: [u8; 20] = [
    0x01, 0xd0, 0x8c, 0x33, 0x44, 0x22, 0xf1, 0x31, 0xaa, 0xaa, 0x90, 0x00, 0x38, 0x00, 0x10, 0x03, 1, 0, 0,
    0,
];
const NDR_BYTES: [u8; 20] = [
    0x04, 0x5d, 0x88, 0x8a, 0xeb, 0x1c, 0xc9, 0x11, 0x9f, 0xe8, 0x08, 0x00, 0x2b, 0x10, 0x48, 0x60, 2, 0, 0,
    0,
];
const END: u8 = 0x40;
const MUST_PROCESS: u8 = 0x80;

fn trailer(commands: &[&[u8]]) -> Vec<u8> {
    [&SIGNATURE[..], &commands.concat()].concat()
}

fn pcontext(flags: u8, interface: &[u8], transfer_syntax: &[u8]) -> Vec<u8> {
    [&[2, flags, 40, 0], interface, transfer_syntax].concat()
}

fn header2(flags: u8, packet_type: u8, call_id: u8, context_id: u8, opnum: u8) -> Vec<u8> {
    let fields = [packet_type, 0xee, 0xee, 0xee, 0x10, 0, 0, 0, call_id, 0, 0, 0, context_id, 0, opnum, 0];
    [&[3, flags, 16, 0], fields.as_slice()].concat()
}

/// Calls operation 7 with the trailer after its stub data; the call is not the first, so that the client adds none.
fn call_with(trailer: &[u8]) -> (Pair, Event) {
    let mut pair = Pair::bound(Some(SIGNED));
    pair.call(7, b"first");
    let event = pair.call(7, &[b"ping", trailer].concat());
    (pair, event)
}

/// The id of the call in question: two legs of the authentication and the first call came before it.
const CALL_ID: u8 = 4;

#[track_caller]
fn accepted(trailer: &[u8]) {
    let (pair, event) = call_with(trailer);
    assert!(matches!(event, Event::Response { .. }), "{event:?}");
    assert_eq!(pair.calls[1].stub, b"ping", "the trailer is no stub data");
}

#[track_caller]
fn refused(trailer: &[u8]) {
    let (mut pair, event) = call_with(trailer);
    let denied = FaultStatus::NCA_S_FAULT_ACCESS_DENIED;
    assert!(matches!(event, Event::Fault { status, .. } if status == denied), "{event:?}");
    assert_eq!(pair.calls.len(), 1, "it never reaches the interface");
    assert!(matches!(pair.call(7, b"next"), Event::Response { .. }), "and the association goes on");
}

#[test]
fn a_trailer_that_fits_its_request_is_cut_off() {
    accepted(&trailer(&[&[1, END, 4, 0, 1, 0, 0, 0]]));
    accepted(&trailer(&[&pcontext(END, &WINREG_BYTES, &NDR_BYTES)]));
    accepted(&trailer(&[&header2(END, 0, CALL_ID, 0, 7)]));
    let all = [&BITMASK[..], &pcontext(MUST_PROCESS, &WINREG_BYTES, &NDR_BYTES)];
    accepted(&trailer(&[all[0], all[1], &header2(MUST_PROCESS | END, 0, CALL_ID, 0, 7)]));
}

#[test]
fn a_header_that_is_not_the_requests_is_refused() {
    refused(&trailer(&[&header2(END, 0, CALL_ID, 0, 8)]));
    refused(&trailer(&[&header2(END, 0, CALL_ID, 1, 7)]));
    refused(&trailer(&[&header2(END, 0, CALL_ID + 1, 0, 7)]));
    refused(&trailer(&[&header2(END, 2, CALL_ID, 0, 7)]));
    let mut big_endian = header2(END, 0, CALL_ID, 0, 7);
    big_endian[8] = 0;
    refused(&trailer(&[&big_endian]));
}

#[test]
fn a_presentation_context_that_is_not_the_requests_is_refused() {
    let mut other = WINREG_BYTES;
    other[16] = 2;
    refused(&trailer(&[&pcontext(END, &other, &NDR_BYTES)]));
    refused(&trailer(&[&pcontext(END, &NDR_BYTES, &NDR_BYTES)]));
    refused(&trailer(&[&pcontext(END, &WINREG_BYTES, &WINREG_BYTES)]));
}

#[test]
fn an_unknown_command_is_passed_over_unless_it_must_be_processed() {
    accepted(&trailer(&[&[9, END, 4, 0, 1, 2, 3, 4]]));
    accepted(&trailer(&[&[9, 0, 0, 0], &header2(END, 0, CALL_ID, 0, 7)]));
    refused(&trailer(&[&[9, MUST_PROCESS | END, 4, 0, 1, 2, 3, 4]]));
    refused(&trailer(&[&[9, MUST_PROCESS, 0, 0], &header2(END, 0, CALL_ID, 0, 7)]));
}

/// What the bind said in the clear has to be what the client meant.
#[test]
fn header_signing_that_was_struck_from_the_bind_is_noticed() {
    let mut pair = Pair::new(Some(SIGNED));
    pair.client.bind(&[WINREG]).unwrap();
    let mut bind = pair.client.poll_transmit().unwrap().bytes;
    bind[3] &= !0x04; // PFC_SUPPORT_HEADER_SIGN
    pair.server.handle_bytes(&bind).unwrap();
    pair.client.handle_bytes(&pair.server.poll_transmit().unwrap()).unwrap();
    pair.drive();
    pair.client.poll_event();
    let event = pair.call(7, b"ping");
    assert!(
        matches!(event, Event::Fault { status: FaultStatus::NCA_S_FAULT_ACCESS_DENIED, .. }),
        "{event:?}"
    );
}

#[test]
fn a_trailer_that_breaks_its_layout_is_refused() {
    let whole = trailer(&[&header2(END, 0, CALL_ID, 0, 7)]);
    for length in (SIGNATURE.len()..whole.len()).step_by(4) {
        refused(&whole[..length]);
    }
    refused(&trailer(&[&BITMASK]));
    refused(&trailer(&[&BITMASK, &[1, END, 4, 0, 1, 0, 0, 0]]));
    refused(&trailer(&[&[1, END, 8, 0, 1, 0, 0, 0, 0, 0, 0, 0]]));
    refused(&trailer(&[&[9, END, 2, 0, 1, 2, 0, 0]]));
}

#[test]
fn the_signature_in_the_middle_of_much_stub_data_is_stub_data() {
    let mut pair = Pair::bound(Some(SIGNED));
    pair.call(7, b"first");
    let stub = [&SIGNATURE[..], &pattern(2000)].concat();
    assert!(matches!(pair.call(7, &stub), Event::Response { stub: echoed, .. } if echoed == stub));
}

/// The sealed requests of a client, opened: a server that protects nothing sees what they hold.
fn trailers_of(calls: &[(u16, &[u8])]) -> Vec<Option<VerificationTrailer>> {
    let mut pair = Pair::new(Some(SIGNED));
    pair.client.bind(&[WINREG, PERFLIB]).unwrap();
    pair.drive();
    pair.client.poll_event();
    calls
        .iter()
        .map(|&(context_id, stub)| {
            let sent = pair.sent.len();
            pair.client.call(CallRequest { context_id, opnum: 7, object: None, stub }).unwrap();
            pair.drive();
            let event = pair.client.poll_event();
            assert!(matches!(&event, Some(Event::Response { stub: echoed, .. }) if echoed.starts_with(stub)));
            let last = &pair.sent[pair.sent.len() - 1].bytes;
            let padding = usize::from(last[last.len() - 16 - 8 + 2]);
            // At the level of integrity the last fragment is in the clear.
            let body = &last[24..last.len() - 16 - 8 - padding];
            assert!(pair.sent.len() > sent);
            let start = VerificationTrailer::find(body)?;
            Some(wire::decode(&body[start..]).unwrap())
        })
        .collect()
}

/// [MS-RPCE] <41> and <43>, as Windows does it.
#[test]
fn the_client_repeats_what_it_bound_with_the_first_request() {
    let ndr = SyntaxId::NDR;
    let told = |interface| Command::new(CommandKind::PresentationContext { interface, transfer_syntax: ndr });
    let bitmask = Command::new(CommandKind::Bitmask1(1));
    let trailers = trailers_of(&[(0, b"one"), (0, b"two"), (1, b"three"), (1, b""), (0, b"")]);
    let first = VerificationTrailer { commands: vec![bitmask, told(WINREG)] };
    let second = VerificationTrailer { commands: vec![told(PERFLIB)] };
    assert_eq!(trailers, [Some(first), None, Some(second), None, None]);
}

#[test]
fn a_trailer_stands_whole_in_the_last_fragment_of_any_call() {
    for length in (5700..5840).chain([0, 1, 20_000]) {
        let stub = pattern(length);
        assert!(trailers_of(&[(0, &stub)])[0].is_some(), "{length} bytes");
    }
}

#[test]
fn a_call_in_the_clear_has_no_trailer() {
    let mut pair = Pair::bound(None);
    pair.call(7, b"ping");
    assert_eq!(pair.sent[1].bytes.len(), 24 + 4);
}

#[test]
fn a_protected_first_call_arrives_without_its_trailer() {
    for protection in protections() {
        let mut pair = Pair::bound(protection);
        for length in [0, 1, 2, 3, 4, 5779, 5780, 20_000] {
            let mut pair = Pair::bound(protection);
            pair.call(7, &pattern(length));
            let stub = &pair.calls[0].stub;
            assert_eq!(stub.len().next_multiple_of(4), length.next_multiple_of(4));
            assert!(stub.starts_with(&pattern(length)));
        }
        pair.call(7, b"");
    }
}

#[test]
fn what_is_written_is_what_the_specification_draws() {
    let header = Header2 {
        packet_type: PacketType::REQUEST,
        drep: [0x10, 0, 0, 0],
        call_id: CallId(4),
        context_id: 0,
        opnum: 7,
    };
    let interface = WINREG;
    let context = CommandKind::PresentationContext { interface, transfer_syntax: SyntaxId::NDR };
    let written = VerificationTrailer {
        commands: vec![
            Command::new(CommandKind::Bitmask1(1)),
            Command { must_process: true, kind: context },
            Command::new(CommandKind::Header2(header)),
        ],
    };
    let mut drawn = header2(END, 0, 4, 0, 7);
    drawn[5..8].fill(0);
    let drawn = trailer(&[&BITMASK, &pcontext(MUST_PROCESS, &WINREG_BYTES, &NDR_BYTES), &drawn]);
    assert_eq!(wire::encode_vec(&written).unwrap(), drawn);
    assert_eq!(wire::decode::<VerificationTrailer>(&drawn).unwrap(), written);
    assert!(Pdu::decode(&drawn).is_err(), "it is no PDU");
}
