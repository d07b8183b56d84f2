//! The boundary to who keeps the secrets.

use std::fmt;
use std::sync::Arc;

use plugin_abi::GeneralReason;
use zeroize::Zeroizing;

use crate::target::TargetInfo;

/// A request for a secret.
#[derive(Clone, Copy, Debug)]
pub struct CredentialRequest<'a> {
    /// The target that the asking instance was created for; nothing for a command.
    pub configured: Option<&'a TargetInfo>,
    /// Host name or address that the secret will be proven to.
    pub host: &'a str,
    /// The identity's name in the configuration.
    pub identity: &'a str,
}

/// One lease. The broker chooses it and never uses it again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LeaseId(pub u64);

/// What kind of secret a lease holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CredentialKind {
    /// Domain, user name and password.
    Password,
}

/// Bytes that never show.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Secret(Zeroizing<Vec<u8>>);

impl Secret {
    /// Takes the bytes; they are wiped when this is dropped.
    #[must_use]
    pub fn new(bytes: Vec<u8>) -> Self {
        Self(Zeroizing::new(bytes))
    }

    /// The bytes themselves.
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

/// A secret lent for one authentication.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    /// The broker's name for it.
    pub id: LeaseId,
    /// What the secret is.
    pub kind: CredentialKind,
    /// The account's domain; empty for a local account.
    pub domain: String,
    /// The account.
    pub username: String,
    /// The secret, UTF-8 for a password.
    pub secret: Secret,
}

/// The broker's answer.
#[derive(Clone, Debug)]
pub enum CredentialAnswer {
    /// Try it, then tell [`CredentialBroker::result`].
    Lease(Lease),
    /// Another target tries this secret now. The waiter is woken when the verdict is there; a source that cannot
    /// wait for that asks again after so many milliseconds.
    Wait {
        /// When to ask again at the latest.
        retry_after_ms: u32,
    },
    /// No. Mostly [`GeneralReason::CredentialsWithheld`].
    Denied {
        /// Why.
        reason: GeneralReason,
        /// Details for people.
        message: String,
    },
}

/// What the target said to the secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CredentialVerdict {
    /// It let us in.
    Accepted,
    /// Wrong user name or password.
    Rejected,
    /// The account is locked, disabled or expired.
    Locked,
    /// It never came to a verdict (connection lost, cancelled, instance destroyed).
    Unknown,
}

/// Wakes whoever was told to wait. Cheap to clone; waking twice, or after the owner is gone, does nothing.
#[derive(Clone)]
pub struct Waiter(Arc<dyn Fn() + Send + Sync>);

impl Waiter {
    /// Calls `wake` each time it is woken.
    #[must_use]
    pub fn new(wake: impl Fn() + Send + Sync + 'static) -> Self {
        Self(Arc::new(wake))
    }

    /// The verdict is there: ask again.
    pub fn wake(&self) {
        (self.0)();
    }
}

impl fmt::Debug for Waiter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Waiter")
    }
}

/// Keeps the secrets. The exporter implements it.
///
/// INVARIANT: each lease handed out is answered by exactly one [`CredentialBroker::result`]; the host sees to it,
/// also when the plugin forgets it.
pub trait CredentialBroker: Send + Sync {
    /// Asks for a secret. Never blocks; a broker that says `Wait` keeps a clone of `waiter`.
    fn acquire(&self, request: &CredentialRequest<'_>, waiter: &Waiter) -> CredentialAnswer;

    /// The lease is over.
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
