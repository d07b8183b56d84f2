//! Which secret is being tried, and what was said of it: the guard, and the state that outlives the process.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use config::Identity;
use parking_lot::{Mutex, MutexGuard};
use plugin_abi::{CredentialAnswer, CredentialVerdict, LeaseId, Waiter};
use support::input::secret::SecretBytes;

use super::memory::{Memory, Recalled, Secret};
use super::words::{KDC, Subject, left_out, log_change, withheld};
use crate::credentials::guard::{Decision, Guard, Host, Outcome, Scope, Withheld};
use crate::credentials::{Clock, Moment, Salt};

/// A cache of tickets in the memory of this process, for as long as this lives.
pub trait TicketCache: Send + Sync {
    /// The name begins with `MEMORY:`.
    fn name(&self) -> &str;
}

/// Maximum retry delay of a waiter.
pub(super) const RETRY_AFTER_MS: u32 = 1_000;

pub(super) struct Vault {
    pub(super) salt: Salt,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) memory: Memory,
    next_lease: AtomicU64,
    shared: Mutex<Shared>,
}

/// A secret that somebody wants to try.
pub(super) struct Trial<'a> {
    pub(super) name: &'a str,
    pub(super) identity: &'a Identity,
    pub(super) secret: SecretBytes,
    pub(super) scope: Scope,
    pub(super) host: Host,
    /// The configured target, or whom the plugin named.
    pub(super) target: &'a str,
    /// Whether each logon shows it to a KDC, and to no host.
    pub(super) is_for_kdc: bool,
}

impl<'a> Trial<'a> {
    /// One that is shown to a KDC: all KDCs count as one host, which every refusal is of.
    pub(super) fn of_kdc(
        name: &'a str,
        identity: &'a Identity,
        secret: SecretBytes,
        target: &'a str,
    ) -> Self {
        let scope = Scope {
            realm: identity.domain.to_lowercase(),
            username: identity.username.to_lowercase(),
            is_local: true,
        };
        Self { name, identity, secret, scope, host: Host::new(KDC, None), target, is_for_kdc: true }
    }
}

impl Vault {
    pub(super) fn new(salt: Salt, clock: Arc<dyn Clock>, memory: Memory, guard: Guard) -> Self {
        let (leases, counts, users) = (HashMap::new(), BTreeMap::new(), BTreeMap::new());
        let shared = Mutex::new(Shared { guard, leases, counts, users });
        Self { salt, clock, memory, next_lease: AtomicU64::new(1), shared }
    }

    pub(super) fn shared(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock()
    }

    /// A name for a cache of tickets that this process has not used yet.
    pub(super) fn unique(&self, identity: &str) -> String {
        let number = self.next_lease.fetch_add(1, Ordering::Relaxed);
        format!("perfmon-{identity}-{number}")
    }

    pub(super) fn now(&self) -> Moment {
        self.clock.now()
    }

    /// A lease of the secret, which [`Vault::result`] ends; `Err` is the answer to who gets none (yet).
    pub(super) fn lend(&self, trial: Trial<'_>, waiter: &Waiter) -> Result<LeaseId, CredentialAnswer> {
        let Trial { name, identity, secret, scope, host, target, is_for_kdc } = trial;
        let now = self.now();
        let id = LeaseId(self.next_lease.fetch_add(1, Ordering::Relaxed));
        let fingerprint = self.salt.fingerprint(&secret);
        let mut shared = self.shared.lock();
        shared.enter(&scope, name);
        let decision = shared.guard.acquire(&scope, &host, fingerprint, id, waiter, now);
        let refused_before = |withheld: &Withheld, message| {
            // The reason stays what it was when the host said it.
            CredentialAnswer::Denied { reason: withheld.refused.refusal.reason(), message }
        };
        match decision {
            Decision::Wait => Err(CredentialAnswer::Wait { retry_after_ms: RETRY_AFTER_MS }),
            Decision::Withheld(because) => Err(refused_before(&because, withheld(identity, &because))),
            Decision::LeftOut(because) => Err(refused_before(&because, left_out(identity, &because))),
            Decision::Lease => {
                let open = OpenLease {
                    identity: name.to_owned(),
                    account: identity.account_name(),
                    target: target.to_owned(),
                    lent: if is_for_kdc { Lent::Key(secret) } else { Lent::Secret(secret) },
                };
                shared.leases.insert(id, open);
                Ok(id)
            }
        }
    }

