//! The server's side of an SMB connection, without input and output: [`ServerConnection`] is a state machine as the client of
//! [`ms_smb2`] is, over the same messages.
//!
//! ```
//! use wire::Guid;
//! use ms_smb2::client::{ClientConfig, ClientConnection, Event};
//! use windows_sim::smb::{AuthReply, ServerConfig, ServerConnection, ServerEvent};
//!
//! let mut client = ClientConnection::new(ClientConfig::new(Guid::from_u128(1), [1; 32]))?;
//! let mut server = ServerConnection::new(ServerConfig::new(Guid::from_u128(2), [2; 32]));
//! let session_key = [7; 16]; // as both security contexts export it
//!
//! // A driver has a stream between the two; what leaves one here goes to the other at once.
//! loop {
//!     while let Some(frame) = client.poll_transmit() {
//!         server.handle_bytes(&frame)?;
//!     }
//!     while let Some(event) = server.poll_event() {
//!         if let ServerEvent::Authenticate { session, .. } = event {
//!             let reply = AuthReply::Done { token: Vec::new(), session_key: session_key.to_vec() };
//!             server.authenticate(session, reply)?;
//!         }
//!     }
//!     while let Some(frame) = server.poll_transmit() {
//!         client.handle_bytes(&frame)?;
//!     }
//!     match client.poll_event() {
//!         Some(Event::Negotiated(_)) => client.session_setup(b"a token")?,
//!         Some(Event::SessionSetup { more: false, .. }) => break client.complete_session(&session_key)?,
//!         other => panic!("{other:?}"),
//!     }
//! }
//! client.tree_connect(r"\\server\IPC$")?; // and so on, with pipes
//! # Ok::<(), ms_smb2::Error>(())
//! ```
#![deny(clippy::disallowed_methods, clippy::disallowed_types)]

mod answers;
mod connection;
mod negotiate;
mod pipe;
mod session;

use core::fmt;
use std::collections::VecDeque;

use ms_smb2::crypto::{Opener, PreauthHash};
use ms_smb2::packet::Keys;
use ms_smb2::wire::{
    Command, EmptyBody, FileInfoClass, Header, QueryInfoRequest, QueryInfoResponse, ShareType,
    TreeConnectRequest, TreeConnectResponse,
};
use ms_smb2::{Cipher, Dialect, Error, SigningAlgorithm};
use wire::{Decode as _, FileTime, Guid, NtStatus, ReadCursor};

pub use self::connection::ServerConnection;

use self::pipe::body;

/// What a response needs to know of its request.
#[derive(Clone, Copy, Debug)]
struct Request {
    command: Command,
    message_id: u64,
    credit_charge: u16,
    credits_wanted: u16,
    session_id: u64,
    tree_id: u32,
    encrypted: bool,
    signed: bool,
    /// Its name, once an interim answer was sent.
    async_id: Option<u64>,
}

/// An open pipe: output of the service that was not read yet, and requests that wait for output.
///
/// INVARIANT: `output` or `reads` is empty.
#[derive(Debug)]
struct File {
    session_id: u64,
    tree_id: u32,
    output: VecDeque<Vec<u8>>,
    /// Bytes of the first message that were read already.
    output_offset: usize,
    output_bytes: usize,
    reads: VecDeque<Waiting>,
    hung_up: bool,
}

/// A READ or a transceive without an answer.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    request: Request,
    bytes_max: usize,
}

/// One session of a client.
#[derive(Debug)]
struct Session {
    state: State,
    /// The SESSION_SETUP that waits for the application.
    setup: Option<Request>,
    preauth: PreauthHash,
    /// There from the first successful authentication on.
    keys: Option<Keys>,
    /// INVARIANT: set only where `keys` has ciphers.
    encrypts: bool,
    trees: Vec<u32>,
}

/// How far the authentication of a session has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    InProgress,
    Valid,
    Expired,
}

impl Session {
    fn opener(&self) -> Option<&Opener> {
        self.keys.as_ref()?.ciphers.as_ref().map(|(_, opener)| opener)
    }
}

/// A session of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SessionId(pub(crate) u64);

/// A request that waits for the application; never used twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RequestId(pub(crate) u64);

/// An open pipe of a connection; never used twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileId(pub(crate) u64);

