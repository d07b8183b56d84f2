mod account;
mod scope;

use std::collections::HashMap;
use std::time::Duration;

use plugin_host::sink::{CredentialVerdict, LeaseId, Waiter};

use self::account::Account;
use super::clock::Moment;

pub use self::account::State;
pub use self::scope::Scope;

/// Tells one secret from another without keeping it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fingerprint(pub [u8; 32]);

/// Why a secret is withheld.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Refusal {
    /// Wrong user name or password.
    Rejected,
    /// The account is locked, disabled or expired.
    Locked,
}

impl Refusal {
    /// The word for labels, logs and the state file.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Rejected => "rejected",
            Self::Locked => "locked",
        }
    }
}

/// A verdict against a secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// Why.
    pub refusal: Refusal,
    /// Which host said so.
    pub host: String,
    /// When, in Unix seconds.
    pub since_unix_s: u64,
}

/// What to answer to who asks for a secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Hand it out.
    Lease,
    /// Somebody else tries it now.
    Wait,
    /// Keep it.
    Withheld(Refused),
}

/// A verdict that changed something: what to log, count and keep.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// It is good.
    Accepted,
    /// One host refuses what another accepted: that host is left alone, and the next one decides.
    Doubted(Refused),
    /// It is bad, and nobody gets it any more.
    Refused(Refused),
}

/// Decides who may try a secret, so that a wrong one costs one attempt and not one per target.
///
/// Pure: clocks come in as arguments, answers go out; the broker around it reads files and wakes threads.
///
/// The rules, per [`Scope`]:
/// 1. A secret that is new, changed, or was last accepted ten minutes ago is tried by one target; others wait.
/// 2. Accepted: everybody gets it.
/// 3. Refused on trial: nobody gets it until it changes or the cool-down has passed; then one target tries, the one that refused it last.
/// 4. Refused by one host after another host accepted it: that host alone is left out, and the secret goes back
///    on trial; a second host's refusal is believed. So a hostile or misconfigured host cannot take the fleet down,
///    and a password changed under our feet costs two attempts.
/// 5. A trial without a verdict (connection lost) passes to the next who asks.
#[derive(Debug)]
pub struct Guard {
    accounts: HashMap<Scope, Account>,
    leases: HashMap<LeaseId, Leased>,
    cooldown: Duration,
}

#[derive(Debug)]
struct Leased {
    scope: Scope,
    host: String,
    fingerprint: Fingerprint,
}

impl Guard {
    /// A guard that has seen nothing.
    #[must_use]
    pub fn new(cooldown: Duration) -> Self {
        Self { accounts: HashMap::new(), leases: HashMap::new(), cooldown }
    }

    /// From now on a refused secret is tried once more after so long.
    pub fn set_cooldown(&mut self, cooldown: Duration) {
        self.cooldown = cooldown;
    }

    /// Whether anybody asked for it yet.
    #[must_use]
    pub fn knows(&self, scope: &Scope) -> bool {
        self.accounts.contains_key(scope)
    }

    /// Takes over a verdict of an earlier process.
    pub fn restore(&mut self, scope: Scope, fingerprint: Fingerprint, refused: Refused) {
        let mut account = Account::new(fingerprint);
        account.state = State::Refused(refused);
        self.accounts.insert(scope, account);
    }

    /// Somebody wants to show the secret to `host`; `lease` is the id that it would get.
    pub fn acquire(
        &mut self,
        scope: &Scope,
        host: &str,
        fingerprint: Fingerprint,
        lease: LeaseId,
        waiter: &Waiter,
        now: Moment,
    ) -> Decision {
        let cooldown = self.cooldown;
        let account = self.accounts.entry(scope.clone()).or_insert_with(|| Account::new(fingerprint));
        if account.fingerprint != fingerprint {
            // INVARIANT: a verdict is about one secret; a changed file begins anew.
            account.begin_anew(fingerprint);
        }
        let decision = account.decide(host, scope.is_local, lease, now, cooldown);
        match &decision {
            Decision::Lease => {
                let leased = Leased { scope: scope.clone(), host: host.to_owned(), fingerprint };
                self.leases.insert(lease, leased);
            }
            Decision::Wait => {
                account.waiters.insert(host.to_owned(), waiter.clone());
            }
            Decision::Withheld(_) => {}
        }
        decision
    }

    /// The end of a lease. Answers what changed, and whom to wake once the caller holds no lock.
    pub fn result(
        &mut self,
        lease: LeaseId,
        verdict: CredentialVerdict,
        now: Moment,
    ) -> (Option<(Scope, Change)>, Vec<Waiter>) {
        let Some(leased) = self.leases.remove(&lease) else { return (None, Vec::new()) };
        let Some(account) = self.accounts.get_mut(&leased.scope) else { return (None, Vec::new()) };
        if account.fingerprint != leased.fingerprint {
            return (None, Vec::new());
        }
        let change = account.learn(lease, leased.host, verdict, leased.scope.is_local, now);
        let waiters = match account.state {
            State::Trial { .. } => Vec::new(),
            _ => account.waiters.drain().map(|(_, waiter)| waiter).collect(),
        };
        (change.map(|change| (leased.scope, change)), waiters)
    }

    /// What is known of each account.
    pub fn states(&self) -> impl Iterator<Item = (&Scope, &State)> {
        self.accounts.iter().map(|(scope, account)| (scope, &account.state))
    }
}
