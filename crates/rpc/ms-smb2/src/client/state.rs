//! What a connection remembers.

use wire::Guid;

use super::{RequestId, TreeId};
use crate::crypto::PreauthHash;
use crate::packet::Keys;
use crate::wire::{Capabilities, Command, SecurityMode, SessionFlags};
use crate::{Cipher, Dialect, SigningAlgorithm};

/// How far the connection has come.
#[derive(Debug)]
pub(super) enum Phase {
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
    pub(super) const fn name(&self) -> &'static str {
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
pub(super) struct Agreement {
    pub(super) dialect: Dialect,
    pub(super) cipher: Option<Cipher>,
    pub(super) signing: SigningAlgorithm,
    pub(super) server_guid: Guid,
    pub(super) capabilities: Capabilities,
    pub(super) security_mode: SecurityMode,
    /// The largest input or output of a control code.
    pub(super) transact_bytes_max: u32,
    pub(super) read_bytes_max: u32,
    pub(super) write_bytes_max: u32,
}

impl Agreement {
    pub(super) const fn is_multi_credit(&self) -> bool {
        self.capabilities.contains(Capabilities::LARGE_MTU)
    }
}

#[derive(Debug)]
pub(super) struct Session {
    /// 0 before the server has given it.
    pub(super) id: u64,
    pub(super) preauth: PreauthHash,
    pub(super) keys: Option<Keys>,
    /// INVARIANT: set only where `keys` has ciphers.
    pub(super) encrypts: bool,
}

impl Session {
    pub(super) const fn none() -> Self {
        Self { id: 0, preauth: PreauthHash::new(), keys: None, encrypts: false }
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Tree {
    pub(super) id: TreeId,
    /// INVARIANT: set only where the session has ciphers.
    pub(super) encrypts: bool,
}

/// A request that has no answer yet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pending {
    pub(super) request: RequestId,
    pub(super) kind: Kind,
    pub(super) message_id: u64,
    pub(super) credit_charge: u16,
    /// The name that the server gave it in an interim answer.
    pub(super) async_id: Option<u64>,
    pub(super) encrypted: bool,
    /// A CANCEL was sent.
    pub(super) is_cancelled: bool,
}

/// What a request asked for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
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
    pub(super) const fn command(self) -> Command {
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
