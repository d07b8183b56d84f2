//! Targets that get no credential for one and the same reason: a password that was refused stops every target of its
//! identity, and the log needs no line for each of them.

use std::collections::HashMap;

use parking_lot::Mutex;
use plugin_abi::GeneralReason;

use crate::targets::account::Down;

/// How many targets are down for each reason, by identity and details. The details of a host outside of `allow_hosts`
/// name that host, so that it is counted apart.
#[derive(Debug, Default)]
pub(super) struct Denials(Mutex<HashMap<(String, String), usize>>);

impl Denials {
    /// Counts one more target of `identity`; answers how many there are.
    pub(super) fn enter(&self, identity: &str, down: &Down) -> usize {
        let mut counts = self.0.lock();
        let count = counts.entry((identity.to_owned(), down.message.clone())).or_default();
        *count += 1;
        *count
    }

    pub(super) fn leave(&self, identity: &str, down: &Down) {
        let mut counts = self.0.lock();
        let key = (identity.to_owned(), down.message.clone());
        let Some(count) = counts.get_mut(&key) else { return };
        *count -= 1;
        if *count == 0 {
            counts.remove(&key);
        }
    }
}

/// Whether a target may be down because its identity's credential is not given to it. The message is then the same for all
/// that do not get it; that of a host that refused it is the host's own.
pub(super) fn is_denial(down: &Down) -> bool {
    DENIALS.iter().any(|reason| down.reason == reason.as_str())
}

/// What targets say that do not get a credential: they are not allowed it, or somebody was refused with it.
const DENIALS: [GeneralReason; 5] = [
    GeneralReason::CredentialsWithheld,
    GeneralReason::WrongCredentials,
    GeneralReason::AccountLocked,
    GeneralReason::AccountDisabled,
    GeneralReason::PasswordExpired,
];

/// Whether a line is due when the count comes to this: at 1, 10, 100 and so on.
pub(super) fn is_milestone(count: usize) -> bool {
    count.checked_ilog10().is_some_and(|exponent| 10_usize.pow(exponent) == count)
}
