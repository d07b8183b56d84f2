use std::time::{Duration, Instant};

use plugin_contract::LeaseId;

use super::{Change, Decision, Host, Refusal, Refused, Remembered, State};
use crate::credentials::clock::Moment;

/// Maximum time that a trial without a verdict delays the others.
const TRIAL_MAX: Duration = Duration::from_secs(30);
/// While a secret is trusted, a host that takes longer to answer does not hold the others.
const SLOW_AFTER: Duration = Duration::from_secs(2);
/// An acceptance counts for so long, but for the last one.
const FRESH: Duration = Duration::from_secs(10);
/// Acceptances that count. One more than this is how many wrong logons a changed password costs at most, less than the ten
/// at which Windows locks an account by default.
const TRUST_MAX: usize = 7;
/// The hosts that refused a secret ask last after the cool-down: others have so much longer to be the first.
const REFUSING_HOST_EXTRA: Duration = Duration::from_secs(900);
/// Hosts of one account whose refusal, or whose used-up acceptance, is remembered; the oldest goes first.
const HOSTS_MAX: usize = 10_000;

/// What is known of one secret of an account. The rules are in the doc of [`super::Guard`].
#[derive(Debug, Default)]
pub(super) struct Ledger {
    /// The trust: hosts whose acceptance no refusal has used up, and until when it counts; the newest last.
    accepting: Vec<(Host, Instant)>,
    /// Hosts whose acceptance a refusal used up.
    used_up: Vec<Host>,
    /// Hosts that refused it, whatever others say. INVARIANT: what one of them says condemns nothing, and adds no trust.
    doubted: Vec<(Refused, Past)>,
    last_refusal: Option<Past>,
    /// Leases handed out after this one saw what the last refusal changed.
    leases_at_refusal: u64,
    withheld: Option<(Refused, Past)>,
    was_accepted: bool,
    outstanding: Vec<Outstanding>,
}

/// A lease without an answer.
#[derive(Debug)]
struct Outstanding {
    lease: LeaseId,
    host: Host,
    since: Instant,
    /// It holds others for so long.
    holds: Duration,
}

/// A moment, perhaps of an earlier process.
#[derive(Clone, Copy, Debug)]
struct Past {
    at: Instant,
    /// How old it was then.
    age: Duration,
}

impl Past {
    const fn now(now: Moment) -> Self {
        Self { at: now.mono, age: Duration::ZERO }
    }

    /// One of an earlier process. What lies in the future happened now: the wall's clock was set back.
    fn at(unix_s: u64, now: Moment) -> Self {
        Self { at: now.mono, age: Duration::from_secs(now.unix_s.saturating_sub(unix_s)) }
    }

    fn elapsed(&self, now: Moment) -> Duration {
        self.age.saturating_add(now.mono.saturating_duration_since(self.at))
    }
}

/// The requesting or answering host, and the rules that apply.
#[derive(Clone, Copy, Debug)]
pub(super) struct Situation<'a> {
    pub(super) host: &'a Host,
    /// The account is the host's own.
    pub(super) is_local: bool,
    pub(super) now: Moment,
    pub(super) cooldown: Duration,
}

impl Ledger {
    /// What an earlier process knew.
    pub(super) fn restored(remembered: Remembered, now: Moment) -> Self {
        let Remembered { withheld, accepted_by, used_up, doubted } = remembered;
        let dated = |refused: Refused| {
            let since = Past::at(refused.since_unix_s, now);
            (refused, since)
        };
        let withheld = withheld.map(dated);
        let mut doubted: Vec<_> = doubted.into_iter().map(dated).collect();
        doubted.extend(withheld.clone());
        let last_refusal = doubted.iter().map(|(_, since)| *since).min_by_key(|since| since.age);
        Self {
            was_accepted: withheld.is_none(),
            accepting: accepted_by.map(|host| (host, now.mono)).into_iter().collect(),
            used_up,
            doubted,
            last_refusal,
            withheld,
            ..Self::default()
        }
    }

    /// What the next process should know.
    pub(super) fn remembered(&self) -> Remembered {
        Remembered {
            withheld: self.withheld.as_ref().map(|(refused, _)| refused.clone()),
            accepted_by: self.accepting.last().map(|(host, _)| host.clone()),
            used_up: self.used_up.clone(),
            doubted: self.doubted.iter().map(|(refused, _)| refused.clone()).collect(),
        }
    }

    /// What is shown of it.
    pub(super) fn state(&self) -> State {
        match &self.withheld {
            _ if !self.was_accepted && !self.outstanding.is_empty() => State::Trial,
            Some((refused, _)) => State::Refused(refused.clone()),
            None if self.was_accepted => State::Accepted,
            None => State::Untried,
        }
    }

    pub(super) fn is_withheld(&self) -> bool {
        self.withheld.is_some()
    }

    /// Whether a lease has no answer yet.
    pub(super) fn is_busy(&self) -> bool {
        !self.outstanding.is_empty()
    }

    /// How many more leases there may be now, and whether `host` may have one of them.
    pub(super) fn room(&self, is_local: bool) -> usize {
        // No other host can confirm an account of the host itself, so its trust does not count.
        let leases_max = if is_local { 1 } else { 1 + self.accepting.len() };
        leases_max.saturating_sub(self.outstanding.len())
    }

    /// Whether `host` has a lease without an answer.
    pub(super) fn is_asking(&self, host: &Host) -> bool {
        self.outstanding.iter().any(|outstanding| outstanding.host.may_be(host))
    }

