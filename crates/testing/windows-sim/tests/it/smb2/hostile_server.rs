//! Servers that lie, and what is between a server and us. Every one of them ends the connection.

use ms_smb2::client::{ClientConfig, ClientConnection, Encryption, Event, Reply};
use ms_smb2::wire::{
    Command, ControlCode, EmptyBody, ErrorResponse, FileId, Flags, Header, IoctlResponse, Owner,
    TransformHeader, WriteResponse,
};
use ms_smb2::{Dialect, DialectRevision, Error, SigningAlgorithm};
use windows_sim::smb::{self as server, ServerConfig};
use wire::NtStatus;

use super::pair::{Direction, Pair, client_config, only, server_config};
use super::raw::{PREFIX, frame, framed, header_of, response, sign, signed};

/// Where the body of a message begins in its frame.
const BODY: usize = PREFIX + Header::FIXED_PART_SIZE;

/// Changes the frames of one command to the client, and signs them again as 2.1 does where they were signed.
fn tamper(pair: &mut Pair, command: Command, mut change: impl FnMut(&mut Vec<u8>) + 'static) {
    pair.wire = Box::new(move |direction, frame| {
        if direction == Direction::ToClient && header_of(frame).command == command {
            change(frame);
            if header_of(frame).flags.contains(Flags::SIGNED) {
                sign(frame);
            }
        }
    });
}

/// The pipe of a pair in 2.1, whose signatures [`sign`] can make, and the session of it.
fn pipe_2_1() -> (Pair, ms_smb2::client::FileId, u64) {
    let mut pair = Pair::new(only(Dialect::Smb2_1), server_config());
    let file = pair.pipe().unwrap();
    let session_id = header_of(&pair.frames.last().unwrap().1).session_id;
    (pair, file, session_id)
}

/// The message id of the request that the client has just made.
fn sent(client: &mut ClientConnection) -> u64 {
    header_of(&client.poll_transmit().unwrap()).message_id
}

/// The client's error, which stays.
fn check(client: &mut ClientConnection, frame: &[u8], error: &Error) {
    assert_eq!(client.handle_bytes(frame).as_ref(), Err(error));
    assert_eq!(client.handle_bytes(&[]).as_ref(), Err(error), "an error is terminal");
    assert_eq!(client.handle_eof(), *error);
}

fn rule(error: Result<(), Error>) -> String {
    error.unwrap_err().to_string()
}

#[test]
fn a_server_of_smb1_only_is_named_so() {
    let mut client = ClientConnection::new(client_config()).unwrap();
    let answer = framed(b"\xffSMB\x72 and so on");
    check(&mut client, &answer, &Error::Smb1Only { evidence: "it answered in SMB1" });
    let mut client = ClientConnection::new(client_config()).unwrap();
    let error = client.handle_eof();
    assert!(matches!(error, Error::Smb1Only { .. }), "{error}");
}

#[test]
fn the_end_of_the_stream_later_is_no_sign_of_smb1() {
    let mut pair = Pair::new(client_config(), server_config());
    pair.drive().unwrap();
    assert_eq!(pair.client.handle_eof(), Error::Closed);
}

#[test]
fn a_dialect_that_was_not_offered_is_refused() {
    for (offered, revision) in
        [(client_config(), DialectRevision::SMB_2_0_2), (only(Dialect::Smb3_1_1), DialectRevision::SMB_3_0)]
    {
        let mut pair = Pair::new(offered, server_config());
        tamper(&mut pair, Command::NEGOTIATE, move |frame| {
            frame[BODY + 4..BODY + 6].copy_from_slice(&revision.0.to_le_bytes());
        });
        assert_eq!(pair.drive(), Err(Error::DialectRefused { revision }));
    }
}

#[test]
fn a_frame_beyond_the_limit_is_refused_by_its_length() {
    let mut client = ClientConnection::new(client_config()).unwrap();
    let error = rule(client.handle_bytes(&[0x00, 0xFF, 0xFF, 0xFF]));
    assert_eq!(error, "frame of 16777215 bytes is outside the limits of 4 to 1114112 bytes");
}

#[test]
fn a_truncated_negotiate_response_is_an_error_at_every_length() {
    let mut pair = Pair::new(client_config(), server_config());
    pair.drive().unwrap();
    let (_, whole) = pair.frames.pop().unwrap();
    for length in 4..whole.len() - PREFIX {
        let mut client = ClientConnection::new(client_config()).unwrap();
        let error = client.handle_bytes(&framed(&whole[PREFIX..PREFIX + length])).unwrap_err();
        assert!(matches!(error, Error::Decode(_) | Error::Protocol { .. }), "{length}: {error}");
    }
}

