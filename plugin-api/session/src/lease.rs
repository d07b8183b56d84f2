//! Credentials that the exporter leases for one logon.
//!
//! Every logon uses credentials that the exporter leased, and reports the host's verdict. So the exporter can
//! ensure that a wrong password is tried only once and not once per target.

use std::net::IpAddr;

use host_session::{SessionError, Verdict};
use plugin_sdk::{Collection, Credential, CredentialKind, Failure, GeneralReason, Stage};
use ssp::kerberos::{EncryptionType, Key};
use ssp::{Credentials, LongTermKey, Principal, Secret, Tickets};
use tokio::time::{Instant, timeout_at};

/// Credentials that are leased for one more logon over a session. Dropping it reports that the verdict is unknown.
#[derive(Debug)]
#[must_use = "the exporter waits for the verdict"]
pub struct SessionLease(pub(crate) Credential);

impl SessionLease {
    /// Reports the host's verdict on the credentials.
    pub fn settle<T>(self, result: &Result<T, SessionError>) {
        let verdict = result.as_ref().map_or_else(SessionError::verdict, |_| Verdict::Accepted);
        report_verdict(self.0, verdict);
    }
}

/// Leases the credentials for the host that was reached at `address`. Waits until the exporter leases them.
pub(crate) async fn lease(
    collection: &Collection,
    address: Option<IpAddr>,
    deadline: Instant,
) -> Result<Credential, Failure> {
    collection.enter(Stage::Auth);
    let leased = timeout_at(deadline, collection.credential_at(address)).await.unwrap_or_else(|_passed| {
        let message = "the exporter waits for what another host, or a KDC, says of the identity";
        Err(Failure::new(Stage::Auth, GeneralReason::Timeout, message))
    });
    collection.leave();
    leased
}

/// The credentials of a lease, for a session.
pub(crate) fn leased_credentials(credential: &Credential) -> Credentials {
    let secret = credential.secret();
    let principal = |proof| {
        Credentials::Principal(Principal {
            realm: credential.domain().to_owned(),
            username: credential.username().to_owned(),
            proof,
            service: credential.service().map(str::to_owned),
        })
    };
    match credential.kind() {
        CredentialKind::Password => {
            Credentials::new(credential.domain(), credential.username(), Secret::new(secret))
        }
        CredentialKind::Kerberos => Credentials::Tickets(Tickets {
            principal: format!("{}@{}", credential.username(), credential.domain()),
            cache: secret.to_owned(),
            service: credential.service().map(str::to_owned),
            encryption_types: EncryptionType::permitted(credential.allows_rc4()),
        }),
        CredentialKind::KerberosPassword => principal(LongTermKey::Password(Secret::new(secret))),
        CredentialKind::KerberosKey => {
            // A key that is none is of no type that is spoken, which the logon says.
            let none = || Key { encryption_type: EncryptionType(0), bytes: Vec::new() };
            principal(LongTermKey::Key(Key::from_text(secret).unwrap_or_else(none)))
        }
    }
}

/// Reports the verdict on leased credentials to the exporter.
pub(crate) fn report_verdict(credential: Credential, verdict: Verdict) {
    match verdict {
        Verdict::Accepted => credential.accepted(),
        Verdict::Rejected => credential.rejected(),
        Verdict::Locked => credential.locked(),
        Verdict::Disabled => credential.disabled(),
        Verdict::PasswordExpired => credential.password_expired(),
        Verdict::Unsuitable => credential.unsuitable(),
        Verdict::Unknown => drop(credential),
    }
}

/// Whether the host refuses the credentials themselves.
pub(crate) const fn is_refusal(verdict: Verdict) -> bool {
    !matches!(verdict, Verdict::Accepted | Verdict::Unsuitable | Verdict::Unknown)
}
