//! Credentials, lent by the exporter for one logon.
//!
//! Whenever we prove who we are, the exporter has lent the credentials for it and is told the verdict: it sees to it
//! that a wrong password is tried once and not once by each target.

use std::net::IpAddr;

use host_session::{SessionError, Verdict};
use plugin_sdk::{Collection, Credential, Failure, GeneralReason, Stage};
use ssp::{Credentials, Secret};
use tokio::time::{Instant, timeout_at};

/// Credentials, lent for one more logon over a session. Dropped, it says that nobody knows whether they are right.
#[derive(Debug)]
#[must_use = "the exporter waits for the verdict"]
pub struct SessionLease(pub(crate) Credential);

impl SessionLease {
    /// Reports what the host made of the credentials.
    pub fn settle<T>(self, result: &Result<T, SessionError>) {
        let verdict = result.as_ref().map_or_else(SessionError::verdict, |_| Verdict::Accepted);
        report_verdict(self.0, verdict);
    }
}

/// Leases the credentials for the host that was reached at `address`, as soon as the exporter lends them.
pub(crate) async fn lease(
    collection: &Collection,
    address: Option<IpAddr>,
    deadline: Instant,
) -> Result<Credential, Failure> {
    collection.enter(Stage::Auth);
    let leased = timeout_at(deadline, collection.credential_at(address)).await.unwrap_or_else(|_passed| {
        let message = "another target is trying the same password for the first time, and has no answer yet";
        Err(Failure::new(Stage::Auth, GeneralReason::Timeout, message))
    });
    collection.leave();
    leased
}

/// The credentials of a lease, for a session.
pub(crate) fn credentials(credential: &Credential) -> Credentials {
    Credentials::new(credential.domain(), credential.username(), Secret::new(credential.password()))
}

/// Tells the exporter what became of the credentials that it lent.
pub(crate) fn report_verdict(credential: Credential, verdict: Verdict) {
    match verdict {
        Verdict::Accepted => credential.accepted(),
        Verdict::Rejected => credential.rejected(),
        Verdict::Locked => credential.locked(),
        Verdict::Unknown => drop(credential),
    }
}

/// Whether the host takes the credentials from nobody.
pub(crate) const fn is_refusal(verdict: Verdict) -> bool {
    matches!(verdict, Verdict::Rejected | Verdict::Locked)
}
