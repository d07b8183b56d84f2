use ms_smb2::client::{ClientConfig, ClientConnection, ClientLimits, Encryption, Event, Reply};
use ms_smb2::wire::{Header, NegotiateContext, NegotiateRequest};
use ms_smb2::{Cipher, Dialect, Error, SigningAlgorithm};
use windows_sim::smb::{self as server, ServerConfig, ServerLimits};
use wire::{Decode as _, NtStatus, ReadCursor};

use super::pair::{Direction, Pair, client_config, only, server_config};

/// Whether the text can be read by who listens.
fn is_in_clear(pair: &Pair, text: &[u8]) -> bool {
    pair.frames.iter().any(|(_, frame)| frame.windows(text.len()).any(|window| window == text))
}

/// A whole conversation, from the greeting to the farewell.
fn converse(pair: &mut Pair) -> Result<(), Error> {
    let file = pair.pipe()?;
    let hello = Reply::Transceived { data: b"hello there".to_vec(), more: false };
    assert_eq!(pair.ask(|client| client.transceive(file, b"hello there", 4096))?, Ok(hello));
    assert_eq!(pair.ask(|client| client.write(file, b"one way"))?, Ok(Reply::Written(7)));
    let read = Reply::Read { data: b"one way".to_vec(), more: false };
    assert_eq!(pair.ask(|client| client.read(file, 4096))?, Ok(read));
    assert_eq!(pair.ask(ClientConnection::echo)?, Ok(Reply::Echoed));
    assert_eq!(pair.ask(|client| client.close(file))?, Ok(Reply::Closed));
    let gone = pair.ask(|client| client.read(file, 10))?;
    assert_eq!(gone, Err(NtStatus::STATUS_FILE_CLOSED));
    assert_eq!(pair.ask(ClientConnection::logoff)?, Ok(Reply::LoggedOff));
    assert_eq!(pair.server_events, ["pipe closed", "session closed"]);
    Ok(())
}

#[test]
fn every_dialect_with_every_cipher_and_signature_carries_a_conversation() {
    let mut conversations = 0;
    for dialect in Dialect::ALL {
        for cipher in Cipher::ALL {
            for signing in SigningAlgorithm::ALL {
                for encryption in WANTED {
                    for served in [
                        server::Encryption::Disabled,
                        server::Encryption::Allowed,
                        server::Encryption::Required,
                    ] {
                        let client = ClientConfig {
                            ciphers: vec![cipher],
                            signing_algorithms: vec![signing],
                            encryption,
                            ..only(dialect)
                        };
                        check_conversation(client, ServerConfig { encryption: served, ..server_config() });
                        conversations += 1;
                    }
                }
            }
        }
    }
    assert_eq!(conversations, 4 * 4 * 3 * 4 * 3);
}

const WANTED: [Encryption; 4] =
    [Encryption::Disabled, Encryption::Demanded, Encryption::Preferred, Encryption::Required];

fn check_conversation(client: ClientConfig, server: ServerConfig) {
    use {Encryption as C, server::Encryption as S};
    let (wants, serves) = (client.encryption, server.encryption);
    let is_possible = client.dialects[0].is_smb3();
    if wants == C::Required && !is_possible {
        let error = ClientConnection::new(client).unwrap_err();
        assert!(matches!(error, Error::InvalidState { .. }));
        return;
    }
    let mut pair = Pair::new(client, server);
    if wants == C::Required && serves == S::Disabled {
        assert_eq!(converse(&mut pair), Err(Error::EncryptionUnavailable));
    } else if serves == S::Required && (wants == C::Disabled || !is_possible) {
        pair.drive().unwrap();
        pair.event();
        pair.client.session_setup(b"negotiate").unwrap();
        pair.drive().unwrap();
        assert_eq!(pair.event(), Event::SessionRefused { status: NtStatus::STATUS_ACCESS_DENIED });
    } else {
        converse(&mut pair).unwrap();
        let is_encrypted = match wants {
            C::Disabled => false,
            C::Demanded => serves == S::Required,
            C::Preferred | C::Required => is_possible && serves != S::Disabled,
        };
        assert_eq!(is_in_clear(&pair, b"hello there"), !is_encrypted);
    }
}

