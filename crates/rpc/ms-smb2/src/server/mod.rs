//! The server's side of a connection.

mod answers;
mod config;
mod connection;
mod info;
mod negotiate;
mod pipe;
mod session;
mod tree;
mod window;

pub use self::config::{Encryption, ServerConfig, ServerLimits};
pub use self::connection::ServerConnection;
use core::fmt;
use std::collections::VecDeque;

use wire::NtStatus;

use crate::crypto::{Opener, PreauthHash};
use crate::packet::Keys;
use crate::wire::Command;

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

/// What a client wants. Out of [`poll_event`](crate::server::ServerConnection::poll_event).
#[derive(Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ServerEvent {
    /// A token for the security context of this session (a new context where the session is new, or where
    /// `begins` says that a session authenticates again). Answer with
    /// [`authenticate`](crate::server::ServerConnection::authenticate).
    Authenticate {
        session: SessionId,
        token: Vec<u8>,
        /// Whether this is the first token of an exchange.
        begins: bool,
    },
    /// A client opens a pipe. Answer with [`open_pipe`](crate::server::ServerConnection::open_pipe).
    OpenPipe {
        request: RequestId,
        /// The session of the request.
        session: SessionId,
        /// The pipe's name without `\PIPE\`, as the client wrote it.
        name: String,
    },
    /// A message into a pipe. What the pipe has to say goes to
    /// [`pipe_output`](crate::server::ServerConnection::pipe_output).
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
