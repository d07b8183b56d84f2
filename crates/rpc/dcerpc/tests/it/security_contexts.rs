//! Several security contexts on one association ([MS-RPCE] 3.3.1.5.4).
//!
//! Our client has one security context; so each is made by a client of its own, and all of them share a server.

use dcerpc::client::{CallRequest, ClientAssociation, ClientConfig, Event};
use dcerpc::pdu::{Body, PacketType, Pdu};
use dcerpc::server::{ServerAssociation, ServerConfig, ServerEvent};
use dcerpc::{Auth, AuthLevel, Error, FaultStatus, Limits};
use ssp::Mechanism;

use crate::pair::{PASSWORD, WINREG, accept, auth, client_context, server_config};

const PRIVACY: (Mechanism, AuthLevel) = (Mechanism::Negotiate, AuthLevel::PKT_PRIVACY);
const INTEGRITY: (Mechanism, AuthLevel) = (Mechanism::Ntlm, AuthLevel::PKT_INTEGRITY);

fn client(protection: Option<(Mechanism, AuthLevel)>, context_id: u32, password: &str) -> ClientAssociation {
    let auth = protection.map(|protection| Auth { context_id, ..auth(protection) });
    let security = protection.map(|(mechanism, _)| client_context(mechanism, password));
    let mut client =
        ClientAssociation::new(ClientConfig { auth, ..ClientConfig::default() }, security).unwrap();
    client.bind(&[WINREG]).unwrap();
    client
}

/// Passes PDUs to and fro; the client's bind goes out as an alter_context where another client has bound already.
fn converse(
    client: &mut ClientAssociation,
    server: &mut ServerAssociation,
    is_further: bool,
) -> Result<(), Error> {
    loop {
        let mut is_idle = true;
        while let Some(mut sent) = client.poll_transmit() {
            if is_further && sent.bytes[2] == PacketType::BIND.0 {
                sent.bytes[2] = PacketType::ALTER_CONTEXT.0;
            }
            server.handle_bytes(&sent.bytes)?;
            is_idle = false;
        }
        while let Some(mut answer) = server.poll_transmit() {
            if is_further && answer[2] == PacketType::ALTER_CONTEXT_RESP.0 && !is_bound(client) {
                answer[2] = PacketType::BIND_ACK.0;
            }
            client.handle_bytes(&answer)?;
            is_idle = false;
        }
        if is_idle {
            return Ok(());
        }
    }
}

/// Whether the client has had its bind_ack: then it knows its group.
fn is_bound(client: &ClientAssociation) -> bool {
    client.assoc_group_id() != 0
}

/// Makes a call and answers it with its own stub data.
fn call(client: &mut ClientAssociation, server: &mut ServerAssociation) -> (AuthLevel, Option<String>) {
    client.call(CallRequest { context_id: 0, opnum: 7, object: None, stub: b"ping" }).unwrap();
    while let Some(sent) = client.poll_transmit() {
        server.handle_bytes(&sent.bytes).unwrap();
    }
    let Some(ServerEvent::Request(call)) = server.poll_event() else { panic!("a call came in") };
    assert_eq!(call.stub, b"ping");
    server.respond(call.call_id, b"pong").unwrap();
    while let Some(answer) = server.poll_transmit() {
        client.handle_bytes(&answer).unwrap();
    }
    assert!(matches!(client.poll_event(), Some(Event::Response { stub, .. }) if stub == b"pong"));
    (call.auth_level, call.peer.map(|peer| peer.user.clone()))
}

fn server_with(limits: Limits) -> ServerAssociation {
    ServerAssociation::new(ServerConfig { limits, ..server_config() }, accept)
}

#[test]
fn requests_choose_their_security_context_by_the_verifier() {
    let mut server = server_with(Limits::default());
    let mut first = client(Some(PRIVACY), 1, PASSWORD);
    let mut second = client(Some(INTEGRITY), 79_231, PASSWORD);
    converse(&mut first, &mut server, false).unwrap();
    converse(&mut second, &mut server, true).unwrap();
    first.poll_event();
    second.poll_event();

    let user = Some("svc-metrics".to_owned());
    for _ in 0..2 {
        // Call ids are the client's to keep apart; the answers come before the next call.
        assert_eq!(call(&mut first, &mut server), (AuthLevel::PKT_PRIVACY, user.clone()));
        assert_eq!(call(&mut second, &mut server), (AuthLevel::PKT_INTEGRITY, user.clone()));
    }
}

