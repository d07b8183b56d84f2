//! A client and a server side by side: bytes go from one to the other until both are quiet.

use ms_smb2::client::{self, ClientConfig, ClientConnection, Event, Reply, RequestId, TreeId};
use ms_smb2::{Dialect, Error};
use windows_sim::smb::{self as server, AuthReply, ServerConfig, ServerConnection, ServerEvent, SessionId};
use wire::{Guid, NtStatus};

/// What NTLM would export.
pub(crate) const SESSION_KEY: [u8; 16] = *b"a fake key of 16";

pub(crate) fn client_config() -> ClientConfig {
    ClientConfig::new(Guid::from_u128(0x0c11), [0xC1; 32])
}

pub(crate) fn server_config() -> ServerConfig {
    ServerConfig::new(Guid::from_u128(0x5e12), [0x5E; 32])
}

pub(crate) fn only(dialect: Dialect) -> ClientConfig {
    ClientConfig { dialects: vec![dialect], ..client_config() }
}

/// What is between the two, and may change frames on their way.
pub(crate) type Wire = Box<dyn FnMut(Direction, &mut Vec<u8>)>;

pub(crate) type Service = Box<dyn FnMut(&[u8]) -> Vec<Vec<u8>>>;
pub(crate) type Auth = Box<dyn FnMut(&[u8]) -> AuthReply>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    ToServer,
    ToClient,
}

/// The application behind the server: an echo in pipes whose name is not `closed`, one token in each direction.
pub(crate) struct Pair {
    pub(crate) client: ClientConnection,
    pub(crate) server: ServerConnection,
    /// What the client said, as the caller has not taken it.
    pub(crate) events: Vec<Event>,
    /// All frames, as they were on the wire.
    pub(crate) frames: Vec<(Direction, Vec<u8>)>,
    /// What the service behind a pipe says to a message; none leaves the reader waiting.
    pub(crate) service: Service,
    pub(crate) session: Option<SessionId>,
    pub(crate) files: Vec<server::FileId>,
    pub(crate) server_events: Vec<String>,
    pub(crate) auth: Auth,
    pub(crate) wire: Wire,
}

impl Pair {
    pub(crate) fn new(client: ClientConfig, server: ServerConfig) -> Self {
        Self {
            client: ClientConnection::new(client).unwrap(),
            server: ServerConnection::new(server),
            events: Vec::new(),
            frames: Vec::new(),
            service: Box::new(|input| vec![input.to_vec()]),
            session: None,
            files: Vec::new(),
            server_events: Vec::new(),
            auth: Box::new(|token| match token {
                b"negotiate" => AuthReply::Continue(b"challenge".to_vec()),
                b"authenticate" => {
                    AuthReply::Done { token: b"mic".to_vec(), session_key: SESSION_KEY.to_vec() }
                }
                _ => AuthReply::Failed(NtStatus::STATUS_LOGON_FAILURE),
            }),
            wire: Box::new(|_, _| {}),
        }
    }

    /// Moves bytes until nothing moves. The client's error, or the server's.
    pub(crate) fn drive(&mut self) -> Result<(), Error> {
        loop {
            let mut moved = false;
            while let Some(mut frame) = self.client.poll_transmit() {
                moved = true;
                (self.wire)(Direction::ToServer, &mut frame);
                self.frames.push((Direction::ToServer, frame.clone()));
                self.server.handle_bytes(&frame)?;
                self.serve()?;
            }
            while let Some(mut frame) = self.server.poll_transmit() {
                moved = true;
                (self.wire)(Direction::ToClient, &mut frame);
                self.frames.push((Direction::ToClient, frame.clone()));
                self.client.handle_bytes(&frame)?;
            }
            while let Some(event) = self.client.poll_event() {
                self.events.push(event);
            }
            if !moved {
                return Ok(());
            }
        }
    }

    pub(crate) fn serve(&mut self) -> Result<(), Error> {
        while let Some(event) = self.server.poll_event() {
            match event {
                ServerEvent::Authenticate { session, token, .. } => {
                    self.session = Some(session);
                    self.server.authenticate(session, (self.auth)(&token))?;
                }
                ServerEvent::OpenPipe { request, name, .. } => {
                    let result =
                        if name == "closed" { Err(NtStatus::STATUS_OBJECT_NAME_NOT_FOUND) } else { Ok(()) };
                    self.files.extend(self.server.open_pipe(request, result)?);
                }
                ServerEvent::PipeInput { file, data } => {
                    for message in (self.service)(&data) {
                        self.server.pipe_output(file, message)?;
                    }
                }
                ServerEvent::PipeClosed { .. } => self.server_events.push("pipe closed".to_owned()),
                ServerEvent::SessionClosed { .. } => self.server_events.push("session closed".to_owned()),
                other => panic!("{other:?}"),
            }
        }
        Ok(())
    }

    /// The next event, in order.
    pub(crate) fn event(&mut self) -> Event {
        assert!(!self.events.is_empty(), "an event was expected");
        self.events.remove(0)
    }

    pub(crate) fn establish(&mut self) -> Result<(), Error> {
        self.drive()?;
        assert!(matches!(self.event(), Event::Negotiated(_)));
        self.authenticate()
    }

    pub(crate) fn authenticate(&mut self) -> Result<(), Error> {
        self.client.session_setup(b"negotiate")?;
        self.drive()?;
        assert_eq!(self.event(), Event::SessionSetup { token: b"challenge".to_vec(), more: true });
        self.client.session_setup(b"authenticate")?;
        self.drive()?;
        assert_eq!(self.event(), Event::SessionSetup { token: b"mic".to_vec(), more: false });
        self.client.complete_session(&SESSION_KEY)
    }

    pub(crate) fn ask(
        &mut self,
        request: impl FnOnce(&mut ClientConnection) -> Result<RequestId, Error>,
    ) -> Result<Result<Reply, NtStatus>, Error> {
        let request = request(&mut self.client)?;
        self.drive()?;
        match self.event() {
            Event::Completed { request: completed, result } => {
                assert_eq!(completed, request);
                Ok(result)
            }
            other => panic!("{other:?}"),
        }
    }

    pub(crate) fn tree(&mut self) -> Result<TreeId, Error> {
        match self.ask(|client| client.tree_connect(r"\\server\IPC$"))? {
            Ok(Reply::TreeConnected(tree)) => Ok(tree),
            other => panic!("{other:?}"),
        }
    }

    /// Everything up to an open pipe.
    pub(crate) fn pipe(&mut self) -> Result<client::FileId, Error> {
        self.establish()?;
        let tree = self.tree()?;
        match self.ask(|client| client.create_pipe(tree, "winreg"))? {
            Ok(Reply::Created(file)) => Ok(file),
            other => panic!("{other:?}"),
        }
    }
}