#[test]
fn sizes_and_offsets_that_lie_are_refused() {
    let cases: [(usize, &[u8], &str); 5] = [
        (0, &[66, 0], "StructureSize"),
        (56, &[0xFF, 0xFF, 8, 0], "SecurityBuffer"),
        (56, &[8, 0, 8, 0], "SecurityBuffer"),
        (60, &[0xFF, 0xFF, 0xFF, 0xFF], "NegotiateContextOffset"),
        (6, &[0xFF, 0xFF], "NegotiateContextCount"),
    ];
    for (at, bytes, field) in cases {
        let mut pair = Pair::new(client_config(), server_config());
        tamper(&mut pair, Command::NEGOTIATE, move |frame| {
            frame[BODY + at..BODY + at + bytes.len()].copy_from_slice(bytes);
        });
        let error = rule(pair.drive());
        assert!(error.contains(field), "{error}");
    }
}

#[test]
fn no_encryption_where_it_is_required_is_said_before_a_password_is_sent() {
    let client = ClientConfig { encryption: Encryption::Required, ..client_config() };
    let server = ServerConfig { encryption: server::Encryption::Disabled, ..server_config() };
    let error = rule(Pair::new(client, server).drive());
    assert_eq!(error, "encryption is required, but the server offers none");
}

#[test]
fn a_dialect_stripped_from_the_offer_is_found_out() {
    for encryption in [Encryption::Disabled, Encryption::Preferred] {
        let mut pair = Pair::new(ClientConfig { encryption, ..client_config() }, server_config());
        let mut is_first = true;
        pair.wire = Box::new(move |_, frame| {
            if std::mem::take(&mut is_first) {
                assert_eq!(header_of(frame).command, Command::NEGOTIATE);
                // Three dialects instead of four, and 3.1.1 is the last.
                frame[BODY + 2] = 3;
            }
        });
        assert_eq!(pair.pipe().unwrap_err(), Error::Downgrade { field: "Dialects" });
    }
}

#[test]
fn what_the_server_said_in_clear_is_compared_with_what_it_signs() {
    let mut pair = Pair::new(only(Dialect::Smb3_0), server_config());
    // Without encryption, as an eavesdropper likes it.
    pair.wire = Box::new(|direction, frame| {
        if direction == Direction::ToClient && header_of(frame).command == Command::NEGOTIATE {
            frame[BODY + 24] &= !0x40;
        }
    });
    assert_eq!(pair.pipe().unwrap_err(), Error::Downgrade { field: "Capabilities" });
}

#[test]
fn any_change_to_the_negotiation_of_3_1_1_makes_both_disagree_about_the_keys() {
    for changed in [Direction::ToServer, Direction::ToClient] {
        let mut pair = Pair::new(client_config(), server_config());
        pair.wire = Box::new(move |direction, frame| {
            let header = header_of(frame);
            if direction == changed && header.command == Command::NEGOTIATE {
                let salt = if changed == Direction::ToServer { [0xC1; 32] } else { [0x5E; 32] };
                let at = frame.windows(32).position(|window| window == salt).unwrap();
                frame[at] ^= 1;
            }
        });
        assert_eq!(pair.establish(), Err(Error::SignatureInvalid));
    }
}

#[test]
fn a_changed_reply_is_found_out_under_every_signature() {
    for signing in SigningAlgorithm::ALL {
        let encryption = Encryption::Disabled;
        let client = ClientConfig { encryption, signing_algorithms: vec![signing], ..client_config() };
        let mut pair = Pair::new(client, server_config());
        let file = pair.pipe().unwrap();
        pair.wire = Box::new(|direction, frame| {
            if direction == Direction::ToClient {
                *frame.last_mut().unwrap() ^= 1;
            }
        });
        pair.client.transceive(file, b"hello", 4096).unwrap();
        assert_eq!(pair.drive(), Err(Error::SignatureInvalid), "{signing}");
    }
}

#[test]
fn a_reply_without_its_signature_is_refused() {
    let (mut pair, _, session_id) = pipe_2_1();
    pair.client.echo().unwrap();
    let message_id = sent(&mut pair.client);
    let forged = frame(&response(Command::ECHO, message_id, session_id), &EmptyBody);
    check(&mut pair.client, &forged, &Error::SignatureMissing);
}

