use wire::{FileTime, Guid};

use crate::{Cipher, Dialect, SigningAlgorithm};

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
