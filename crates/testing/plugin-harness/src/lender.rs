//! A credential broker that has the password of simulated hosts.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard};

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
        password.clone_into(&mut locked(&self.password));
    }

    /// Gives this answer from now on; with `None`, the password again.
    pub fn answer(&self, answer: Option<CredentialAnswer>) {
        *locked(&self.answer) = answer;
    }

    /// For which addresses it was asked.
    #[must_use]
    pub fn hosts(&self) -> Vec<String> {
        locked(&self.hosts).clone()
    }

    /// What hosts said of what it lent.
    #[must_use]
    pub fn verdicts(&self) -> Vec<CredentialVerdict> {
        locked(&self.verdicts).clone()
    }
}

impl CredentialBroker for Lender {
    fn acquire(&self, request: &CredentialRequest<'_>, _waiter: &Waiter) -> CredentialAnswer {
        assert_eq!(request.identity, "corp");
        locked(&self.hosts).push(request.host.to_owned());
        if let Some(answer) = locked(&self.answer).clone() {
            return answer;
        }
        CredentialAnswer::Lease(Lease {
            id: LeaseId(self.leases.fetch_add(1, Ordering::Relaxed)),
            kind: CredentialKind::Password,
            domain: "CORP".to_owned(),
            username: USER.to_owned(),
            secret: Secret::new(locked(&self.password).clone().into_bytes()),
        })
    }

    fn result(&self, _lease: LeaseId, verdict: CredentialVerdict) {
        locked(&self.verdicts).push(verdict);
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().expect("nobody panicked")
}
