//! All alerts of a target, and how they are judged on the host's samples.

mod alert;

use std::collections::HashMap;
use std::time::Duration;

use counter_poll::Pace;
use counter_poll::paths::{CountersetFrame, Frame};
use pla_engine::{AlertState, Judgement};
use plugin_sdk::{Output, SeriesId};

pub(crate) use self::alert::{Fired, Place, WatchedAlert};

use crate::counters::{Found, Kinds, Paths};
use crate::model::Set;

/// The alerts of one target, in the order of their sets.
#[derive(Debug, Default)]
pub(crate) struct AlertTable {
    alerts: Vec<WatchedAlert>,
    by_name: ByName,
    /// Whether instances find no room.
    is_full: bool,
    /// What fired and was not returned: a collection may be cut off while alerts are judged.
    fired: Vec<Fired>,
}

impl AlertTable {
    /// Takes the alerts of `sets`, and adds the paths of their counters. Those that were there before go on with what is known
    /// of them. Returns those that are gone.
    ///
    /// `is_own` says whether a path that names a host means this target.
    pub(crate) fn select<'a>(
        &mut self,
        sets: impl Iterator<Item = &'a Set>,
        paths: &mut Paths,
        is_own: impl Fn(&str) -> bool,
    ) -> Vec<WatchedAlert> {
        // Their places are others now.
        self.fired.clear();
        let before = std::mem::take(&mut self.alerts).into_iter();
        let mut before: HashMap<_, WatchedAlert> = before.map(|alert| (alert.key(), alert)).collect();
        for set in sets {
            for alert in &set.alerts {
                let path = &alert.threshold.path;
                let place = match path.machine.as_deref() {
                    Some(machine) if !is_own(machine) => Place::OtherHost,
                    _ => Place::Path(paths.add(path, alert.is_optional)),
                };
                let new = WatchedAlert::new(&set.name, alert, place);
                self.alerts.push(match before.remove(&new.key()) {
                    Some(known) => known.with(alert, place),
                    None => new,
                });
            }
        }
        before.into_values().collect()
    }

    /// Which replies are needed for the alerts that are due.
    pub(crate) fn due(&self, found: &Found, now: Duration) -> Kinds {
        let due = self.alerts.iter().filter(|alert| alert.is_due(now));
        due.fold(Kinds::default(), |all, alert| all.or(alert.needs(found)))
    }

    /// Judges what is due on the values of `frame`, which are of now where `replied` says so. What is due without values stays
    /// due. Returns what fired of alerts that do something then.
    pub(crate) async fn judge(
        &mut self,
        found: &Found,
        frame: &Frame,
        replied: Kinds,
        now: Duration,
    ) -> Vec<Fired> {
        let Self { alerts, by_name, fired, .. } = self;
        let mut room = INSTANCES_MAX.saturating_sub(alerts.iter().map(WatchedAlert::instances).sum());
        let mut pace = Pace::default();
        for (index, alert) in alerts.iter_mut().enumerate().filter(|(_, alert)| alert.is_due(now)) {
            if replied.have(alert.needs(found)) {
                let mut take = |instance, trigger| fired.push(Fired::new(index, instance, trigger));
                alert.judge((found, frame), by_name, now, &mut room, &mut take, &mut pace).await;
            } else {
                alert.lack_values(now);
            }
        }
        self.tell_room();
        std::mem::take(&mut self.fired)
    }

    /// Says when instances begin to find no room, and when all have it again.
    fn tell_room(&mut self) {
        let full = self.alerts.iter().find(|alert| alert.leaves_out_instances());
        match (full, self.is_full) {
            (Some(alert), false) => tracing::warn!(
                set = &*alert.set,
                alert = &*alert.name,
                instances_max = INSTANCES_MAX,
                next_step =
                    "name fewer instances in the counters of alerts, or split the sets between modules",
                "Instances of alerts are not judged: there are too many"
            ),
            (None, true) => tracing::info!("All instances of alerts are judged again"),
            _ => {}
        }
        self.is_full = full.is_some();
    }

    /// Only the alerts of sets that run are judged. What is known of others is forgotten.
    pub(crate) fn run(&mut self, is_running: impl Fn(&str) -> bool) {
        for alert in &mut self.alerts {
            alert.set_running(is_running(&alert.set));
        }
    }

    /// There were no values since the last round: what had one has none after two intervals.
    pub(crate) fn miss(&mut self, now: Duration) {
        self.alerts.iter_mut().for_each(|alert| alert.miss(now));
    }

    pub(crate) fn alerts(&self) -> &[WatchedAlert] {
        &self.alerts
    }

    /// The alerts, for what is kept with them.
    pub(crate) fn alerts_mut(&mut self) -> &mut [WatchedAlert] {
        &mut self.alerts
    }
}

