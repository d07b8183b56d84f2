//! What series say of alerts: state, value, threshold, since when; also of alerts that are not open.
//!
//! Every source can have such series: families of the object `Alert` in a namespace of its own, with the items and labels
//! below. `docs/writing-a-source.md` describes them.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};
use std::hash::{BuildHasher, RandomState};

use plugin_abi::Comparison;
use series::model::{Family, Point};

use super::place_of;
use crate::metrics::Site;
use crate::page_state::Seen;
use crate::pages::Entry;
use crate::pages::catalogue::{Counter, Taken, is_common};
use crate::pages::cells::Cell;

const OBJECT: &str = "Alert";
const STATE_INFO: &str = "State Info";
const VALUE: &str = "Value";
const THRESHOLD: &str = "Threshold";
const CHANGED: &str = "Last Change Timestamp";
/// The label of a [`STATE_INFO`] that has the state.
const STATE: &str = "state";
/// The label of a [`THRESHOLD`] that has the side on which it fires.
const OPERATOR: &str = "operator";
/// Labels that the registry of alerts sets itself.
const OF_REGISTRY: [&str; 4] = ["id", "module", "plugin", "target"];

/// The families of one module of a target.
pub(super) struct Source<'a> {
    pub(super) entry: &'a Entry,
    states: Counter<'a>,
    values: Option<Counter<'a>>,
    thresholds: Option<Counter<'a>>,
    changes: Option<Counter<'a>>,
    hasher: RandomState,
}

/// An alert, by the series of its state.
#[derive(Clone, Copy)]
pub(super) struct Row<'a> {
    pub(super) source: &'a Source<'a>,
    /// The place of its state among the states.
    pub(super) state: usize,
    pub(super) point: Point<'a>,
}

/// What is known of an alert besides its state.
#[derive(Debug, Default)]
pub(super) struct Figures {
    /// The value of now, and those that were seen before.
    pub(super) seen: Seen,
    pub(super) limit: Option<Limit>,
    /// When it came into its state, in seconds since 1970.
    pub(super) changed_at: Option<f64>,
}

/// What a value is compared with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Limit {
    pub(super) threshold: f64,
    /// The side on which it fires, where that is known.
    pub(super) side: Option<Comparison>,
}

impl Limit {
    /// Nothing where the threshold is no number.
    pub(super) fn of(threshold: f64, operator: &str) -> Option<Self> {
        let side = match operator {
            ">" => Some(Comparison::Above),
            "<" => Some(Comparison::Below),
            _ => None,
        };
        threshold.is_finite().then_some(Self { threshold, side })
    }
}

/// The sources among the series of targets.
pub(super) fn sources<'a>(taken: &'a [(&'a Entry, Taken)]) -> Vec<Source<'a>> {
    let of_target = |(entry, taken): &'a (&'a Entry, Taken)| {
        taken.counters_of(|family| is(family, STATE_INFO)).map(move |states| {
            let find = |item: &'static str| {
                let mut found = taken.counters_of(move |family| is(family, item));
                found.find(|own| {
                    own.module() == states.module() && own.family().namespace == states.family().namespace
                })
            };
            let (values, thresholds, changes) = (find(VALUE), find(THRESHOLD), find(CHANGED));
            Source { entry, states, values, thresholds, changes, hasher: RandomState::new() }
        })
    };
    taken.iter().flat_map(of_target).collect()
}

fn is(family: &Family, item: &str) -> bool {
    !family.namespace.is_empty() && family.counterset == OBJECT && family.counter == item
}

