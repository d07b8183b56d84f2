//! One SMB connection with one session, driven by its caller.

mod authenticate;
mod connection;
mod reads;
mod request;

pub(crate) use self::connection::{DroppedPipes, unexpected};
pub use self::connection::{SharedSmbConnection, SmbConnection};
pub(crate) use self::reads::READ_BYTES_MAX;
use std::sync::OnceLock;

use ms_smb2::Dialect;
use ms_smb2::client::{ClientConfig, ClientLimits, Encryption, FileId, Reply, RequestId};
use tracing::warn;
use wire::{Guid, NtStatus};

/// What a call waits for.
#[derive(Clone, Copy, Debug)]
enum Awaited {
    Request(RequestId),
    /// The READs of a pipe.
    Reads(FileId),
}

/// A READ that was sent and whose answer its pipe has not taken yet.
#[derive(Debug)]
struct PipeRead {
    request: RequestId,
    file: FileId,
    /// It was cancelled because the reply ended before it. It may still return data of the next reply.
    is_surplus: bool,
    outcome: Option<Outcome>,
}

/// The outcome of a READ.
#[derive(Debug)]
enum Outcome {
    Answered(Result<Reply, NtStatus>),
    /// The session had expired: nothing was read.
    Expired,
}

#[derive(Clone, Debug)]
pub struct SmbOptions {
    /// Whether messages are encrypted.
    pub encryption: Encryption,
    pub dialects: Vec<Dialect>,
    /// Limits on the server's messages.
    pub limits: ClientLimits,
    /// Maximum legs of one authentication.
    pub auth_legs_max: usize,
    /// Maximum repetitions of one request because the session had expired.
    pub reauthentications_max: usize,
}

impl Default for SmbOptions {
    fn default() -> Self {
        Self {
            encryption: Encryption::default(),
            dialects: Dialect::ALL.to_vec(),
            limits: ClientLimits::default(),
            auth_legs_max: 8,
            reauthentications_max: 2,
        }
    }
}

impl SmbOptions {
    pub(crate) fn client_config(&self, server_name: &str) -> ClientConfig {
        let mut config = ClientConfig::new(process_guid(), random());
        config.encryption = self.encryption;
        config.dialects.clone_from(&self.dialects);
        config.limits = self.limits;
        config.netname = Some(server_name.to_owned());
        config
    }
}

/// [MS-SMB2] 3.2.1.1 `ClientGuid`: one for the life of the process.
fn process_guid() -> Guid {
    static GUID: OnceLock<Guid> = OnceLock::new();
    *GUID.get_or_init(|| Guid::from_bytes(random()))
}

/// Random bytes of the system.
///
/// The salt only makes the hashes of negotiations differ, and the keys do not depend on it. So a system without
/// randomness causes only a warning.
fn random<const LEN: usize>() -> [u8; LEN] {
    let mut bytes = [0; LEN];
    if let Err(error) = getrandom::fill(&mut bytes) {
        warn!(%error, "System has no random bytes");
    }
    bytes
}
