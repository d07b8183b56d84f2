//! The families, `perfmon_pla_…`, and their series.

mod actions;
mod families;
mod log_families;
#[cfg(feature = "logs")]
mod logs;
mod sets;

use std::collections::HashMap;

use plugin_sdk::{FamilyId, FamilyKey, Output, SeriesDef, SeriesId};

pub(crate) use self::sets::status_word;

use self::actions::ActionSeries;
use self::families::{FAMILIES, LAG, LEFT_OUT, OBJECTS, SET_INFO, THRESHOLD};
use self::sets::SetTable;
use crate::actions::{Actions, Counts};
use crate::alert_table::{AlertRow, WatchedAlert};
use crate::sets::ShownSet;

#[cfg(feature = "logs")]
use self::logs::LogTable;
#[cfg(feature = "logs")]
use crate::runs::Run;

/// The series of one target, kept from collection to collection.
#[derive(Debug, Default)]
pub(crate) struct AlertSeries {
    /// Empty before the first collection; `None` for those that the exporter dropped.
    families: Vec<Option<FamilyId>>,
    left_out: Option<Option<SeriesId>>,
    sets: SetTable,
    #[cfg(feature = "logs")]
    logs: LogTable,
    actions: ActionSeries,
}

/// Name and value of each label.
type Labels = Vec<(&'static str, String)>;

/// The same, as a series is offered with them.
type Pairs<'a> = Vec<(&'a str, &'a str)>;

/// A series that is to be registered: its family, its labels, and where its id goes.
struct New {
    family: usize,
    labels: Labels,
    place: Where,
}

/// Where the id of a series goes.
enum Where {
    /// Of the alert with this index.
    Alert(usize, usize),
    /// Of this instance of the alert with this index.
    Row(usize, std::sync::Arc<str>, usize),
    LeftOut,
}

impl AlertSeries {
    /// Sends what is known of the sets.
    pub(crate) fn send_sets(
        &mut self,
        sets: &[ShownSet<'_>],
        alerts: &[WatchedAlert],
        actions: &Actions,
        output: &mut Output,
    ) {
        self.register_families(output);
        self.sets.send(&self.families, sets, (alerts, actions), output);
    }

    /// Sends what is known of sets that log counters.
    #[cfg(feature = "logs")]
    pub(crate) fn send_logs(&mut self, runs: &[Run], output: &mut Output) {
        self.logs.send(runs, output);
    }

    /// Sends what alerts did.
    pub(crate) fn send_actions(&mut self, counts: &Counts, output: &mut Output) {
        self.register_families(output);
        self.actions.send(&self.families, counts, output);
    }

    /// Sends what is known of the alerts. Those in `gone` are not any more.
    pub(crate) fn send_alerts(
        &mut self,
        alerts: &mut [WatchedAlert],
        gone: Vec<SeriesId>,
        output: &mut Output,
    ) {
        self.register_families(output);
        let mut gone = gone;
        gone.extend(alerts.iter_mut().filter_map(WatchedAlert::take_outdated_threshold));
        for row in alerts.iter_mut().flat_map(|alert| alert.rows.values_mut()) {
            gone.extend(row.take_outdated_state());
        }
        output.retire(&gone);
        self.register(alerts, output);
        for alert in alerts.iter() {
            let [threshold, lag] = alert.series.map(Option::flatten);
            push(threshold, alert.limit(), output);
            push(lag, alert.lag.as_secs_f64(), output);
            alert.rows.values().for_each(|row| row.push(output));
        }
        if let Some(Some(id)) = self.left_out {
            output.push_u64(id, alerts.iter().map(WatchedAlert::left_out).sum());
        }
    }

    /// The families that were accepted.
    pub(crate) fn families(&self) -> Vec<FamilyId> {
        self.families_from(0)
    }

    pub(crate) fn families_of_sets(&self) -> Vec<FamilyId> {
        self.families_from(SET_INFO)
    }

    fn families_from(&self, first: usize) -> Vec<FamilyId> {
        let families = self.families.iter().skip(first).copied().flatten();
        #[cfg(feature = "logs")]
        let families = families.chain(self.logs.families());
        families.collect()
    }

    fn register_families(&mut self, output: &mut Output) {
        if self.families.is_empty() {
            self.families = output.register_families(FAMILIES);
        }
    }

    /// Registers the series that are new, all at once.
    fn register(&mut self, alerts: &mut [WatchedAlert], output: &mut Output) {
        let mut new: Vec<New> = Vec::new();
        for (index, alert) in alerts.iter().enumerate() {
            for (slot, family) in [THRESHOLD, LAG].into_iter().enumerate() {
                if alert.series[slot].is_none() {
                    let mut labels = labels_of(alert);
                    if family == THRESHOLD {
                        labels.push(("operator", alert.shown_operator().to_string()));
                    }
                    new.push(New { family, labels, place: Where::Alert(index, slot) });
                }
            }
            for (instance, row) in &alert.rows {
                for (slot, family, state) in row.missing() {
                    let mut labels = labels_of(alert);
                    labels.push(("counter_instance", instance.to_string()));
                    labels.extend(state.map(|state| ("state", state.as_str().to_owned())));
                    let place = Where::Row(index, std::sync::Arc::clone(instance), slot);
                    new.push(New { family, labels, place });
                }
            }
        }
        if self.left_out.is_none() {
            new.push(New { family: LEFT_OUT, labels: Vec::new(), place: Where::LeftOut });
        }
        let ids = register(&self.families, new.iter().map(|new| (new.family, &new.labels)), output);
        for (New { place, .. }, id) in new.into_iter().zip(ids) {
            match place {
                Where::Alert(alert, slot) => alerts[alert].series[slot] = Some(id),
                Where::Row(alert, instance, slot) => {
                    if let Some(row) = alerts[alert].rows.get_mut(&instance) {
                        row.registered(slot, id);
                    }
                }
                Where::LeftOut => self.left_out = Some(id),
            }
        }
    }
}

/// Registers series by the indexes of their families. `None` for what the exporter dropped.
fn register<'a>(
    families: &[Option<FamilyId>],
    series: impl Iterator<Item = (usize, &'a Labels)>,
    output: &mut Output,
) -> Vec<Option<SeriesId>> {
    let (families, labels): (Vec<Option<FamilyId>>, Vec<Pairs<'_>>) = series
        .map(|(family, labels)| {
            let labels = labels.iter().map(|(name, value)| (*name, value.as_str())).collect();
            (families.get(family).copied().flatten(), labels)
        })
        .unzip();
    let known = families.iter().zip(&labels);
    let known =
        known.filter_map(|(family, labels)| Some(SeriesDef { family: (*family)?, labels, start: None }));
    let mut ids = output.register_series(&known.collect::<Vec<_>>()).into_iter();
    families.iter().map(|family| family.and_then(|_| ids.next().flatten())).collect()
}

#[expect(clippy::cast_precision_loss, reason = "counts that matter have less than 53 bits")]
const fn real(number: u64) -> f64 {
    number as f64
}

fn push(id: Option<SeriesId>, value: f64, output: &mut Output) {
    if let Some(id) = id {
        output.push_f64(id, value);
    }
}

fn labels_of(alert: &WatchedAlert) -> Labels {
    vec![
        ("set", alert.set.to_string()),
        ("alert", alert.name.to_string()),
        ("counter", alert.counter.to_string()),
    ]
}

/// The ids of all series of an alert that is gone.
pub(crate) fn ids_of(alert: &WatchedAlert) -> impl Iterator<Item = SeriesId> {
    let own = alert.series.into_iter().flatten().flatten();
    own.chain(alert.rows.values().flat_map(AlertRow::ids))
}

/// Whether a family is one of these.
pub(crate) fn is_of_alerts(family: &FamilyKey) -> bool {
    let mut objects = OBJECTS.into_iter().chain(log_families::OBJECTS);
    family.namespace == families::NAMESPACE && objects.any(|object| object == &*family.object)
}

// Series that are told apart by a set and further labels.

/// The series that are there. A sample of the same series as the one before allocates nothing.
#[derive(Debug, Default)]
struct SeriesTable {
    /// In the order in which they are shown. No id for those that the exporter dropped.
    series: Vec<(Key<String>, Option<SeriesId>)>,
    /// By series, the value of this sample.
    values: Vec<f64>,
}

/// What a series is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Key<S> {
    /// The index of its family.
    family: usize,
    set: S,
    /// Names and values of further labels.
    labels: [Option<(&'static str, S)>; 2],
}

/// Takes a series with its value.
type Take<'t, 'a> = &'t mut dyn FnMut(Key<&'a str>, f64);

impl SeriesTable {
    /// Sends the values of all series that `show` passes on. It is called again when they are others than before, and has to pass
    /// the same ones then.
    fn send<'a>(&mut self, families: &[Option<FamilyId>], show: impl Fn(Take<'_, 'a>), output: &mut Output) {
        let Self { series, values } = self;
        values.clear();
        let mut are_same = true;
        show(&mut |key, value| {
            are_same &= series.get(values.len()).is_some_and(|(known, _)| known.borrowed() == key);
            values.push(value);
        });
        if !are_same || series.len() != values.len() {
            self.register(families, show, output);
        }
        for ((_, id), value) in self.series.iter().zip(&self.values) {
            if let Some(id) = id {
                output.push_f64(*id, *value);
            }
        }
    }

    /// Ends the series that are gone, and registers those that are new.
    fn register<'a>(
        &mut self,
        families: &[Option<FamilyId>],
        show: impl Fn(Take<'_, 'a>),
        output: &mut Output,
    ) {
        let mut before: HashMap<Key<String>, Option<SeriesId>> = self.series.drain(..).collect();
        let mut keys = Vec::new();
        show(&mut |key, _| keys.push(key.owned()));
        let known: Vec<Option<Option<SeriesId>>> = keys.iter().map(|key| before.remove(key)).collect();
        let gone: Vec<SeriesId> = before.into_values().flatten().collect();
        output.retire(&gone);
        let new = keys.iter().zip(&known).filter(|(_, known)| known.is_none());
        let new: Vec<(usize, Labels)> = new.map(|(key, _)| (key.family, key.labels())).collect();
        let ids = register(families, new.iter().map(|(family, labels)| (*family, labels)), output);
        let mut ids = ids.into_iter();
        let all = keys.into_iter().zip(known);
        self.series.extend(all.map(|(key, known)| (key, known.or_else(|| ids.next()).flatten())));
    }
}

impl Key<String> {
    fn borrowed(&self) -> Key<&str> {
        let labels =
            self.labels.each_ref().map(|label| label.as_ref().map(|(name, value)| (*name, &**value)));
        Key { family: self.family, set: &self.set, labels }
    }

    fn labels(&self) -> Labels {
        let further = self.labels.iter().flatten().map(|(name, value)| (*name, value.clone()));
        [("set", self.set.clone())].into_iter().chain(further).collect()
    }
}

impl<'a> Key<&'a str> {
    const fn of(family: usize, set: &'a str) -> Self {
        Self { family, set, labels: [None; 2] }
    }

    /// With another label: at most two.
    fn with(mut self, name: &'static str, value: &'a str) -> Self {
        if let Some(free) = self.labels.iter_mut().find(|label| label.is_none()) {
            *free = Some((name, value));
        }
        self
    }

    fn owned(self) -> Key<String> {
        let labels = self.labels.map(|label| label.map(|(name, value)| (name, value.to_owned())));
        Key { family: self.family, set: self.set.to_owned(), labels }
    }
}
