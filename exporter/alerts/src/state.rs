//! What the registry knows, and how it changes.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use plugin_abi::{self as abi, Evaluation};

use super::Origin;
use super::counts::{Counts, Loss};
use super::payload::Alert;

/// Names a receiver in the registry; never reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ReceiverId(pub(crate) u64);

/// An alert that is open.
#[derive(Clone, Debug)]
pub struct OpenAlert {
    pub alert: Arc<Alert>,
    /// When an event said last that it fires.
    pub last_seen: SystemTime,
    /// What its last event compared.
    pub evaluation: Option<Evaluation>,
    /// The values of its last events, and when these happened; the newest is the last.
    pub values: Arc<[(SystemTime, f64)]>,
    /// How long its instance takes to find out that it fires: two evaluations, and the time for which its value has to be across.
    pub(crate) judged_within: Duration,
    /// `None` if the instance of its module knows of it.
    pub(crate) unconfirmed: Option<Doubt>,
}

/// An instance that was restarted has said nothing of an alert yet.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Doubt {
    /// Collections that did not fail; a full one counts more.
    counted: u32,
    /// The end of the first of them.
    since: Option<SystemTime>,
}

impl Doubt {
    pub(crate) fn count(&mut self, counts: u32, now: SystemTime) {
        self.counted = self.counted.saturating_add(counts);
        self.since.get_or_insert(now);
    }
}

impl OpenAlert {
    /// Whether a restarted instance that says nothing of it means that it is over: it has had two full collections, or six
    /// that were not full, and the time in which it judges this alert.
    pub(crate) fn is_over(&self, now: SystemTime) -> bool {
        let Some(Doubt { counted, since: Some(since) }) = self.unconfirmed else { return false };
        let passed = now.duration_since(since).unwrap_or_default();
        counted >= COUNTED_MIN && passed >= self.judged_within
    }

    /// It still fires, as an event said that happened at `time` and was seen at `now`.
    fn confirm(&mut self, said: &abi::Alert<'_>, time: SystemTime, now: SystemTime) {
        (self.last_seen, self.unconfirmed, self.evaluation) = (now, None, said.evaluation);
        self.judged_within = judged_within(said);
        if let Some(value) = said.evaluation.and_then(|compared| compared.value) {
            self.values = with(&self.values, (time, value));
        }
    }
}

/// What is known of a module's feed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Heard {
    /// That of the feed that counts.
    pub(crate) number: u64,
    /// Whether the module has alerts that its instance may not know of.
    pub(crate) is_doubted: bool,
    /// Whether its instance reported one of them again since its last collection: then it is not done with that.
    pub(crate) is_confirming: bool,
    /// When its last collection that did not fail ended.
    pub(crate) collected: Option<SystemTime>,
}

/// What a receiver has to know.
#[derive(Clone, Debug, Default)]
pub struct View {
    pub open: Vec<Arc<Alert>>,
    /// Closed ones that the receiver has not taken, in the order in which they closed.
    pub closed: Vec<Arc<Alert>>,
}

/// A target, a module, and the alert's name.
pub(crate) type Key = (Arc<str>, Arc<str>, Arc<str>);

#[derive(Debug, Default)]
pub(crate) struct State {
    pub(crate) open: BTreeMap<Key, OpenAlert>,
    /// Closed ones that somebody has not taken, by version. None of them has the key of an open one.
    pub(crate) closed: BTreeMap<u64, Closed>,
    pub(crate) closed_by_key: BTreeMap<Key, u64>,
    /// The last closed ones, the newest last.
    pub(crate) recent: VecDeque<Arc<Alert>>,
    /// The feed that counts, by target and module.
    pub(crate) feeds: BTreeMap<(Arc<str>, Arc<str>), Heard>,
    pub(crate) receivers: BTreeMap<ReceiverId, Arc<Counts>>,
    pub(crate) targets: BTreeMap<Arc<str>, OfTarget>,
    pub(crate) labels: Vec<(String, String)>,
    pub(crate) open_max: usize,
    /// The last version, feed or receiver.
    pub(crate) last: u64,
    /// Grows with whatever may make room for an alert.
    pub(crate) freed: u64,
    /// When alerts were last looked through for those that nothing confirms.
    pub(crate) looked_at: Option<Instant>,
    /// The last collection's end by the wall clock, and by one that nobody sets.
    pub(crate) clocks: Option<(SystemTime, Instant)>,
}

