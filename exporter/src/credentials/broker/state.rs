use std::collections::BTreeMap;

use super::Broker;
use crate::credentials::guard::{Refusal, State};

/// The state of an identity's secret, over all its accounts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IdentityState {
    pub on_trial: u64,
    /// Accounts whose secret was accepted.
    pub accepted: u64,
    /// Accounts whose secret is withheld because it was rejected.
    pub rejected: u64,
    /// Accounts that are locked, so that their secret is withheld.
    pub locked: u64,
    /// Accounts that are disabled or have expired.
    pub disabled: u64,
    /// Accounts whose password has expired or must be changed.
    pub password_expired: u64,
    pub leases: u64,
    /// Requests that were denied because the secret is withheld.
    pub withheld: u64,
}

impl IdentityState {
    /// Accounts whose secret is withheld, for whatever reason.
    #[must_use]
    pub const fn refused(&self) -> u64 {
        self.rejected + self.locked + self.disabled + self.password_expired
    }
}

impl Broker {
    /// What is known of each identity.
    #[must_use]
    pub fn states(&self) -> BTreeMap<String, IdentityState> {
        let shared = self.shared.lock();
        let mut states: BTreeMap<String, IdentityState> =
            self.identities().keys().map(|name| (name.clone(), IdentityState::default())).collect();
        for (name, counts) in &shared.counts {
            let Some(state) = states.get_mut(name) else { continue };
            (state.leases, state.withheld) = (counts.leases, counts.withheld);
        }
        for (scope, state) in shared.guard.states() {
            let Some(of) = shared.users.get(scope).and_then(|name| states.get_mut(name)) else { continue };
            match state {
                State::Untried => {}
                State::Trial => of.on_trial += 1,
                State::Accepted => of.accepted += 1,
                State::Refused(refused) => match refused.refusal {
                    Refusal::Rejected => of.rejected += 1,
                    Refusal::Locked => of.locked += 1,
                    Refusal::Disabled => of.disabled += 1,
                    Refusal::PasswordExpired => of.password_expired += 1,
                },
            }
        }
        states
    }
}