/// What a client wants. Out of [`poll_event`](crate::smb::ServerConnection::poll_event).
#[derive(Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ServerEvent {
    /// A token for the security context of this session (a new context where the session is new, or where
    /// `begins` says that a session authenticates again). Answer with
    /// [`authenticate`](crate::smb::ServerConnection::authenticate).
    Authenticate {
        session: SessionId,
        token: Vec<u8>,
        /// Whether this is the first token of an exchange.
        begins: bool,
    },
    /// A client opens a pipe. Answer with [`open_pipe`](crate::smb::ServerConnection::open_pipe).
    OpenPipe {
        request: RequestId,
        /// The session of the request.
        session: SessionId,
        /// The pipe's name without `\PIPE\`, as the client wrote it.
        name: String,
    },
    /// A message into a pipe. What the pipe has to say goes to
    /// [`pipe_output`](crate::smb::ServerConnection::pipe_output).
    PipeInput {
        file: FileId,
        data: Vec<u8>,
    },
    /// The client closed the pipe, or its session ended.
    PipeClosed {
        file: FileId,
    },
    SessionClosed {
        session: SessionId,
    },
}

/// The security context's answer to a token.
pub enum AuthReply {
    /// The client has to send another.
    Continue(Vec<u8>),
    /// The client is authenticated.
    Done {
        /// The last token, for the client; may be empty.
        token: Vec<u8>,
        /// The key that the security context exports.
        session_key: Vec<u8>,
    },
    Failed(NtStatus),
}

impl fmt::Debug for AuthReply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Continue(_) => f.write_str("Continue"),
            Self::Done { .. } => f.write_str("Done { session_key: *** }"),
            Self::Failed(status) => write!(f, "Failed({status})"),
        }
    }
}

impl ServerConnection {
    /// There is one share, `IPC$`, and everybody with a session may use it.
    fn handle_tree_connect(&mut self, request: &Request, message: &[u8]) -> Result<(), Error> {
        const ALL_ACCESS: u32 = 0x001F_01FF;
        let mut src = ReadCursor::new(message);
        src.skip("SMB2 TREE_CONNECT Request", "header", Header::FIXED_PART_SIZE)?;
        let path = TreeConnectRequest::decode(&mut src)?.path;
        let share = path.rsplit('\\').next().unwrap_or_default();
        if !share.eq_ignore_ascii_case("IPC$") {
            return self.refuse(request, NtStatus::STATUS_BAD_NETWORK_NAME);
        }
        let trees_max = self.config.limits.trees_max;
        let Some(session) = self.sessions.get_mut(&request.session_id) else { return Ok(()) };
        if session.trees.len() >= trees_max {
            return self.refuse(request, NtStatus::STATUS_INSUFFICIENT_RESOURCES);
        }
        self.trees_made += 1;
        let tree_id = self.trees_made;
        session.trees.push(tree_id);
        let body =
            TreeConnectResponse { share_type: ShareType::PIPE, share_flags: 0, maximal_access: ALL_ACCESS };
        self.answer(&Request { tree_id, ..*request }, &body)
    }

    fn handle_tree_disconnect(&mut self, request: &Request) -> Result<(), Error> {
        let tree_id = request.tree_id;
        if let Some(session) = self.sessions.get_mut(&request.session_id) {
            session.trees.retain(|&tree| tree != tree_id);
        }
        self.close_files(|file| file.session_id == request.session_id && file.tree_id == tree_id);
        self.answer(request, &EmptyBody)
    }
}

impl ServerConnection {
    /// The three classes that clients ask of pipes, [MS-FSCC] 2.4.
    fn handle_query_info(&mut self, request: &Request, message: &[u8]) -> Result<(), Error> {
        let query: QueryInfoRequest = body(message)?;
        let Some(file) = self.file(request, query.file_id).and_then(|id| self.files.get(&id)) else {
            return self.refuse(request, NtStatus::STATUS_FILE_CLOSED);
        };
        let available = u32::try_from(file.output_bytes).unwrap_or(u32::MAX);
        let output = match query.file_info_class {
            _ if query.info_type != QueryInfoRequest::INFO_FILE => None,
            FileInfoClass::FILE_STANDARD_INFORMATION => Some(standard_information(available)),
            FileInfoClass::FILE_PIPE_INFORMATION => Some(words(&[MESSAGE_MODE, QUEUE_OPERATION])),
            FileInfoClass::FILE_PIPE_LOCAL_INFORMATION => Some(pipe_local_information(available)),
            _ => None,
        };
        match output {
            None => self.refuse(request, NtStatus::STATUS_INVALID_INFO_CLASS),
            Some(output)
                if u32::try_from(output.len()).is_ok_and(|size| size <= query.output_buffer_length) =>
            {
                self.answer(request, &QueryInfoResponse { output: &output })
            }
            Some(_) => self.refuse(request, NtStatus::STATUS_INFO_LENGTH_MISMATCH),
        }
    }
}

