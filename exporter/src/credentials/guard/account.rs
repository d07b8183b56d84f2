use std::collections::HashMap;
use std::time::{Duration, Instant};

use plugin_host::sink::{CredentialVerdict, LeaseId, Waiter};

use super::{Change, Decision, Fingerprint, Refusal, Refused};
use crate::credentials::clock::Moment;

/// A trial whose end nobody tells is over after this.
const TRIAL_MAX: Duration = Duration::from_secs(30);
/// A secret that was accepted so long ago is tried on one target first again.
const RECHECK_AFTER: Duration = Duration::from_secs(600);
/// The host that refused a secret asks last after the cool-down: others have so much longer to be the first.
const REFUSING_HOST_EXTRA_S: u64 = 900;
/// So many hosts of one account are remembered as refusing.
const REFUSED_HOSTS_MAX: usize = 10_000;

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

/// One account's secret, and who wants it.
#[derive(Debug)]
pub(super) struct Account {
    pub(super) fingerprint: Fingerprint,
    pub(super) state: State,
    /// Whether the last verdict was good; a recheck that says so again is no news.
    was_accepted: bool,
    /// Since when a verdict is known that is from the future: the wall's clock was set back behind it. The cool-down
    /// runs from then, or it might not end for years.
    ahead_since: Option<Instant>,
    /// Hosts that refused what others accept.
    refusing: HashMap<String, Refused>,
    /// By host, so that who asks often waits once.
    pub(super) waiters: HashMap<String, Waiter>,
}

impl Account {
    pub(super) fn new(fingerprint: Fingerprint) -> Self {
        Self {
            fingerprint,
            state: State::Untried,
            was_accepted: false,
            ahead_since: None,
            refusing: HashMap::new(),
            waiters: HashMap::new(),
        }
    }

    /// It has another secret, of which nothing is known; who waits goes on waiting.
    pub(super) fn begin_anew(&mut self, fingerprint: Fingerprint) {
        let waiters = std::mem::take(&mut self.waiters);
        *self = Self { waiters, ..Self::new(fingerprint) };
    }

    /// What `host` is answered now; a trial is the lease's from here on.
    pub(super) fn decide(
        &mut self,
        host: &str,
        is_local: bool,
        lease: LeaseId,
        now: Moment,
        cooldown: Duration,
    ) -> Decision {
        let is_ahead = |refused: &Refused| refused.since_unix_s > now.unix_s;
        let is_refused_ahead = matches!(&self.state, State::Refused(refused) if is_ahead(refused));
        if is_refused_ahead || self.refusing.get(host).is_some_and(is_ahead) {
            self.ahead_since.get_or_insert(now.mono);
        }
        let ahead_s = self.ahead_since.map_or(0, |since| now.mono.duration_since(since).as_secs());
        let passed_s = |refused: &Refused| now.unix_s.checked_sub(refused.since_unix_s).unwrap_or(ahead_s);
        let is_cool = |refused: &Refused| passed_s(refused) >= cooldown.as_secs();
        let is_last_to_ask = |refused: &Refused| {
            let extra_s = REFUSING_HOST_EXTRA_S.min(cooldown.as_secs());
            !is_local && refused.host == host && passed_s(refused) < cooldown.as_secs() + extra_s
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

    /// What a verdict of `host` changes.
    pub(super) fn learn(
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
