//! Tickets of identities: [`Tickets`] keeps one ticket-granting ticket for each identity that somebody asked for.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use config::{Identity, Secret};
use parking_lot::{Condvar, Mutex};
use plugin_abi::{CredentialAnswer, CredentialVerdict, GeneralReason, Waiter};
use support::input::secret::SecretBytes;
use tracing::{info, warn};

use super::Identities;
use super::source::{Granted, NotGranted, Proof, TicketSource};
use super::vault::{RETRY_AFTER_MS, TicketCache, Trial, Vault};
use super::words::KDC;
use crate::credentials::Moment;

/// What a KDC's answer says of the secret.
const fn verdict_of(outcome: Result<(), GeneralReason>) -> CredentialVerdict {
    match outcome {
        Ok(()) => CredentialVerdict::Accepted,
        Err(GeneralReason::WrongCredentials) => CredentialVerdict::Rejected,
        Err(GeneralReason::AccountDisabled) => CredentialVerdict::Disabled,
        Err(GeneralReason::PasswordExpired) => CredentialVerdict::PasswordExpired,
        Err(_) => CredentialVerdict::Unknown,
    }
}

/// Files of secrets are looked at this often.
const LOOK: Duration = Duration::from_secs(10);
/// After this time a KDC, or the library, is said not to answer: before a collection ends, which has 10 s.
const PATIENCE: Duration = Duration::from_secs(5);
/// Tickets that a host does not take are replaced no sooner.
const RENEWED_AFTER: Duration = Duration::from_secs(300);
/// Caches that are kept besides the newest one, for sessions that still use them.
const REPLACED_MAX: usize = 4;
/// The first pause after a failure; each one after it is twice as long.
const PAUSE_MIN: Duration = Duration::from_secs(5);
/// A KDC that comes back is found after it.
const PAUSE_MAX: Duration = Duration::from_secs(60);
/// There is no library, which is looked for once in a process.
const NO_LIBRARY: Duration = Duration::from_secs(86_400);
/// Clocks that differ by more are told of: a host may permit less than the KDC.
const SKEW_MAX_S: u32 = 60;

/// The tickets of all identities, by their names.
pub(super) struct Tickets {
    vault: Arc<Vault>,
    source: Arc<dyn TicketSource>,
    keepers: Mutex<BTreeMap<String, Arc<Keeper>>>,
}

impl Tickets {
    pub(super) fn new(vault: Arc<Vault>, source: Arc<dyn TicketSource>) -> Self {
        Self { vault, source, keepers: Mutex::default() }
    }

    /// The tickets of an identity, as soon as there are some. The first one who asks starts a thread for it: whatever the
    /// library does there, other identities do not wait for it.
    pub(super) fn find(
        &self,
        name: &str,
        identities: &Arc<Identities>,
        waiter: &Waiter,
    ) -> Result<LentTickets, CredentialAnswer> {
        let mut keepers = self.keepers.lock();
        let is_current = |keeper: &&Arc<Keeper>| keeper.identity.account() == identities[name].account();
        let keeper = match keepers.get(name).filter(is_current) {
            Some(keeper) => Arc::clone(keeper),
            None => {
                let keeper = Keeper::new(name, identities, &self.vault, &self.source);
                let works = Arc::clone(&keeper);
                let thread = std::thread::Builder::new().name("kerberos".to_owned());
                thread.spawn(move || works.run()).map_err(|error| CredentialAnswer::Denied {
                    reason: GeneralReason::Internal,
                    message: format!("start a thread for tickets: {error}"),
                })?;
                if let Some(other) = keepers.insert(name.to_owned(), Arc::clone(&keeper)) {
                    other.stop();
                }
                keeper
            }
        };
        drop(keepers);
        keeper.find(waiter)
    }