#[test]
fn the_newest_common_dialect_is_chosen() {
    for newest in Dialect::ALL {
        let dialects = Dialect::ALL.into_iter().filter(|dialect| *dialect <= newest).collect();
        let mut pair = Pair::new(client_config(), ServerConfig { dialects, ..server_config() });
        converse(&mut pair).unwrap_or_else(|error| panic!("{newest}: {error}"));
        let mut pair = Pair::new(client_config(), ServerConfig { dialects: vec![newest], ..server_config() });
        pair.drive().unwrap();
        let Event::Negotiated(negotiated) = pair.event() else { panic!() };
        assert_eq!(negotiated.dialect, newest);
    }
}

#[test]
fn contexts_go_out_in_the_order_of_their_types_and_none_is_empty() {
    let netname = Some("web1".to_owned());
    let check = |config: ClientConfig| {
        let frame = ClientConnection::new(config).unwrap().poll_transmit().unwrap();
        let mut src = ReadCursor::new(&frame[4..]);
        src.read_slice(Header::FIXED_PART_SIZE);
        NegotiateRequest::decode(&mut src).unwrap().contexts
    };
    let contexts = check(ClientConfig { netname: netname.clone(), ..client_config() });
    let [
        NegotiateContext::PreauthIntegrity { .. },
        NegotiateContext::Encryption(ciphers),
        NegotiateContext::Netname(name),
        NegotiateContext::Signing(algorithms),
    ] = &contexts[..]
    else {
        panic!("{contexts:?}")
    };
    assert_eq!((ciphers.len(), name.as_str(), algorithms.len()), (4, "web1", 2));
    let bare = ClientConfig { ciphers: Vec::new(), signing_algorithms: Vec::new(), ..client_config() };
    assert!(matches!(check(ClientConfig { netname, ..bare })[..], [_, NegotiateContext::Netname(_)]));
}

#[test]
fn no_common_dialect_is_said_so() {
    let server = ServerConfig { dialects: vec![Dialect::Smb2_1], ..server_config() };
    let mut pair = Pair::new(only(Dialect::Smb3_1_1), server);
    let refused = Error::NegotiationRefused { status: NtStatus::STATUS_NOT_SUPPORTED };
    assert_eq!(pair.drive(), Err(refused));
}

#[test]
fn a_stream_cut_anywhere_carries_the_same_conversation() {
    let mut pair = Pair::new(client_config(), server_config());
    converse(&mut pair).unwrap();
    // The same client bytes, one at a time, make the same server bytes: nothing here is random.
    let mut again = Pair::new(client_config(), server_config());
    let mut answers = Vec::new();
    for (direction, frame) in &pair.frames {
        if *direction == Direction::ToServer {
            for byte in frame {
                again.server.handle_bytes(&[*byte]).unwrap();
            }
            again.serve().unwrap();
            answers.extend(core::iter::from_fn(|| again.server.poll_transmit()));
        }
    }
    let expected: Vec<_> = pair
        .frames
        .iter()
        .filter(|(d, _)| *d == Direction::ToClient)
        .map(|(_, frame)| frame.clone())
        .collect();
    assert_eq!(answers, expected);
}

#[test]
fn a_message_longer_than_the_read_comes_in_pieces() {
    let mut pair = Pair::new(client_config(), server_config());
    let file = pair.pipe().unwrap();
    let first = pair.ask(|client| client.transceive(file, b"0123456789", 4)).unwrap();
    assert_eq!(first, Ok(Reply::Transceived { data: b"0123".to_vec(), more: true }));
    let second = pair.ask(|client| client.read(file, 5)).unwrap();
    assert_eq!(second, Ok(Reply::Read { data: b"45678".to_vec(), more: true }));
    let third = pair.ask(|client| client.read(file, 5)).unwrap();
    assert_eq!(third, Ok(Reply::Read { data: b"9".to_vec(), more: false }));
}

#[test]
fn one_read_never_takes_two_messages() {
    let mut pair = Pair::new(client_config(), server_config());
    pair.service = Box::new(|_| vec![b"one".to_vec(), b"two".to_vec()]);
    let file = pair.pipe().unwrap();
    let first = pair.ask(|client| client.transceive(file, b"?", 4096)).unwrap();
    assert_eq!(first, Ok(Reply::Transceived { data: b"one".to_vec(), more: false }));
    // What was said and not read is in the way of the next transceive.
    let busy = pair.ask(|client| client.transceive(file, b"?", 4096)).unwrap();
    assert_eq!(busy, Err(NtStatus::STATUS_PIPE_BUSY));
    let second = pair.ask(|client| client.read(file, 4096)).unwrap();
    assert_eq!(second, Ok(Reply::Read { data: b"two".to_vec(), more: false }));
}