impl<'a> Source<'a> {
    /// All of its alerts.
    pub(super) fn rows(&'a self) -> impl Iterator<Item = Row<'a>> {
        let row = |point: Point<'a>| Row { source: self, state: place_of(&state_of(&point)), point };
        self.states.points().map(row)
    }

    /// The name of its module.
    pub(super) fn module(&self) -> &str {
        self.entry.modules.get(self.states.module()).map_or("", String::as_str)
    }

    /// The alerts of the registry that are alerts of this source, with their places in `open`.
    pub(super) fn find(&'a self, open: &[(usize, &alerts::Alert)]) -> Vec<(usize, Row<'a>)> {
        let is_own =
            |alert: &alerts::Alert| *alert.target == *self.entry.name && *alert.module == *self.module();
        let own: Vec<_> = open.iter().filter(|(_, alert)| is_own(alert)).collect();
        if own.is_empty() {
            return Vec::new();
        }
        let names = self.names_of(self.states);
        let key = |alert: &alerts::Alert| self.key(names.iter().map(|name| (*name, label_of(alert, name))));
        let places: HashMap<u64, usize> = own.iter().map(|(place, alert)| (key(alert), *place)).collect();
        let found = self.rows().filter_map(|row| Some((*places.get(&self.key_of(&row.point))?, row)));
        found.collect()
    }

    /// What is known of some of its alerts, which come with their places.
    fn figures(&self, site: &Site, rows: &[(usize, Point<'a>)], figures: &mut [Figures]) {
        let by_key: HashMap<u64, usize> =
            rows.iter().map(|(place, point)| (self.key_of(point), *place)).collect();
        let wanted = |counter: Option<Counter<'a>>| {
            let points = counter.into_iter().flat_map(Counter::points);
            points.filter_map(|point| Some((*by_key.get(&self.key_of(&point))?, point)))
        };
        if let Some(values) = self.values {
            for (place, point) in wanted(Some(values)) {
                figures[place].seen = Cell::look(site, self.entry, values, point, None).seen;
            }
        }
        for (place, point) in wanted(self.changes) {
            figures[place].changed_at = Some(point.value.as_f64());
        }
        let Some(thresholds) = self.thresholds else { return };
        // One threshold is that of all instances of an alert, and has fewer labels.
        let names = self.names_of(thresholds);
        let limits: HashMap<u64, Limit> =
            thresholds.points().filter_map(|point| Some((self.key_of(&point), limit_of(&point)?))).collect();
        for (place, point) in rows {
            let labels = point.labels().filter(|(name, _)| names.contains(name));
            figures[*place].limit = limits.get(&self.key(labels)).copied();
        }
    }

    /// Whether a label identifies an alert.
    pub(super) fn identifies(&self, label: &str) -> bool {
        label != STATE && label != OPERATOR && !is_common(self.entry, label)
    }

    /// The names of all labels that identify alerts in these series.
    fn names_of(&self, counter: Counter<'a>) -> BTreeSet<&'a str> {
        let mut names = BTreeSet::new();
        for point in counter.points() {
            let mut labels = point.labels();
            while let Some((name, _)) = labels.next_escaped() {
                if self.identifies(name) {
                    names.insert(name);
                }
            }
        }
        names
    }

    fn key_of(&self, point: &Point<'_>) -> u64 {
        self.key(point.labels().filter(|(name, _)| self.identifies(name)))
    }

    /// A number that is the same for the same labels in any order. An empty label is none.
    fn key<'b, V: AsRef<str>>(&self, labels: impl Iterator<Item = (&'b str, V)>) -> u64 {
        let labels = labels.filter(|(_, value)| !value.as_ref().is_empty());
        let hashes = labels.map(|(name, value)| self.hasher.hash_one((name, value.as_ref())));
        hashes.fold(0, u64::wrapping_add)
    }
}

/// What is known of these alerts, for each of them.
pub(super) fn figures(site: &Site, rows: &[Row<'_>]) -> Vec<Figures> {
    let mut figures: Vec<Figures> = rows.iter().map(|_| Figures::default()).collect();
    let mut of_sources: Vec<(&Source<'_>, Vec<(usize, Point<'_>)>)> = Vec::new();
    for (place, row) in rows.iter().enumerate() {
        let own = of_sources.iter().position(|(source, _)| std::ptr::eq(*source, row.source));
        let own = own.unwrap_or_else(|| {
            of_sources.push((row.source, Vec::new()));
            of_sources.len() - 1
        });
        of_sources[own].1.push((place, row.point));
    }
    for (source, rows) in of_sources {
        source.figures(site, &rows, &mut figures);
    }
    figures
}

/// The word of its state.
pub(super) fn state_of<'a>(point: &Point<'a>) -> Cow<'a, str> {
    point.labels().find(|(name, _)| *name == STATE).map_or(Cow::Borrowed(""), |(_, state)| state)
}

fn limit_of(point: &Point<'_>) -> Option<Limit> {
    let operator = point.labels().find(|(name, _)| *name == OPERATOR).map(|(_, operator)| operator);
    Limit::of(point.value.as_f64(), &operator.unwrap_or_default())
}

/// What the registry calls a label of the source.
fn label_of<'a>(alert: &'a alerts::Alert, name: &str) -> &'a str {
    if OF_REGISTRY.contains(&name) { alert.label(&format!("exported_{name}")) } else { alert.label(name) }
}