/// What one target has of the room for alerts.
#[derive(Debug, Default)]
pub(crate) struct OfTarget {
    open: usize,
    /// Versions of closed ones that somebody has not taken.
    closed: BTreeSet<u64>,
    /// How many were open when it was said that others found no room.
    full_at: Option<usize>,
    /// `State::freed` when it found no room: until that changes there is none.
    refused_at: Option<u64>,
}

impl OfTarget {
    /// The number of open ones has changed. Once half of them are gone, a want of room is said again.
    fn look(&mut self) {
        self.full_at = self.full_at.filter(|at| self.open > at / 2);
    }
}

#[derive(Debug)]
pub(crate) struct Closed {
    pub(crate) alert: Arc<Alert>,
    pub(crate) waits: BTreeSet<ReceiverId>,
}

impl State {
    pub(crate) fn next(&mut self) -> u64 {
        self.last += 1;
        self.last
    }

    /// What is known of the feed, if it is the one that counts.
    pub(crate) fn heard(&mut self, origin: &Origin, feed: u64) -> Option<&mut Heard> {
        let module = (Arc::clone(&origin.target), Arc::clone(&origin.module));
        self.feeds.get_mut(&module).filter(|heard| heard.number == feed)
    }

    /// Moves what was noted by the wall clock if that was set: the time by which it jumped ahead has not passed. `steady` is
    /// `now` by a clock that nobody sets.
    pub(crate) fn follow_clock(&mut self, now: SystemTime, steady: Instant) {
        let Some((at, steady_at)) = self.clocks.replace((now, steady)) else { return };
        let expected = at.checked_add(steady.saturating_duration_since(steady_at)).unwrap_or(now);
        let ahead = now.duration_since(expected).unwrap_or_default();
        let back = expected.duration_since(now).unwrap_or_default();
        if ahead.max(back) < JUMP_MIN {
            return;
        }
        // What was noted since the jump is right, and nothing is later than now.
        let follow = |noted: &mut SystemTime| {
            *noted = noted.checked_add(ahead).map_or(now, |moved| moved.min(now));
        };
        for open in self.open.values_mut() {
            follow(&mut open.last_seen);
            if let Some(Doubt { since: Some(since), .. }) = &mut open.unconfirmed {
                follow(since);
            }
        }
        for heard in self.feeds.values_mut() {
            heard.collected.iter_mut().for_each(follow);
        }
    }

    /// Closes the alerts that neither an event nor a collection has confirmed for a day, and returns how many of which
    /// module these are. Looks once in a while only. `steady` is `now` by a clock that nobody sets.
    pub(crate) fn expire(&mut self, now: SystemTime, steady: Instant) -> Vec<(Arc<str>, Arc<str>, usize)> {
        let looked = self.looked_at.map(|at| steady.saturating_duration_since(at));
        if looked.is_some_and(|passed| passed < LOOKED_THROUGH_EACH) {
            return Vec::new();
        }
        self.looked_at = Some(steady);
        let passed = |since: SystemTime| now.duration_since(since).unwrap_or_default();
        let is_old = |((target, module, _), open): &(&Key, &OpenAlert)| {
            let heard = self.feeds.get(&(Arc::clone(target), Arc::clone(module)));
            let known = open.unconfirmed.is_none().then(|| heard.and_then(|heard| heard.collected)).flatten();
            passed(known.map_or(open.last_seen, |known| known.max(open.last_seen))) >= UNCONFIRMED_MAX
        };
        let old: Vec<Key> = self.open.iter().filter(is_old).map(|(key, _)| key.clone()).collect();
        let mut modules: Vec<(Arc<str>, Arc<str>, usize)> = Vec::new();
        for key in old {
            self.close(&key, now);
            let (target, module, _) = key;
            match modules.last_mut() {
                Some((of, its, count)) if (&*of, &*its) == (&target, &module) => *count += 1,
                _ => modules.push((target, module, 1)),
            }
        }
        modules
    }

