use ms_smb2::client::{self, ClientConfig, ClientConnection, ClientLimits, Event, Reply};
use ms_smb2::{Dialect, Error};
use windows_sim::smb::{
    self, AuthReply, ServerConfig, ServerConnection, ServerEvent, ServerLimits, SessionId,
};
use wire::{Guid, NtStatus};

use super::SESSION_KEY;

/// Small, so that small inputs reach them.
pub(crate) const SERVER_LIMITS: ServerLimits = ServerLimits {
    io_bytes_max: 4096,
    credits_max: 64,
    token_bytes_max: 1024,
    sessions_max: 2,
    trees_max: 2,
    files_max: 4,
    pending_max: 8,
    output_bytes_max: 8192,
};

const CLIENT_LIMITS: ClientLimits = ClientLimits {
    frame_bytes_max: 8192,
    io_bytes_max: 4096,
    requests_max: 16,
    credits_max: 32,
    token_bytes_max: 1024,
};

/// The GUID and the salt are those of the recordings in `ms-smb2`.
pub(crate) fn new_client(dialects: &[Dialect]) -> ClientConnection {
    let config = ClientConfig {
        dialects: dialects.to_vec(),
        limits: CLIENT_LIMITS,
        ..ClientConfig::new(Guid::from_u128(7), [9; 32])
    };
    ClientConnection::new(config).expect("dialects are offered")
}

pub(crate) fn new_server(signing_required: bool) -> ServerConnection {
    ServerConnection::new(ServerConfig {
        signing_required,
        limits: SERVER_LIMITS,
        ..ServerConfig::new(Guid::from_u128(0x55), [3; 32])
    })
}

/// A client and a server side by side, and what went from one to the other.
pub(crate) struct Pair {
    pub(crate) client: ClientConnection,
    pub(crate) server: ServerConnection,
    pub(crate) to_client: Vec<u8>,
    pub(crate) to_server: Vec<u8>,
}

impl Pair {
    pub(crate) fn new(dialects: &[Dialect], signing_required: bool) -> Self {
        let (client, server) = (new_client(dialects), new_server(signing_required));
        Self { client, server, to_client: Vec::new(), to_server: Vec::new() }
    }

    /// A session with a tree and an open pipe.
    pub(crate) fn with_pipe(dialect: Dialect, signing_required: bool) -> (Self, client::FileId) {
        const HONEST: &str = "both keep to the rules";
        let mut pair = Self::new(&[dialect], signing_required);
        assert!(matches!(pair.next(), Some(Event::Negotiated(_))));
        pair.client.session_setup(b"negotiate").expect(HONEST);
        assert!(matches!(pair.next(), Some(Event::SessionSetup { more: true, .. })));
        pair.client.session_setup(b"authenticate").expect(HONEST);
        assert!(matches!(pair.next(), Some(Event::SessionSetup { more: false, .. })));
        pair.client.complete_session(&SESSION_KEY).expect(HONEST);
        pair.client.tree_connect(r"\\server\IPC$").expect(HONEST);
        let Some(Event::Completed { result: Ok(Reply::TreeConnected(tree)), .. }) = pair.next() else {
            unreachable!("the tree is there");
        };
        pair.client.create_pipe(tree, "winreg").expect(HONEST);
        let Some(Event::Completed { result: Ok(Reply::Created(file)), .. }) = pair.next() else {
            unreachable!("the pipe is there");
        };
        (pair, file)
    }

    /// Moves bytes until nothing moves, and returns the client's events.
    pub(crate) fn next(&mut self) -> Option<Event> {
        self.drive().expect("both keep to the rules");
        self.client.poll_event()
    }

    fn drive(&mut self) -> Result<(), Error> {
        loop {
            let mut is_idle = true;
            while let Some(frame) = self.client.poll_transmit() {
                self.to_server.extend_from_slice(&frame);
                self.server.handle_bytes(&frame)?;
                while let Some(event) = self.server.poll_event() {
                    answer(&mut self.server, event)?;
                }
                is_idle = false;
            }
            while let Some(frame) = self.server.poll_transmit() {
                self.to_client.extend_from_slice(&frame);
                self.client.handle_bytes(&frame)?;
                is_idle = false;
            }
            if is_idle {
                return Ok(());
            }
        }
    }
}

/// What an event made of the application's side.
pub(crate) enum Change {
    Nothing,
    Opened(smb::FileId),
    Closed(smb::FileId),
    Authenticated(SessionId),
    Ended(SessionId),
}

/// The application behind a server: two tokens that are right, and pipes that echo.
pub(crate) fn answer(server: &mut ServerConnection, event: ServerEvent) -> Result<Change, Error> {
    match event {
        ServerEvent::Authenticate { session, token, .. } => {
            let reply = match &token[..] {
                b"negotiate" => AuthReply::Continue(b"challenge".to_vec()),
                b"authenticate" => {
                    AuthReply::Done { token: b"mic".to_vec(), session_key: SESSION_KEY.to_vec() }
                }
                _ => AuthReply::Failed(NtStatus::STATUS_LOGON_FAILURE),
            };
            let is_refused = matches!(reply, AuthReply::Failed(_));
            server.authenticate(session, reply)?;
            Ok(if is_refused { Change::Nothing } else { Change::Authenticated(session) })
        }
        ServerEvent::OpenPipe { request, name, .. } => {
            let result = if name == "closed" { Err(NtStatus::STATUS_OBJECT_NAME_NOT_FOUND) } else { Ok(()) };
            Ok(server.open_pipe(request, result)?.map_or(Change::Nothing, Change::Opened))
        }
        ServerEvent::PipeInput { file, data } => {
            match server.pipe_output(file, data) {
                // As much as that is for a driver to close the pipe.
                Ok(()) | Err(Error::Limit { .. }) => Ok(Change::Nothing),
                Err(error) => Err(error),
            }
        }
        ServerEvent::PipeClosed { file } => Ok(Change::Closed(file)),
        ServerEvent::SessionClosed { session } => Ok(Change::Ended(session)),
        _ => Ok(Change::Nothing),
    }
}