#[test]
fn a_large_message_costs_several_credits_and_arrives_whole() {
    let mut pair = Pair::new(client_config(), server_config());
    let file = pair.pipe().unwrap();
    let large = vec![0xA5; 300_000];
    let reply = pair.ask(|client| client.transceive(file, &large, 1 << 20)).unwrap();
    assert_eq!(reply, Ok(Reply::Transceived { data: large, more: false }));
}

#[test]
fn an_answer_that_comes_later_is_announced() {
    for encryption in [Encryption::Disabled, Encryption::Required] {
        let mut pair = Pair::new(ClientConfig { encryption, ..client_config() }, server_config());
        pair.service = Box::new(|_| Vec::new());
        let file = pair.pipe().unwrap();
        let request = pair.client.transceive(file, b"think", 4096).unwrap();
        pair.drive().unwrap();
        assert_eq!(pair.event(), Event::Pending { request });
        // The connection is free for others.
        assert_eq!(pair.ask(ClientConnection::echo).unwrap(), Ok(Reply::Echoed));
        let server_file = pair.files[0];
        pair.server.pipe_output(server_file, b"done".to_vec()).unwrap();
        pair.drive().unwrap();
        let result = Ok(Reply::Transceived { data: b"done".to_vec(), more: false });
        assert_eq!(pair.event(), Event::Completed { request, result });
    }
}

#[test]
fn a_cancelled_request_says_so_and_its_pipe_lives_on() {
    for signing in SigningAlgorithm::ALL {
        let client = ClientConfig { signing_algorithms: vec![signing], ..client_config() };
        let mut pair = Pair::new(client, server_config());
        let file = pair.pipe().unwrap();
        let request = pair.client.read(file, 4096).unwrap();
        pair.drive().unwrap();
        assert_eq!(pair.event(), Event::Pending { request });
        pair.client.cancel(request).unwrap();
        pair.drive().unwrap();
        let result = Err(NtStatus::STATUS_CANCELLED);
        assert_eq!(pair.event(), Event::Completed { request, result });
        let reply = pair.ask(|client| client.transceive(file, b"still", 4096)).unwrap();
        assert_eq!(reply, Ok(Reply::Transceived { data: b"still".to_vec(), more: false }), "{signing}");
    }
}

#[test]
fn a_request_is_cancelled_once_because_a_second_time_would_use_the_same_nonce() {
    let mut pair = Pair::new(client_config(), server_config());
    let file = pair.pipe().unwrap();
    let request = pair.client.read(file, 4096).unwrap();
    pair.client.cancel(request).unwrap();
    // The READ and its CANCEL have left, and no answer came.
    assert!(pair.client.poll_transmit().is_some() && pair.client.poll_transmit().is_some());
    pair.client.cancel(request).unwrap();
    assert_eq!(pair.client.poll_transmit(), None);
}

#[test]
fn an_expired_session_authenticates_again_and_keeps_its_pipe() {
    for encryption in [Encryption::Disabled, Encryption::Required] {
        for dialect in [Dialect::Smb3_0, Dialect::Smb3_1_1] {
            let mut pair = Pair::new(ClientConfig { encryption, ..only(dialect) }, server_config());
            let file = pair.pipe().unwrap();
            let session = pair.session.unwrap();
            pair.server.expire_session(session);
            let request = pair.client.transceive(file, b"hello", 4096).unwrap();
            pair.drive().unwrap();
            assert_eq!(pair.event(), Event::SessionExpired { request });
            pair.authenticate().unwrap();
            let reply = pair.ask(|client| client.transceive(file, b"hello", 4096)).unwrap();
            assert_eq!(reply, Ok(Reply::Transceived { data: b"hello".to_vec(), more: false }));
        }
    }
}

#[test]
fn a_wrong_password_is_refused_and_the_connection_can_try_again() {
    let mut pair = Pair::new(client_config(), server_config());
    pair.drive().unwrap();
    pair.event();
    pair.client.session_setup(b"nonsense").unwrap();
    pair.drive().unwrap();
    assert_eq!(pair.event(), Event::SessionRefused { status: NtStatus::STATUS_LOGON_FAILURE });
    pair.authenticate().unwrap();
    pair.tree().unwrap();
}

