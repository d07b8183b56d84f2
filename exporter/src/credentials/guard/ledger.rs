use std::time::{Duration, Instant};

use plugin_abi::LeaseId;

use super::{Change, Decision, Host, Refusal, Refused, Remembered, State, Withheld};
use crate::credentials::Moment;

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
/// The same where the account was refused and not the password, which is tried again sooner.
const REFUSED_ACCOUNT_EXTRA: Duration = Duration::from_secs(30);
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
    last_refusal: Option<(Refusal, Past)>,
    /// When a wrong password was last allowed another attempt because somebody wanted it.
    retried: Option<Past>,
    /// When somebody last wanted what was refused before to be tried again, and whether wrong passwords are.
    retry: Option<(Instant, bool)>,
    /// Leases handed out after this one saw what the last refusal changed.
    leases_at_refusal: u64,
    withheld: Option<(Refused, Past)>,
    was_accepted: bool,
    /// What the last host said, if it refused it.
    last_word: Option<Refused>,
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
        let dates = doubted.iter().map(|(refused, since)| (refused.refusal, *since));
        let last_refusal = dates.min_by_key(|(_, since)| since.age);
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
            // Also while it is tried again: what is known of it is this.
            Some((refused, _)) => State::Refused(refused.clone()),
            None if !self.was_accepted && !self.outstanding.is_empty() => State::Trial,
            // A host that is left out alone, where nobody has contradicted it yet.
            None => match &self.last_word {
                Some(refused) if self.accepting.is_empty() => State::Refused(refused.clone()),
                _ if self.was_accepted => State::Accepted,
                _ => State::Untried,
            },
        }
    }

    /// What was refused may be tried now; a wrong password once in a cool-down.
    pub(super) fn retry(&mut self, now: Moment, cooldown: Duration) {
        let may_be_wrong = self.may_retry_wrong(now, cooldown);
        let last = self.withheld.as_ref().or(self.doubted.last());
        let tries_wrong = may_be_wrong && last.is_some_and(|(known, _)| known.refusal.is_wrong_password());
        if tries_wrong {
            self.retried = Some(Past::now(now));
        }
        // An attempt that was allowed and not made yet is not lost.
        let is_open =
            self.retry.is_some_and(|(at, wrong)| wrong && last.is_some_and(|(_, since)| since.at < at));
        self.retry = Some((now.mono, tries_wrong || is_open));
    }

    /// Whether a wrong password is tried once more because somebody wants it.
    fn may_retry_wrong(&self, now: Moment, cooldown: Duration) -> bool {
        self.retried.is_none_or(|retried| retried.elapsed(now) >= cooldown)
    }

    /// A secret that is not tried for so long.
    fn hold_back(&self, refused: &Refused, pause: Duration, of: Situation<'_>) -> Withheld {
        let may_be_retried =
            !refused.refusal.is_wrong_password() || self.may_retry_wrong(of.now, of.cooldown);
        Withheld { refused: refused.clone(), pause, may_be_retried }
    }

    /// Whether what was refused then may be tried again. How old it is stays as it is: trust is counted by that.
    fn is_over(&self, (refusal, since): (Refusal, Past), pause: Duration, now: Moment) -> bool {
        let is_wrong = refusal.is_wrong_password();
        since.elapsed(now) >= pause
            || self.retry.is_some_and(|(at, tries_wrong)| since.at < at && (!is_wrong || tries_wrong))
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
            let extra = if has_refused { extra(refused.refusal, cooldown) } else { Duration::ZERO };
            let pause = refused.refusal.pause(cooldown) + extra;
            if !self.is_over((refused.refusal, *since), pause, now) {
                return Decision::Withheld(self.hold_back(refused, pause, of));
            }
        } else if let Some((refused, since)) = self.doubted(host) {
            // Of hosts that call the password wrong, only the last one is tried because somebody wants it.
            let is_last = self.doubted.last().is_some_and(|(last, _)| last.host.may_be(host));
            let pause = refused.refusal.pause(cooldown);
            let is_cool = since.elapsed(now) >= pause
                || ((is_last || !refused.refusal.is_wrong_password())
                    && self.is_over((refused.refusal, *since), pause, now));
            // Where nobody's acceptance stands against it, the host has one attempt in a cool-down, and nobody waits for it.
            let all_quiet = || {
                let is_past = |last: (Refusal, Past)| self.is_over(last, last.0.pause(cooldown), now);
                self.last_refusal.is_none_or(is_past) && self.outstanding.is_empty()
            };
            if !is_cool || (self.accepting.is_empty() && !all_quiet()) {
                let quiet = self.quiet_after(*since, of).filter(|_| self.accepting.is_empty());
                return Decision::LeftOut(self.hold_back(refused, pause.max(quiet.unwrap_or_default()), of));
            }
        }
        if self.room(is_local) == 0 || self.is_asking(host) { Decision::Wait } else { Decision::Lease }
    }

    /// How long after a refusal of then the pause after the last refusal is over, whoever that was.
    fn quiet_after(&self, since: Past, of: Situation<'_>) -> Option<Duration> {
        let (refusal, last) = self.last_refusal?;
        let over = refusal.pause(of.cooldown) + since.elapsed(of.now);
        Some(over.saturating_sub(last.elapsed(of.now)))
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
        self.last_word = None;
        if self.withheld.is_some() && is_after_refusal {
            // The trial after the cool-down: it is good again.
            let (outstanding, retried) = (std::mem::take(&mut self.outstanding), self.retried);
            *self = Self { outstanding, retried, ..Self::default() };
        }
        if self.last_refusal.is_none_or(|(_, last)| last.elapsed(now) >= cooldown) {
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
        let Situation { host, is_local, now, cooldown } = of;
        let refused = Refused { refusal, host: host.clone(), since_unix_s: now.unix_s };
        let is_after_refusal = number > self.leases_at_refusal;
        let has_say = self.doubted(host).is_none();
        let is_wrong_password = refusal.is_wrong_password();
        self.last_word = Some(refused.clone());
        if !has_say && !is_wrong_password && self.withheld.is_none() && !is_local {
            // It is asked again soon, and could use up the acceptances of all others.
            let is_known = self.doubted(host).is_some_and(|(known, _)| known.refusal == refusal);
            self.doubted.retain(|(known, _)| !known.host.may_be(host));
            push_bounded(&mut self.doubted, (refused.clone(), Past::now(now)));
            return (!is_known).then_some(Change::Doubted(refused));
        }
        let waits_longer = self.withheld.as_ref().is_some_and(|(known, since)| {
            known.refusal.is_wrong_password() && !is_wrong_password && since.elapsed(now) < cooldown
        });
        if waits_longer {
            // The attempt that somebody wanted is used up.
            if let Some((_, tries_wrong)) = &mut self.retry {
                *tries_wrong = false;
            }
            return None;
        }
        self.forget_old_trust(now);
        self.doubted.retain(|(known, _)| !known.host.may_be(host));
        push_bounded(&mut self.doubted, (refused.clone(), Past::now(now)));
        (self.last_refusal, self.leases_at_refusal) = (Some((refusal, Past::now(now))), leases);
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
        let withheld = self.hold_back(&refused, refusal.pause(cooldown), of);
        self.withheld = Some((refused, Past::now(now)));
        self.accepting.clear();
        self.was_accepted = false;
        is_news.then_some(Change::Refused(withheld))
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

/// The hosts that refused a secret ask so much later than others.
fn extra(refusal: Refusal, cooldown: Duration) -> Duration {
    let extra = if refusal.is_wrong_password() { REFUSING_HOST_EXTRA } else { REFUSED_ACCOUNT_EXTRA };
    extra.min(cooldown)
}

fn push_bounded<T>(list: &mut Vec<T>, item: T) {
    if list.len() >= HOSTS_MAX {
        list.remove(0);
    }
    list.push(item);
}
