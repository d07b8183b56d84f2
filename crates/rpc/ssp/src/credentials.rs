use core::fmt;

use gssapi::{EncryptionType, Key};
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

use crate::Error;

/// A password. Erased when dropped; prints as `***`.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Zeroizing<String>);

impl Secret {
    /// Takes the password over.
    #[must_use]
    pub fn new(password: impl Into<String>) -> Self {
        Self(Zeroizing::new(password.into()))
    }

    /// The password itself. Whoever calls this answers for where it goes.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

/// What a client proves itself with: a password by NTLM, the others by Kerberos.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Credentials {
    Password(AccountPassword),
    Tickets(Tickets),
    /// Where the library of the system is absent.
    Principal(Principal),
}

impl Credentials {
    /// An account and its password.
    #[must_use]
    pub fn new(domain: impl Into<String>, username: impl Into<String>, password: Secret) -> Self {
        Self::Password(AccountPassword { domain: domain.into(), username: username.into(), password })
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccountPassword {
    /// The NetBIOS or DNS name of the domain; empty for a local account or a name in the form `user@domain`.
    pub domain: String,
    pub username: String,
    pub password: Secret,
}

/// Tickets of a cache in the memory of this process. They are the same where the account, the service and the types are:
/// caches are replaced when their tickets are renewed.
#[derive(Clone, Debug)]
pub struct Tickets {
    /// The account that they were issued to.
    pub principal: String,
    /// The cache's name, `MEMORY:` and more.
    pub cache: String,
    /// The service to authenticate to, in place of [`ClientOptions::target_name`](crate::ClientOptions::target_name).
    pub service: Option<String>,
    /// What may protect a session, the preferred first.
    pub encryption_types: Vec<EncryptionType>,
}

impl PartialEq for Tickets {
    fn eq(&self, other: &Self) -> bool {
        let Self { principal, cache: _, service, encryption_types } = self;
        (principal, service, encryption_types) == (&other.principal, &other.service, &other.encryption_types)
    }
}

impl Eq for Tickets {}

/// An account of Kerberos without a cache: its tickets are asked for at each logon, and forgotten.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Principal {
    pub realm: String,
    /// The name without the realm.
    pub username: String,
    pub proof: LongTermKey,
    /// The service to authenticate to, as [`Tickets::service`] has it.
    pub service: Option<String>,
}

/// What a principal and its KDC share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LongTermKey {
    Password(Secret),
    Key(Key),
}

/// The key of one authentication, of 16 to 32 bytes. Erased when dropped; prints as `***`.
#[derive(Clone, PartialEq, Eq, Zeroize, ZeroizeOnDrop)]
pub struct SessionKey {
    bytes: [u8; Self::LEN_MAX],
    len: usize,
}

impl SessionKey {
    /// Bytes that every key has, and that NTLM's has.
    pub const LEN: usize = 16;
    /// Bytes of the longest key, which Kerberos has.
    const LEN_MAX: usize = 32;

    /// Takes a key of NTLM over.
    #[must_use]
    pub const fn new(key: [u8; Self::LEN]) -> Self {
        let mut bytes = [0; Self::LEN_MAX];
        bytes.split_at_mut(Self::LEN).0.copy_from_slice(&key);
        Self { bytes, len: Self::LEN }
    }

    pub(crate) fn from_slice(key: &[u8]) -> Result<Self, Error> {
        if !(Self::LEN..=Self::LEN_MAX).contains(&key.len()) {
            return Err(Error::UnexpectedToken { reason: "the session's key is too short or too long" });
        }
        let mut bytes = [0; Self::LEN_MAX];
        bytes[..key.len()].copy_from_slice(key);
        Ok(Self { bytes, len: key.len() })
    }

    /// The first 16 bytes, which is what most of [MS-SMB2] takes.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; Self::LEN] {
        match self.bytes.first_chunk() {
            Some(bytes) => bytes,
            None => unreachable!(),
        }
    }

    /// [MS-SMB2] 3.2.1.3 `Session.FullSessionKey`: all of it, for ciphers with keys of 256 bits.
    #[must_use]
    pub fn full(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}

impl fmt::Debug for SessionKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_secret_is_printed() {
        let credentials = Credentials::new("CORP", "svc", Secret::new("hunter2"));
        let printed = format!("{credentials:?} {:?}", SessionKey::new(*b"0123456789abcdef"));
        assert_eq!(
            printed,
            r#"Password(AccountPassword { domain: "CORP", username: "svc", password: *** }) ***"#
        );
    }
}
