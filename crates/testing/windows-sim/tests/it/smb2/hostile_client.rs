//! Clients that lie, and what is between a client and the server.

use ms_smb2::client::{ClientConfig, Encryption, Event};
use ms_smb2::wire::{
    Capabilities, Command, CreateRequest, EmptyBody, FileId, Flags, Header, NegotiateRequest, Owner,
    ReadRequest, SecurityMode, SessionSetupRequest, TransformHeader, TreeConnectRequest,
};
use ms_smb2::{Dialect, DialectRevision, Error};
use windows_sim::smb::{AuthReply, ServerConfig, ServerConnection, ServerEvent, ServerLimits};
use wire::{Encode, NtStatus};

use super::pair::{Direction, Pair, SESSION_KEY, client_config, only, server_config};
use super::raw::{PREFIX, frame, framed, header, header_of, sign, signed};

/// A client of 2.1 made by hand, which may have several sessions.
struct Rogue {
    server: ServerConnection,
    message_id: u64,
}

impl Rogue {
    fn new(config: ServerConfig) -> Self {
        let mut rogue = Self { server: ServerConnection::new(config), message_id: 0 };
        let offer = NegotiateRequest {
            dialects: vec![DialectRevision::SMB_2_1],
            security_mode: SecurityMode::SIGNING_ENABLED,
            capabilities: Capabilities::default(),
            client_guid: wire::Guid::NULL,
            contexts: Vec::new(),
        };
        rogue.ask(Command::NEGOTIATE, 0, 0, &offer);
        rogue
    }

    /// Sends a request, signed where it has a session, and answers the header of the first response.
    fn ask(&mut self, command: Command, session_id: u64, tree_id: u32, body: &impl Encode) -> Header {
        let owner = Owner::Tree(tree_id);
        let header = Header { owner, credits: 10, ..header(command, self.message_id, session_id) };
        let mut frame = frame(&header, body);
        if session_id != 0 && command != Command::SESSION_SETUP {
            sign(&mut frame);
        }
        self.message_id += 1;
        self.send(&frame).unwrap()
    }

    fn send(&mut self, frame: &[u8]) -> Result<Header, Error> {
        self.server.handle_bytes(frame)?;
        while let Some(event) = self.server.poll_event() {
            match event {
                ServerEvent::Authenticate { session, .. } => {
                    let reply = AuthReply::Done { token: Vec::new(), session_key: SESSION_KEY.to_vec() };
                    self.server.authenticate(session, reply)?;
                }
                ServerEvent::OpenPipe { request, .. } => {
                    self.server.open_pipe(request, Ok(()))?;
                }
                _ => {}
            }
        }
        Ok(header_of(&self.server.poll_transmit().expect("the server answers")))
    }

    fn session(&mut self) -> Header {
        let body = SessionSetupRequest {
            binding: false,
            security_mode: SecurityMode::SIGNING_ENABLED,
            previous_session_id: 0,
            security_buffer: b"let me in",
        };
        self.ask(Command::SESSION_SETUP, 0, 0, &body)
    }

    fn tree(&mut self, session_id: u64) -> Header {
        let body = TreeConnectRequest { path: r"\\s\ipc$".to_owned() };
        self.ask(Command::TREE_CONNECT, session_id, 0, &body)
    }

    fn open(&mut self, session_id: u64, tree_id: u32) -> Header {
        let body =
            CreateRequest { desired_access: CreateRequest::PIPE_ACCESS, name: r"\PIPE\winreg".to_owned() };
        self.ask(Command::CREATE, session_id, tree_id, &body)
    }
}

fn tree_id(header: &Header) -> u32 {
    match header.owner {
        Owner::Tree(tree_id) => tree_id,
        Owner::Async(_) => panic!("{header}"),
    }
}

fn limited(limits: ServerLimits) -> ServerConfig {
    ServerConfig { limits, ..server_config() }
}

const FULL: NtStatus = NtStatus::STATUS_INSUFFICIENT_RESOURCES;

#[test]
fn who_does_not_negotiate_first_is_cut_off() {
    let mut server = ServerConnection::new(server_config());
    let error = server.handle_bytes(&frame(&header(Command::ECHO, 0, 0), &EmptyBody)).unwrap_err();
    assert!(error.to_string().contains("is not NEGOTIATE"), "{error}");
    assert_eq!(server.handle_bytes(&[]), Err(error), "an error is terminal");
}

#[test]
fn who_negotiates_twice_is_cut_off() {
    let mut pair = Pair::new(client_config(), server_config());
    pair.drive().unwrap();
    let mut again = pair.frames[0].1.clone();
    again[PREFIX + Header::MESSAGE_ID_OFFSET] = 1;
    let error = pair.server.handle_bytes(&again).unwrap_err();
    assert!(error.to_string().contains("came a second time"), "{error}");
}

#[test]
fn smb1_is_not_spoken() {
    let mut message = b"\xffSMB\x72".to_vec();
    message.extend([0; 28]);
    message.extend(b"\x0c\x00\x02NT LM 0.12\x00");
    let mut server = ServerConnection::new(server_config());
    let error = server.handle_bytes(&framed(&message)).unwrap_err();
    assert!(error.to_string().contains("SMB 2.???"), "{error}");
}

