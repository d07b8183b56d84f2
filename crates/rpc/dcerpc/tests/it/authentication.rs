use dcerpc::client::{CallRequest, ClientAssociation, ClientConfig, Event};
use dcerpc::pdu::{PacketType, Pdu};
use dcerpc::server::ServerEvent;
use dcerpc::{Auth, AuthLevel, AuthService, Error, FaultStatus};
use ssp::Mechanism;

use crate::pair::{Pair, WINREG, auth, client_context, server_config};

fn types<'a>(pdus: impl IntoIterator<Item = &'a [u8]>) -> Vec<PacketType> {
    pdus.into_iter().map(|pdu| Pdu::decode(pdu).unwrap().header.packet_type).collect()
}

#[test]
fn ntlm_takes_an_auth3_that_nobody_answers() {
    let pair = Pair::bound(Some((Mechanism::Ntlm, AuthLevel::PKT_PRIVACY)));
    let sent = pair.sent.iter().map(|sent| sent.bytes.as_slice());
    assert_eq!(types(sent), [PacketType::BIND, PacketType::AUTH3]);
    assert_eq!(pair.sent.iter().map(|sent| sent.reply).collect::<Vec<_>>(), [true, false]);
    assert_eq!(types(pair.answered.iter().map(Vec::as_slice)), [PacketType::BIND_ACK]);
}

#[test]
fn spnego_takes_an_alter_context_and_its_answer() {
    let pair = Pair::bound(Some((Mechanism::Negotiate, AuthLevel::PKT_PRIVACY)));
    let sent = pair.sent.iter().map(|sent| sent.bytes.as_slice());
    assert_eq!(types(sent), [PacketType::BIND, PacketType::ALTER_CONTEXT]);
    let answered = pair.answered.iter().map(Vec::as_slice);
    assert_eq!(types(answered), [PacketType::BIND_ACK, PacketType::ALTER_CONTEXT_RESP]);
}

#[test]
fn the_server_knows_who_calls_and_how_protected() {
    for level in [AuthLevel::PKT_INTEGRITY, AuthLevel::PKT_PRIVACY] {
        let mut pair = Pair::bound(Some((Mechanism::Negotiate, level)));
        pair.call(7, b"");
        assert_eq!(pair.calls[0].auth_level, level);
        assert_eq!(pair.calls[0].peer.as_ref().map(|peer| peer.user.as_str()), Some("svc-metrics"));
    }
    let mut pair = Pair::bound(None);
    pair.call(7, b"");
    assert_eq!((pair.calls[0].auth_level, &pair.calls[0].peer), (AuthLevel::NONE, &None));
}

/// After an auth3 the verdict comes with the first call, as Windows and Samba do it.
#[test]
fn a_wrong_password_over_ntlm_is_told_with_the_first_call() {
    let protection = (Mechanism::Ntlm, AuthLevel::PKT_PRIVACY);
    let config = ClientConfig::with_auth(auth(protection));
    let mut pair = Pair::with(config, server_config(), Some(protection), "wrong");
    pair.client.bind(&[WINREG]).unwrap();
    pair.drive();
    assert!(matches!(pair.client.poll_event(), Some(Event::Bound { .. })));
    assert!(matches!(
        pair.server_events.pop_front(),
        Some(ServerEvent::AuthenticationFailed(ssp::Error::BadPassword { .. }))
    ));
    let event = pair.call(7, &[0; 8000]);
    assert!(
        matches!(event, Event::Fault { status: FaultStatus::NCA_S_FAULT_ACCESS_DENIED, .. }),
        "{event:?}"
    );
    assert!(pair.calls.is_empty(), "and the call never reaches the interface");
}

#[test]
fn a_wrong_password_over_spnego_is_a_fault_of_the_bind() {
    let protection = (Mechanism::Negotiate, AuthLevel::PKT_PRIVACY);
    let config = ClientConfig::with_auth(auth(protection));
    let mut pair = Pair::with(config, server_config(), Some(protection), "wrong");
    pair.client.bind(&[WINREG]).unwrap();
    let error = pair.try_drive().unwrap_err();
    assert_eq!(error.to_string(), "bind: fault 0x00000005: access denied");
}

