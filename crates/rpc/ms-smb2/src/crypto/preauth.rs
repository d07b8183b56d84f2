use sha2::{Digest as _, Sha512};

/// [MS-SMB2] 3.1.4.4.1: a chain of SHA-512 over all messages up to the end of authentication. Keys of 3.1.1 are
/// derived from it, so that whoever changes one of these messages makes both sides disagree about the keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PreauthHash([u8; 64]);

impl PreauthHash {
    pub(crate) const fn new() -> Self {
        Self([0; 64])
    }

    /// Takes the next message, from its header on.
    pub(crate) fn update(&mut self, message: &[u8]) {
        let digest = Sha512::new().chain_update(self.0).chain_update(message).finalize();
        self.0.copy_from_slice(&digest);
    }

    pub(crate) const fn as_bytes(&self) -> &[u8; 64] {
        &self.0
    }

    #[cfg(test)]
    pub(crate) const fn from_bytes(bytes: [u8; 64]) -> Self {
        Self(bytes)
    }
}
