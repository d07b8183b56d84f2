use wire::{Guid, NtStatus};

use crate::{Cipher, Dialect, SigningAlgorithm};

/// One request of a connection; never used twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RequestId(pub(crate) u64);

/// A tree of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TreeId(pub(crate) u32);

/// An open pipe of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FileId {
    pub(crate) tree: TreeId,
    pub(crate) id: crate::wire::FileId,
}

/// What happened. Out of [`poll_event`](super::ClientConnection::poll_event).
#[derive(Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event {
    /// A dialect is agreed upon: authenticate next.
    Negotiated(Negotiated),
    /// The server's next token. `more`: it waits for another of ours
    /// ([`session_setup`](super::ClientConnection::session_setup)); otherwise it has admitted us, and
    /// [`complete_session`](super::ClientConnection::complete_session) is next.
    SessionSetup {
        /// For the security context; may be empty.
        token: Vec<u8>,
        /// Whether the server waits for another token.
        more: bool,
    },
    /// The server did not admit us.
    SessionRefused { status: NtStatus },
    /// The server works on it; the answer comes later.
    Pending { request: RequestId },
    /// A request was answered.
    Completed {
        request: RequestId,
        /// The answer, or the server's refusal.
        result: Result<Reply, NtStatus>,
    },
    /// The request was refused because the session has expired: run
    /// [`session_setup`](super::ClientConnection::session_setup) again, then repeat the request.
    SessionExpired { request: RequestId },
}

/// The outcome of the negotiation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Negotiated {
    pub dialect: Dialect,
    /// The server's SPNEGO hint; may be empty.
    pub security_token: Vec<u8>,
    pub server_guid: Guid,
    /// How messages will be encrypted, where they are.
    pub cipher: Option<Cipher>,
    /// How messages will be signed, where they are not encrypted.
    pub signing: SigningAlgorithm,
    pub system_time: wire::FileTime,
}

/// The answer to a request.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reply {
    /// The tree is connected.
    TreeConnected(TreeId),
    /// The tree is disconnected.
    TreeDisconnected,
    /// The pipe is open.
    Created(FileId),
    /// What the pipe answered to a transceive.
    Transceived {
        /// The message, or its beginning.
        data: Vec<u8>,
        /// The message goes on: read again.
        more: bool,
    },
    Read {
        /// The message, or its beginning.
        data: Vec<u8>,
        /// The message goes on: read again.
        more: bool,
    },
    /// How many bytes were written.
    Written(u32),
    /// The pipe is closed.
    Closed,
    Echoed,
    /// The session is ended.
    LoggedOff,
}