#[test]
fn a_service_that_the_server_does_not_know_is_a_named_refusal() {
    let config = ClientConfig::with_auth(Auth::new(AuthLevel::PKT_PRIVACY, AuthService::GSS_KERBEROS));
    let mut pair = Pair::new(None);
    pair.client = ClientAssociation::new(config, Some(client_context(Mechanism::Ntlm, "x"))).unwrap();
    pair.client.bind(&[WINREG]).unwrap();
    let refused = pair.server.handle_bytes(&pair.client.poll_transmit().unwrap().bytes);
    assert!(matches!(refused, Err(Error::SecurityNotTaken { .. })));
    let nak = pair.server.poll_transmit().unwrap();
    let error = pair.client.handle_bytes(&nak).unwrap_err();
    assert_eq!(error.to_string(), "bind refused: AUTHENTICATION_TYPE_NOT_RECOGNIZED");
}

#[test]
fn a_client_authenticates_at_connect_integrity_or_privacy_or_not_at_all() {
    let context = || Some(client_context(Mechanism::Ntlm, "x"));
    let refused = |config: ClientConfig, context| ClientAssociation::new(config, context).is_err();
    for level in [AuthLevel::NONE, AuthLevel::CALL, AuthLevel::PKT, AuthLevel(7)] {
        let config = ClientConfig::with_auth(Auth::new(level, AuthService::WINNT));
        assert!(refused(config, context()), "{level}");
    }
    let sealed = ClientConfig::with_auth(Auth::new(AuthLevel::PKT_PRIVACY, AuthService::WINNT));
    assert!(refused(sealed, None));
    assert!(refused(ClientConfig::default(), context()));
    let small = ClientConfig { max_recv_frag: 1431, ..ClientConfig::default() };
    assert!(refused(small, None));
}

/// At the level CONNECT the server knows who binds, and its calls are in the clear.
#[test]
fn a_client_at_the_level_connect_is_served_and_seen_as_such() {
    let mut pair = Pair::new(Some((Mechanism::Ntlm, AuthLevel::PKT_INTEGRITY)));
    pair.client.bind(&[WINREG]).unwrap();
    let mut bind = pair.client.poll_transmit().unwrap().bytes;
    let level_at = 16 + 56 + 1;
    assert_eq!(bind[level_at], AuthLevel::PKT_INTEGRITY.0);
    bind[level_at] = AuthLevel::CONNECT.0;
    pair.server.handle_bytes(&bind).unwrap();
    let mut ack = pair.server.poll_transmit().unwrap();
    let pdu = Pdu::decode(&ack).unwrap();
    let trailer_at = ack.len() - 8 - usize::from(pdu.header.auth_length);
    ack[trailer_at + 1] = AuthLevel::PKT_INTEGRITY.0;
    pair.client.handle_bytes(&ack).unwrap();
    let mut auth3 = pair.client.poll_transmit().unwrap().bytes;
    auth3[20 + 1] = AuthLevel::CONNECT.0;
    pair.server.handle_bytes(&auth3).unwrap();

    // A request as impacket sends it at this level: without a verifier.
    let request = [5, 0, 0, 3, 0x10, 0, 0, 0, 25, 0, 0, 0, 9, 0, 0, 0, 1, 0, 0, 0, 0, 0, 7, 0, 0x61];
    pair.server.handle_bytes(&request).unwrap();
    let Some(ServerEvent::Request(call)) = pair.server.poll_event() else { panic!("a call came in") };
    assert_eq!((call.auth_level, call.stub.as_slice()), (AuthLevel::CONNECT, b"a".as_slice()));
    assert_eq!(call.peer.map(|peer| peer.user.clone()).as_deref(), Some("svc-metrics"));
}

#[test]
fn a_command_out_of_order_changes_nothing() {
    let mut pair = Pair::new(None);
    let request = CallRequest { context_id: 0, opnum: 7, object: None, stub: b"" };
    assert_eq!(
        pair.client.call(request).unwrap_err().to_string(),
        "cannot call: the association is not bound"
    );
    assert!(pair.client.alter_context(WINREG).is_err());
    assert_eq!(pair.client.bind(&[]).unwrap_err().to_string(), "cannot bind: no interface is named");
    pair.client.bind(&[WINREG]).unwrap();
    assert!(pair.client.bind(&[WINREG]).is_err());
    assert_eq!(
        pair.client.call(request).unwrap_err().to_string(),
        "cannot call: the server has not answered yet"
    );
    pair.drive();
    assert!(matches!(pair.client.poll_event(), Some(Event::Bound { .. })));
}