    /// Ends the keepers of identities that are gone, or log on in another way now. Others go on.
    pub(super) fn retain(&self, identities: &Identities) {
        self.keepers.lock().retain(|name, keeper| {
            let is_same =
                identities.get(name).is_some_and(|identity| identity.account() == keeper.identity.account());
            if !is_same {
                keeper.stop();
            }
            is_same
        });
    }

    /// Somebody wants what failed to be tried again now.
    pub(super) fn retry(&self) {
        self.keepers.lock().values().for_each(|keeper| keeper.retry());
    }

    /// A host did not take a ticket: others are asked for, but seldom.
    pub(super) fn renew(&self, name: &str) {
        if let Some(keeper) = self.keepers.lock().get(name) {
            keeper.renew();
        }
    }

    pub(super) fn states(&self) -> BTreeMap<String, TicketState> {
        let keepers = self.keepers.lock();
        keepers.iter().map(|(name, keeper)| (name.clone(), keeper.state.lock().shown.clone())).collect()
    }
}

impl Drop for Tickets {
    fn drop(&mut self) {
        self.keepers.lock().values().for_each(|keeper| keeper.stop());
    }
}

/// Tickets for a lease.
pub(super) struct LentTickets {
    pub(super) cache: Arc<dyn TicketCache>,
    pub(super) principal: String,
}

/// What is known of an identity's tickets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TicketState {
    /// As the KDC writes it; empty before the first ticket.
    pub principal: String,
    /// When the ticket-granting ticket ends; 0 if there never was one.
    pub expires_unix_s: u64,
    /// When it was obtained last.
    pub obtained_unix_s: u64,
    /// Ticket-granting tickets so far.
    pub obtained: u64,
    /// How far the KDC's clock is ahead of ours, where it told.
    pub skew_seconds: Option<i32>,
    /// Attempts that failed, by reason.
    pub failures: BTreeMap<GeneralReason, u64>,
    /// Why the last attempt failed; nothing once one succeeds.
    pub failure: Option<NotGranted>,
}

struct Keeper {
    name: String,
    identity: Identity,
    identities: Arc<Identities>,
    vault: Arc<Vault>,
    source: Arc<dyn TicketSource>,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    held: Option<Held>,
    /// Sessions that began with them go on until these end.
    replaced: Vec<Held>,
    /// The call of the source that has not returned.
    trying_since: Option<Instant>,
    /// When the next attempt is due; nothing before the first.
    due: Option<Instant>,
    /// Attempts that failed since one succeeded.
    failed: u32,
    /// Its silence was told.
    is_silence_told: bool,
    waiters: Vec<Waiter>,
    file: Option<FileStamp>,
    is_stopped: bool,
    shown: TicketState,
}

struct Held {
    cache: Arc<dyn TicketCache>,
    expires: Instant,
    expires_unix_s: u64,
}

/// What tells a file from the one that replaced it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FileStamp {
    inode: u64,
    changed: (i64, i64),
    size: u64,
}

impl FileStamp {
    fn of(path: &Path) -> Option<Self> {
        let found = fs::metadata(path).ok()?;
        let changed = (found.mtime(), found.mtime_nsec());
        Some(Self { inode: found.ino(), changed, size: found.size() })
    }
}

/// Says of a refusal what was refused, before what the library says.
fn refused_as(attempt: Attempt, said: impl FnOnce() -> String) -> Attempt {
    match attempt {
        Attempt::Failed(NotGranted { reason: reason @ GeneralReason::WrongCredentials, message }) => {
            Attempt::Failed(NotGranted { reason, message: format!("{}: {message}", said()) })
        }
        attempt => attempt,
    }
}

/// How an attempt ended.
enum Attempt {
    Granted(Granted),
    Failed(NotGranted),
    /// The secret was refused before, so that nobody was asked.
    Withheld(NotGranted),
    /// Another identity of the same account asks the KDC just now.
    Busy,
}

