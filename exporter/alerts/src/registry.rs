//! Which alerts are open, and when they close without an event.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime};

use parking_lot::Mutex;
use plugin_abi::{self as abi, AlertState, Event, NoRoom, Outcome};
use tokio::sync::watch;
use tracing::warn;

use super::Origin;
use super::annotations::annotations;
use super::counts::Counts;
use super::labels::labels;
use super::payload::Alert;
use super::state::{Heard, Key, OpenAlert, ReceiverId, State, View};

/// Which alerts are open, and which closed ones a receiver has not taken yet.
#[derive(Debug)]
pub struct Registry {
    state: Mutex<State>,
    /// Alerts that were not kept, because too many were open.
    over_limit: AtomicU64,
    /// Changes when an alert does.
    changed: watch::Sender<u64>,
}

/// The events of one module on one target. The newest feed of a module counts; those before it are not heard any more.
#[derive(Debug)]
pub struct Feed {
    registry: Arc<Registry>,
    origin: Origin,
    number: u64,
}

impl Feed {
    /// Something happened on the target, and was seen at `now`. If it is about an alert, its state is returned: one that is opened
    /// again is open.
    ///
    /// # Errors
    /// If it is about an alert that is not open, and too many are.
    pub fn event(&self, event: &Event<'_>, now: SystemTime) -> Result<Option<AlertState>, NoRoom> {
        event.alert.map(|alert| self.registry.event(self, event, alert, now)).transpose()
    }

    /// Whether the alert of this id is open.
    #[must_use]
    pub fn is_open(&self, id: &str) -> bool {
        let key = (Arc::clone(&self.origin.target), Arc::clone(&self.origin.module), Arc::from(id));
        self.registry.state.lock().open.contains_key(&key)
    }

    /// The instance was restarted, and knows no alert.
    pub fn restarted(&self) {
        self.registry.restarted(self);
    }

