//! [MS-NLMP] 3.4: protection of messages by a session key that did not come from a password.
//!
//! `sspi` makes keys of passwords alone. An anonymous client has none, and neither has a conversation that is read later.

use md5::{Digest, Md5};
use zeroize::Zeroize;

use crate::crypto::{hmac_md5, is_same};
use crate::message::NegotiateFlags;
use crate::{Error, Message, Protection, SessionKey};

/// Which side of a session this is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// It sent the first message.
    Client,
    Server,
}

/// Signatures and ciphers of both directions.
pub struct Session {
    key: SessionKey,
    send: Direction,
    receive: Direction,
}

/// INVARIANT: `sequence` is that of the next message.
struct Direction {
    signing_key: [u8; 16],
    cipher: Rc4,
    sequence: u32,
    encrypts_signatures: bool,
}

impl Session {
    /// The session of an exported session key.
    ///
    /// # Errors
    /// Without extended session security, whose older form is weak.
    pub fn new(key: SessionKey, flags: NegotiateFlags, side: Side) -> Result<Self, Error> {
        if !flags.has(NegotiateFlags::EXTENDED_SESSION_SECURITY) {
            return Err(Error::WeakSession { missing: "extended session security" });
        }
        let to_server = || {
            let signing = b"session key to client-to-server signing key magic constant\0";
            Direction::new(
                &key,
                flags,
                signing,
                b"session key to client-to-server sealing key magic constant\0",
            )
        };
        let to_client = || {
            let signing = b"session key to server-to-client signing key magic constant\0";
            Direction::new(
                &key,
                flags,
                signing,
                b"session key to server-to-client sealing key magic constant\0",
            )
        };
        let (send, receive) = match side {
            Side::Client => (to_server(), to_client()),
            Side::Server => (to_client(), to_server()),
        };
        Ok(Self { key, send, receive })
    }

    /// [MS-NLMP] 3.2.5.1.2: the session of an anonymous client, whose own key is all zeros. `encrypted_key` is empty where none
    /// was exchanged.
    ///
    /// # Errors
    /// Those of [`new`](Self::new), and a key of a wrong length.
    pub fn anonymous(encrypted_key: &[u8], flags: NegotiateFlags, side: Side) -> Result<Self, Error> {
        let mut key = [0; SessionKey::LEN];
        if flags.has(NegotiateFlags::KEY_EXCHANGE) {
            let encrypted: [u8; SessionKey::LEN] = encrypted_key.try_into().map_err(|_| {
                Error::UnexpectedToken { reason: "the client exchanges a session key of a wrong length" }
            })?;
            key = encrypted;
            Rc4::new(&[0; SessionKey::LEN]).apply(&mut key);
        }
        Self::new(SessionKey::new(key), flags, side)
    }

    /// The exported session key.
    #[must_use]
    pub const fn key(&self) -> &SessionKey {
        &self.key
    }

    pub fn wrap(&mut self, message: Message<'_>) {
        let Message { protection, header, body, trailer, signature } = message;
        let code = self.send.code(&[header, body, trailer]);
        if protection == Protection::Privacy {
            self.send.cipher.apply(body);
        }
        signature.copy_from_slice(&self.send.sign(code));
    }

    /// Checks a message, and decrypts it.
    ///
    /// # Errors
    /// If it is not the next one of the other side.
    pub fn unwrap(&mut self, message: Message<'_>) -> Result<(), Error> {
        let Message { protection, header, body, trailer, signature } = message;
        if protection == Protection::Privacy {
            self.receive.cipher.apply(body);
        }
        let code = self.receive.code(&[header, body, trailer]);
        let expected = self.receive.sign(code);
        if is_same(&expected, signature) { Ok(()) } else { Err(altered()) }
    }

    /// [MS-SPNG] 3.2.5.1: signs the list of mechanisms. The cipher stays where it is.
    pub fn sign_mech_list(&mut self, list: &[u8]) -> [u8; 16] {
        self.send.sign_aside(list)
    }

    /// Checks the other side's signature of the list.
    ///
    /// # Errors
    /// If it is another one.
    pub fn check_mech_list(&mut self, list: &[u8], signature: &[u8]) -> Result<(), Error> {
        if is_same(&self.receive.sign_aside(list), signature) { Ok(()) } else { Err(altered()) }
    }
}

fn altered() -> Error {
    Error::MessageAltered { source: "its signature is another one".into() }
}

impl Direction {
    fn new(key: &SessionKey, flags: NegotiateFlags, signing: &[u8], sealing: &[u8]) -> Self {
        let length = if flags.has(NegotiateFlags::KEY_128) {
            16
        } else if flags.has(NegotiateFlags::KEY_56) {
            7
        } else {
            5
        };
        let mut sealing_key = md5(&key.as_bytes()[..length], sealing);
        let cipher = Rc4::new(&sealing_key);
        sealing_key.zeroize();
        let encrypts_signatures = flags.has(NegotiateFlags::KEY_EXCHANGE);
        Self { signing_key: md5(key.as_bytes(), signing), cipher, sequence: 0, encrypts_signatures }
    }

    fn code(&self, parts: &[&[u8]]) -> [u8; 8] {
        let sequence = self.sequence.to_le_bytes();
        let mut all: Vec<&[u8]> = vec![&sequence];
        all.extend_from_slice(parts);
        let code = hmac_md5(&self.signing_key, &all);
        let mut front = [0; 8];
        front.copy_from_slice(&code[..8]);
        front
    }

    /// [MS-NLMP] 2.2.2.9.2 `NTLMSSP_MESSAGE_SIGNATURE` with extended session security.
    fn sign(&mut self, mut code: [u8; 8]) -> [u8; 16] {
        if self.encrypts_signatures {
            self.cipher.apply(&mut code);
        }
        let mut signature = [0; 16];
        signature[0] = 1;
        signature[4..12].copy_from_slice(&code);
        signature[12..].copy_from_slice(&self.sequence.to_le_bytes());
        self.sequence = self.sequence.wrapping_add(1);
        signature
    }

    fn sign_aside(&mut self, content: &[u8]) -> [u8; 16] {
        let cipher = self.cipher.clone();
        let signature = self.sign(self.code(&[content]));
        self.cipher = cipher;
        signature
    }
}

fn md5(key: &[u8], constant: &[u8]) -> [u8; 16] {
    Md5::new().chain_update(key).chain_update(constant).finalize().into()
}

/// The stream cipher that NTLM is built on.
#[derive(Clone)]
struct Rc4 {
    state: [u8; 256],
    i: u8,
    j: u8,
}

impl Rc4 {
    fn new(key: &[u8; 16]) -> Self {
        let mut state = [0; 256];
        for (index, value) in (0..=u8::MAX).enumerate() {
            state[index] = value;
        }
        let mut j = 0_u8;
        for index in 0..state.len() {
            j = j.wrapping_add(state[index]).wrapping_add(key[index % key.len()]);
            state.swap(index, j.into());
        }
        Self { state, i: 0, j: 0 }
    }

    fn apply(&mut self, bytes: &mut [u8]) {
        for byte in bytes {
            self.i = self.i.wrapping_add(1);
            self.j = self.j.wrapping_add(self.state[usize::from(self.i)]);
            self.state.swap(self.i.into(), self.j.into());
            let sum = self.state[usize::from(self.i)].wrapping_add(self.state[usize::from(self.j)]);
            *byte ^= self.state[usize::from(sum)];
        }
    }
}

impl Drop for Rc4 {
    fn drop(&mut self) {
        self.state.zeroize();
    }
}
