use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::thread::JoinHandle;
use std::time::{Duration, Instant, SystemTime};

use plugin_host::GeneralReason;
use plugin_host::sink::{
    CredentialAnswer, CredentialBroker, CredentialKind, CredentialRequest, CredentialVerdict, Lease, LeaseId,
    Secret, Waiter,
};
use tracing::{error, info, warn};
use zeroize::Zeroizing;

use super::addresses::{AddressBook, Resolver};
use super::guard::{Change, Decision, Fingerprint, Guard, Moment, Refused, Scope, State};
use super::secret::{self, Salt};
use super::verdicts::{Stored, VerdictFile};
use crate::config::{self, Identity};

/// Who waits asks again after this at the latest.
const RETRY_AFTER_MS: u32 = 1_000;

/// Where the broker takes its time from.
pub trait Clock: Send + Sync {
    /// Now.
    fn now(&self) -> Moment;
}

/// The machine's clocks.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Moment {
        let unix = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        Moment { mono: Instant::now(), unix_s: unix.as_secs() }
    }
}

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
    /// Written by a thread of its own, so that no caller waits for the disk; the lock keeps the order.
    file: Option<Arc<Mutex<VerdictFile>>>,
    /// Those that may still be writing.
    writers: Mutex<Vec<JoinHandle<()>>>,
}

type Identities = BTreeMap<String, Identity>;

