//! Secrets that are leased for one authentication.

use std::fmt;
use std::time::Duration;

use plugin_abi::{CredentialKind, CredentialVerdict, GeneralReason, Stage};

use super::failure::{Failure, Reason};
use super::token::Signal;
use crate::host::{self, Acquired, Lease};

/// A secret that is leased for one authentication. Report the target's answer; dropping it reports that the answer
/// is unknown.
pub struct Credential(Lease);

impl Credential {
    /// The account's domain or realm; empty for a local account.
    #[must_use]
    pub fn domain(&self) -> &str {
        &self.0.domain
    }

    #[must_use]
    pub fn username(&self) -> &str {
        &self.0.username
    }

    #[must_use]
    pub fn kind(&self) -> CredentialKind {
        self.0.kind
    }

    /// The service principal of the target, where the configuration has one.
    #[must_use]
    pub fn service(&self) -> Option<&str> {
        Some(self.0.service.as_str()).filter(|service| !service.is_empty())
    }

    /// Whether tickets with RC4 may be used.
    #[must_use]
    pub fn allows_rc4(&self) -> bool {
        self.0.allows_rc4
    }

    /// The password, the name of a cache of Kerberos tickets, or a key, by [`Credential::kind`].
    #[must_use]
    pub fn secret(&self) -> &str {
        &self.0.secret
    }

    /// The target accepted it.
    pub fn accepted(self) {
        self.end(CredentialVerdict::Accepted);
    }

    /// The target says that user name or password are wrong.
    pub fn rejected(self) {
        self.end(CredentialVerdict::Rejected);
    }

    /// The target says that the account is locked.
    pub fn locked(self) {
        self.end(CredentialVerdict::Locked);
    }

    /// The target says that the account is disabled or has expired.
    pub fn disabled(self) {
        self.end(CredentialVerdict::Disabled);
    }

    /// The target says that the password has expired or must be changed.
    pub fn password_expired(self) {
        self.end(CredentialVerdict::PasswordExpired);
    }

    /// A secret of this kind is not possible with the target.
    pub fn unsuitable(self) {
        self.end(CredentialVerdict::Unsuitable);
    }

    fn end(mut self, verdict: CredentialVerdict) {
        host::credential_result(std::mem::take(&mut self.0.token), verdict);
    }
}

impl Drop for Credential {
    fn drop(&mut self) {
        if self.0.token != 0 {
            host::credential_result(self.0.token, CredentialVerdict::Unknown);
        }
    }
}

impl fmt::Debug for Credential {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Credential")
            .field("domain", &self.0.domain)
            .field("username", &self.0.username)
            .field("kind", &self.0.kind)
            .field("secret", &"***")
            .finish_non_exhaustive()
    }
}

/// Requests the secret until the answer is not "wait".
pub(crate) async fn acquire(
    owner: u64,
    wake: &Signal,
    host_name: &str,
    identity: &str,
) -> Result<Credential, Failure> {
    loop {
        let woken = wake.raised();
        match host::credential_acquire(owner, host_name, identity) {
            Acquired::Lease(lease) => return Ok(Credential(lease)),
            Acquired::Denied(code) => {
                let reason = GeneralReason::from_code(code).unwrap_or(GeneralReason::CredentialsWithheld);
                let message = format!("the exporter does not lend identity `{identity}` for {host_name}");
                return Err(Failure::new(Stage::Auth, reason, message));
            }
            Acquired::Wait { retry_after_ms } => {
                let pause = Duration::from_millis(u64::from(retry_after_ms.max(RETRY_MS_MIN)));
                // Retry after a wake-up or the time-out.
                let _ = tokio::time::timeout(pause, woken).await;
            }
            Acquired::Refused(status) => {
                let message = format!("the exporter answers status {status} to a request for credentials");
                return Err(Failure::new(Stage::Auth, Reason::General(GeneralReason::Internal), message));
            }
        }
    }
}

const RETRY_MS_MIN: u32 = 50;