/// Impacket binds in the clear and authenticates with the next interface.
#[test]
fn a_security_context_can_follow_a_bind_without_one() {
    let mut server = server_with(Limits::default());
    let mut first = client(None, 0, "");
    let mut second = client(Some(PRIVACY), 2, PASSWORD);
    converse(&mut first, &mut server, false).unwrap();
    converse(&mut second, &mut server, true).unwrap();
    first.poll_event();
    second.poll_event();
    assert_eq!(call(&mut first, &mut server), (AuthLevel::NONE, None));
    assert_eq!(call(&mut second, &mut server).0, AuthLevel::PKT_PRIVACY);
    assert_eq!(call(&mut first, &mut server), (AuthLevel::NONE, None));
}

#[test]
fn a_security_context_that_fails_denies_its_own_calls_alone() {
    let mut server = server_with(Limits::default());
    let mut first = client(Some(PRIVACY), 1, PASSWORD);
    converse(&mut first, &mut server, false).unwrap();
    first.poll_event();

    let mut second = client(Some(PRIVACY), 2, "not it");
    let error = converse(&mut second, &mut server, true).unwrap_err();
    assert_eq!(error.to_string(), "bind: fault 0x00000005: access denied");
    assert!(matches!(server.poll_event(), Some(ServerEvent::AuthenticationFailed(_))));
    assert_eq!(call(&mut first, &mut server).0, AuthLevel::PKT_PRIVACY);

    let mut third = client(Some(PRIVACY), 2, PASSWORD);
    converse(&mut third, &mut server, true).unwrap_err();
    assert_eq!(call(&mut first, &mut server).0, AuthLevel::PKT_PRIVACY);
}

#[test]
fn one_security_context_too_many_is_a_fault_and_no_end() {
    let mut server = server_with(Limits { security_contexts_max: 1, ..Limits::default() });
    let mut first = client(Some(PRIVACY), 1, PASSWORD);
    converse(&mut first, &mut server, false).unwrap();
    first.poll_event();
    let mut bind = client(Some(PRIVACY), 2, PASSWORD).poll_transmit().unwrap().bytes;
    bind[2] = PacketType::ALTER_CONTEXT.0;
    server.handle_bytes(&bind).unwrap();
    let fault = server.poll_transmit().unwrap();
    let Body::Fault(fault) = Pdu::decode(&fault).unwrap().body else { panic!("it is a fault") };
    assert_eq!(fault.status, FaultStatus::RPC_S_PROTOCOL_ERROR);
    assert_eq!(call(&mut first, &mut server).0, AuthLevel::PKT_PRIVACY);
}

/// The fragments of a call have one security context ([MS-RPCE] 2.2.2.11).
#[test]
fn a_call_does_not_change_its_security_context() {
    let mut server = server_with(Limits::default());
    let mut clients = [client(Some(PRIVACY), 1, PASSWORD), client(Some(PRIVACY), 2, PASSWORD)];
    for (index, client) in clients.iter_mut().enumerate() {
        converse(client, &mut server, index > 0).unwrap();
        client.poll_event();
    }
    let stub = [7; 8000];
    let fragments = clients.map(|mut client| {
        client.call(CallRequest { context_id: 0, opnum: 7, object: None, stub: &stub }).unwrap();
        [client.poll_transmit().unwrap().bytes, client.poll_transmit().unwrap().bytes]
    });
    server.handle_bytes(&fragments[0][0]).unwrap();
    server.handle_bytes(&fragments[1][0]).unwrap_err();
}

/// A verifier that names none, or none at all where two are there.
#[test]
fn a_call_under_no_known_security_context_is_refused() {
    let build = || {
        let mut server = server_with(Limits::default());
        let mut clients = [client(Some(PRIVACY), 1, PASSWORD), client(Some(INTEGRITY), 2, PASSWORD)];
        for (index, client) in clients.iter_mut().enumerate() {
            converse(client, &mut server, index > 0).unwrap();
            client.poll_event();
        }
        (server, clients)
    };
    let request = CallRequest { context_id: 0, opnum: 7, object: None, stub: b"ping" };

    let (mut server, [mut first, _]) = build();
    first.call(request).unwrap();
    let mut unknown = first.poll_transmit().unwrap().bytes;
    let trailer = unknown.len() - 16 - 8;
    unknown[trailer + 4] = 3;
    assert!(matches!(server.handle_bytes(&unknown), Err(Error::WrongSecurityContext)));
    let fault = server.poll_transmit().unwrap();
    let Body::Fault(fault) = Pdu::decode(&fault).unwrap().body else { panic!("it is a fault") };
    assert_eq!(fault.status, FaultStatus::NCA_S_FAULT_ACCESS_DENIED);

    let (mut server, _) = build();
    let mut plain = client(None, 0, "");
    converse(&mut plain, &mut server_with(Limits::default()), false).unwrap();
    plain.poll_event();
    plain.call(request).unwrap();
    let sent = plain.poll_transmit().unwrap().bytes;
    assert!(matches!(server.handle_bytes(&sent), Err(Error::LevelDowngrade { .. })));
}
