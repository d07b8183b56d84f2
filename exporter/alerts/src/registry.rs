use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use plugin_contract::{self as contract, AlertState, Event};
use tokio::sync::watch;

use super::alert::Alert;
use super::annotations::annotations;
use super::counts::{Counts, Loss};
use super::feed::{Feed, Origin};
use super::labels::labels;

/// Which alerts are open, and which closed ones a receiver has not taken yet.
#[derive(Debug)]
pub struct Registry {
    state: Mutex<State>,
    /// Alerts that were not kept, because too many were open.
    over_limit: AtomicU64,
    /// Changes when an alert does.
    changed: watch::Sender<u64>,
}

/// Names a receiver in the registry; never reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ReceiverId(u64);

/// An alert that is open.
#[derive(Clone, Debug)]
pub struct OpenAlert {
    /// The alert.
    pub alert: Arc<Alert>,
    /// When an event said last that it fires.
    pub last_seen: SystemTime,
    /// Full collections since its instance was restarted; `None` if the instance knows of it.
    unconfirmed: Option<u32>,
}

/// What a receiver has to know.
#[derive(Clone, Debug, Default)]
pub struct View {
    /// All open alerts.
    pub open: Vec<Arc<Alert>>,
    /// Closed ones that the receiver has not taken, in the order in which they closed.
    pub closed: Vec<Arc<Alert>>,
}

/// A target, a module, and the alert's name.
type Key = (Arc<str>, Arc<str>, Arc<str>);

#[derive(Debug, Default)]
struct State {
    open: BTreeMap<Key, OpenAlert>,
    /// Closed ones that somebody has not taken, by version. None of them has the key of an open one.
    closed: BTreeMap<u64, Closed>,
    closed_by_key: BTreeMap<Key, u64>,
    /// The last closed ones, the newest last.
    recent: VecDeque<Arc<Alert>>,
    /// The feed that counts, by target and module.
    feeds: BTreeMap<(Arc<str>, Arc<str>), u64>,
    receivers: BTreeMap<ReceiverId, Arc<Counts>>,
    labels: Vec<(String, String)>,
    open_max: usize,
    /// The last version, feed or receiver.
    last: u64,
}

#[derive(Debug)]
struct Closed {
    alert: Arc<Alert>,
    waits: BTreeSet<ReceiverId>,
}

impl Default for Registry {
    fn default() -> Self {
        let state = State { open_max: 10_000, ..State::default() };
        Self { state: Mutex::new(state), over_limit: AtomicU64::new(0), changed: watch::Sender::new(0) }
    }
}

impl Registry {
    /// From now on alerts get these labels where they have none of the same name, and at most so many are open. What is
    /// open stays as it is.
    pub fn set(&self, labels: Vec<(String, String)>, open_max: usize) {
        let mut state = self.lock();
        (state.labels, state.open_max) = (labels, open_max);
    }

    /// A feed for a module of a target. If there was one before, its alerts stay open until the new one says that they
    /// closed, or says nothing of them in two full collections.
    pub fn feed(self: &Arc<Self>, origin: Origin) -> Feed {
        let mut state = self.lock();
        let number = state.next();
        let module = (Arc::clone(&origin.target), Arc::clone(&origin.module));
        state.doubt(&module);
        state.feeds.insert(module, number);
        drop(state);
        Feed { registry: Arc::clone(self), origin, number }
    }

    /// Only modules of which `keeps` says so go on. The alerts of the others close now.
    pub fn retain(&self, now: SystemTime, keeps: impl Fn(&str, &str) -> bool) {
        let mut state = self.lock();
        state.feeds.retain(|(target, module), _| keeps(target, module));
        let gone = state.open.keys().filter(|(target, module, _)| !keeps(target, module));
        let gone: Vec<Key> = gone.cloned().collect();
        gone.iter().for_each(|key| state.close(key, now));
        self.tell(&state);
    }

    /// Enters a receiver. It gets all open alerts.
    pub(crate) fn enter(&self, counts: &Arc<Counts>) -> ReceiverId {
        let mut state = self.lock();
        let id = ReceiverId(state.next());
        state.receivers.insert(id, Arc::clone(counts));
        id
    }

