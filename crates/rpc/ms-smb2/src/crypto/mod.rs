//! What protects a message: the hash over the negotiation, the derivation of keys, signatures and ciphers.

mod keys;
mod sealing;
mod signing;

pub(crate) use self::keys::KeyMaterial;
pub(crate) use self::sealing::{Opener, Sealer};
pub(crate) use self::signing::Signer;
use sha2::{Digest as _, Sha512};

/// Which end of the connection this is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Client,
    Server,
}

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

#[cfg(test)]
mod tests;