    pub(crate) fn of_module<'a>(
        &'a mut self,
        target: &'a Arc<str>,
        module: &'a Arc<str>,
    ) -> impl Iterator<Item = (&'a Key, &'a mut OpenAlert)> {
        let first = (Arc::clone(target), Arc::clone(module), Arc::from(""));
        self.open.range_mut(first..).take_while(move |((own, of, _), _)| (own, of) == (target, module))
    }

    /// Whether the module's alerts are still open is unknown.
    pub(crate) fn mark_unconfirmed(&mut self, (target, module): &(Arc<str>, Arc<str>)) {
        self.of_module(target, module).for_each(|(_, open)| open.unconfirmed = Some(Doubt::default()));
    }

    /// Whether the target may have one more. Half of the room is divided among all targets, and what another has not used of its
    /// share stays free for it.
    pub(crate) fn has_room(&mut self, target: &Arc<str>) -> bool {
        let freed = Some(self.freed);
        if self.targets.get(target).is_some_and(|of| of.refused_at == freed) {
            return false;
        }
        let has_room = self.finds_room(target);
        if !has_room {
            self.targets.entry(Arc::clone(target)).or_default().refused_at = freed;
        }
        has_room
    }

    /// Targets, modules or limits have changed.
    pub(crate) const fn make_room(&mut self) {
        self.freed += 1;
    }

    fn finds_room(&self, target: &str) -> bool {
        if self.open.len() < self.open_max / 2 || self.open.len() >= self.open_max {
            return self.open.len() < self.open_max;
        }
        let mut targets: Vec<&str> = self.feeds.keys().map(|(target, _)| &**target).collect();
        targets.dedup();
        let share = self.open_max / 2 / targets.len().max(1);
        let unused = |other: &str| share.saturating_sub(self.targets.get(other).map_or(0, |of| of.open));
        let kept: usize = targets.into_iter().filter(|other| *other != target).map(unused).sum();
        self.open.len() + kept < self.open_max
    }

    /// Forgets what is kept of targets that have nothing any more.
    pub(crate) fn forget_targets(&mut self) {
        let Self { targets, feeds, .. } = self;
        let fed: BTreeSet<&Arc<str>> = feeds.keys().map(|(target, _)| target).collect();
        targets.retain(|target, of| fed.contains(target) || of.open > 0 || !of.closed.is_empty());
    }

    /// An alert of the target finds no room. Returns whether that is to be said.
    pub(crate) fn is_newly_full(&mut self, target: &Arc<str>) -> bool {
        let of = self.targets.entry(Arc::clone(target)).or_default();
        of.full_at.replace(of.open).is_none()
    }

    pub(crate) fn open_alert(&mut self, key: Key, alert: Alert, said: &abi::Alert<'_>, now: SystemTime) {
        // It never closed for those who have not heard of that.
        let of = self.targets.entry(Arc::clone(&key.0)).or_default();
        of.open += 1;
        of.look();
        if let Some(version) = self.closed_by_key.remove(&key) {
            of.closed.remove(&version);
            self.closed.remove(&version);
        }
        let starts_at = alert.starts_at;
        let mut open = OpenAlert {
            alert: Arc::new(alert),
            last_seen: now,
            evaluation: None,
            values: Arc::default(),
            judged_within: Duration::ZERO,
            unconfirmed: None,
        };
        open.confirm(said, starts_at, now);
        self.open.insert(key, open);
    }

    /// An open alert still fires. Returns whether that was known of its instance.
    pub(crate) fn seen(
        &mut self,
        key: &Key,
        annotations: &Arc<[(String, String)]>,
        said: &abi::Alert<'_>,
        time: SystemTime,
        now: SystemTime,
    ) -> bool {
        let version = self.last + 1;
        let Some(open) = self.open.get_mut(key) else { return false };
        let was_confirmed = open.unconfirmed.is_none();
        open.confirm(said, time, now);
        if open.alert.annotations != *annotations {
            let annotations = Arc::clone(annotations);
            open.alert = Arc::new(Alert { version, annotations, ..Alert::clone(&open.alert) });
            self.last = version;
        }
        was_confirmed
    }

    pub(crate) fn close(&mut self, key: &Key, now: SystemTime) {
        let Some(open) = self.open.remove(key) else { return };
        self.make_room();
        let of = self.targets.entry(Arc::clone(&key.0)).or_default();
        of.open -= 1;
        of.look();
        let version = self.next();
        let ends_at = Some(now.max(open.alert.starts_at));
        let alert = Arc::new(Alert { version, ends_at, ..Alert::clone(&open.alert) });
        self.recent.push_back(Arc::clone(&alert));
        if self.recent.len() > RECENT_MAX {
            self.recent.pop_front();
        }
        let wanting = self.receivers.iter().filter(|(_, counts)| counts.kind().wants_ends());
        let waits: BTreeSet<ReceiverId> = wanting.map(|(id, _)| *id).collect();
        if waits.is_empty() {
            return;
        }
        self.closed.insert(version, Closed { alert, waits });
        self.closed_by_key.insert(key.clone(), version);
        self.targets.entry(Arc::clone(&key.0)).or_default().closed.insert(version);
        if self.closed.len() > self.open_max {
            self.drop_oldest();
        }
    }

    /// Forgets the closed alert that waits longest, of the target that has most of them.
    fn drop_oldest(&mut self) {
        let most = self.targets.values().max_by_key(|of| of.closed.len());
        let Some(version) = most.and_then(|of| of.closed.first().copied()) else { return };
        let Some(Closed { waits, .. }) = self.forget_closed(version) else { return };
        let counts = waits.iter().filter_map(|id| self.receivers.get(id));
        counts.for_each(|counts| counts.lose(1, Loss::QueueFull));
    }

    pub(crate) fn taken(&mut self, id: ReceiverId, version: u64) {
        let Some(closed) = self.closed.get_mut(&version) else { return };
        closed.waits.remove(&id);
        if closed.waits.is_empty() {
            self.forget_closed(version);
        }
    }

    fn forget_closed(&mut self, version: u64) -> Option<Closed> {
        let closed = self.closed.remove(&version)?;
        self.closed_by_key.remove(&key_of(&closed.alert));
        if let Some(of) = self.targets.get_mut(&closed.alert.target) {
            of.closed.remove(&version);
        }
        Some(closed)
    }
}

