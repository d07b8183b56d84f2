//! [`Broker`] answers requests for secrets.
//!
//! | module | what |
//! | --- | --- |
//! | `allowed` | who may have them |
//! | `vault` | which of them is being tried, and what was said of it |
//! | `kerberos` | what identities of Kerberos log on with, and where they fall back to NTLM |
//! | `source` | where ticket-granting tickets come from |
//! | `tickets` | tickets of Kerberos, by which identities log on without showing a secret to hosts |
//! | `memory` | what outlives the process |
//! | `words` | log records, and messages to who asks |

mod allowed;
mod kerberos;
mod memory;
mod source;
mod tickets;
mod vault;
mod words;

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use config::Identity;
use parking_lot::{Mutex, RwLock};
use plugin_abi::{
    CredentialAnswer, CredentialBroker, CredentialKind, CredentialRequest, CredentialVerdict, GeneralReason,
    Lease, LeaseId, Secret, Waiter,
};
use tracing::warn;

use self::allowed::{allowed, refused_addresses};
use self::kerberos::{ByKerberos, Fallbacks};
use self::memory::Memory;
pub use self::source::{Granted, NotGranted, Proof, SystemKerberos, TicketSource};
pub use self::tickets::TicketState;
use self::tickets::Tickets;
pub use self::vault::TicketCache;
use self::vault::{RETRY_AFTER_MS, Trial, Vault, stands_for};
use super::guard::{Guard, Host, Refusal, Scope, State};
use super::realms;
use super::verdicts::VerdictFile;
use super::{AddressBook, Clock, Fingerprint, Moment, Resolver, Salt};

/// Maximum time that the end of the program waits for writes of the credential state.
const FINISH_WRITES_MAX: Duration = Duration::from_secs(3);

pub struct Broker {
    /// Replaced as a whole: readers continue with their copy.
    identities: RwLock<Arc<Identities>>,
    addresses: AddressBook,
    vault: Arc<Vault>,
    tickets: Tickets,
    fallbacks: Mutex<Fallbacks>,
    /// The keys that a KDC took last, by the account, where there is no library.
    proven: Mutex<BTreeMap<String, Fingerprint>>,
}

type Identities = BTreeMap<String, Identity>;

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
        tickets: Arc<dyn TicketSource>,
    ) -> std::io::Result<Self> {
        realms::write(&identities);
        let vault = Vault::new(Salt::random()?, Arc::clone(&clock), Memory::new(file), Guard::new(cooldown));
        vault.shared().restore(vault.memory.recall(&identities, &vault.salt), clock.now());
        let vault = Arc::new(vault);
        Ok(Self {
            identities: RwLock::new(Arc::new(identities)),
            addresses: AddressBook::new(resolver, clock),
            tickets: Tickets::new(Arc::clone(&vault), tickets),
            vault,
            fallbacks: Mutex::default(),
            proven: Mutex::default(),
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
        let recalled = self.vault.memory.recall(&new, &self.vault.salt);
        self.proven.lock().clear();
        let mut shared = self.vault.shared();
        shared.guard.set_cooldown(cooldown);
        // An account that no identity stands for any more shows nowhere; it is remembered all the same.
        for (scope, user) in &mut shared.users {
            if !identities.get(user).is_some_and(|identity| stands_for(identity, scope))
                && let Some((name, _)) = identities.iter().find(|(_, identity)| stands_for(identity, scope))
            {
                user.clone_from(name);
            }
        }
        shared.restore(recalled, self.vault.now());
        drop(shared);
        realms::write(&identities);
        let identities = Arc::new(identities);
        *self.identities.write() = Arc::clone(&identities);
        self.tickets.retain(&identities);
    }

    /// Somebody wants refused secrets to be tried again now: a locked account may be unlocked. A wrong password is tried once
    /// more, but once in a cool-down.
    pub fn retry_refused(&self) {
        let now = self.vault.now();
        self.vault.shared().guard.retry(now);
        self.tickets.retry();
        self.fallbacks.lock().values_mut().for_each(|until| *until = now.mono);
        self.proven.lock().clear();
    }

    pub(super) fn identities(&self) -> Arc<Identities> {
        Arc::clone(&self.identities.read())
    }

    /// Waits until every verdict so far is on the disk, for three seconds at most: a program that ends right after one
    /// would lose it.
    pub fn finish_writes(&self) {
        if !self.vault.memory.finish_writes(FINISH_WRITES_MAX) {
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
        let host = match self.host(request, &identity, waiter, self.vault.now()) {
            Ok(host) => host,
            Err(answer) => return answer,
        };
        let target = request.configured.map_or(request.host, |target| &target.name);
        let answer = match identity.kerberos() {
            None => self.lend_password(request.identity, &identity, &identities, host, target, waiter),
            Some(kerberos) => {
                let by = ByKerberos { request, identity: &identity, kerberos, target };
                match self.lend_tickets(&by, &identities, waiter) {
                    Some(answer) => answer,
                    None => {
                        self.lend_password(request.identity, &identity, &identities, host, target, waiter)
                    }
                }
            }
        };
        self.count(request.identity, &answer);
        answer
    }

    fn result(&self, lease: LeaseId, verdict: CredentialVerdict) {
        if let Some(open) = self.vault.result(lease, verdict) {
            self.settle(open, verdict);
        }
    }
}

impl Broker {
    fn lend_password(
        &self,
        name: &str,
        identity: &Identity,
        identities: &Identities,
        host: Host,
        target: &str,
        waiter: &Waiter,
    ) -> CredentialAnswer {
        let secret = match identity.read_secret(identities) {
            Ok(secret) => secret,
            Err(message) => {
                return CredentialAnswer::Denied { reason: GeneralReason::CredentialsWithheld, message };
            }
        };
        let scope = Scope::new(&identity.domain, &identity.username, &host);
        let secret_of_lease = Secret::new(secret.to_vec());
        let trial = Trial { name, identity, secret, scope, host, target, is_for_kdc: false };
        match self.vault.lend(trial, waiter) {
            Ok(id) => CredentialAnswer::Lease(Lease {
                id,
                kind: CredentialKind::Password,
                domain: identity.domain.clone(),
                username: identity.username.clone(),
                service: None,
                allows_rc4: false,
                secret: secret_of_lease,
            }),
            Err(answer) => answer,
        }
    }

    fn count(&self, identity: &str, answer: &CredentialAnswer) {
        let is_refused = |reason| Refusal::ALL.iter().any(|refusal| refusal.reason() == reason);
        let mut shared = self.vault.shared();
        match answer {
            CredentialAnswer::Lease(_) => shared.counts.entry(identity.to_owned()).or_default().leases += 1,
            CredentialAnswer::Denied { reason, .. } if is_refused(*reason) => {
                shared.counts.entry(identity.to_owned()).or_default().withheld += 1;
            }
            CredentialAnswer::Denied { .. } | CredentialAnswer::Wait { .. } => {}
        }
    }

    /// What is known of the tickets of each identity that asked for some.
    #[must_use]
    pub fn tickets(&self) -> BTreeMap<String, TicketState> {
        let identities = self.identities();
        let mut states = self.tickets.states();
        states.retain(|name, _| identities.contains_key(name));
        states
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
        let shared = self.vault.shared();
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
