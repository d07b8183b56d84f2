//! Kerberos by the library of the system: MIT's `libgssapi_krb5.so.2`, loaded when it is first asked for.
//!
//! | module | what |
//! | --- | --- |
//! | `library` | the functions, as the headers `gssapi_krb5.h`, `gssapi_ext.h` and `krb5.h` declare them |
//! | `ticket` | ticket-granting tickets: by a password or a keytab, or from another cache, into a cache in memory |
//! | `context` | security contexts of GSS-API ([RFC 2743]), which use such a cache, or a keytab on the other side |
//! | `keytab` | keys of a keytab, for logons without the library |
//! | `error` | what a KDC or the library says, and which of a few reasons that is |
//!
//! Every call of `ticket`, and the first step of a client's context, may wait for a KDC for as long as the library likes.
//! Call them on a thread that nobody else waits for without a deadline.
//!
//! A process has one such library however often it is opened, and with it one set of caches in memory: what one part of a
//! process stores under a name that begins with `MEMORY:`, the others find.
//!
//! [RFC 2743]: https://www.rfc-editor.org/rfc/rfc2743

mod context;
mod error;
mod keytab;
mod library;
mod ticket;

pub use self::context::{Acceptor, Initiator, Keys, Leg, Options, Protection, Protocol, Reference};
pub use self::error::{Error, Reason};
pub use self::keytab::Key;
pub use self::library::{Kerberos, LoadError, read_first};
pub use self::ticket::{Cache, Origin, Ticket};

/// The number of an encryption type. SHA-1 is RFC 3962's, the other hashes are RFC 8009's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct EncryptionType(pub i32);

impl EncryptionType {
    pub const AES128_SHA1: Self = Self(17);
    pub const AES256_SHA1: Self = Self(18);
    pub const AES128_SHA256: Self = Self(19);
    pub const AES256_SHA384: Self = Self(20);
    /// RFC 4757, which is weak.
    pub const RC4_HMAC: Self = Self(23);
    /// The strong ones, the preferred first.
    pub const STRONG: [Self; 4] =
        [Self::AES256_SHA384, Self::AES128_SHA256, Self::AES256_SHA1, Self::AES128_SHA1];

    /// What is spoken where there is no library.
    pub const WITHOUT_LIBRARY: [Self; 2] = [Self::AES256_SHA1, Self::AES128_SHA1];

    /// The strong ones, and after them RC4 where it is allowed.
    #[must_use]
    pub fn permitted(allows_rc4: bool) -> Vec<Self> {
        let weak = allows_rc4.then_some(Self::RC4_HMAC);
        Self::STRONG.into_iter().chain(weak).collect()
    }
}

impl core::fmt::Display for EncryptionType {
    /// As krb5.conf calls it.
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match *self {
            Self::AES128_SHA1 => f.write_str("aes128-cts-hmac-sha1-96"),
            Self::AES256_SHA1 => f.write_str("aes256-cts-hmac-sha1-96"),
            Self::AES128_SHA256 => f.write_str("aes128-cts-hmac-sha256-128"),
            Self::AES256_SHA384 => f.write_str("aes256-cts-hmac-sha384-192"),
            Self::RC4_HMAC => f.write_str("arcfour-hmac"),
            Self(number) => write!(f, "encryption type {number}"),
        }
    }
}