fn judged_within(said: &abi::Alert<'_>) -> Duration {
    (said.interval.saturating_mul(2)).saturating_add(said.hold).min(UNCONFIRMED_MAX)
}

/// The same values and a newer one. Those that a clock which was set back makes later than it are left out, and the oldest
/// where there are too many.
fn with(values: &[(SystemTime, f64)], newer: (SystemTime, f64)) -> Arc<[(SystemTime, f64)]> {
    let older: Vec<_> = values.iter().copied().filter(|(at, _)| *at < newer.0).collect();
    let left_out = (older.len() + 1).saturating_sub(VALUES_MAX);
    older.into_iter().skip(left_out).chain([newer]).collect()
}

fn key_of(alert: &Alert) -> Key {
    (Arc::clone(&alert.target), Arc::clone(&alert.module), Arc::clone(&alert.id))
}

/// Values of an open alert that pages show: 1.5 kB. A plugin repeats an alert every few minutes.
const VALUES_MAX: usize = 60;
/// Closed alerts that pages show.
const RECENT_MAX: usize = 100;
const COUNTED_MIN: u32 = 6;
/// An alert whose host is down stays open for so long: somebody who comes to work finds it.
const UNCONFIRMED_MAX: Duration = Duration::from_secs(24 * 3_600);
const LOOKED_THROUGH_EACH: Duration = Duration::from_secs(60);
/// A wall clock that goes wrong by less is no matter where a day is measured.
const JUMP_MIN: Duration = Duration::from_secs(60);
