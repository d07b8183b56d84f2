//! Keeps the secrets: [`Broker`] lends them to plugins, one authentication at a time.
//!
//! A plugin never sees the configuration's secret sources. It requests an identity by name, and the answer is a
//! lease, "wait" or a refusal:
//!
//! - **Bound to targets.** An instance gets only the identity that its target names, for its target's own host. The
//!   host is checked against `allow_hosts` when the configuration is read and again at every lease; where
//!   `AllowHosts::needs_addresses` says so, the name is resolved at the lease, and every address must be allowed.
//!   (The plugin resolves on its own when it connects. Somebody who answers the two questions differently gets past
//!   the network list, but not past the name pattern.)
//! - **Read at the lease.** A rotated file is used without a restart.
//! - **Guarded.** [`Guard`] ensures that a wrong password costs one attempt, not one per target, and that a host
//!   that refuses a good password affects only itself.
//! - **Remembered.** With `credentials.state_dir`, what hosts said survives a restart in a file that holds a salted slow
//!   hash of the secret. Without it, a restart tries a refused secret once more, and one host can withhold an accepted
//!   one again: run it with one where a supervisor restarts the process.

mod broker;
mod guard;
mod realms;
mod verdicts;

use std::collections::HashMap;
use std::io::Read;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};
use std::{fmt, fs};

use hmac::{Hmac, KeyInit, Mac};
use parking_lot::Mutex;
use plugin_abi::Waiter;
use sha2::Sha256;
use support::telemetry::{Metric, Writer};

pub use self::broker::{
    Broker, Granted, IdentityState, NotGranted, Proof, SystemKerberos, TicketCache, TicketSource, TicketState,
};
pub use self::guard::{
    Change, Decision, Fingerprint, Guard, Host, Outcome, Refusal, Refused, Remembered, Scope, State, Withheld,
};
pub(crate) use self::realms::begin as name_realms;
pub use self::verdicts::{Stored, VerdictFile};

/// Two clocks: monotonic for what happens in this process, the wall's for what outlives it.
#[derive(Clone, Copy, Debug)]
pub struct Moment {
    pub mono: Instant,
    pub unix_s: u64,
}

/// Where the broker takes its time from.
pub trait Clock: Send + Sync {
    fn now(&self) -> Moment;
}

#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Moment {
        let unix = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        Moment { mono: Instant::now(), unix_s: unix.as_secs() }
    }
}

/// How long a resolved name is cached.
const FRESH: Duration = Duration::from_secs(10);
/// When this number of names is cached, expired ones are removed.
const NAMES_MAX: usize = 4096;

/// The addresses of a name, at least one; or the reason why there is none.
pub type Resolved = Result<Vec<IpAddr>, String>;

/// Resolves names without blocking the caller.
pub trait Resolver: Send + Sync {
    /// Starts to resolve `host` and calls `done` from any thread.
    fn resolve(&self, host: &str, done: Box<dyn FnOnce(Resolved) + Send>);
}

/// The addresses of names that networks of `allow_hosts` are asked about.
struct AddressBook {
    resolver: Arc<dyn Resolver>,
    clock: Arc<dyn Clock>,
    names: Arc<Mutex<HashMap<String, Addresses>>>,
}

#[derive(Default)]
struct Addresses {
    /// What was found, and when; nothing before the first answer.
    found: Option<(Resolved, Instant)>,
    waiters: Vec<Waiter>,
}

impl AddressBook {
    fn new(resolver: Arc<dyn Resolver>, clock: Arc<dyn Clock>) -> Self {
        Self { resolver, clock, names: Arc::default() }
    }

    /// The addresses of a name, if they are known now; else they are being looked up and `waiter` is woken.
    fn find(&self, host: &str, waiter: &Waiter, now: Instant) -> Option<Resolved> {
        let key = host.to_lowercase();
        let mut names = self.names.lock();
        let is_fresh = |(_, at): &(Resolved, Instant)| now.saturating_duration_since(*at) < FRESH;
        if names.len() >= NAMES_MAX && !names.contains_key(&key) {
            names.retain(|_, known| !known.waiters.is_empty() || known.found.as_ref().is_some_and(is_fresh));
        }
        let entry = names.entry(key.clone()).or_default();
        if let Some(found) = entry.found.as_ref().filter(|found| is_fresh(found)) {
            return Some(found.0.clone());
        }
        let is_first = entry.waiters.is_empty();
        entry.waiters.push(waiter.clone());
        drop(names);
        if is_first {
            let (names, clock) = (Arc::clone(&self.names), Arc::clone(&self.clock));
            let done = move |found| {
                let known = Addresses { found: Some((found, clock.now().mono)), waiters: Vec::new() };
                let before = names.lock().insert(key, known);
                before.into_iter().flat_map(|before| before.waiters).for_each(|waiter| waiter.wake());
            };
            self.resolver.resolve(host, Box::new(done));
        }
        None
    }
}

