//! All alerts of a target, and how they are judged on the host's samples.

mod alert;
mod row;

use std::collections::HashMap;
use std::time::Duration;

use counter_poll::Pace;
use counter_poll::paths::{CountersetFrame, Frame};

use crate::counters::{Found, Kinds, Paths};
use crate::model::Set;

pub(crate) use self::alert::{Fired, Place, WatchedAlert};
pub(crate) use self::row::{AlertRow, OF_ROWS};

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
