//! What protects a message: the hash over the negotiation, the derivation of keys, signatures and ciphers.

mod keys;

use core::fmt;

use aes::{Aes128, Aes256};
use aes_gcm::aead::consts::{U11, U16};
use aes_gcm::{AeadInOut, Aes128Gcm, Aes256Gcm, KeyInit};
use ccm::Ccm;
use cmac::Cmac;
use hmac::{Hmac, Mac};
use sha2::{Digest as _, Sha256, Sha512};
use wire::{Decode as _, ReadCursor};

pub use self::keys::KeyMaterial;

use super::wire::{Command, Header, TransformHeader};
use super::{Cipher, Error, SigningAlgorithm};

/// Which end of the connection this is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    Client,
    Server,
}

/// [MS-SMB2] 3.1.4.4.1: a chain of SHA-512 over all messages up to the end of authentication. Keys of 3.1.1 are
/// derived from it, so that whoever changes one of these messages makes both sides disagree about the keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PreauthHash([u8; 64]);

impl Default for PreauthHash {
    fn default() -> Self {
        Self([0; 64])
    }
}

impl PreauthHash {
    /// Takes the next message, from its header on.
    pub fn update(&mut self, message: &[u8]) {
        let digest = Sha512::new().chain_update(self.0).chain_update(message).finalize();
        self.0.copy_from_slice(&digest);
    }

    pub const fn as_bytes(&self) -> &[u8; 64] {
        &self.0
    }

    #[cfg(test)]
    pub const fn from_bytes(bytes: [u8; 64]) -> Self {
        Self(bytes)
    }
}

/// Signs and verifies messages, [MS-SMB2] 3.1.4.1 and 3.1.5.1.
pub struct Signer {
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
    pub fn new(algorithm: SigningAlgorithm, key: &[u8; 16], side: Side) -> Self {
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
    pub fn sign(&self, message: &mut [u8]) {
        message[SIGNATURE].fill(0);
        let signature = self.signature(message, self.side);
        message[SIGNATURE].copy_from_slice(&signature);
    }

    /// Whether the signature of a message of the peer, which begins with its header, is right.
    /// Its signature field is zeros afterwards.
    pub fn verify(&self, message: &mut [u8]) -> bool {
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

/// Encrypts messages of ours, [MS-SMB2] 3.1.4.3.
pub struct Sealer {
    key: CipherKey,
    // INVARIANT: grows with every message, so that no nonce is used twice with this key.
    messages: u64,
}

/// Decrypts messages of the peer, [MS-SMB2] 3.2.5.1.1 and 3.3.5.2.1.1.
pub struct Opener {
    key: CipherKey,
}

// Key schedules are made once. Boxed, since they differ much in size.
enum CipherKey {
    Aes128Ccm(Box<Ccm<Aes128, U16, U11>>),
    Aes128Gcm(Box<Aes128Gcm>),
    Aes256Ccm(Box<Ccm<Aes256, U16, U11>>),
    Aes256Gcm(Box<Aes256Gcm>),
}

impl Sealer {
    pub fn new(cipher: Cipher, key: &[u8]) -> Self {
        Self { key: CipherKey::new(cipher, key), messages: 0 }
    }

    /// Encrypts in place. `frame` begins with room for a transform header, which this fills.
    pub fn seal(&mut self, session_id: u64, frame: &mut [u8]) -> Result<(), Error> {
        const FULL: Error = Error::Limit { what: "messages under one key", limit: usize::MAX };
        self.messages = self.messages.checked_add(1).ok_or(FULL)?;
        let (head, message) = frame.split_at_mut(TransformHeader::FIXED_PART_SIZE);
        let mut nonce = [0; 16];
        nonce[..8].copy_from_slice(&self.messages.to_le_bytes());
        let original_message_size = u32::try_from(message.len()).map_err(|_| {
            Error::protocol("encryption", "OriginalMessageSize", "message is longer than 4 GiB")
        })?;
        let header = TransformHeader { signature: [0; 16], nonce, original_message_size, session_id };
        // The header is written over what was reserved for it, without a vector of its own.
        write_header(&header, head);
        let tag = self.key.encrypt(&nonce, &head[TransformHeader::NONCE_OFFSET..], message)?;
        head[TransformHeader::SIGNATURE_OFFSET..TransformHeader::NONCE_OFFSET].copy_from_slice(&tag);
        Ok(())
    }
}

impl Opener {
    pub fn new(cipher: Cipher, key: &[u8]) -> Self {
        Self { key: CipherKey::new(cipher, key) }
    }

    /// Decrypts in place and answers the message after the transform header.
    pub fn open<'a>(&self, frame: &'a mut [u8]) -> Result<&'a mut [u8], Error> {
        let header = TransformHeader::decode(&mut ReadCursor::new(frame))?;
        let (head, message) = frame.split_at_mut(TransformHeader::FIXED_PART_SIZE);
        if usize::try_from(header.original_message_size) != Ok(message.len()) {
            const RULE: &str = "is not the size of what follows";
            return Err(Error::protocol("SMB2_TRANSFORM_HEADER", "OriginalMessageSize", RULE));
        }
        let authenticated = &head[TransformHeader::NONCE_OFFSET..];
        self.key.decrypt(&header.nonce, authenticated, message, &header.signature)?;
        Ok(message)
    }
}

fn write_header(header: &TransformHeader, head: &mut [u8]) {
    let parts: [&[u8]; 6] = [
        &TransformHeader::PROTOCOL_ID,
        &header.signature,
        &header.nonce,
        &header.original_message_size.to_le_bytes(),
        &[0, 0, 1, 0], /* Reserved, Flags */
        &header.session_id.to_le_bytes(),
    ];
    let mut at = 0;
    for part in parts {
        head[at..at + part.len()].copy_from_slice(part);
        at += part.len();
    }
}

impl CipherKey {
    fn new(cipher: Cipher, key: &[u8]) -> Self {
        const FITS: &str = "keys are derived in the length of their cipher";
        match cipher {
            Cipher::Aes128Ccm => Self::Aes128Ccm(Box::new(KeyInit::new_from_slice(key).expect(FITS))),
            Cipher::Aes128Gcm => Self::Aes128Gcm(Box::new(KeyInit::new_from_slice(key).expect(FITS))),
            Cipher::Aes256Ccm => Self::Aes256Ccm(Box::new(KeyInit::new_from_slice(key).expect(FITS))),
            Cipher::Aes256Gcm => Self::Aes256Gcm(Box::new(KeyInit::new_from_slice(key).expect(FITS))),
        }
    }