#[test]
fn the_answer_that_admits_us_has_to_be_signed() {
    let mut pair = Pair::new(client_config(), server_config());
    pair.wire = Box::new(|direction, frame| {
        let header = header_of(frame);
        if direction == Direction::ToClient && header.flags.contains(Flags::SIGNED) {
            frame[PREFIX + Header::FLAGS_OFFSET] &= !8;
        }
    });
    assert_eq!(pair.establish(), Err(Error::SignatureMissing));
}

#[test]
fn a_changed_reply_on_an_encrypted_session_is_found_out() {
    let client = ClientConfig { encryption: Encryption::Required, ..client_config() };
    let mut pair = Pair::new(client, server_config());
    let file = pair.pipe().unwrap();
    pair.wire = Box::new(|direction, frame| {
        if direction == Direction::ToClient {
            *frame.last_mut().unwrap() ^= 1;
        }
    });
    pair.client.transceive(file, b"hello", 4096).unwrap();
    assert_eq!(pair.drive(), Err(Error::DecryptionFailed));
}

#[test]
fn a_clear_reply_on_an_encrypted_session_is_refused() {
    let client = ClientConfig { encryption: Encryption::Required, ..client_config() };
    let mut pair = Pair::new(client, server_config());
    pair.pipe().unwrap();
    let (_, last) = pair.frames.last().unwrap();
    let session_id = wire::decode::<TransformHeader>(&last[PREFIX..]).unwrap().session_id;
    let before = pair.frames.iter().filter(|(direction, _)| *direction == Direction::ToServer).count();
    pair.client.echo().unwrap();
    let message_id = u64::try_from(before).unwrap();
    for status in [NtStatus::STATUS_SUCCESS, NtStatus::STATUS_PENDING] {
        let header = Header { status, ..response(Command::ECHO, message_id, session_id) };
        let forged = frame(&header, &EmptyBody);
        check(&mut pair.client, &forged, &Error::EncryptionMissing);
    }
}

#[test]
fn an_encrypted_reply_of_another_session_is_refused() {
    let client = ClientConfig { encryption: Encryption::Required, ..client_config() };
    let mut pair = Pair::new(client, server_config());
    pair.pipe().unwrap();
    let (_, mut last) = pair.frames.pop().unwrap();
    last[PREFIX + TransformHeader::FIXED_PART_SIZE - 8] ^= 2;
    let error = pair.client.handle_bytes(&last).unwrap_err();
    assert!(matches!(error, Error::WrongSession { .. }), "{error}");
}

#[test]
fn a_replayed_reply_answers_nothing() {
    for encryption in [Encryption::Disabled, Encryption::Required] {
        let mut pair = Pair::new(ClientConfig { encryption, ..client_config() }, server_config());
        pair.pipe().unwrap();
        let (_, last) = pair.frames.pop().unwrap();
        let error = pair.client.handle_bytes(&last).unwrap_err();
        assert!(matches!(error, Error::UnknownMessageId { .. }), "{error}");
    }
}

#[test]
fn a_reply_of_another_session_or_to_another_command_is_refused() {
    let (mut pair, _, session_id) = pipe_2_1();
    pair.client.echo().unwrap();
    let message_id = sent(&mut pair.client);
    let other = signed(&response(Command::ECHO, message_id, session_id ^ 1), &EmptyBody);
    check(&mut pair.client, &other, &Error::WrongSession { session_id: session_id ^ 1 });
    let (mut pair, _, session_id) = pipe_2_1();
    pair.client.echo().unwrap();
    let message_id = sent(&mut pair.client);
    let other = signed(&response(Command::LOGOFF, message_id, session_id), &EmptyBody);
    assert!(rule(pair.client.handle_bytes(&other)).contains("`Command`"));
}

#[test]
fn a_request_of_the_server_is_refused_and_a_lock_it_takes_back_is_not_missed() {
    let (mut pair, _, session_id) = pipe_2_1();
    let unsolicited = response(Command::OPLOCK_BREAK, Header::UNSOLICITED, session_id);
    pair.client.handle_bytes(&frame(&unsolicited, &EmptyBody)).unwrap();
    let request = Header { flags: Flags::default(), ..unsolicited };
    assert!(rule(pair.client.handle_bytes(&frame(&request, &EmptyBody))).contains("`Flags`"));
}