/// Rounds that make a guess at a stored fingerprint expensive.
const STORED_ROUNDS: u32 = 100_000;

/// Random bytes that make fingerprints of this process, or of one state file, incomparable with others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Salt(pub [u8; 32]);

impl Salt {
    /// A new one from the kernel.
    ///
    /// # Errors
    /// When the kernel's device cannot be read.
    pub fn random() -> std::io::Result<Self> {
        let mut salt = [0; 32];
        fs::File::open("/dev/urandom")?.read_exact(&mut salt)?;
        Ok(Self(salt))
    }

    /// Cheap: for comparing within this process.
    #[must_use]
    pub fn fingerprint(&self, secret: &[u8]) -> Fingerprint {
        Fingerprint(self.mac(&[secret]))
    }

    /// Slow on purpose, since it is written to disk: PBKDF2-HMAC-SHA256 (RFC 8018) of one block, with the secret as
    /// the password.
    #[must_use]
    pub fn stored_fingerprint(&self, secret: &[u8]) -> Fingerprint {
        let keyed = Hmac::<Sha256>::new_from_slice(secret).expect("HMAC takes a key of any length");
        let round = |input: &[u8], counter: &[u8]| -> [u8; 32] {
            let mut mac = keyed.clone();
            mac.update(input);
            mac.update(counter);
            mac.finalize().into_bytes().into()
        };
        let mut last = round(&self.0, &1_u32.to_be_bytes());
        let mut sum = last;
        for _ in 1..STORED_ROUNDS {
            last = round(&last, &[]);
            sum.iter_mut().zip(last).for_each(|(sum, byte)| *sum ^= byte);
        }
        Fingerprint(sum)
    }

    fn mac(&self, parts: &[&[u8]]) -> [u8; 32] {
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.0).expect("HMAC takes a key of any length");
        parts.iter().for_each(|part| mac.update(part));
        mac.finalize().into_bytes().into()
    }
}

impl Broker {
    pub(crate) fn write(&self, out: &mut Writer<'_, '_>) -> fmt::Result {
        let states = self.states();
        let each = |count: fn(&IdentityState) -> u64| {
            states.iter().map(move |(name, state)| ([name.as_str()], count(state)))
        };
        out.rows(&WITHHELD, each(|state| u64::from(state.refused() > 0)))?;
        let accounts = states.iter().flat_map(|(name, state)| {
            let counts = [
                ("on_trial", state.on_trial),
                ("accepted", state.accepted),
                ("rejected", state.rejected),
                ("locked", state.locked),
                ("disabled", state.disabled),
                ("password_expired", state.password_expired),
            ];
            counts.map(|(word, count)| ([name.as_str(), word], count))
        });
        out.rows(&ACCOUNTS, accounts.collect::<Vec<_>>())?;
        out.rows(&LEASES, each(|state| state.leases))?;
        out.rows(&DENIALS, each(|state| state.withheld))?;
        self.write_tickets(out)
    }

    fn write_tickets(&self, out: &mut Writer<'_, '_>) -> fmt::Result {
        let tickets = self.tickets();
        let had = || tickets.iter().filter(|(_, state)| state.obtained > 0);
        let expiry = had().map(|(name, state)| ([name, state.principal.as_str()], state.expires_unix_s));
        out.rows(&TICKET_EXPIRY, expiry)?;
        out.rows(&TICKET_OBTAINED, had().map(|(name, state)| ([name.as_str()], state.obtained_unix_s)))?;
        out.rows(&TICKETS, tickets.iter().map(|(name, state)| ([name.as_str()], state.obtained)))?;
        let failures = tickets.iter().flat_map(|(name, state)| {
            state.failures.iter().map(move |(reason, count)| ([name.as_str(), reason.as_str()], *count))
        });
        out.rows(&TICKET_FAILURES, failures)?;
        let skews = tickets
            .iter()
            .filter_map(|(name, state)| Some(([name.as_str()], f64::from(state.skew_seconds?))));
        out.rows(&CLOCK_SKEW, skews)?;
        let identities = self.identities();
        let of_kerberos = identities.iter().filter(|(_, identity)| identity.kerberos().is_some());
        let fallbacks = of_kerberos.map(|(name, _)| ([name.as_str()], self.fallback_targets(name) as u64));
        out.rows(&FALLBACK_TARGETS, fallbacks)
    }
}

