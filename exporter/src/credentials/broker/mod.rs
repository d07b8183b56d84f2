//! [`Broker`] answers who asks for a secret; `allowed` says who may have it, `memory` keeps what outlives the process.

mod allowed;
mod memory;
mod words;

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::Duration;

use plugin_host::GeneralReason;
use plugin_host::sink::{
    CredentialAnswer, CredentialBroker, CredentialKind, CredentialRequest, CredentialVerdict, Lease, LeaseId,
    Secret, Waiter,
};
use zeroize::Zeroizing;

use self::allowed::{allowed, refused_addresses};
use self::memory::Memory;
use self::words::{account_name, tell, withheld};
use super::addresses::{AddressBook, Resolver};
use super::clock::Clock;
use super::guard::{Decision, Guard, Refusal, Scope, State};
use super::secret::{self, Salt};
use super::verdicts::VerdictFile;
use crate::config::{self, Identity};

/// Who waits asks again after this at the latest.
const RETRY_AFTER_MS: u32 = 1_000;

/// What is known of an identity's secret, over all accounts that it stands for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IdentityState {
    /// Accounts on trial.
    pub on_trial: u64,
    /// Accounts whose secret was accepted.
    pub accepted: u64,
    /// Accounts whose secret is withheld because it was rejected.
    pub rejected: u64,
    /// Accounts whose secret is withheld because the account is locked, disabled or expired.
    pub locked: u64,
    /// Leases handed out.
    pub leases: u64,
    /// Requests that were denied because the secret is withheld.
    pub withheld: u64,
}

/// The exporter's [`CredentialBroker`].
pub struct Broker {
    /// Replaced as a whole: who reads goes on with what it has.
    identities: RwLock<Arc<Identities>>,
    salt: Salt,
    clock: Arc<dyn Clock>,
    addresses: AddressBook,
    next_lease: AtomicU64,
    shared: Arc<Mutex<Shared>>,
    memory: Memory,
}

type Identities = BTreeMap<String, Identity>;

struct Shared {
    guard: Guard,
    leases: HashMap<LeaseId, Lent>,
    /// By identity.
    counts: BTreeMap<String, Counts>,
    /// Which identities stand for which account; an account may be written twice.
    users: BTreeMap<Scope, String>,
}

/// What became of the requests for an identity.
#[derive(Default)]
struct Counts {
    leases: u64,
    withheld: u64,
}

/// What a lease was for.
struct Lent {
    identity: String,
    /// The account's name as it was then.
    account: String,
    /// The configured target, or whom the plugin named.
    target: String,
    secret: Zeroizing<Vec<u8>>,
}

impl Broker {
    /// A broker for `identities`.
    ///
    /// # Errors
    /// When the kernel gives no random bytes.
    pub fn new(
        identities: BTreeMap<String, Identity>,
        cooldown: Duration,
        file: Option<VerdictFile>,
        clock: Arc<dyn Clock>,
        resolver: Arc<dyn Resolver>,
    ) -> std::io::Result<Self> {
        let salt = Salt::random()?;
        let mut guard = Guard::new(cooldown);
        let mut users = BTreeMap::new();
        let memory = Memory::new(file);
        memory.restore(&mut guard, &mut users, &identities, &salt);
        let shared = Shared { guard, leases: HashMap::new(), counts: BTreeMap::new(), users };
        Ok(Self {
            identities: RwLock::new(Arc::new(identities)),
            salt,
            addresses: AddressBook::new(resolver, Arc::clone(&clock)),
            clock,
            next_lease: AtomicU64::new(1),
            shared: Arc::new(Mutex::new(shared)),
            memory,
        })
    }

    /// From now on these are the identities. What is known of an account's secret stays known; who asks next for an
    /// account that is new tries it alone, as ever.
    pub fn set_identities(&self, identities: BTreeMap<String, Identity>, cooldown: Duration) {
        let before = self.identities();
        let is_new = |(name, identity): &(&String, &Identity)| {
            before.get(*name).is_none_or(|known| known.account() != identity.account())
        };
        let new: Identities = identities
            .iter()
            .filter(is_new)
            .map(|(name, identity)| (name.clone(), identity.clone()))
            .collect();
        let mut shared = lock(&self.shared);
        let Shared { guard, users, .. } = &mut *shared;
        guard.set_cooldown(cooldown);
        // An account that no identity stands for any more shows nowhere; it is remembered all the same.
        for (scope, user) in users.iter_mut() {
            if !identities.get(user).is_some_and(|identity| stands_for(identity, scope))
                && let Some((name, _)) = identities.iter().find(|(_, identity)| stands_for(identity, scope))
            {
                user.clone_from(name);
            }
        }
        self.memory.restore(guard, users, &new, &self.salt);
        *self.identities.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(identities);
    }