#[test]
fn more_output_than_was_asked_for_is_refused() {
    let (mut pair, file, session_id) = pipe_2_1();
    pair.client.transceive(file, b"hello", 4).unwrap();
    let message_id = sent(&mut pair.client);
    let body = IoctlResponse {
        ctl_code: ControlCode::FSCTL_PIPE_TRANSCEIVE,
        file_id: FileId::NONE,
        output: b"12345",
    };
    let reply = signed(&response(Command::IOCTL, message_id, session_id), &body);
    assert!(rule(pair.client.handle_bytes(&reply)).contains("is more than was asked for"));
}

#[test]
fn output_that_lies_outside_the_message_is_refused() {
    for (field, value) in [(32, 0xFFFF_FFF0_u32), (36, 6), (36, u32::MAX), (32, 20)] {
        let (mut pair, file, session_id) = pipe_2_1();
        pair.client.transceive(file, b"hello", 4096).unwrap();
        let message_id = sent(&mut pair.client);
        let body = IoctlResponse {
            ctl_code: ControlCode::FSCTL_PIPE_TRANSCEIVE,
            file_id: FileId::NONE,
            output: b"12345",
        };
        let mut reply = frame(&response(Command::IOCTL, message_id, session_id), &body);
        reply[BODY + field..BODY + field + 4].copy_from_slice(&value.to_le_bytes());
        sign(&mut reply);
        assert!(rule(pair.client.handle_bytes(&reply)).contains("`Output`"));
    }
}

#[test]
fn more_written_than_was_sent_is_refused() {
    let (mut pair, file, session_id) = pipe_2_1();
    pair.client.write(file, b"hello").unwrap();
    let message_id = sent(&mut pair.client);
    let reply = signed(&response(Command::WRITE, message_id, session_id), &WriteResponse { count: 6 });
    assert!(rule(pair.client.handle_bytes(&reply)).contains("is more than was written"));
}

#[test]
fn a_compound_that_points_outside_its_frame_is_refused() {
    for next_command in [4, 60, 66, 72, 1 << 31, u32::MAX] {
        let (mut pair, _, session_id) = pipe_2_1();
        pair.client.echo().unwrap();
        let message_id = sent(&mut pair.client);
        let header = Header { next_command, ..response(Command::ECHO, message_id, session_id) };
        let error = rule(pair.client.handle_bytes(&signed(&header, &EmptyBody)));
        assert!(error.contains("`NextCommand`"), "{next_command}: {error}");
    }
}

#[test]
fn two_answers_in_one_frame_are_both_taken() {
    let (mut pair, _, session_id) = pipe_2_1();
    let requests = [pair.client.echo().unwrap(), pair.client.echo().unwrap()];
    let ids = [sent(&mut pair.client), sent(&mut pair.client)];
    let header = Header { next_command: 72, ..response(Command::ECHO, ids[0], session_id) };
    let mut first = frame(&header, &EmptyBody);
    first.extend([0; 4]);
    sign(&mut first);
    let second = signed(&response(Command::ECHO, ids[1], session_id), &EmptyBody);
    pair.client.handle_bytes(&framed(&[&first[PREFIX..], &second[PREFIX..]].concat())).unwrap();
    for request in requests {
        let completed = Event::Completed { request, result: Ok(Reply::Echoed) };
        assert_eq!(pair.client.poll_event(), Some(completed));
    }
}

#[test]
fn a_server_that_grants_nothing_is_given_up() {
    let mut pair = Pair::new(only(Dialect::Smb2_1), server_config());
    tamper(&mut pair, Command::NEGOTIATE, |frame| frame[PREFIX + 14..PREFIX + 16].fill(0));
    pair.drive().unwrap();
    assert_eq!(pair.client.session_setup(b"negotiate"), Err(Error::CreditsExhausted));
}

#[test]
fn guests_are_not_what_we_want_to_be() {
    let mut pair = Pair::new(only(Dialect::Smb2_1), server_config());
    tamper(&mut pair, Command::SESSION_SETUP, |frame| frame[BODY + 2] |= 1);
    assert_eq!(pair.establish(), Err(Error::Guest));
}

#[test]
fn encryption_demanded_where_it_is_impossible_is_said_so() {
    let mut pair = Pair::new(only(Dialect::Smb2_1), server_config());
    tamper(&mut pair, Command::SESSION_SETUP, |frame| frame[BODY + 2] |= 4);
    assert_eq!(pair.establish(), Err(Error::EncryptionDisabled));
    let mut pair = Pair::new(only(Dialect::Smb2_1), server_config());
    tamper(&mut pair, Command::TREE_CONNECT, |frame| frame[BODY + 5] |= 0x80);
    assert_eq!(pair.pipe().unwrap_err(), Error::EncryptionDisabled);
}

