//! What protects a message: the hash over the negotiation, the derivation of keys, signatures and ciphers.

mod keys;
mod sealing;

use core::fmt;

use aes::Aes128;
use aes_gcm::{AeadInOut as _, Aes128Gcm};
use cmac::Cmac;
use hmac::{Hmac, KeyInit as _, Mac};
use sha2::{Digest as _, Sha256, Sha512};

pub(crate) use self::keys::KeyMaterial;
pub(crate) use self::sealing::{Opener, Sealer};

use super::SigningAlgorithm;
use super::wire::{Command, Header};

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

/// Signs and verifies messages, [MS-SMB2] 3.1.4.1 and 3.1.5.1.
pub(crate) struct Signer {
    key: SigningKey,
    side: Side,
}

// Key schedules are made once. Boxed, since they differ much in size.
enum SigningKey {
    HmacSha256(Box<Hmac<Sha256>>),
    AesCmac(Box<Cmac<Aes128>>),
    AesGmac(Box<Aes128Gcm>),
}

const SIGNATURE: core::ops::Range<usize> =
    Header::SIGNATURE_OFFSET..Header::SIGNATURE_OFFSET + 16 /* Signature */;

impl Signer {
    pub(crate) fn new(algorithm: SigningAlgorithm, key: &[u8; 16], side: Side) -> Self {
        const FITS: &str = "16 bytes are a key of AES-128 and of HMAC";
        let key = match algorithm {
            SigningAlgorithm::HmacSha256 => {
                SigningKey::HmacSha256(Box::new(Hmac::new_from_slice(key).expect(FITS)))
            }
            SigningAlgorithm::AesCmac => {
                SigningKey::AesCmac(Box::new(Cmac::new_from_slice(key).expect(FITS)))
            }
            SigningAlgorithm::AesGmac => {
                SigningKey::AesGmac(Box::new(Aes128Gcm::new_from_slice(key).expect(FITS)))
            }
        };
        Self { key, side }
    }

    /// Writes the signature into a message of ours, which begins with its header.
    pub(crate) fn sign(&self, message: &mut [u8]) {
        message[SIGNATURE].fill(0);
        let signature = self.signature(message, self.side);
        message[SIGNATURE].copy_from_slice(&signature);
    }

    /// Whether the signature of a message of the peer, which begins with its header, is right.
    /// Its signature field is zeros afterwards.
    pub(crate) fn verify(&self, message: &mut [u8]) -> bool {
        let mut received = [0; 16];
        received.copy_from_slice(&message[SIGNATURE]);
        message[SIGNATURE].fill(0);
        let sender = match self.side {
            Side::Client => Side::Server,
            Side::Server => Side::Client,
        };
        let expected = self.signature(message, sender);
        // All bytes are compared, so that the time taken does not tell which one differs.
        received.iter().zip(&expected).fold(0, |difference, (a, b)| difference | (a ^ b)) == 0
    }

    fn signature(&self, message: &[u8], sender: Side) -> [u8; 16] {
        match &self.key {
            SigningKey::HmacSha256(mac) => mac_of(&**mac, message),
            SigningKey::AesCmac(mac) => mac_of(&**mac, message),
            SigningKey::AesGmac(cipher) => {
                let nonce = gmac_nonce(message, sender);
                let tag = cipher
                    .encrypt_inout_detached(&nonce.into(), message, (&mut [][..]).into())
                    .expect("a message is far below the 2^61 bytes that GCM can authenticate");
                tag.into()
            }
        }
    }
}

fn mac_of<M: Mac + Clone>(mac: &M, message: &[u8]) -> [u8; 16] {
    let full = mac.clone().chain_update(message).finalize().into_bytes();
    let mut signature = [0; 16];
    signature.copy_from_slice(&full[..16]);
    signature
}

/// [MS-SMB2] 3.1.4.1: the message id, then one bit for the sender and one for CANCEL, whose message id is that of
/// the request it cancels.
fn gmac_nonce(message: &[u8], sender: Side) -> [u8; 12] {
    const COMMAND: usize = 12;
    let mut nonce = [0; 12];
    nonce[..8].copy_from_slice(&message[Header::MESSAGE_ID_OFFSET..Header::MESSAGE_ID_OFFSET + 8]);
    nonce[8] = u8::from(sender == Side::Server)
        | u8::from(message[COMMAND..COMMAND + 2] == Command::CANCEL.0.to_le_bytes()) << 1;
    nonce
}

impl fmt::Debug for Signer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Signer(***)")
    }
}

#[cfg(test)]
mod tests;
