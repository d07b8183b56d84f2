use std::sync::OnceLock;

use ms_smb2::Dialect;
use ms_smb2::client::{ClientConfig, ClientLimits, Encryption};
use tracing::warn;
use wire::Guid;

/// Options of SMB.
#[derive(Clone, Debug)]
pub struct SmbOptions {
    /// Whether messages are encrypted.
    pub encryption: Encryption,
    /// The offered dialects.
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