    /// A collection of the module ended at `now`, or could not begin. `steady` is the same moment by a clock that nobody sets.
    pub fn collected(&self, outcome: &Outcome<'_>, now: SystemTime, steady: Instant) {
        self.registry.collected(self, outcome, now, steady);
    }
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
        let mut state = self.state.lock();
        (state.labels, state.open_max) = (labels, open_max);
        state.make_room();
    }

    /// A feed for a module of a target. If there was one before, its alerts stay open until the new one says that they
    /// closed, or says nothing of them in collections that had the time to find out (`OpenAlert::is_over`).
    pub fn feed(self: &Arc<Self>, origin: Origin) -> Feed {
        let mut state = self.state.lock();
        let number = state.next();
        let module = (Arc::clone(&origin.target), Arc::clone(&origin.module));
        state.mark_unconfirmed(&module);
        let heard = Heard { number, is_doubted: true, is_confirming: false, collected: None };
        state.feeds.insert(module, heard);
        state.make_room();
        drop(state);
        Feed { registry: Arc::clone(self), origin, number }
    }

    /// Only modules of which `keeps` says so go on. The alerts of the others close now.
    pub fn retain(&self, now: SystemTime, keeps: impl Fn(&str, &str) -> bool) {
        let mut state = self.state.lock();
        state.feeds.retain(|(target, module), _| keeps(target, module));
        state.make_room();
        let gone = state.open.keys().filter(|(target, module, _)| !keeps(target, module));
        let gone: Vec<Key> = gone.cloned().collect();
        gone.iter().for_each(|key| state.close(key, now));
        state.forget_targets();
        self.notify(&state);
    }

    /// Enters a receiver. It gets all open alerts.
    pub(crate) fn enter(&self, counts: &Arc<Counts>) -> ReceiverId {
        let mut state = self.state.lock();
        let id = ReceiverId(state.next());
        state.receivers.insert(id, Arc::clone(counts));
        id
    }

    /// The receiver takes nothing any more.
    pub(crate) fn leave(&self, id: ReceiverId) {
        let mut state = self.state.lock();
        let waits = state.closed.iter().filter(|(_, closed)| closed.waits.contains(&id));
        let waits: Vec<u64> = waits.map(|(version, _)| *version).collect();
        waits.into_iter().for_each(|version| state.taken(id, version));
        state.receivers.remove(&id);
    }

    /// What `id` has to know now.
    pub(crate) fn view(&self, id: ReceiverId) -> View {
        let state = self.state.lock();
        let closed = state.closed.values().filter(|closed| closed.waits.contains(&id));
        View {
            open: state.open.values().map(|open| Arc::clone(&open.alert)).collect(),
            closed: closed.map(|closed| Arc::clone(&closed.alert)).collect(),
        }
    }

    /// The receiver took these, or refused them for good. Closed ones are not kept for it any longer.
    pub(crate) fn settled(&self, id: ReceiverId, alerts: &[Arc<Alert>]) {
        let mut state = self.state.lock();
        alerts.iter().for_each(|alert| state.taken(id, alert.version));
    }

    pub(crate) fn watch(&self) -> watch::Receiver<u64> {
        self.changed.subscribe()
    }

    /// Every open alert, by target, module and name.
    #[must_use]
    pub fn open(&self) -> Vec<OpenAlert> {
        self.state.lock().open.values().cloned().collect()
    }

    /// How many are open.
    #[must_use]
    pub fn open_count(&self) -> usize {
        self.state.lock().open.len()
    }

    /// The last closed ones, the newest first.
    #[must_use]
    pub fn recent(&self) -> Vec<Arc<Alert>> {
        self.state.lock().recent.iter().rev().cloned().collect()
    }

    /// Alerts that were not kept, because too many were open.
    #[must_use]
    pub fn over_limit(&self) -> u64 {
        self.over_limit.load(Ordering::Relaxed)
    }

    fn event(
        &self,
        feed: &Feed,
        event: &Event<'_>,
        said: abi::Alert<'_>,
        now: SystemTime,
    ) -> Result<AlertState, NoRoom> {
        let Origin { target, module, .. } = &feed.origin;
        let mut state = self.state.lock();
        if state.heard(&feed.origin, feed.number).is_none() {
            return Ok(said.state);
        }
        let time = happened(event, now);
        let key = (Arc::clone(target), Arc::clone(module), Arc::from(said.id));
        let mut is_now = said.state;
        if said.state == AlertState::Closed {
            state.close(&key, time);
        } else if state.open.contains_key(&key) {
            if state.seen(&key, &annotations(event), &said, time, now) {
                is_now = AlertState::Open;
            } else if let Some(heard) = state.heard(&feed.origin, feed.number) {
                heard.is_confirming = true;
            }
        } else if state.has_room(target) {
            let version = state.next();
            let alert = Alert {
                version,
                target: Arc::clone(target),
                module: Arc::clone(module),
                id: Arc::clone(&key.2),
                labels: labels(&feed.origin, event, said, &state.labels),
                annotations: annotations(event),
                starts_at: time,
                ends_at: None,
            };
            state.open_alert(key, alert, &said, now);
        } else {
            self.over_limit.fetch_add(1, Ordering::Relaxed);
            if state.is_newly_full(target) {
                warn!(
                    target = &**target,
                    module = &**module,
                    open_max = state.open_max,
                    next_step = "raise `alerts.max_alerts`, or have alerts name fewer instances",
                    "Alerts are not kept: too many are open"
                );
            }
            return Err(NoRoom);
        }
        self.notify(&state);
        Ok(is_now)
    }

    pub(crate) fn restarted(&self, feed: &Feed) {
        let mut state = self.state.lock();
        if let Some(heard) = state.heard(&feed.origin, feed.number) {
            heard.is_doubted = true;
            state.mark_unconfirmed(&(Arc::clone(&feed.origin.target), Arc::clone(&feed.origin.module)));
        }
    }

    /// An instance that was restarted reports what still fires in its first collections. What it does not is over. So is
    /// what no collection has confirmed for a day.
    pub(crate) fn collected(&self, feed: &Feed, outcome: &Outcome<'_>, now: SystemTime, steady: Instant) {
        let mut state = self.state.lock();
        state.follow_clock(now, steady);
        let Some(heard) = state.heard(&feed.origin, feed.number) else { return };
        let counts = match outcome {
            Outcome::Full => FULL_COUNTS,
            Outcome::Partial { .. } => 1,
            Outcome::Failed(_) => 0,
        };
        if counts > 0 {
            heard.collected = Some(now);
            let is_confirming = std::mem::take(&mut heard.is_confirming);
            if heard.is_doubted && !is_confirming {
                Self::settle(&mut state, &feed.origin, counts, now);
            }
        }
        for (target, module, alerts) in state.expire(now, steady) {
            warn!(
                target = &*target,
                module = &*module,
                alerts,
                next_step = "read why the target is down; what still fires opens again once it is collected",
                "Alerts ended that no collection has confirmed for a day"
            );
        }
        self.notify(&state);
    }

    /// Counts a collection that did not fail against the alerts that the module has not confirmed.
    fn settle(state: &mut State, origin: &Origin, counts: u32, now: SystemTime) {
        let (mut over, mut left) = (Vec::new(), 0);
        for (key, open) in state.of_module(&origin.target, &origin.module) {
            match &mut open.unconfirmed {
                None => {}
                Some(unconfirmed) => {
                    unconfirmed.count(counts, now);
                    if open.is_over(now) { over.push(key.clone()) } else { left += 1 }
                }
            }
        }
        over.iter().for_each(|key| state.close(key, now));
        if left == 0
            && let Some(heard) =
                state.feeds.get_mut(&(Arc::clone(&origin.target), Arc::clone(&origin.module)))
        {
            heard.is_doubted = false;
        }
    }

    fn notify(&self, state: &State) {
        self.changed.send_if_modified(|version| std::mem::replace(version, state.last) != state.last);
    }
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
/// A full collection counts as many partial ones: what is missing in one may be what fires.
const FULL_COUNTS: u32 = 3;