impl web::Identities for Broker {
    fn rows(&self) -> Vec<web::IdentityRow> {
        let (states, mut tickets) = (self.states(), self.tickets());
        let identities = self.identities();
        let rows = identities.iter().map(|(name, identity)| {
            let state = states.get(name).copied().unwrap_or_default();
            let ticket = tickets.remove(name).unwrap_or_default();
            let accounts = vec![
                ("being tried", state.on_trial),
                ("accepted", state.accepted),
                ("withheld: rejected", state.rejected),
                ("withheld: locked", state.locked),
                ("withheld: disabled", state.disabled),
                ("withheld: password expired", state.password_expired),
            ];
            let failure = ticket
                .failure
                .map(|NotGranted { reason, message }| (reason.as_str(), reason.next_step(), message));
            web::IdentityRow {
                name: name.clone(),
                kind: identity.kind(),
                account: identity.account_name(),
                accounts,
                ticket: (ticket.obtained > 0).then_some(web::TicketRow {
                    principal: ticket.principal,
                    obtained_unix_s: ticket.obtained_unix_s,
                    expires_unix_s: ticket.expires_unix_s,
                    skew_seconds: ticket.skew_seconds,
                }),
                failure,
            }
        });
        rows.collect()
    }
}

/// What is shown of secrets.
pub(crate) const METRICS: &[&Metric] = &[
    &WITHHELD,
    &ACCOUNTS,
    &LEASES,
    &DENIALS,
    &TICKET_EXPIRY,
    &TICKET_OBTAINED,
    &TICKETS,
    &TICKET_FAILURES,
    &CLOCK_SKEW,
    &FALLBACK_TARGETS,
];

static WITHHELD: Metric = Metric::gauge(
    "perfmon_exporter_credential_withheld",
    &["identity"],
    "Whether the identity's secret or account was refused and is withheld for now.",
);
static ACCOUNTS: Metric = Metric::gauge(
    "perfmon_exporter_credential_accounts",
    &["identity", "state"],
    "Accounts of an identity by the state of its secret; a local account counts once per host.",
);
static LEASES: Metric = Metric::counter(
    "perfmon_exporter_credential_leases",
    &["identity"],
    "Secrets and tickets handed out to plugins; each is at most one logon attempt.",
);
static TICKET_EXPIRY: Metric = Metric::gauge(
    "perfmon_exporter_kerberos_ticket_expiry_timestamp_seconds",
    &["identity", "principal"],
    "When the identity's ticket-granting ticket ends; it is renewed before, when a quarter of its time is left.",
);
static TICKET_OBTAINED: Metric = Metric::gauge(
    "perfmon_exporter_kerberos_ticket_obtained_timestamp_seconds",
    &["identity"],
    "When the identity's ticket-granting ticket was obtained or renewed.",
);
static TICKETS: Metric = Metric::counter(
    "perfmon_exporter_kerberos_tickets",
    &["identity"],
    "Ticket-granting tickets that were obtained for the identity; those for hosts are not counted.",
);
static TICKET_FAILURES: Metric = Metric::counter(
    "perfmon_exporter_kerberos_failures",
    &["identity", "reason"],
    "Attempts to obtain a ticket-granting ticket that failed.",
);
static FALLBACK_TARGETS: Metric = Metric::gauge(
    "perfmon_exporter_kerberos_fallback_targets",
    &["identity"],
    "Targets at which the identity used NTLM in the last hour because no KDC gave a ticket for them.",
);
static CLOCK_SKEW: Metric = Metric::gauge(
    "perfmon_exporter_kerberos_clock_skew_seconds",
    &["identity"],
    "How far the KDC's clock was ahead of this machine's when the last ticket was obtained.",
);
static DENIALS: Metric = Metric::counter(
    "perfmon_exporter_credential_denials",
    &["identity"],
    "Requests for a secret that were denied because it or its account was refused before.",
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stored_fingerprint_is_pbkdf2() {
        // Witness: Python, hashlib.pbkdf2_hmac('sha256', b'hunter2', bytes(range(32)), 100000).hex()
        let salt = Salt(std::array::from_fn(|index| u8::try_from(index).unwrap()));
        let found: String =
            salt.stored_fingerprint(b"hunter2").0.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(found, "d269d79fd465c708599b3114850e6a20bb8cb90c8fbba32574954ab158d23a7c");
    }
}