    fn identities(&self) -> Arc<Identities> {
        Arc::clone(&self.identities.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Waits until every verdict so far is on the disk: a program that ends right after one would lose it.
    pub fn finish_writes(&self) {
        self.memory.finish_writes();
    }

    /// What is known of each identity.
    #[must_use]
    pub fn states(&self) -> BTreeMap<String, IdentityState> {
        let shared = lock(&self.shared);
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
                State::Trial { .. } => of.on_trial += 1,
                State::Accepted { .. } => of.accepted += 1,
                State::Refused(refused) => match refused.refusal {
                    Refusal::Rejected => of.rejected += 1,
                    Refusal::Locked => of.locked += 1,
                },
            }
        }
        states
    }
}

impl CredentialBroker for Broker {
    fn acquire(&self, request: &CredentialRequest<'_>, waiter: &Waiter) -> CredentialAnswer {
        let denied =
            |message| CredentialAnswer::Denied { reason: GeneralReason::CredentialsWithheld, message };
        let identity = match allowed(request, &self.identities()) {
            Ok(identity) => identity,
            Err(message) => return denied(message),
        };
        let now = self.clock.now();
        let host = request.configured.map_or(request.host, |target| &target.host).to_lowercase();
        let by_name = config::address(request.host).is_none();
        if by_name && identity.allow_hosts.needs_addresses(request.host) {
            let Some(addresses) = self.addresses.find(request.host, waiter, now.mono) else {
                return CredentialAnswer::Wait { retry_after_ms: RETRY_AFTER_MS };
            };
            if !identity.allow_hosts.allows_addresses(&addresses) {
                return denied(refused_addresses(request.host, &addresses));
            }
        }
        let secret = match secret::read(&identity.secret) {
            Ok(secret) => secret,
            Err(message) => return denied(message),
        };
        let id = LeaseId(self.next_lease.fetch_add(1, Ordering::Relaxed));
        let scope = Scope::new(&identity.domain, &identity.username, &host);
        let fingerprint = self.salt.fingerprint(&secret);
        let mut shared = lock(&self.shared);
        if !shared.users.contains_key(&scope) {
            shared.users.insert(scope.clone(), request.identity.to_owned());
        }
        let decision = shared.guard.acquire(&scope, &host, fingerprint, id, waiter, now);
        let counts = shared.counts.entry(request.identity.to_owned()).or_default();
        match decision {
            Decision::Wait => CredentialAnswer::Wait { retry_after_ms: RETRY_AFTER_MS },
            Decision::Withheld(refused) => {
                counts.withheld += 1;
                withheld(&identity, &refused)
            }
            Decision::Lease => {
                counts.leases += 1;
                let lent = Lent {
                    identity: request.identity.to_owned(),
                    account: account_name(&identity),
                    target: request.configured.map_or(request.host, |target| &target.name).to_owned(),
                    secret: secret.clone(),
                };
                shared.leases.insert(id, lent);
                CredentialAnswer::Lease(Lease {
                    id,
                    kind: CredentialKind::Password,
                    domain: identity.domain.clone(),
                    username: identity.username.clone(),
                    secret: Secret::new(secret.to_vec()),
                })
            }
        }
    }

    fn result(&self, lease: LeaseId, verdict: CredentialVerdict) {
        let now = self.clock.now();
        let mut shared = lock(&self.shared);
        let lent = shared.leases.remove(&lease);
        let (change, waiters) = shared.guard.result(lease, verdict, now);
        drop(shared);
        if let (Some((scope, change)), Some(lent)) = (change, lent) {
            tell(&lent, &change);
            self.memory.keep(&scope, &change, lent.secret);
        }
        waiters.iter().for_each(Waiter::wake);
    }
}

/// Whether `scope` may be an account of `identity`.
fn stands_for(identity: &Identity, scope: &Scope) -> bool {
    let of_identity = Scope::new(&identity.domain, &identity.username, &scope.realm);
    of_identity == *scope
}

/// A panic elsewhere leaves the maps whole: every change is one insert or remove.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