    /// A lease that no guard is needed for: one of tickets, with which no logon can lock the account, or of a key that a KDC
    /// took.
    pub(super) fn lend_proven(&self, name: &str, identity: &Identity, target: &str, lent: Lent) -> LeaseId {
        let id = LeaseId(self.next_lease.fetch_add(1, Ordering::Relaxed));
        let (name, account, target) = (name.to_owned(), identity.account_name(), target.to_owned());
        let open = OpenLease { identity: name, account, target, lent };
        self.shared.lock().leases.insert(id, open);
        id
    }

    /// The end of a lease. Returns whose it was, where it was one by Kerberos.
    pub(super) fn result(&self, lease: LeaseId, verdict: CredentialVerdict) -> Option<OpenLease> {
        let now = self.now();
        let mut shared = self.shared.lock();
        let open = shared.leases.remove(&lease)?;
        let (Lent::Secret(secret) | Lent::Key(secret)) = &open.lent else { return Some(open) };
        let is_by_kerberos = matches!(open.lent, Lent::Key(_));
        let Outcome { change, waiters } = shared.guard.result(lease, verdict, now);
        drop(shared);
        if let Some((scope, change, remembered)) = change {
            let OpenLease { identity, account, target, .. } = &open;
            log_change(&Subject { identity, account, target }, secret, &change);
            let fingerprint = self.salt.fingerprint(secret);
            self.memory.keep(scope, remembered, Secret { fingerprint, bytes: secret.clone() });
        }
        waiters.iter().for_each(Waiter::wake);
        is_by_kerberos.then_some(open)
    }
}

pub(super) struct Shared {
    pub(super) guard: Guard,
    leases: HashMap<LeaseId, OpenLease>,
    pub(super) counts: BTreeMap<String, Counts>,
    /// Which identities stand for which account; an account may be written twice.
    pub(super) users: BTreeMap<Scope, String>,
}

/// What became of the requests for an identity.
#[derive(Default)]
pub(super) struct Counts {
    pub(super) leases: u64,
    pub(super) withheld: u64,
}

/// What a lease was for.
pub(super) struct OpenLease {
    pub(super) identity: String,
    /// The account's name as it was then.
    pub(super) account: String,
    /// The configured target, or whom the plugin named.
    pub(super) target: String,
    pub(super) lent: Lent,
}

/// INVARIANT: a cache lives at least as long as its leases.
pub(super) enum Lent {
    /// On trial, by the guard.
    Secret(SecretBytes),
    /// The same for a KDC.
    Key(SecretBytes),
    /// A KDC took it before.
    ProvenKey(SecretBytes),
    Tickets(#[expect(dead_code, reason = "it is kept")] Arc<dyn TicketCache>),
}

impl Shared {
    /// Takes over what an earlier process knew, as far as it is not known better.
    pub(super) fn restore(&mut self, recalled: Vec<Recalled>, now: Moment) {
        for Recalled { identity, scope, fingerprint, remembered } in recalled {
            if !self.guard.knows(&scope) {
                self.guard.restore(scope.clone(), fingerprint, remembered, now);
                self.users.insert(scope, identity);
            }
        }
    }

    /// Notes which identity an account belongs to.
    fn enter(&mut self, scope: &Scope, identity: &str) {
        if self.users.contains_key(scope) {
            return;
        }
        if self.guard.make_room() {
            let guard = &self.guard;
            self.users.retain(|scope, _| guard.knows(scope));
        }
        self.users.insert(scope.clone(), identity.to_owned());
    }
}

/// Whether `scope` may be an account of `identity`.
pub(super) fn stands_for(identity: &Identity, scope: &Scope) -> bool {
    scope.may_be(&identity.domain, &identity.username)
}
