use core::fmt;

use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

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

#[derive(Clone, PartialEq, Eq)]
pub struct Credentials {
    /// The NetBIOS or DNS name of the domain; empty for a local account or a name in the form `user@domain`.
    pub domain: String,
    pub username: String,
    pub password: Secret,
}

impl Credentials {
    /// Puts the three together.
    #[must_use]
    pub fn new(domain: impl Into<String>, username: impl Into<String>, password: Secret) -> Self {
        Self { domain: domain.into(), username: username.into(), password }
    }
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Credentials")
            .field("domain", &self.domain)
            .field("username", &self.username)
            .field("password", &self.password)
            .finish()
    }
}

/// The key of one authentication. Erased when dropped; prints as `***`.
#[derive(Clone, PartialEq, Eq, Zeroize, ZeroizeOnDrop)]
pub struct SessionKey([u8; Self::LEN]);

impl SessionKey {
    /// Bytes in a key.
    pub const LEN: usize = 16;

    /// Takes the key over.
    #[must_use]
    pub const fn new(bytes: [u8; Self::LEN]) -> Self {
        Self(bytes)
    }

    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; Self::LEN] {
        &self.0
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
        assert_eq!(printed, r#"Credentials { domain: "CORP", username: "svc", password: *** } ***"#);
    }
}
