//! The client's side of a connection.

mod connection;
mod negotiate;
mod receive;
mod requests;
mod session;

use wire::{Guid, NtStatus};

pub use self::connection::ClientConnection;

use super::crypto::PreauthHash;
use super::packet::Keys;
use super::wire::{Capabilities, Command, SecurityMode, SessionFlags};
use crate::{Cipher, Dialect, SigningAlgorithm};

/// Whether messages are encrypted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Encryption {
    /// Never offered; a server that demands it is refused.
    Disabled,
    /// Offered, and used where the server demands it for the session or the tree.
    Demanded,
    /// Offered, and used where the server can: SMB 3 with a cipher in common. Others are signed.
    #[default]
    Preferred,
    /// Used always; a server without it is refused.
    Required,
}

/// What a client offers and accepts.
#[derive(Clone, Debug)]
pub struct ClientConfig {
    /// The client's GUID; random, constant for the process.
    pub client_guid: Guid,
    /// Random bytes, new for each connection.
    pub preauth_salt: [u8; 32],
    /// Whether messages are encrypted.
    pub encryption: Encryption,
    /// What is offered, in any order.
    pub dialects: Vec<Dialect>,
    /// What is offered from 3.1.1 on, the best first.
    pub ciphers: Vec<Cipher>,
    /// What is offered from 3.1.1 on, the best first.
    pub signing_algorithms: Vec<SigningAlgorithm>,
    /// The server's name for the negotiation; servers behind one address look at it.
    pub netname: Option<String>,
    pub limits: ClientLimits,
}

impl ClientConfig {
    /// All dialects and ciphers, encryption where the server can.
    #[must_use]
    pub fn new(client_guid: Guid, preauth_salt: [u8; 32]) -> Self {
        Self {
            client_guid,
            preauth_salt,
            encryption: Encryption::default(),
            dialects: Dialect::ALL.to_vec(),
            ciphers: Cipher::ALL.to_vec(),
            signing_algorithms: vec![SigningAlgorithm::AesGmac, SigningAlgorithm::AesCmac],
            netname: None,
            limits: ClientLimits::default(),
        }
    }
}

/// Limits of one connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClientLimits {
    /// The largest frame that the server may send.
    pub frame_bytes_max: usize,
    /// The largest read, write, input or output of one request; the server's own limits apply too.
    pub io_bytes_max: u32,
    /// Requests that may be under way or wait for credits.
    pub requests_max: usize,
    pub credits_max: u16,
    /// The largest security token.
    pub token_bytes_max: usize,
}

impl Default for ClientLimits {
    fn default() -> Self {
        Self {
            frame_bytes_max: 1024 * 1024 + 64 * 1024,
            io_bytes_max: 1024 * 1024,
            requests_max: 64,
            credits_max: 128,
            token_bytes_max: 64 * 1024 - 1,
        }
    }
}

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

/// What happened. Out of [`poll_event`](ClientConnection::poll_event).
#[derive(Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event {
    /// A dialect is agreed upon: authenticate next.
    Negotiated(Negotiated),
    /// The server's next token. `more`: it waits for another of ours
    /// ([`session_setup`](ClientConnection::session_setup)); otherwise it has admitted us, and
    /// [`complete_session`](ClientConnection::complete_session) is next.
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
    /// [`session_setup`](ClientConnection::session_setup) again, then repeat the request.
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

/// How far the connection has come.
#[derive(Debug)]
enum Phase {
    Negotiating,
    /// The first token is the caller's to give.
    Negotiated,
    /// Tokens are being exchanged.
    Authenticating,
    /// The server has admitted us; the key is the caller's to give.
    Admitted {
        /// The reply to be verified with it; none where the session has keys already.
        reply: Option<Vec<u8>>,
        session_flags: SessionFlags,
    },
    Ready,
    /// The session was ended.
    LoggedOff,
}

impl Phase {
    const fn name(&self) -> &'static str {
        match self {
            Self::Negotiating => "negotiating",
            Self::Negotiated => "not authenticated",
            Self::Authenticating => "authenticating",
            Self::Admitted { .. } => "the session key is missing",
            Self::Ready => "a session is there",
            Self::LoggedOff => "logged off",
        }
    }
}

/// What the negotiation came to.
#[derive(Clone, Copy, Debug)]
struct Agreement {
    dialect: Dialect,
    cipher: Option<Cipher>,
    signing: SigningAlgorithm,
    server_guid: Guid,
    capabilities: Capabilities,
    security_mode: SecurityMode,
    /// The largest input or output of a control code.
    transact_bytes_max: u32,
    read_bytes_max: u32,
    write_bytes_max: u32,
}

impl Agreement {
    const fn is_multi_credit(&self) -> bool {
        self.capabilities.contains(Capabilities::LARGE_MTU)
    }
}

#[derive(Debug)]
struct Session {
    /// 0 before the server has given it.
    id: u64,
    preauth: PreauthHash,
    keys: Option<Keys>,
    /// INVARIANT: set only where `keys` has ciphers.
    encrypts: bool,
}

impl Session {
    fn none() -> Self {
        Self { id: 0, preauth: PreauthHash::default(), keys: None, encrypts: false }
    }
}

#[derive(Clone, Copy, Debug)]
struct Tree {
    id: TreeId,
    /// INVARIANT: set only where the session has ciphers.
    encrypts: bool,
}

/// A request that has no answer yet.
#[derive(Clone, Copy, Debug)]
struct Pending {
    request: RequestId,
    kind: Kind,
    message_id: u64,
    credit_charge: u16,
    /// The name that the server gave it in an interim answer.
    async_id: Option<u64>,
    encrypted: bool,
    /// A CANCEL was sent.
    is_cancelled: bool,
}

/// What a request asked for.
#[derive(Clone, Copy, Debug)]
enum Kind {
    Negotiate,
    SessionSetup,
    TreeConnect,
    /// Asked before the tree is shown to the caller.
    ValidateNegotiate(TreeId),
    TreeDisconnect(TreeId),
    Create(TreeId),
    Transceive {
        output_bytes_max: u32,
    },
    Read {
        bytes_max: u32,
    },
    Write {
        data_bytes: u32,
    },
    Close,
    Echo,
    Logoff,
}

impl Kind {
    const fn command(self) -> Command {
        match self {
            Self::Negotiate => Command::NEGOTIATE,
            Self::SessionSetup => Command::SESSION_SETUP,
            Self::TreeConnect => Command::TREE_CONNECT,
            Self::ValidateNegotiate(_) | Self::Transceive { .. } => Command::IOCTL,
            Self::TreeDisconnect(_) => Command::TREE_DISCONNECT,
            Self::Create(_) => Command::CREATE,
            Self::Read { .. } => Command::READ,
            Self::Write { .. } => Command::WRITE,
            Self::Close => Command::CLOSE,
            Self::Echo => Command::ECHO,
            Self::Logoff => Command::LOGOFF,
        }
    }
}
