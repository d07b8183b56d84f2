use core::fmt;

use aes::{Aes128, Aes256};
use aes_gcm::aead::consts::{U11, U16};
use aes_gcm::{AeadInOut, Aes128Gcm, Aes256Gcm, KeyInit};
use ccm::Ccm;
use wire::{Decode as _, ReadCursor};

use crate::wire::TransformHeader;
use crate::{Cipher, Error};

/// Encrypts messages of ours, [MS-SMB2] 3.1.4.3.
pub(crate) struct Sealer {
    key: CipherKey,
    // INVARIANT: grows with every message, so that no nonce is used twice with this key.
    messages: u64,
}

/// Decrypts messages of the peer, [MS-SMB2] 3.2.5.1.1 and 3.3.5.2.1.1.
pub(crate) struct Opener {
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
    pub(crate) fn new(cipher: Cipher, key: &[u8]) -> Self {
        Self { key: CipherKey::new(cipher, key), messages: 0 }
    }

    /// Encrypts in place. `frame` begins with room for a transform header, which this fills.
    pub(crate) fn seal(&mut self, session_id: u64, frame: &mut [u8]) -> Result<(), Error> {
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
    pub(crate) fn new(cipher: Cipher, key: &[u8]) -> Self {
        Self { key: CipherKey::new(cipher, key) }
    }

    /// Decrypts in place and answers the message after the transform header.
    pub(crate) fn open<'a>(&self, frame: &'a mut [u8]) -> Result<&'a mut [u8], Error> {
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