    /// The answer to a host that asks.
    pub(super) fn decide(&mut self, of: Situation<'_>) -> Decision {
        let Situation { host, is_local, now, cooldown } = of;
        self.outstanding.retain(|lease| now.mono.saturating_duration_since(lease.since) < lease.holds);
        self.forget_old_trust(now);
        if let Some((refused, since)) = &self.withheld {
            let has_refused = !is_local && self.doubted(host).is_some();
            let extra = if has_refused { REFUSING_HOST_EXTRA.min(cooldown) } else { Duration::ZERO };
            if since.elapsed(now) < cooldown + extra {
                return Decision::Withheld(refused.clone());
            }
        } else if let Some((refused, since)) = self.doubted(host) {
            let is_cool = since.elapsed(now) >= cooldown;
            // Where nobody's acceptance stands against it, the host has one attempt in a cool-down, and nobody waits for it.
            let all_quiet = || {
                let last = self.last_refusal.map_or(cooldown, |last| last.elapsed(now));
                last >= cooldown && self.outstanding.is_empty()
            };
            if !is_cool || (self.accepting.is_empty() && !all_quiet()) {
                return Decision::LeftOut(refused.clone());
            }
        }
        if self.room(is_local) == 0 || self.is_asking(host) { Decision::Wait } else { Decision::Lease }
    }

    /// The lease that [`Ledger::decide`] allowed.
    pub(super) fn lend(&mut self, lease: LeaseId, of: Situation<'_>) {
        let holds = if of.is_local || self.accepting.is_empty() { TRIAL_MAX } else { SLOW_AFTER };
        let (host, since) = (of.host.clone(), of.now.mono);
        self.outstanding.push(Outstanding { lease, host, since, holds });
    }

    /// The lease has its answer, or never will.
    pub(super) fn end(&mut self, lease: LeaseId) {
        self.outstanding.retain(|outstanding| outstanding.lease != lease);
    }

    /// The host accepted the secret. `number` is that of the lease, in the order of leases.
    pub(super) fn accept(&mut self, number: u64, of: Situation<'_>) -> Option<Change> {
        let Situation { host, is_local, now, cooldown } = of;
        let is_after_refusal = number > self.leases_at_refusal;
        let was_trusted = self.is_trusted();
        if self.withheld.is_some() && is_after_refusal {
            // The trial after the cool-down: it is good again.
            *self = Self { outstanding: std::mem::take(&mut self.outstanding), ..Self::default() };
        }
        if self.last_refusal.is_none_or(|last| last.elapsed(now) >= cooldown) {
            self.used_up.clear();
        }
        self.doubted.retain(|(refused, since)| !refused.host.may_be(host) || since.elapsed(now) < cooldown);
        let has_say = self.doubted(host).is_none() && !self.used_up.iter().any(|used| used.may_be(host));
        if self.withheld.is_some() {
            // Handed out before the refusal, which it contradicts: each is used up by the other.
            if !is_local && has_say {
                self.withheld = None;
                self.used_up.push(host.clone());
                self.was_accepted = true;
                return Some(Change::Accepted);
            }
            return None;
        }
        if has_say && is_after_refusal {
            self.trust(host, now);
            self.was_accepted = true;
        }
        (!was_trusted && self.is_trusted()).then_some(Change::Accepted)
    }

    /// The host refused the secret. `leases` is the number of the last lease so far, `number` that of this one.
    pub(super) fn refuse(
        &mut self,
        refusal: Refusal,
        number: u64,
        leases: u64,
        of: Situation<'_>,
    ) -> Option<Change> {
        let Situation { host, is_local, now, .. } = of;
        let refused = Refused { refusal, host: host.clone(), since_unix_s: now.unix_s };
        let is_after_refusal = number > self.leases_at_refusal;
        let has_say = self.doubted(host).is_none();
        self.forget_old_trust(now);
        self.doubted.retain(|(known, _)| !known.host.may_be(host));
        push_bounded(&mut self.doubted, (refused.clone(), Past::now(now)));
        (self.last_refusal, self.leases_at_refusal) = (Some(Past::now(now)), leases);
        let is_news = self.withheld.is_none() || is_after_refusal;
        if self.withheld.is_none() && !is_local {
            if let Some(accepting) = self.untrust(host) {
                push_bounded(&mut self.used_up, accepting);
                return Some(Change::Doubted(refused));
            }
            if !has_say {
                return Some(Change::Doubted(refused));
            }
        }
        self.withheld = Some((refused.clone(), Past::now(now)));
        self.accepting.clear();
        self.was_accepted = false;
        is_news.then_some(Change::Refused(refused))
    }

    fn is_trusted(&self) -> bool {
        !self.accepting.is_empty()
    }

    fn doubted(&self, host: &Host) -> Option<&(Refused, Past)> {
        self.doubted.iter().find(|(refused, _)| refused.host.may_be(host))
    }

    fn trust(&mut self, host: &Host, now: Moment) {
        self.accepting.retain(|(accepting, _)| !accepting.may_be(host));
        if self.accepting.len() == TRUST_MAX {
            self.accepting.remove(0);
        }
        self.accepting.push((host.clone(), now.mono + FRESH));
        self.forget_old_trust(now);
    }

    /// Removes an acceptance: that of the refusing host itself, or else the oldest.
    fn untrust(&mut self, host: &Host) -> Option<Host> {
        let own = self.accepting.iter().position(|(accepting, _)| accepting.may_be(host));
        (!self.accepting.is_empty()).then(|| self.accepting.remove(own.unwrap_or(0)).0)
    }

    fn forget_old_trust(&mut self, now: Moment) {
        let old = self.accepting.iter().take_while(|(_, until)| *until <= now.mono).count();
        self.accepting.drain(..old.min(self.accepting.len().saturating_sub(1)));
    }
}

fn push_bounded<T>(list: &mut Vec<T>, item: T) {
    if list.len() >= HOSTS_MAX {
        list.remove(0);
    }
    list.push(item);
}