    /// The receiver takes nothing any more.
    pub(crate) fn leave(&self, id: ReceiverId) {
        let mut state = self.lock();
        let waits = state.closed.iter().filter(|(_, closed)| closed.waits.contains(&id));
        let waits: Vec<u64> = waits.map(|(version, _)| *version).collect();
        waits.into_iter().for_each(|version| state.taken(id, version));
        state.receivers.remove(&id);
    }

    /// What `id` has to know now.
    pub(crate) fn view(&self, id: ReceiverId) -> View {
        let state = self.lock();
        let closed = state.closed.values().filter(|closed| closed.waits.contains(&id));
        View {
            open: state.open.values().map(|open| Arc::clone(&open.alert)).collect(),
            closed: closed.map(|closed| Arc::clone(&closed.alert)).collect(),
        }
    }

    /// The receiver took these, or refused them for good. Closed ones are not kept for it any longer.
    pub(crate) fn settled(&self, id: ReceiverId, alerts: &[Arc<Alert>]) {
        let mut state = self.lock();
        alerts.iter().for_each(|alert| state.taken(id, alert.version));
    }

    /// Learns of changes.
    pub(crate) fn watch(&self) -> watch::Receiver<u64> {
        self.changed.subscribe()
    }

    /// Every open alert, by target, module and name.
    #[must_use]
    pub fn open(&self) -> Vec<OpenAlert> {
        self.lock().open.values().cloned().collect()
    }

    /// How many are open.
    #[must_use]
    pub fn open_count(&self) -> usize {
        self.lock().open.len()
    }

    /// The last closed ones, the newest first.
    #[must_use]
    pub fn recent(&self) -> Vec<Arc<Alert>> {
        self.lock().recent.iter().rev().cloned().collect()
    }

    /// Alerts that were not kept, because too many were open.
    #[must_use]
    pub fn over_limit(&self) -> u64 {
        self.over_limit.load(Ordering::Relaxed)
    }

    pub(crate) fn event(&self, feed: &Feed, event: &Event<'_>, alert: contract::Alert<'_>, now: SystemTime) {
        let Origin { target, module, .. } = &feed.origin;
        let mut state = self.lock();
        if !state.hears(feed) {
            return;
        }
        let time = happened(event, now);
        let key = (Arc::clone(target), Arc::clone(module), Arc::from(alert.id));
        if alert.state == AlertState::Closed {
            state.close(&key, time);
        } else if state.open.contains_key(&key) {
            state.seen(&key, &annotations(event), now);
        } else if state.open.len() < state.open_max {
            let version = state.next();
            let alert = Alert {
                version,
                target: Arc::clone(target),
                module: Arc::clone(module),
                id: Arc::clone(&key.2),
                labels: labels(&feed.origin, event, alert, &state.labels),
                annotations: annotations(event),
                starts_at: time,
                ends_at: None,
            };
            state.open_alert(key, alert, now);
        } else {
            self.over_limit.fetch_add(1, Ordering::Relaxed);
        }
        self.tell(&state);
    }

    pub(crate) fn restarted(&self, feed: &Feed) {
        let mut state = self.lock();
        if state.hears(feed) {
            state.doubt(&(Arc::clone(&feed.origin.target), Arc::clone(&feed.origin.module)));
        }
    }

    /// An instance that was restarted reports what still fires in its first collections. What it does not is over.
    pub(crate) fn collected(&self, feed: &Feed, now: SystemTime) {
        let mut state = self.lock();
        if !state.hears(feed) {
            return;
        }
        let mut over = Vec::new();
        for (key, open) in state.of_module(&feed.origin.target, &feed.origin.module) {
            let Some(collections) = &mut open.unconfirmed else { continue };
            *collections += 1;
            if *collections >= COLLECTIONS_OF_DOUBT {
                over.push(key.clone());
            }
        }
        over.iter().for_each(|key| state.close(key, now));
        self.tell(&state);
    }

    fn tell(&self, state: &State) {
        self.changed.send_if_modified(|version| std::mem::replace(version, state.last) != state.last);
    }