#[test]
fn a_pipe_that_is_not_there_and_a_share_that_is_not_there_are_refused_by_name() {
    let mut pair = Pair::new(client_config(), server_config());
    pair.establish().unwrap();
    let share = pair.ask(|client| client.tree_connect(r"\\server\C$")).unwrap();
    assert_eq!(share, Err(NtStatus::STATUS_BAD_NETWORK_NAME));
    let tree = pair.tree().unwrap();
    let pipe = pair.ask(|client| client.create_pipe(tree, "closed")).unwrap();
    assert_eq!(pipe, Err(NtStatus::STATUS_OBJECT_NAME_NOT_FOUND));
    assert_eq!(pair.ask(|client| client.tree_disconnect(tree)).unwrap(), Ok(Reply::TreeDisconnected));
    let gone = pair.ask(|client| client.create_pipe(tree, "winreg")).unwrap();
    assert_eq!(gone, Err(NtStatus::STATUS_NETWORK_NAME_DELETED));
}

#[test]
fn a_service_that_hangs_up_is_read_to_its_end_first() {
    let mut pair = Pair::new(client_config(), server_config());
    let file = pair.pipe().unwrap();
    let server_file = pair.files[0];
    pair.server.pipe_output(server_file, b"last words".to_vec()).unwrap();
    pair.server.pipe_hangup(server_file).unwrap();
    let words = pair.ask(|client| client.read(file, 4096)).unwrap();
    assert_eq!(words, Ok(Reply::Read { data: b"last words".to_vec(), more: false }));
    let end = pair.ask(|client| client.read(file, 4096)).unwrap();
    assert_eq!(end, Err(NtStatus::STATUS_PIPE_BROKEN));
}

#[test]
fn requests_wait_for_credits_and_none_is_lost() {
    let limits = ServerLimits { credits_max: 2, ..ServerLimits::default() };
    let mut pair = Pair::new(client_config(), ServerConfig { limits, ..server_config() });
    let file = pair.pipe().unwrap();
    for _ in 0..20 {
        pair.client.write(file, b"x").unwrap();
    }
    let at_once = core::iter::from_fn(|| pair.client.poll_transmit()).collect::<Vec<_>>();
    assert_eq!(at_once.len(), 2, "no more than was granted");
    for frame in at_once {
        pair.server.handle_bytes(&frame).unwrap();
    }
    pair.drive().unwrap();
    assert_eq!(pair.events.len(), 20);
}

#[test]
fn limits_refuse_one_call_and_change_nothing() {
    let limits =
        ClientLimits { requests_max: 1, io_bytes_max: 8, token_bytes_max: 10, ..ClientLimits::default() };
    let mut pair = Pair::new(ClientConfig { limits, ..client_config() }, server_config());
    pair.drive().unwrap();
    pair.event();
    let long = pair.client.session_setup(b"a token too long").unwrap_err();
    assert_eq!(long.to_string(), "bytes of a security token is at its limit of 10");
    let mut pair = Pair::new(
        ClientConfig { limits: ClientLimits { token_bytes_max: 100, ..limits }, ..client_config() },
        server_config(),
    );
    let file = pair.pipe().unwrap();
    let long = pair.client.transceive(file, b"123456789", 1).unwrap_err();
    assert_eq!(long, Error::Limit { what: "bytes of one message", limit: 8 });
    let request = pair.client.echo().unwrap();
    assert_eq!(pair.client.echo(), Err(Error::Limit { what: "requests under way", limit: 1 }));
    pair.drive().unwrap();
    assert_eq!(pair.event(), Event::Completed { request, result: Ok(Reply::Echoed) });
}

#[test]
fn calls_out_of_order_are_refused() {
    let mut pair = Pair::new(client_config(), server_config());
    let early = pair.client.echo().unwrap_err();
    assert_eq!(early.to_string(), "echo is not possible while negotiating");
    assert!(pair.client.complete_session(b"key").is_err());
    assert!(pair.client.session_setup(b"negotiate").is_err());
    pair.pipe().unwrap();
    assert!(pair.client.complete_session(b"key").is_err());
}
