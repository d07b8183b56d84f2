//! [`Broker`] answers requests for secrets; `allowed` decides who may have them, `memory` keeps the state that
//! outlives the process.

mod allowed;
mod memory;
mod words;

use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use config::Identity;
use parking_lot::{Mutex, RwLock};
use plugin_abi::{
    CredentialAnswer, CredentialBroker, CredentialKind, CredentialRequest, CredentialVerdict, GeneralReason,
    Lease, LeaseId, Secret, Waiter,
};
use tracing::warn;
use zeroize::Zeroizing;

use self::allowed::{allowed, refused_addresses};
use self::memory::{Memory, Recalled};
use self::words::{account_name, left_out, log_change, withheld};
use super::guard::{Decision, Guard, Host, Outcome, Refusal, Scope, State, Withheld};
use super::verdicts::VerdictFile;
use super::{AddressBook, Clock, Moment, Resolver, Salt};

/// Maximum retry delay of a waiter.
const RETRY_AFTER_MS: u32 = 1_000;
/// Maximum time that the end of the program waits for writes of the credential state.
const FINISH_WRITES_MAX: Duration = Duration::from_secs(3);

pub struct Broker {
    /// Replaced as a whole: readers continue with their copy.
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
    leases: HashMap<LeaseId, OpenLease>,
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
struct OpenLease {
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
        let (guard, users) = (Guard::new(cooldown), BTreeMap::new());
        let memory = Memory::new(file);
        let mut shared = Shared { guard, leases: HashMap::new(), counts: BTreeMap::new(), users };
        shared.restore(memory.recall(&identities, &salt), clock.now());
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

    /// Replaces the identities. The state of known accounts is kept; a new account is first tried by one target
    /// alone, as always.
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
        // This is slow, so it runs without locks.
        let recalled = self.memory.recall(&new, &self.salt);
        let mut shared = self.shared.lock();
        shared.guard.set_cooldown(cooldown);
        // An account that no identity stands for any more shows nowhere; it is remembered all the same.
        for (scope, user) in &mut shared.users {
            if !identities.get(user).is_some_and(|identity| stands_for(identity, scope))
                && let Some((name, _)) = identities.iter().find(|(_, identity)| stands_for(identity, scope))
            {
                user.clone_from(name);
            }
        }
        shared.restore(recalled, self.clock.now());
        *self.identities.write() = Arc::new(identities);
    }

    /// Somebody wants refused secrets to be tried again now: a locked account may be unlocked. A wrong password is tried once
    /// more, but once in a cool-down.
    pub fn retry_refused(&self) {
        self.shared.lock().guard.retry(self.clock.now());
    }

    fn identities(&self) -> Arc<Identities> {
        Arc::clone(&self.identities.read())
    }

    /// Waits until every verdict so far is on the disk, for three seconds at most: a program that ends right after one
    /// would lose it.
    pub fn finish_writes(&self) {
        if !self.memory.finish_writes(FINISH_WRITES_MAX) {
            warn!("Credential state not written in time; a restart may try a refused secret once more");
        }
    }
}

impl CredentialBroker for Broker {
    fn acquire(&self, request: &CredentialRequest<'_>, waiter: &Waiter) -> CredentialAnswer {
        let denied =
            |message| CredentialAnswer::Denied { reason: GeneralReason::CredentialsWithheld, message };
        let identities = self.identities();
        let identity = match allowed(request, &identities) {
            Ok(identity) => identity,
            Err(message) => return denied(message),
        };
        let now = self.clock.now();
        let host = match self.host(request, &identity, waiter, now) {
            Ok(host) => host,
            Err(answer) => return answer,
        };
        let secret = match identity.password(&identities) {
            Ok(secret) => secret,
            Err(message) => return denied(message),
        };
        let id = LeaseId(self.next_lease.fetch_add(1, Ordering::Relaxed));
        let scope = Scope::new(&identity.domain, &identity.username, &host);
        let fingerprint = self.salt.fingerprint(&secret);
        let mut shared = self.shared.lock();
        shared.enter(&scope, request.identity);
        let decision = shared.guard.acquire(&scope, &host, fingerprint, id, waiter, now);
        let refused_before = |withheld: &Withheld, message| {
            // The reason stays what it was when the host said it.
            CredentialAnswer::Denied { reason: withheld.refused.refusal.reason(), message }
        };
        let counts = shared.counts.entry(request.identity.to_owned()).or_default();
        match decision {
            Decision::Wait => CredentialAnswer::Wait { retry_after_ms: RETRY_AFTER_MS },
            Decision::Withheld(because) => {
                counts.withheld += 1;
                refused_before(&because, withheld(&identity, &because))
            }
            Decision::LeftOut(because) => {
                counts.withheld += 1;
                refused_before(&because, left_out(&identity, &because))
            }
            Decision::Lease => {
                counts.leases += 1;
                let open = OpenLease {
                    identity: request.identity.to_owned(),
                    account: account_name(&identity),
                    target: request.configured.map_or(request.host, |target| &target.name).to_owned(),
                    secret: secret.clone(),
                };
                shared.leases.insert(id, open);
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
        let mut shared = self.shared.lock();
        let open = shared.leases.remove(&lease);
        let Outcome { change, waiters } = shared.guard.result(lease, verdict, now);
        drop(shared);
        if let (Some((scope, change, remembered)), Some(open)) = (change, open) {
            log_change(&open, &change);
            let fingerprint = self.salt.fingerprint(&open.secret);
            self.memory.keep(scope, remembered, memory::Secret { fingerprint, bytes: open.secret });
        }
        waiters.iter().for_each(Waiter::wake);
    }
}

impl Broker {
    /// The host as the guard tells it from others: where it was reached, or else where its name leads, as far as that is
    /// needed. `Err` is the answer to a request that gets nothing (yet).
    fn host(
        &self,
        request: &CredentialRequest<'_>,
        identity: &Identity,
        waiter: &Waiter,
        now: Moment,
    ) -> Result<Host, CredentialAnswer> {
        let name = request.configured.map_or(request.host, |target| &target.host);
        let reached = config::address(request.host);
        let must_be_allowed = reached.is_none() && identity.allow_hosts.needs_addresses(request.host);
        // The accounts of a host are guarded by its address, so that its spelling does not matter.
        let is_needed = must_be_allowed || (reached.is_none() && Scope::is_of_any_host(&identity.domain));
        if !is_needed {
            return Ok(Host::new(name, reached));
        }
        let Some(addresses) = self.addresses.find(request.host, waiter, now.mono) else {
            return Err(CredentialAnswer::Wait { retry_after_ms: RETRY_AFTER_MS });
        };
        let is_allowed = |found: &Vec<IpAddr>| identity.allow_hosts.allows_addresses(found);
        if must_be_allowed && !addresses.as_ref().is_ok_and(is_allowed) {
            let message = refused_addresses(request.host, &addresses);
            return Err(CredentialAnswer::Denied { reason: GeneralReason::CredentialsWithheld, message });
        }
        Ok(Host::new(name, addresses.unwrap_or_default().into_iter().min()))
    }
}

impl Shared {
    /// Takes over what an earlier process knew, as far as it is not known better.
    fn restore(&mut self, recalled: Vec<Recalled>, now: Moment) {
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
fn stands_for(identity: &Identity, scope: &Scope) -> bool {
    scope.may_be(&identity.domain, &identity.username)
}

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