impl Keeper {
    fn new(
        name: &str,
        identities: &Arc<Identities>,
        vault: &Arc<Vault>,
        source: &Arc<dyn TicketSource>,
    ) -> Arc<Self> {
        Arc::new(Self {
            name: name.to_owned(),
            identity: identities[name].clone(),
            identities: Arc::clone(identities),
            vault: Arc::clone(vault),
            source: Arc::clone(source),
            state: Mutex::default(),
            changed: Condvar::new(),
        })
    }

    fn stop(&self) {
        let mut state = self.state.lock();
        state.is_stopped = true;
        state.wake();
        self.changed.notify_all();
    }

    fn retry(&self) {
        let mut state = self.state.lock();
        if state.shown.failure.is_some() {
            state.due = None;
            self.changed.notify_all();
        }
    }

    fn renew(&self) {
        let now = self.vault.now();
        let mut state = self.state.lock();
        if now.unix_s.saturating_sub(state.shown.obtained_unix_s) >= RENEWED_AFTER.as_secs() {
            state.due = None;
            self.changed.notify_all();
        }
    }

    fn find(&self, waiter: &Waiter) -> Result<LentTickets, CredentialAnswer> {
        let now = self.vault.now().mono;
        let mut state = self.state.lock();
        if state.trying_since.is_none() && state.due.is_some_and(|due| due <= now) {
            self.changed.notify_all();
        }
        if let Some(held) = state.held.as_ref().filter(|held| held.expires > now) {
            return Ok(LentTickets {
                cache: Arc::clone(&held.cache),
                principal: state.shown.principal.clone(),
            });
        }
        if let Some(NotGranted { reason, message }) = state.shown.failure.clone() {
            if self.stamp() != state.file {
                self.changed.notify_all();
            }
            return Err(CredentialAnswer::Denied { reason, message });
        }
        if let Some(silent) = state.trying_since.map(|since| now.saturating_duration_since(since))
            && silent > PATIENCE
        {
            let message =
                format!("the KDC, or the Kerberos library, has not answered for {} s", silent.as_secs());
            let reason = GeneralReason::KdcUnreachable;
            if !std::mem::replace(&mut state.is_silence_told, true) {
                self.warn(&NotGranted { reason, message: message.clone() });
            }
            return Err(CredentialAnswer::Denied { reason, message });
        }
        state.waiters.push(waiter.clone());
        Err(CredentialAnswer::Wait { retry_after_ms: RETRY_AFTER_MS })
    }

    fn run(&self) {
        loop {
            let pause = self.step();
            let mut state = self.state.lock();
            if state.is_stopped {
                return;
            }
            if state.due.is_some() {
                self.changed.wait_for(&mut state, pause);
            }
        }
    }

    /// Obtains a ticket, if one is due. Returns how long there is nothing to do.
    fn step(&self) -> Duration {
        let now = self.vault.now().mono;
        let file = self.stamp();
        let mut state = self.state.lock();
        let is_changed = state.due.is_some() && file != state.file;
        let left = state.due.map_or(Duration::ZERO, |due| due.saturating_duration_since(now));
        if state.is_stopped || (!is_changed && !left.is_zero()) {
            return left.min(LOOK);
        }
        state.file = file;
        state.trying_since = Some(now);
        drop(state);
        let attempt = self.attempt();
        let now = self.vault.now();
        let mut state = self.state.lock();
        (state.trying_since, state.is_silence_told) = (None, false);
        let pause = match attempt {
            Attempt::Granted(granted) => self.hold(&mut state, granted, now),
            Attempt::Failed(failure) => {
                let pause = self.fail(&mut state, &failure);
                if failure.reason == GeneralReason::NoKerberos { NO_LIBRARY } else { pause }
            }
            Attempt::Withheld(failure) => {
                state.shown.failure = Some(failure);
                PAUSE_MAX
            }
            Attempt::Busy => Duration::from_millis(RETRY_AFTER_MS.into()),
        };
        state.due = Some(now.mono + pause);
        state.wake();
        pause.min(LOOK)
    }

    fn stamp(&self) -> Option<FileStamp> {
        self.identity.secret.file().and_then(FileStamp::of)
    }

