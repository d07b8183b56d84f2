//! The client's side of a connection.

mod connection;
mod event;
mod negotiate;
mod receive;
mod requests;
mod session;
mod state;

pub use self::connection::ClientConnection;
pub use self::event::{Event, FileId, Negotiated, Reply, RequestId, TreeId};
use wire::Guid;

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