const MESSAGE_MODE: u32 = 1;
const QUEUE_OPERATION: u32 = 0;
const QUOTA: u32 = 4096;

/// `FileStandardInformation` of [MS-FSCC] 2.4.47.
fn standard_information(available: u32) -> Vec<u8> {
    const NUMBER_OF_LINKS: u32 = 1;
    const DELETE_PENDING: u32 = 1;
    words(&[QUOTA, 0, available, 0, NUMBER_OF_LINKS, DELETE_PENDING])
}

/// `FilePipeLocalInformation` of [MS-FSCC] 2.4.37.
fn pipe_local_information(available: u32) -> Vec<u8> {
    const FULL_DUPLEX: u32 = 2;
    const UNLIMITED: u32 = u32::MAX;
    const CONNECTED: u32 = 3;
    const CLIENT_END: u32 = 0;
    let instances = [UNLIMITED, 1];
    words(&[
        MESSAGE_MODE,
        FULL_DUPLEX,
        instances[0],
        instances[1],
        QUOTA,
        available,
        QUOTA,
        QUOTA,
        CONNECTED,
        CLIENT_END,
    ])
}

fn words(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// Whether clients may or must encrypt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Encryption {
    Disabled,
    /// Offered, and used by clients that like to.
    #[default]
    Allowed,
    /// Demanded of every session.
    Required,
}

/// What a server offers and accepts.
#[derive(Clone, Debug)]
pub struct ServerConfig {
    pub server_guid: Guid,
    /// Random bytes, new for each connection.
    pub preauth_salt: [u8; 32],
    /// What is spoken, in any order.
    pub dialects: Vec<Dialect>,
    /// Whether clients may or must encrypt.
    pub encryption: Encryption,
    /// What is spoken from 3.1.1 on, the best first; the server chooses.
    pub ciphers: Vec<Cipher>,
    /// What is spoken from 3.1.1 on, the best first; the server chooses.
    pub signing_algorithms: Vec<SigningAlgorithm>,
    /// Whether a client has to sign what it does not encrypt.
    pub signing_required: bool,
    /// The SPNEGO hint of the negotiation; may be empty.
    pub security_token: Vec<u8>,
    /// The server's clock, which the negotiation reports.
    pub system_time: FileTime,
    /// Whether CANCEL is ignored. Servers may answer the request itself instead.
    pub ignores_cancel: bool,
    pub limits: ServerLimits,
}

impl ServerConfig {
    /// All dialects and ciphers, signing required, encryption allowed.
    #[must_use]
    pub fn new(server_guid: Guid, preauth_salt: [u8; 32]) -> Self {
        Self {
            server_guid,
            preauth_salt,
            dialects: Dialect::ALL.to_vec(),
            encryption: Encryption::default(),
            ciphers: Cipher::ALL.to_vec(),
            signing_algorithms: SigningAlgorithm::ALL.to_vec(),
            signing_required: true,
            security_token: Vec::new(),
            system_time: FileTime(0),
            ignores_cancel: false,
            limits: ServerLimits::default(),
        }
    }
}

/// Limits of one connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServerLimits {
    /// The largest read, write, input or output of one request; sent to the client.
    pub io_bytes_max: u32,
    /// Credits that a client may hold.
    pub credits_max: u16,
    /// The largest security token.
    pub token_bytes_max: usize,
    /// Sessions of a connection.
    pub sessions_max: usize,
    /// Trees of a session.
    pub trees_max: usize,
    /// Open pipes of a session.
    pub files_max: usize,
    /// Requests that wait for the application.
    pub pending_max: usize,
    /// Bytes that wait in a pipe to be read.
    pub output_bytes_max: usize,
}

impl Default for ServerLimits {
    fn default() -> Self {
        Self {
            io_bytes_max: 1024 * 1024,
            credits_max: 512,
            token_bytes_max: 64 * 1024 - 1,
            sessions_max: 16,
            trees_max: 16,
            files_max: 64,
            pending_max: 128,
            output_bytes_max: 64 * 1024 * 1024,
        }
    }
}