#[test]
fn a_session_that_is_gone_needs_no_signature_to_say_so() {
    let (mut pair, _, session_id) = pipe_2_1();
    pair.client.echo().unwrap();
    let message_id = sent(&mut pair.client);
    let status = NtStatus::STATUS_USER_SESSION_DELETED;
    let reply = frame(&Header { status, ..response(Command::ECHO, message_id, session_id) }, &ErrorResponse);
    check(&mut pair.client, &reply, &Error::SessionDeleted);
}

// Samba's client allows the same three statuses (libcli/smb/smbXcli_base.c), since Windows does not sign them where
// the tree or the file is gone.
#[test]
fn a_tree_or_a_file_that_is_gone_needs_no_signature_to_end_the_connection() {
    for status in [
        NtStatus::STATUS_FILE_CLOSED,
        NtStatus::STATUS_NETWORK_NAME_DELETED,
        NtStatus::STATUS_INVALID_PARAMETER,
    ] {
        for flags in [Flags::SERVER_TO_REDIR, Flags::SERVER_TO_REDIR.with(Flags::SIGNED)] {
            let (mut pair, file, session_id) = pipe_2_1();
            pair.client.read(file, 10).unwrap();
            let message_id = sent(&mut pair.client);
            let header = Header { status, flags, ..response(Command::READ, message_id, session_id) };
            check(&mut pair.client, &frame(&header, &ErrorResponse), &Error::Forgotten { status });
        }
    }
}

#[test]
fn any_other_refusal_has_to_be_signed() {
    let (mut pair, file, session_id) = pipe_2_1();
    pair.client.read(file, 10).unwrap();
    let message_id = sent(&mut pair.client);
    let status = NtStatus::STATUS_ACCESS_DENIED;
    let reply = frame(&Header { status, ..response(Command::READ, message_id, session_id) }, &ErrorResponse);
    check(&mut pair.client, &reply, &Error::SignatureMissing);
}

#[test]
fn interim_answers_without_end_are_one_event() {
    let (mut pair, file, session_id) = pipe_2_1();
    let request = pair.client.read(file, 10).unwrap();
    let message_id = sent(&mut pair.client);
    let flags = Flags::SERVER_TO_REDIR.with(Flags::ASYNC_COMMAND);
    let interim = Header {
        status: NtStatus::STATUS_PENDING,
        flags,
        owner: Owner::Async(5),
        ..response(Command::READ, message_id, session_id)
    };
    for _ in 0..1000 {
        pair.client.handle_bytes(&frame(&interim, &ErrorResponse)).unwrap();
    }
    assert_eq!(pair.client.poll_event(), Some(Event::Pending { request }));
    assert_eq!(pair.client.poll_event(), None);
    // The name that the server gave is the one to cancel by.
    pair.client.cancel(request).unwrap();
    let cancel = header_of(&pair.client.poll_transmit().unwrap());
    assert_eq!(
        (cancel.command, cancel.owner, cancel.message_id),
        (Command::CANCEL, Owner::Async(5), message_id)
    );
}

#[test]
fn an_interim_answer_to_a_token_is_refused() {
    let mut pair = Pair::new(client_config(), server_config());
    pair.drive().unwrap();
    pair.client.session_setup(b"negotiate").unwrap();
    let message_id = sent(&mut pair.client);
    let flags = Flags::SERVER_TO_REDIR.with(Flags::ASYNC_COMMAND);
    let owner = Owner::Async(5);
    let status = NtStatus::STATUS_PENDING;
    let interim = Header { status, flags, owner, ..response(Command::SESSION_SETUP, message_id, 1) };
    assert!(rule(pair.client.handle_bytes(&frame(&interim, &ErrorResponse))).contains("`AsyncId`"));
}

#[test]
fn a_session_that_changes_its_name_while_authenticating_is_refused() {
    let mut pair = Pair::new(client_config(), server_config());
    let mut seen = 0;
    pair.wire = Box::new(move |direction, frame| {
        if direction == Direction::ToClient && header_of(frame).command == Command::SESSION_SETUP {
            seen += 1;
            frame[PREFIX + 40] ^= seen - 1;
        }
    });
    assert!(matches!(pair.establish(), Err(Error::WrongSession { .. })));
}