struct Shared {
    guard: Guard,
    leases: HashMap<LeaseId, Lent>,
    counts: BTreeMap<String, (u64, u64)>,
    /// Which identities stand for which account; an account may be written twice.
    users: BTreeMap<Scope, String>,
}

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
        if let Some(file) = &file {
            restore(&mut guard, &mut users, file, &identities, &salt);
        }
        let shared = Shared { guard, leases: HashMap::new(), counts: BTreeMap::new(), users };
        Ok(Self {
            identities: RwLock::new(Arc::new(identities)),
            salt,
            addresses: AddressBook::new(resolver, Arc::clone(&clock)),
            clock,
            next_lease: AtomicU64::new(1),
            shared: Arc::new(Mutex::new(shared)),
            file: file.map(|file| Arc::new(Mutex::new(file))),
            writers: Mutex::default(),
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
        if let Some(file) = &self.file {
            restore(guard, users, &lock(file), &new, &self.salt);
        }
        *self.identities.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(identities);
    }

    fn identities(&self) -> Arc<Identities> {
        Arc::clone(&self.identities.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Waits until every verdict so far is on the disk: a program that ends right after one would lose it.
    pub fn finish_writes(&self) {
        let writers = std::mem::take(&mut *lock(&self.writers));
        for writer in writers {
            // What a thread that panicked did not write is tried once more, as if the disk had been full.
            let _ = writer.join();
        }
    }

    /// What is known of each identity.
    #[must_use]
    pub fn states(&self) -> BTreeMap<String, IdentityState> {
        let shared = lock(&self.shared);
        let mut states: BTreeMap<String, IdentityState> =
            self.identities().keys().map(|name| (name.clone(), IdentityState::default())).collect();
        for (name, (leases, withheld)) in &shared.counts {
            let Some(state) = states.get_mut(name) else { continue };
            (state.leases, state.withheld) = (*leases, *withheld);
        }
        for (scope, state) in shared.guard.states() {
            let Some(of) = shared.users.get(scope).and_then(|name| states.get_mut(name)) else { continue };
            match state {
                State::Untried => {}
                State::Trial { .. } => of.on_trial += 1,
                State::Accepted { .. } => of.accepted += 1,
                State::Refused(refused) => match refused.refusal {
                    super::Refusal::Rejected => of.rejected += 1,
                    super::Refusal::Locked => of.locked += 1,
                },
            }
        }
        states
    }

    /// Whether `request` is for what the configuration allows; `Err` is the sentence that says why not.
    fn check_target(&self, request: &CredentialRequest<'_>) -> Result<Identity, String> {
        let name = request.identity;
        let identities = self.identities();
        let identity = identities.get(name).ok_or_else(|| format!("there is no identity `{name}`"))?;
        if let Some(target) = request.configured {
            if target.identity != name {
                return Err(format!(
                    "target `{}` has identity `{}`, not `{name}`",
                    target.name, target.identity
                ));
            }
            let is_its_address = config::address(request.host).is_some();
            if !is_its_address && !target.host.eq_ignore_ascii_case(request.host) {
                return Err(format!(
                    "target `{}` is host `{}`, not `{}`",
                    target.name, target.host, request.host
                ));
            }
            if !identity.allow_hosts.allows_host(&target.host) {
                return Err(format!("`{}` is not in the `allow_hosts` of identity `{name}`", target.host));
            }
            // A plugin may name the address that it reached instead of the name that it was given.
            let named = config::address(&target.host).is_none();
            if is_its_address && named {
                let address: Vec<IpAddr> = config::address(request.host).into_iter().collect();
                let needed = identity.allow_hosts.needs_addresses(&target.host);
                return if !needed || identity.allow_hosts.allows_addresses(&address) {
                    Ok(identity.clone())
                } else {
                    Err(format!(
                        "`{}` was reached at {}, which the `allow_hosts` of identity `{name}` does not have",
                        target.host, request.host
                    ))
                };
            }
        }
        if identity.allow_hosts.allows_host(request.host) {
            Ok(identity.clone())
        } else {
            Err(format!("`{}` is not in the `allow_hosts` of identity `{name}`", request.host))
        }
    }

    fn keep(&self, scope: &Scope, change: &Change, secret: Zeroizing<Vec<u8>>) {
        let Some(file) = self.file.clone() else { return };
        let (scope, change) = (scope.clone(), change.clone());
        let write = move || {
            let mut file = lock(&file);
            let written = match change {
                Change::Refused(refused) => {
                    let fingerprint = file.salt.stored_fingerprint(&secret);
                    file.keep(Stored { scope, fingerprint, refused })
                }
                Change::Accepted | Change::Doubted(_) => file.forget(&scope),
            };
            if let Err(error) = written {
                warn!(%error, "Credential state not written; a restart may try a refused secret once more");
            }
        };
        match std::thread::Builder::new().name("credential-state".to_owned()).spawn(write) {
            Ok(writer) => {
                let mut writers = lock(&self.writers);
                writers.retain(|earlier| !earlier.is_finished());
                writers.push(writer);
            }
            Err(error) => {
                warn!(%error, "Credential state not written; a restart may try a refused secret once more");
            }
        }
    }
}

impl CredentialBroker for Broker {
    fn acquire(&self, request: &CredentialRequest<'_>, waiter: &Waiter) -> CredentialAnswer {
        let denied =
            |message| CredentialAnswer::Denied { reason: GeneralReason::CredentialsWithheld, message };
        let identity = match self.check_target(request) {
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
                counts.1 += 1;
                withheld(&identity, &refused)
            }
            Decision::Lease => {
                counts.0 += 1;
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
            self.keep(&scope, &change, lent.secret);
        }
        waiters.iter().for_each(Waiter::wake);
    }
}

/// One line per change, never one per target.
fn tell(lent: &Lent, change: &Change) {
    let Lent { identity, account, target, .. } = lent;
    match change {
        Change::Accepted => info!(target, identity, account, "Credential accepted"),
        Change::Doubted(refused) => warn!(
            target,
            identity,
            account,
            host = refused.host,
            verdict = refused.refusal.word(),
            "Credential refused by one host and accepted by others; this host is left out, and one more host decides"
        ),
        Change::Refused(refused) => error!(
            target,
            identity,
            account,
            host = refused.host,
            verdict = refused.refusal.word(),
            next_step = "correct the secret; it is read again by itself",
            "Credential refused; it is withheld from every target until it changes"
        ),
    }
}

fn withheld(identity: &Identity, refused: &Refused) -> CredentialAnswer {
    let message = format!(
        "the secret of {} was {} by `{}` and is not tried again until it changes",
        account_name(identity),
        refused.refusal.word(),
        refused.host
    );
    CredentialAnswer::Denied { reason: GeneralReason::CredentialsWithheld, message }
}

/// Whether `scope` may be an account of `identity`.
fn stands_for(identity: &Identity, scope: &Scope) -> bool {
    let of_identity = Scope::new(&identity.domain, &identity.username, &scope.realm);
    of_identity == *scope
}

fn account_name(identity: &Identity) -> String {
    match identity.domain.as_str() {
        "" => identity.username.clone(),
        domain => format!("{domain}\\{}", identity.username),
    }
}

fn refused_addresses(host: &str, addresses: &[IpAddr]) -> String {
    if addresses.is_empty() {
        return format!(
            "`{host}` does not resolve, so its addresses cannot be checked against `allow_hosts`"
        );
    }
    let shown: Vec<String> = addresses.iter().map(ToString::to_string).collect();
    format!("`{host}` resolves to {}, which `allow_hosts` does not have", shown.join(", "))
}

/// Carries the verdicts of an earlier process over, as far as they are about the secrets of today.
fn restore(
    guard: &mut Guard,
    users: &mut BTreeMap<Scope, String>,
    file: &VerdictFile,
    identities: &BTreeMap<String, Identity>,
    salt: &Salt,
) {
    if file.verdicts.is_empty() {
        return;
    }
    for (name, identity) in identities {
        let Ok(secret) = secret::read(&identity.secret) else { continue };
        let mut stored_now: Option<Fingerprint> = None;
        for stored in &file.verdicts {
            let scope = Scope::new(&identity.domain, &identity.username, &stored.refused.host);
            if scope != stored.scope || guard.knows(&scope) {
                continue;
            }
            // Slow on purpose; once per identity that has a verdict.
            let now = *stored_now.get_or_insert_with(|| file.salt.stored_fingerprint(&secret));
            if now == stored.fingerprint {
                warn!(
                    identity = name.as_str(),
                    account = account_name(identity),
                    host = stored.refused.host,
                    verdict = stored.refused.refusal.word(),
                    "Credential was refused before the restart and has not changed; it is withheld"
                );
                guard.restore(scope.clone(), salt.fingerprint(&secret), stored.refused.clone());
                users.insert(scope, name.clone());
            }
        }
    }
}

/// A panic elsewhere leaves the maps whole: every change is one insert or remove.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