    fn encrypt(&self, nonce: &[u8; 16], authenticated: &[u8], message: &mut [u8]) -> Result<[u8; 16], Error> {
        match self {
            Self::Aes128Ccm(cipher) => encrypt(&**cipher, nonce, authenticated, message),
            Self::Aes128Gcm(cipher) => encrypt(&**cipher, nonce, authenticated, message),
            Self::Aes256Ccm(cipher) => encrypt(&**cipher, nonce, authenticated, message),
            Self::Aes256Gcm(cipher) => encrypt(&**cipher, nonce, authenticated, message),
        }
    }

    fn decrypt(
        &self,
        nonce: &[u8; 16],
        authenticated: &[u8],
        message: &mut [u8],
        tag: &[u8; 16],
    ) -> Result<(), Error> {
        match self {
            Self::Aes128Ccm(cipher) => decrypt(&**cipher, nonce, authenticated, message, tag),
            Self::Aes128Gcm(cipher) => decrypt(&**cipher, nonce, authenticated, message, tag),
            Self::Aes256Ccm(cipher) => decrypt(&**cipher, nonce, authenticated, message, tag),
            Self::Aes256Gcm(cipher) => decrypt(&**cipher, nonce, authenticated, message, tag),
        }
    }
}

const NONCE_FITS: &str = "nonces of 11 and 12 bytes are cut out of 16";

fn encrypt<C: AeadInOut<TagSize = U16>>(
    cipher: &C,
    nonce: &[u8; 16],
    authenticated: &[u8],
    message: &mut [u8],
) -> Result<[u8; 16], Error> {
    let nonce = nonce[..nonce_len::<C>()].try_into().expect(NONCE_FITS);
    let tag = cipher
        .encrypt_inout_detached(nonce, authenticated, message.into())
        .map_err(|_| Error::protocol("encryption", "message", "is longer than the cipher can encrypt"))?;
    Ok(tag.into())
}

fn decrypt<C: AeadInOut<TagSize = U16>>(
    cipher: &C,
    nonce: &[u8; 16],
    authenticated: &[u8],
    message: &mut [u8],
    tag: &[u8; 16],
) -> Result<(), Error> {
    let nonce = nonce[..nonce_len::<C>()].try_into().expect(NONCE_FITS);
    cipher
        .decrypt_inout_detached(nonce, authenticated, message.into(), &(*tag).into())
        .map_err(|_| Error::DecryptionFailed)
}

const fn nonce_len<C: AeadInOut>() -> usize {
    <C::NonceSize as aes_gcm::aead::array::typenum::Unsigned>::USIZE
}

impl fmt::Debug for Sealer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Sealer(***, {} messages)", self.messages)
    }
}

impl fmt::Debug for Opener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Opener(***)")
    }
}

#[cfg(test)]
mod tests;
