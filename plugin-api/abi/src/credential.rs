//! The interface to the credentials of the exporter.

use std::fmt;
use std::sync::Arc;

use crate::raw::{
    CREDENTIAL_ACCEPTED, CREDENTIAL_DISABLED, CREDENTIAL_LOCKED, CREDENTIAL_PASSWORD_EXPIRED,
    CREDENTIAL_REJECTED, CREDENTIAL_UNKNOWN, CREDENTIAL_UNSUITABLE,
};
use crate::reason::GeneralReason;
use zeroize::Zeroizing;

use crate::TargetInfo;

/// A request for a secret.
#[derive(Clone, Copy, Debug)]
pub struct CredentialRequest<'a> {
    /// The target of the requesting instance; `None` for a command.
    pub configured: Option<&'a TargetInfo>,
    /// Host name or address to which the plugin will authenticate.
    pub host: &'a str,
    /// The identity's name in the configuration.
    pub identity: &'a str,
}

/// The id of a lease. The broker chooses it and never reuses it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LeaseId(pub u64);

/// The kind of a leased secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CredentialKind {
    /// Domain, user name and password.
    Password,
    /// Realm, name of the principal, and the name of a credential cache in the memory of this process.
    Kerberos,
    /// Realm, name of the principal, and password, for Kerberos without the library of the system.
    KerberosPassword,
    /// The same with a key of a keytab, as `TYPE:HEX`.
    KerberosKey,
}

/// Secret bytes, which are never printed.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Secret(Zeroizing<Vec<u8>>);

impl Secret {
    /// Takes the bytes; they are wiped when this is dropped.
    #[must_use]
    pub fn new(bytes: Vec<u8>) -> Self {
        Self(Zeroizing::new(bytes))
    }

    #[must_use]
    pub fn expose(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

/// A secret that is leased for one authentication.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    pub id: LeaseId,
    /// The kind of the secret.
    pub kind: CredentialKind,
    /// The account's domain or realm; empty for a local account.
    pub domain: String,
    pub username: String,
    /// The service principal of the target, where the configuration has one: else the plugin makes it of the host's name.
    pub service: Option<String>,
    /// Tickets with RC4 may be used.
    pub allows_rc4: bool,
    /// The secret, UTF-8 for a password or the name of a cache.
    pub secret: Secret,
}

#[derive(Clone, Debug)]
pub enum CredentialAnswer {
    /// Try it, then call [`CredentialBroker::result`].
    Lease(Lease),
    /// Another target tries this secret now. The waiter is woken when the verdict is known; a source that cannot
    /// wait for that retries after `retry_after_ms`.
    Wait {
        /// Maximum delay of the retry, in milliseconds.
        retry_after_ms: u32,
    },
    /// Refused: with the reason for which targets refused the secret before, or with
    /// [`GeneralReason::CredentialsWithheld`] if this target may not have it, or it cannot be read.
    Denied { reason: GeneralReason, message: String },
}

/// The target's answer to the secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CredentialVerdict {
    /// The secret was accepted.
    Accepted,
    /// Wrong user name or password.
    Rejected,
    /// The account is locked.
    Locked,
    /// The account is disabled or has expired.
    Disabled,
    /// The password has expired or must be changed.
    PasswordExpired,
    /// This kind of secret is not possible with the target; another kind may be.
    Unsuitable,
    /// There was no verdict (connection lost, cancelled, instance destroyed).
    Unknown,
}

impl CredentialVerdict {
    #[must_use]
    pub const fn code(self) -> u32 {
        match self {
            Self::Unknown => CREDENTIAL_UNKNOWN,
            Self::Accepted => CREDENTIAL_ACCEPTED,
            Self::Rejected => CREDENTIAL_REJECTED,
            Self::Locked => CREDENTIAL_LOCKED,
            Self::Disabled => CREDENTIAL_DISABLED,
            Self::PasswordExpired => CREDENTIAL_PASSWORD_EXPIRED,
            Self::Unsuitable => CREDENTIAL_UNSUITABLE,
        }
    }

    /// An unknown number means `Unknown`.
    #[must_use]
    pub const fn from_code(code: u32) -> Self {
        match code {
            CREDENTIAL_ACCEPTED => Self::Accepted,
            CREDENTIAL_REJECTED => Self::Rejected,
            CREDENTIAL_LOCKED => Self::Locked,
            CREDENTIAL_DISABLED => Self::Disabled,
            CREDENTIAL_PASSWORD_EXPIRED => Self::PasswordExpired,
            CREDENTIAL_UNSUITABLE => Self::Unsuitable,
            _ => Self::Unknown,
        }
    }
}

/// Wakes the waiting instance or run. Cheap to clone; waking twice, or after the owner is gone, does nothing.
#[derive(Clone)]
pub struct Waiter(Arc<dyn Fn() + Send + Sync>);

impl Waiter {
    /// Calls `wake` each time it is woken.
    #[must_use]
    pub fn new(wake: impl Fn() + Send + Sync + 'static) -> Self {
        Self(Arc::new(wake))
    }

    /// The verdict is known: retry.
    pub fn wake(&self) {
        (self.0)();
    }
}

impl fmt::Debug for Waiter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Waiter")
    }
}

/// Leases secrets. The exporter implements it.
///
/// INVARIANT: each lease ends with exactly one [`CredentialBroker::result`]; the host ensures it even if the plugin
/// does not report.
pub trait CredentialBroker: Send + Sync {
    /// Requests a secret. Never blocks; a broker that returns `Wait` keeps a clone of `waiter`.
    fn acquire(&self, request: &CredentialRequest<'_>, waiter: &Waiter) -> CredentialAnswer;

    fn result(&self, lease: LeaseId, verdict: CredentialVerdict);
}

/// A broker without secrets: denies everything.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoCredentials;

impl CredentialBroker for NoCredentials {
    fn acquire(&self, request: &CredentialRequest<'_>, _waiter: &Waiter) -> CredentialAnswer {
        CredentialAnswer::Denied {
            reason: GeneralReason::CredentialsWithheld,
            message: format!("no identity `{}` here", request.identity),
        }
    }

    fn result(&self, _lease: LeaseId, _verdict: CredentialVerdict) {}
}