    /// A panic elsewhere leaves it whole: each change is made in one go.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn next(&mut self) -> u64 {
        self.last += 1;
        self.last
    }

    fn hears(&self, feed: &Feed) -> bool {
        let module = (Arc::clone(&feed.origin.target), Arc::clone(&feed.origin.module));
        self.feeds.get(&module) == Some(&feed.number)
    }

    fn of_module<'a>(
        &'a mut self,
        target: &'a Arc<str>,
        module: &'a Arc<str>,
    ) -> impl Iterator<Item = (&'a Key, &'a mut OpenAlert)> {
        let first = (Arc::clone(target), Arc::clone(module), Arc::from(""));
        self.open.range_mut(first..).take_while(move |((own, of, _), _)| (own, of) == (target, module))
    }

    /// Whether the module's alerts are still open is unknown.
    fn doubt(&mut self, (target, module): &(Arc<str>, Arc<str>)) {
        self.of_module(target, module).for_each(|(_, open)| open.unconfirmed = Some(0));
    }

    fn open_alert(&mut self, key: Key, alert: Alert, now: SystemTime) {
        // It never closed for those who have not heard of that.
        if let Some(version) = self.closed_by_key.remove(&key) {
            self.closed.remove(&version);
        }
        self.open.insert(key, OpenAlert { alert: Arc::new(alert), last_seen: now, unconfirmed: None });
    }

    fn seen(&mut self, key: &Key, annotations: &Arc<[(String, String)]>, now: SystemTime) {
        let version = self.last + 1;
        let Some(open) = self.open.get_mut(key) else { return };
        (open.last_seen, open.unconfirmed) = (now, None);
        if open.alert.annotations != *annotations {
            let annotations = Arc::clone(annotations);
            open.alert = Arc::new(Alert { version, annotations, ..Alert::clone(&open.alert) });
            self.last = version;
        }
    }

    fn close(&mut self, key: &Key, now: SystemTime) {
        let Some(open) = self.open.remove(key) else { return };
        let version = self.next();
        let ends_at = Some(now.max(open.alert.starts_at));
        let alert = Arc::new(Alert { version, ends_at, ..Alert::clone(&open.alert) });
        self.recent.push_back(Arc::clone(&alert));
        if self.recent.len() > RECENT_MAX {
            self.recent.pop_front();
        }
        let waits: BTreeSet<ReceiverId> = self.receivers.keys().copied().collect();
        if waits.is_empty() {
            return;
        }
        self.closed.insert(version, Closed { alert, waits });
        self.closed_by_key.insert(key.clone(), version);
        if self.closed.len() > self.open_max {
            self.drop_oldest();
        }
    }

    /// Forgets the closed alert that waits longest.
    fn drop_oldest(&mut self) {
        let Some((_, Closed { alert, waits })) = self.closed.pop_first() else { return };
        self.closed_by_key.remove(&key_of(&alert));
        let counts = waits.iter().filter_map(|id| self.receivers.get(id));
        counts.for_each(|counts| counts.lose(1, Loss::QueueFull));
    }

    fn taken(&mut self, id: ReceiverId, version: u64) {
        let Some(closed) = self.closed.get_mut(&version) else { return };
        closed.waits.remove(&id);
        if closed.waits.is_empty() {
            self.closed_by_key.remove(&key_of(&closed.alert));
            self.closed.remove(&version);
        }
    }
}

fn key_of(alert: &Alert) -> Key {
    (Arc::clone(&alert.target), Arc::clone(&alert.module), Arc::clone(&alert.id))
}

/// When an event happened: as it says, unless its clock goes wrong.
fn happened(event: &Event<'_>, now: SystemTime) -> SystemTime {
    let said = event.time_unix_nanos.and_then(|nanos| u64::try_from(nanos).ok());
    let said = said.map(|nanos| SystemTime::UNIX_EPOCH + Duration::from_nanos(nanos));
    said.filter(|said| *said <= now && now.duration_since(*said).is_ok_and(|age| age <= AGE_MAX))
        .unwrap_or(now)
}

/// Events are not older; Alertmanager drops alerts that ended long ago.
const AGE_MAX: Duration = Duration::from_secs(24 * 3600);
/// Closed alerts that pages show.
const RECENT_MAX: usize = 100;
/// Full collections in which a restarted instance says what still fires.
const COLLECTIONS_OF_DOUBT: u32 = 2;
