use core::fmt;

use wire::NtStatus;

/// A session of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SessionId(pub(crate) u64);

/// A request that waits for the application; never used twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RequestId(pub(crate) u64);

/// An open pipe of a connection; never used twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileId(pub(crate) u64);

/// What a client wants. Out of [`poll_event`](super::ServerConnection::poll_event).
#[derive(Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ServerEvent {
    /// A token for the security context of this session (a new context where the session is new, or where
    /// `begins` says that a session authenticates again). Answer with
    /// [`authenticate`](super::ServerConnection::authenticate).
    Authenticate {
        /// Which session.
        session: SessionId,
        /// The client's token.
        token: Vec<u8>,
        /// Whether this is the first token of an exchange.
        begins: bool,
    },
    /// A client opens a pipe. Answer with [`open_pipe`](super::ServerConnection::open_pipe).
    OpenPipe {
        /// To answer with.
        request: RequestId,
        /// The session of the request.
        session: SessionId,
        /// The pipe's name without `\PIPE\`, as the client wrote it.
        name: String,
    },
    /// A message into a pipe. What the pipe has to say goes to
    /// [`pipe_output`](super::ServerConnection::pipe_output).
    PipeInput {
        /// Which pipe.
        file: FileId,
        /// One message.
        data: Vec<u8>,
    },
    /// The client closed the pipe, or its session ended.
    PipeClosed {
        /// Which pipe.
        file: FileId,
    },
    /// The session ended.
    SessionClosed {
        /// Which session.
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
    /// It is not.
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
