use std::collections::HashMap;
use std::time::{Duration, Instant};

use plugin_host::sink::{CredentialVerdict, LeaseId, Waiter};

/// A trial whose end nobody tells is over after this.
const TRIAL_MAX: Duration = Duration::from_secs(30);
/// A secret that was accepted so long ago is tried on one target first again.
const RECHECK_AFTER: Duration = Duration::from_secs(600);
/// The host that refused a secret asks last after the cool-down: others have so much longer to be the first.
const REFUSING_HOST_EXTRA_S: u64 = 900;
/// So many hosts of one account are remembered as refusing.
const REFUSED_HOSTS_MAX: usize = 10_000;

/// Two clocks: monotonic for what happens in this process, the wall's for what outlives it.
#[derive(Clone, Copy, Debug)]
pub struct Moment {
    /// Monotonic.
    pub mono: Instant,
    /// Seconds since 1970.
    pub unix_s: u64,
}

/// One account as lockout policies count: an account of a domain, or of one host.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Scope {
    /// The domain, or for a local account the host; lower case.
    pub realm: String,
    /// The user name; lower case.
    pub username: String,
    /// Whether `realm` is a host.
    pub is_local: bool,
}

impl Scope {
    /// Whose failures count together when `domain\username` is shown to `host`.
    ///
    /// No domain, `.`, or the host's own name means an account of that host.
    #[must_use]
    pub fn new(domain: &str, username: &str, host: &str) -> Self {
        let short_name = host.split('.').next().unwrap_or(host);
        let is_local = matches!(domain, "" | ".")
            || domain.eq_ignore_ascii_case(host)
            || (crate::config::address(host).is_none() && domain.eq_ignore_ascii_case(short_name));
        let realm = if is_local { host } else { domain };
        Self { realm: realm.to_lowercase(), username: username.to_lowercase(), is_local }
    }
}

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

/// What is known of an account's secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    /// Nothing: the next target tries it.
    Untried,
    /// One target tries it; the others wait.
    Trial {
        /// Its lease.
        lease: LeaseId,
        /// Since when.
        since: Instant,
    },
    /// It is good.
    Accepted {
        /// When it last was.
        at: Instant,
    },
    /// It is bad.
    Refused(Refused),
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
struct Account {
    fingerprint: Fingerprint,
    state: State,
    /// Whether the last verdict was good; a recheck that says so again is no news.
    was_accepted: bool,
    /// Hosts that refused what others accept.
    refusing: HashMap<String, Refused>,
    /// By host, so that who asks often waits once.
    waiters: HashMap<String, Waiter>,
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
            let waiters = std::mem::take(&mut account.waiters);
            *account = Account { waiters, ..Account::new(fingerprint) };
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

impl Account {
    fn new(fingerprint: Fingerprint) -> Self {
        Self {
            fingerprint,
            state: State::Untried,
            was_accepted: false,
            refusing: HashMap::new(),
            waiters: HashMap::new(),
        }
    }

    fn decide(
        &mut self,
        host: &str,
        is_local: bool,
        lease: LeaseId,
        now: Moment,
        cooldown: Duration,
    ) -> Decision {
        let is_cool =
            |refused: &Refused| now.unix_s >= refused.since_unix_s.saturating_add(cooldown.as_secs());
        let is_last_to_ask = |refused: &Refused| {
            let extra_s = REFUSING_HOST_EXTRA_S.min(cooldown.as_secs());
            !is_local
                && refused.host == host
                && now.unix_s < refused.since_unix_s + cooldown.as_secs() + extra_s
        };
        if let Some(refused) = self.refusing.get(host) {
            if !is_cool(refused) {
                return Decision::Withheld(refused.clone());
            }
            self.refusing.remove(host);
        }
        let on_trial = match &self.state {
            State::Untried => true,
            State::Trial { since, .. } if now.mono.duration_since(*since) < TRIAL_MAX => {
                return Decision::Wait;
            }
            State::Trial { .. } => true,
            State::Accepted { at } => now.mono.duration_since(*at) >= RECHECK_AFTER,
            State::Refused(refused) if is_cool(refused) && !is_last_to_ask(refused) => true,
            State::Refused(refused) => return Decision::Withheld(refused.clone()),
        };
        if on_trial {
            self.state = State::Trial { lease, since: now.mono };
        }
        Decision::Lease
    }

    fn learn(
        &mut self,
        lease: LeaseId,
        host: String,
        verdict: CredentialVerdict,
        is_local: bool,
        now: Moment,
    ) -> Option<Change> {
        let is_trial = matches!(self.state, State::Trial { lease: trial, .. } if trial == lease);
        let refusal = match verdict {
            CredentialVerdict::Accepted => {
                self.refusing.remove(&host);
                let is_news = !std::mem::replace(&mut self.was_accepted, true);
                self.state = State::Accepted { at: now.mono };
                return is_news.then_some(Change::Accepted);
            }
            CredentialVerdict::Rejected => Refusal::Rejected,
            CredentialVerdict::Locked => Refusal::Locked,
            _ => {
                if is_trial {
                    self.state = State::Untried;
                }
                return None;
            }
        };
        let refused = Refused { refusal, host, since_unix_s: now.unix_s };
        self.was_accepted = false;
        if matches!(self.state, State::Accepted { .. }) && !is_local {
            if self.refusing.len() < REFUSED_HOSTS_MAX {
                self.refusing.insert(refused.host.clone(), refused.clone());
            }
            self.state = State::Untried;
            return Some(Change::Doubted(refused));
        }
        let is_news = !matches!(self.state, State::Refused(_));
        self.state = State::Refused(refused.clone());
        is_news.then_some(Change::Refused(refused))
    }
}