#[test]
fn a_frame_beyond_the_limit_is_refused_by_its_length() {
    let mut server = ServerConnection::new(server_config());
    assert!(matches!(server.handle_bytes(&[0, 0x7F, 0, 0]), Err(Error::FrameSize { .. })));
}

#[test]
fn a_replayed_request_is_cut_off() {
    let mut pair = Pair::new(client_config(), server_config());
    pair.pipe().unwrap();
    let last =
        pair.frames.iter().rfind(|(direction, _)| *direction == Direction::ToServer).unwrap().1.clone();
    assert!(matches!(pair.server.handle_bytes(&last), Err(Error::UnknownMessageId { .. })));
}

#[test]
fn a_message_id_that_was_not_granted_is_cut_off() {
    let mut rogue = Rogue::new(server_config());
    let far = header(Command::ECHO, 5000, 0);
    assert_eq!(rogue.send(&frame(&far, &EmptyBody)), Err(Error::UnknownMessageId { message_id: 5000 }));
}

#[test]
fn a_request_without_signature_or_with_a_wrong_one_is_denied() {
    let mut rogue = Rogue::new(server_config());
    let session_id = rogue.session().session_id;
    let body = TreeConnectRequest { path: r"\\s\IPC$".to_owned() };
    let unsigned = frame(&header(Command::TREE_CONNECT, rogue.message_id, session_id), &body);
    assert_eq!(rogue.send(&unsigned).unwrap().status, NtStatus::STATUS_ACCESS_DENIED);
    let mut wrong = signed(&header(Command::TREE_CONNECT, rogue.message_id + 1, session_id), &body);
    wrong[PREFIX + Header::SIGNATURE_OFFSET] ^= 1;
    assert_eq!(rogue.send(&wrong).unwrap().status, NtStatus::STATUS_ACCESS_DENIED);
}

#[test]
fn a_clear_request_on_an_encrypted_session_is_denied() {
    let server = ServerConfig { encryption: windows_sim::smb::Encryption::Required, ..server_config() };
    let mut pair = Pair::new(client_config(), server);
    pair.pipe().unwrap();
    let (_, last) = pair.frames.last().unwrap();
    let session_id = wire::decode::<TransformHeader>(&last[PREFIX..]).unwrap().session_id;
    let sent = pair.frames.iter().filter(|(direction, _)| *direction == Direction::ToServer).count();
    let clear = frame(&header(Command::ECHO, u64::try_from(sent).unwrap(), session_id), &EmptyBody);
    pair.server.handle_bytes(&clear).unwrap();
    let answer = header_of(&pair.server.poll_transmit().unwrap());
    assert_eq!(answer.status, NtStatus::STATUS_ACCESS_DENIED);
}

#[test]
fn a_changed_request_on_an_encrypted_session_is_cut_off() {
    let client = ClientConfig { encryption: Encryption::Required, ..client_config() };
    for (at_end, expected) in
        [(true, "encrypted message cannot be decrypted"), (false, "message belongs to session")]
    {
        let mut pair = Pair::new(client.clone(), server_config());
        pair.pipe().unwrap();
        pair.wire = Box::new(move |_, frame| {
            let at = if at_end { frame.len() - 1 } else { PREFIX + TransformHeader::FIXED_PART_SIZE - 1 };
            frame[at] ^= 1;
        });
        pair.client.echo().unwrap();
        let error = pair.drive().unwrap_err().to_string();
        assert!(error.starts_with(expected), "{error}");
    }
}

#[test]
fn sessions_have_nothing_of_each_other() {
    let mut rogue = Rogue::new(server_config());
    let (one, two) = (rogue.session().session_id, rogue.session().session_id);
    assert_ne!(one, two);
    let (tree_of_one, tree_of_two) = (tree_id(&rogue.tree(one)), tree_id(&rogue.tree(two)));
    assert_eq!(rogue.open(two, tree_of_one).status, NtStatus::STATUS_NETWORK_NAME_DELETED);
    assert!(rogue.open(one, tree_of_one).status.is_success());
    let read = ReadRequest { length: 10, file_id: FileId { persistent: 1, volatile: 1 } };
    let stranger = rogue.ask(Command::READ, two, tree_of_two, &read);
    assert_eq!(stranger.status, NtStatus::STATUS_FILE_CLOSED);
    assert_eq!(rogue.ask(Command::READ, one, tree_of_one, &read).status, NtStatus::STATUS_PENDING);
}

