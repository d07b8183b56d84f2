//! A sealed conversation of Windows, read by both state machines.

use dcerpc::client::{CallRequest, ClientAssociation, ClientConfig, Event};
use dcerpc::server::{ServerAssociation, ServerConfig, ServerEvent};
use dcerpc::{Auth, AuthLevel, AuthService, FaultStatus, SyntaxId};
use ssp::{
    Error, Message, NegotiateFlags, Peer, Protection, SecurityContext, Session, SessionKey, Side, Step,
};
use wire::Guid;

const CONVERSATION: &str = include_str!("../data/windows_sealed_ntlm.txt");
const INTERFACE: SyntaxId = SyntaxId::new(Guid::from_u128(0x367a_bb81_9844_35f1_ad32_98f0_3800_1003), 2, 0);

fn lines(letter: &str) -> Vec<Vec<u8>> {
    let words = CONVERSATION.lines().filter_map(|line| line.split_once(' '));
    let byte = |hex: &str, at: usize| u8::from_str_radix(&hex[at..at + 2], 16).unwrap();
    let bytes = |hex: &str| (0..hex.len()).step_by(2).map(|at| byte(hex, at)).collect();
    words.filter(|(word, _)| *word == letter).map(|(_, hex)| bytes(hex)).collect()
}

/// An authentication of one token each way, and the keys that Windows had.
struct Known {
    session: Session,
    side: Side,
    legs: u32,
}

impl Known {
    fn boxed(side: Side) -> Box<dyn SecurityContext> {
        let key: [u8; 16] = lines("k").remove(0).try_into().unwrap();
        let flags = NegotiateFlags::EXTENDED_SESSION_SECURITY
            | NegotiateFlags::KEY_128
            | NegotiateFlags::KEY_EXCHANGE
            | NegotiateFlags::SEAL;
        let session = Session::new(SessionKey::new(key), NegotiateFlags(flags), side).unwrap();
        Box::new(Self { session, side, legs: 0 })
    }
}

impl SecurityContext for Known {
    fn step(&mut self, _: &[u8]) -> Result<Step, Error> {
        self.legs += 1;
        Ok(match (self.side, self.legs) {
            (Side::Client, 1) => Step::Continue(b"token".to_vec()),
            (Side::Client, _) => Step::Done(None),
            (Side::Server, _) => Step::Done(Some(b"answer".to_vec())),
        })
    }

    fn session_key(&self) -> Result<SessionKey, Error> {
        Ok(self.session.key().clone())
    }

    fn signature_len(&self, _: Protection) -> usize {
        16
    }

    fn wrap(&mut self, message: Message<'_>) -> Result<(), Error> {
        self.session.wrap(message);
        Ok(())
    }

    fn unwrap(&mut self, message: Message<'_>) -> Result<(), Error> {
        self.session.unwrap(message)
    }

    fn peer(&self) -> Peer {
        Peer::default()
    }
}

/// Both sides, bound as the capture's were.
fn bound() -> (ClientAssociation, ServerAssociation) {
    let auth = Auth { level: AuthLevel::PKT_PRIVACY, service: AuthService::WINNT, context_id: 0 };
    let config = ClientConfig { auth: Some(auth), ..ClientConfig::default() };
    let mut client = ClientAssociation::new(config, Some(Known::boxed(Side::Client))).unwrap();
    let accept = |_: AuthService| Some(Known::boxed(Side::Server));
    let mut server = ServerAssociation::new(ServerConfig::new(vec![INTERFACE]), accept);
    client.bind(&[INTERFACE]).unwrap();
    server.handle_bytes(&client.poll_transmit().unwrap().bytes).unwrap();
    client.handle_bytes(&server.poll_transmit().unwrap()).unwrap();
    assert!(matches!(client.poll_event(), Some(Event::Bound { .. })));
    (client, server)
}

#[test]
fn calls_of_windows_verify_and_are_read_by_the_server() {
    let (_, mut server) = bound();
    let mut calls = Vec::new();
    for pdu in lines("c") {
        server.handle_bytes(&pdu).unwrap();
        let Some(ServerEvent::Request(call)) = server.poll_event() else { panic!("it is a call") };
        calls.push((call.call_id.0, call.opnum, call.stub.len()));
    }
    // Two of them end with a verification trailer, which agrees with the association.
    assert_eq!(calls, [(2, 64, 8), (3, 15, 52), (4, 14, 40), (5, 14, 40)]);
}

#[test]
fn answers_of_windows_verify_and_are_read_by_the_client() {
    let (mut client, _) = bound();
    let mut answers = Vec::new();
    for pdu in lines("s") {
        client.call(CallRequest { context_id: 0, opnum: 64, object: None, stub: b"any" }).unwrap();
        while client.poll_transmit().is_some() {}
        client.handle_bytes(&pdu).unwrap();
        answers.push(match client.poll_event() {
            Some(Event::Response { stub, .. }) => Ok(stub.len()),
            Some(Event::Fault { status, .. }) => Err(status),
            other => panic!("{other:?}"),
        });
    }
    assert_eq!(answers, [Err(FaultStatus(0x1c01_0002)), Ok(24), Ok(72)]);
}

/// Of 17 captures of clients, none sets the flag of header signing where there is no token.
#[test]
fn only_a_pdu_with_a_token_negotiates_header_signing() {
    let (mut client, _) = bound();
    client.alter_context(INTERFACE).unwrap();
    let alter = client.poll_transmit().unwrap().bytes;
    assert_eq!((alter[2], alter[3]), (14, 0x03));
}
