//! A credential broker that has the password of simulated hosts.

use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;
use plugin_abi::{
    CredentialAnswer, CredentialBroker, CredentialKind, CredentialRequest, CredentialVerdict, Lease, LeaseId,
    Secret, Waiter,
};

/// The password that simulated hosts take.
pub const PASSWORD: &str = "Passw0rd-of-the-test";
/// The account that simulated hosts know, of the domain `CORP`.
pub const USER: &str = "svc-metrics";

/// A credential broker with one identity, `corp`. It records requests and results.
#[derive(Debug)]
pub struct Lender {
    password: Mutex<String>,
    answer: Mutex<Option<CredentialAnswer>>,
    hosts: Mutex<Vec<String>>,
    verdicts: Mutex<Vec<CredentialVerdict>>,
    leases: AtomicU64,
}

impl Default for Lender {
    fn default() -> Self {
        Self::new(PASSWORD)
    }
}

impl Lender {
    /// Answers with this password, which may be wrong.
    #[must_use]
    pub fn new(password: &str) -> Self {
        Self {
            password: Mutex::new(password.to_owned()),
            answer: Mutex::default(),
            hosts: Mutex::default(),
            verdicts: Mutex::default(),
            leases: AtomicU64::new(0),
        }
    }

    /// Answers with another password from now on.
    pub fn change_password(&self, password: &str) {
        password.clone_into(&mut self.password.lock());
    }

    /// Gives this answer from now on; with `None`, the password again.
    pub fn answer(&self, answer: Option<CredentialAnswer>) {
        *self.answer.lock() = answer;
    }

    /// For which addresses it was asked.
    #[must_use]
    pub fn hosts(&self) -> Vec<String> {
        self.hosts.lock().clone()
    }

    /// What hosts said of what it lent.
    #[must_use]
    pub fn verdicts(&self) -> Vec<CredentialVerdict> {
        self.verdicts.lock().clone()
    }
}

impl CredentialBroker for Lender {
    fn acquire(&self, request: &CredentialRequest<'_>, _waiter: &Waiter) -> CredentialAnswer {
        assert_eq!(request.identity, "corp");
        self.hosts.lock().push(request.host.to_owned());
        if let Some(answer) = self.answer.lock().clone() {
            return answer;
        }
        CredentialAnswer::Lease(Lease {
            id: LeaseId(self.leases.fetch_add(1, Ordering::Relaxed)),
            kind: CredentialKind::Password,
            domain: "CORP".to_owned(),
            username: USER.to_owned(),
            secret: Secret::new(self.password.lock().clone().into_bytes()),
        })
    }

    fn result(&self, _lease: LeaseId, verdict: CredentialVerdict) {
        self.verdicts.lock().push(verdict);
    }
}