#[test]
fn sessions_trees_pipes_and_waiting_requests_have_limits() {
    let mut rogue = Rogue::new(limited(ServerLimits { sessions_max: 2, ..ServerLimits::default() }));
    assert!(rogue.session().status.is_success() && rogue.session().status.is_success());
    assert_eq!(rogue.session().status, FULL);

    let mut rogue = Rogue::new(limited(ServerLimits { trees_max: 2, ..ServerLimits::default() }));
    let session_id = rogue.session().session_id;
    assert!(rogue.tree(session_id).status.is_success() && rogue.tree(session_id).status.is_success());
    assert_eq!(rogue.tree(session_id).status, FULL);

    let limits = ServerLimits { files_max: 2, pending_max: 1, ..ServerLimits::default() };
    let mut rogue = Rogue::new(limited(limits));
    let session_id = rogue.session().session_id;
    let tree = tree_id(&rogue.tree(session_id));
    assert!(
        rogue.open(session_id, tree).status.is_success() && rogue.open(session_id, tree).status.is_success()
    );
    assert_eq!(rogue.open(session_id, tree).status, FULL);
    let read = ReadRequest { length: 10, file_id: FileId { persistent: 1, volatile: 1 } };
    assert_eq!(rogue.ask(Command::READ, session_id, tree, &read).status, NtStatus::STATUS_PENDING);
    assert_eq!(rogue.ask(Command::READ, session_id, tree, &read).status, FULL);
}

#[test]
fn a_pipe_that_nobody_reads_does_not_grow_for_ever() {
    let limits = ServerLimits { output_bytes_max: 10, ..ServerLimits::default() };
    let mut pair = Pair::new(client_config(), limited(limits));
    pair.pipe().unwrap();
    let file = pair.files[0];
    pair.server.pipe_output(file, vec![0; 10]).unwrap();
    let full = Error::Limit { what: "bytes that wait in a pipe", limit: 10 };
    assert_eq!(pair.server.pipe_output(file, vec![0]), Err(full));
}

#[test]
fn a_read_that_costs_less_than_it_should_is_refused() {
    let mut rogue = Rogue::new(server_config());
    let session_id = rogue.session().session_id;
    let tree = tree_id(&rogue.tree(session_id));
    rogue.open(session_id, tree);
    let read = ReadRequest { length: 65_537, file_id: FileId { persistent: 1, volatile: 1 } };
    let answer = rogue.ask(Command::READ, session_id, tree, &read);
    assert_eq!(answer.status, NtStatus::STATUS_INVALID_PARAMETER);
}

#[test]
fn a_request_that_depends_on_the_one_before_it_is_refused() {
    let mut rogue = Rogue::new(server_config());
    let related = Header { flags: Flags::RELATED_OPERATIONS, ..header(Command::ECHO, 1, 0) };
    let answer = rogue.send(&frame(&related, &EmptyBody)).unwrap();
    assert_eq!(answer.status, NtStatus::STATUS_INVALID_PARAMETER);
}

#[test]
fn a_second_token_before_the_first_is_answered_is_refused() {
    let mut rogue = Rogue::new(server_config());
    let body = SessionSetupRequest {
        binding: false,
        security_mode: SecurityMode::SIGNING_ENABLED,
        previous_session_id: 0,
        security_buffer: b"one",
    };
    rogue.server.handle_bytes(&frame(&header(Command::SESSION_SETUP, 1, 0), &body)).unwrap();
    let Some(ServerEvent::Authenticate { session, begins: true, .. }) = rogue.server.poll_event() else {
        panic!()
    };
    rogue.server.authenticate(session, AuthReply::Continue(b"go on".to_vec())).unwrap();
    let session_id = header_of(&rogue.server.poll_transmit().unwrap()).session_id;
    // The credits that came with the last answer pay for the next two.
    for (message_id, is_answered) in [(2, false), (3, true)] {
        let next = Header { credits: 2, ..header(Command::SESSION_SETUP, message_id, session_id) };
        rogue.server.handle_bytes(&frame(&next, &body)).unwrap();
        let answer = rogue.server.poll_transmit().map(|frame| header_of(&frame).status);
        assert_eq!(answer, is_answered.then_some(NtStatus::STATUS_REQUEST_NOT_ACCEPTED));
    }
}

#[test]
fn a_session_that_is_not_there_or_not_ready_carries_no_request() {
    let mut rogue = Rogue::new(server_config());
    assert_eq!(rogue.tree(77).status, NtStatus::STATUS_USER_SESSION_DELETED);
}

#[test]
fn a_stream_that_ends_closes_what_was_open() {
    let mut pair = Pair::new(only(Dialect::Smb3_1_1), server_config());
    pair.pipe().unwrap();
    pair.server.disconnect();
    let events: Vec<_> = core::iter::from_fn(|| pair.server.poll_event()).collect();
    assert!(matches!(events[..], [ServerEvent::PipeClosed { .. }, ServerEvent::SessionClosed { .. }]));
    assert_eq!(pair.server.handle_bytes(&[]), Err(Error::Closed));
}

#[test]
fn a_failed_authentication_leaves_no_session_behind() {
    let limits = ServerLimits { sessions_max: 1, ..ServerLimits::default() };
    let mut pair = Pair::new(client_config(), limited(limits));
    pair.drive().unwrap();
    pair.event();
    for _ in 0..3 {
        pair.client.session_setup(b"nonsense").unwrap();
        pair.drive().unwrap();
        assert_eq!(pair.event(), Event::SessionRefused { status: NtStatus::STATUS_LOGON_FAILURE });
    }
    pair.authenticate().unwrap();
}