    fn attempt(&self) -> Attempt {
        let secret = match self.identity.read_secret(&self.identities) {
            Ok(secret) => secret,
            Err(message) => {
                return Attempt::Failed(NotGranted { reason: GeneralReason::CredentialsWithheld, message });
            }
        };
        let principal = self.identity.account_name();
        if let Secret::Cache(name) = &self.identity.secret {
            return self.of_cache(name, &principal);
        }
        let trial = Trial::of_kdc(&self.name, &self.identity, secret.clone(), KDC);
        // What is asked again in a second needs no waking.
        let lease = match self.vault.lend(trial, &Waiter::new(|| {})) {
            Ok(lease) => lease,
            Err(CredentialAnswer::Denied { reason, message }) => {
                return Attempt::Withheld(NotGranted { reason, message });
            }
            Err(CredentialAnswer::Wait { .. } | CredentialAnswer::Lease(_)) => return Attempt::Busy,
        };
        let attempt = self.obtain_by(&secret, &principal);
        let outcome = match &attempt {
            Attempt::Failed(failure) => Err(failure.reason),
            Attempt::Granted(_) | Attempt::Withheld(_) | Attempt::Busy => Ok(()),
        };
        self.vault.result(lease, verdict_of(outcome));
        attempt
    }

    fn by_keytab(&self, principal: &str, path: &Path) -> Attempt {
        let file = self.identity.readable(path, &self.identities);
        self.obtain(Proof::Keytab { principal, file: &file })
    }

    fn of_cache(&self, name: &str, principal: &str) -> Attempt {
        let path = self.identity.secret.file().map(|path| path.display().to_string());
        match self.obtain(Proof::Cache { name }) {
            Attempt::Granted(granted)
                if !self.identity.username.is_empty() && granted.principal != principal =>
            {
                Attempt::Failed(NotGranted {
                    reason: GeneralReason::UnknownPrincipal,
                    message: format!("the credential cache is of {}, not of {principal}", granted.principal),
                })
            }
            Attempt::Failed(NotGranted { reason, message }) => {
                // The library names it in its own way.
                let path = path.as_deref().unwrap_or(name);
                let message = message.replace(&format!(" (filename: {path})"), "");
                let message = format!("credential cache {path}: {message}");
                Attempt::Failed(NotGranted { reason, message })
            }
            attempt => attempt,
        }
    }

    fn obtain_by(&self, secret: &SecretBytes, principal: &str) -> Attempt {
        match &self.identity.secret {
            Secret::Keytab(path) => refused_as(self.by_keytab(principal, path), || {
                format!("the KDC has another key than keytab {}", path.display())
            }),
            _ => match str::from_utf8(secret) {
                Ok(password) => refused_as(self.obtain(Proof::Password { principal, password }), || {
                    "the KDC refuses the password".to_owned()
                }),
                Err(_) => Attempt::Failed(NotGranted {
                    reason: GeneralReason::CredentialsWithheld,
                    message: "the password is not UTF-8".to_owned(),
                }),
            },
        }
    }

    fn obtain(&self, proof: Proof<'_>) -> Attempt {
        let allows_rc4 = self.identity.kerberos().is_some_and(|kerberos| kerberos.allow_rc4);
        match self.source.obtain(&self.vault.unique(&self.name), proof, allows_rc4) {
            Ok(granted) if granted.lifetime.is_zero() => Attempt::Failed(NotGranted {
                reason: GeneralReason::TicketExpired,
                message: format!("the ticket of {} has expired", granted.principal),
            }),
            Ok(granted) => Attempt::Granted(granted),
            Err(NotGranted { reason: GeneralReason::NoKerberos, message }) if self.has_key() => {
                let message = format!("{message}; a KDC is asked at each logon instead");
                Attempt::Failed(NotGranted { reason: GeneralReason::NoKerberos, message })
            }
            Err(failure) => Attempt::Failed(failure),
        }
    }