/// Instances of all alerts of a target that are judged; what is above is not.
pub(crate) const INSTANCES_MAX: usize = 20_000;

/// The instances of each counterset by their names in one case, made as they are needed.
#[derive(Debug, Default)]
struct ByName(HashMap<usize, OfCounterset>);

#[derive(Debug, Default)]
struct OfCounterset {
    version: u64,
    places: HashMap<String, Vec<usize>>,
}

impl ByName {
    /// The places of the instances of a counterset that have this name.
    async fn places(
        &mut self,
        counterset: usize,
        frame: &CountersetFrame,
        name: &str,
        pace: &mut Pace,
    ) -> &[usize] {
        let of_counterset = self.0.entry(counterset).or_default();
        if of_counterset.version != frame.version() {
            of_counterset.places.clear();
            for (place, instance) in frame.instances().iter().enumerate() {
                let name = instance.as_ref().map_or("", |instance| &instance.name);
                of_counterset.places.entry(name.to_lowercase()).or_default().push(place);
                pace.step(1).await;
            }
            // Not before: the collection may end within the loop.
            of_counterset.version = frame.version();
        }
        of_counterset.places.get(&name.to_lowercase()).map_or(&[], Vec::as_slice)
    }
}

// The series of one instance of an alert.

/// What is shown and reported of one instance of an alert.
#[derive(Debug)]
pub(crate) struct AlertRow {
    /// What is known of it.
    pub(crate) judgement: Judgement,
    /// The collection that knew it last.
    pub(crate) round: u64,
    /// When it was last reported that it fires.
    pub(crate) reported: Option<Duration>,
    /// When it came into its state, in Unix seconds.
    changed_at: f64,
    /// The state that its series has as a label.
    shown_state: AlertState,
    /// By family. `None` where it has no series yet, and no id where the exporter dropped it.
    series: [Option<Option<SeriesId>>; OF_ROWS],
}

/// The series of one instance: firing, state, value, triggered, last change.
pub(crate) const OF_ROWS: usize = 5;
/// That of the state, which has it as a label.
const STATE: usize = 1;
const VALUE: usize = 2;

impl AlertRow {
    pub(crate) const fn new(judgement: Judgement, round: u64, unix_s: f64) -> Self {
        Self {
            judgement,
            round,
            reported: None,
            changed_at: unix_s,
            shown_state: judgement.state,
            series: [None; OF_ROWS],
        }
    }

    pub(crate) fn update(&mut self, judgement: Judgement, round: u64, unix_s: f64) {
        if judgement.state != self.judgement.state {
            self.changed_at = unix_s;
        }
        (self.judgement, self.round) = (judgement, round);
    }

    /// The series of a state that it is not in any more.
    pub(crate) fn take_outdated_state(&mut self) -> Option<SeriesId> {
        if self.shown_state == self.judgement.state {
            return None;
        }
        self.shown_state = self.judgement.state;
        self.series[STATE].take().flatten()
    }

    /// Those that it needs and has not: their places, their families, and the state if it is a label.
    pub(crate) fn missing(&self) -> impl Iterator<Item = (usize, usize, Option<AlertState>)> {
        (0..OF_ROWS).filter(|slot| self.series[*slot].is_none()).filter_map(|slot| match slot {
            STATE => Some((slot, slot, Some(self.shown_state))),
            VALUE => self.judgement.value.map(|_| (slot, slot, None)),
            _ => Some((slot, slot, None)),
        })
    }

    pub(crate) fn registered(&mut self, slot: usize, id: Option<SeriesId>) {
        self.series[slot] = Some(id);
    }

    pub(crate) fn push(&self, output: &mut Output) {
        let Self { judgement, changed_at, series, .. } = self;
        let [firing, state, value, triggered, changed] = series.map(Option::flatten);
        let fires = u64::from(judgement.state == AlertState::Firing);
        for (id, count) in [(firing, fires), (state, 1), (triggered, judgement.triggered)] {
            if let Some(id) = id {
                output.push_u64(id, count);
            }
        }
        for (id, number) in [(value, judgement.value), (changed, Some(*changed_at))] {
            if let (Some(id), Some(number)) = (id, number) {
                output.push_f64(id, number);
            }
        }
    }

    /// All of its series.
    pub(crate) fn ids(&self) -> impl Iterator<Item = SeriesId> {
        self.series.into_iter().flatten().flatten()
    }
}
