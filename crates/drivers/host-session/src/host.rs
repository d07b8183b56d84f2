use ms_smb2::client::Negotiated;
use ms_smb2::{Cipher, Dialect, SigningAlgorithm};
use ssp::ServerInfo;
use wire::{FileTime, Guid};

/// What a host reported about itself while connecting. The names are not verified.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostInfo {
    /// The SMB dialect in use.
    pub dialect: Dialect,
    /// How SMB encrypts, where it does.
    pub cipher: Option<Cipher>,
    /// Whether SMB encrypts; the calls inside are sealed either way.
    pub is_encrypted: bool,
    /// How SMB signs what it does not encrypt.
    pub signing: SigningAlgorithm,
    /// The SMB server's identity; another one under the same name means another machine.
    pub server_guid: Guid,
    /// The host's clock when it answered.
    pub system_time: FileTime,
    /// Names and version of the operating system.
    pub names: ServerInfo,
}

impl HostInfo {
    pub(crate) fn new(negotiated: &Negotiated, is_encrypted: bool, names: ServerInfo) -> Self {
        Self {
            dialect: negotiated.dialect,
            cipher: negotiated.cipher,
            is_encrypted,
            signing: negotiated.signing,
            server_guid: negotiated.server_guid,
            system_time: negotiated.system_time,
            names,
        }
    }
}