    /// Returns when the ticket is renewed: when a quarter of its time is left.
    fn hold(&self, state: &mut State, granted: Granted, now: Moment) -> Duration {
        let Granted { cache, principal, lifetime, skew_seconds } = granted;
        let expires_unix_s = now.unix_s.saturating_add(lifetime.as_secs());
        // The program that renews a cache has not done so yet. The tickets for services are in the one that is held.
        let is_same = matches!(self.identity.secret, Secret::Cache(_))
            && state.held.as_ref().is_some_and(|held| held.expires_unix_s.abs_diff(expires_unix_s) <= 1)
            && state.shown.principal == principal;
        let failed = std::mem::take(&mut state.failed);
        let failure = state.shown.failure.take();
        if is_same {
            if failure.is_some() {
                info!(identity = self.name, principal, failed, "Credential cache is readable again");
            }
            return PAUSE_MAX.min(lifetime);
        }
        info!(
            identity = self.name,
            principal,
            kind = self.identity.kind(),
            lifetime_seconds = lifetime.as_secs(),
            failed,
            "Kerberos ticket obtained"
        );
        if let Some(skew) = skew_seconds.filter(|skew| skew.unsigned_abs() > SKEW_MAX_S)
            && state.shown.skew_seconds.is_none_or(|before| before.abs_diff(skew) > SKEW_MAX_S)
        {
            warn!(
                identity = self.name,
                skew_seconds = skew,
                next_step = GeneralReason::ClockSkew.next_step(),
                "The KDC's clock differs from this machine's; hosts may refuse tickets"
            );
        }
        state.replaced.extend(state.held.take());
        state.replaced.retain(|held| held.expires > now.mono);
        let surplus = state.replaced.len().saturating_sub(REPLACED_MAX);
        state.replaced.drain(..surplus);
        state.held = Some(Held { cache, expires: now.mono + lifetime, expires_unix_s });
        let shown = &mut state.shown;
        (shown.principal, shown.expires_unix_s) = (principal, expires_unix_s);
        (shown.obtained_unix_s, shown.skew_seconds) = (now.unix_s, skew_seconds);
        shown.obtained += 1;
        lifetime.mul_f64(0.75)
    }

    fn fail(&self, state: &mut State, failure: &NotGranted) -> Duration {
        let pause = PAUSE_MIN.saturating_mul(1 << state.failed.min(8)).min(PAUSE_MAX);
        state.failed = state.failed.saturating_add(1);
        *state.shown.failures.entry(failure.reason).or_default() += 1;
        let before = state.shown.failure.replace(failure.clone());
        // What the KDC says of a secret was told when it was said.
        let is_told = verdict_of(Err(failure.reason)) != CredentialVerdict::Unknown
            || before.is_some_and(|before| before.reason == failure.reason);
        if !is_told {
            self.warn(failure);
        }
        pause
    }

    /// Whether a KDC can be asked without the library.
    const fn has_key(&self) -> bool {
        !matches!(self.identity.secret, Secret::Cache(_))
    }

    fn warn(&self, NotGranted { reason, message }: &NotGranted) {
        if *reason == GeneralReason::NoKerberos && self.has_key() {
            return warn!(
                identity = self.name,
                principal = self.identity.account_name(),
                problem = message,
                lost = "three questions to a KDC at each logon instead of one ticket for all; of the KDCs only the \
                        first that is configured; no KDCs by DNS; AES with SHA-1 alone",
                next_step = reason.next_step(),
                "Kerberos works without its library, and loses by it"
            );
        }
        warn!(
            identity = self.name,
            principal = self.identity.account_name(),
            reason = reason.as_str(),
            problem = message,
            next_step = reason.next_step(),
            "No Kerberos ticket; it is tried again"
        );
    }
}

impl State {
    fn wake(&mut self) {
        std::mem::take(&mut self.waiters).iter().for_each(Waiter::wake);
    }
}
