//! What series say of sets that log: status, next start, records, gaps and such.
//!
//! Every source can have such series: families of the objects `Run` and `Log` in a namespace of its own, with the items and
//! labels below. `docs/writing-a-source.md` describes them.

use std::collections::BTreeMap;

use series::model::{Family, Point};

use crate::pages::Entry;
use crate::pages::catalogue::Taken;

/// The object of families about the runs of a set.
const RUN: &str = "Run";
/// The object of families about its logs.
const LOG: &str = "Log";
/// The label that has the name of a set.
const SET: &str = "set";
/// The label of a status that has its word.
const STATUS: &str = "status";

/// Sets on the page; more are counted.
pub(super) const SETS_MAX: usize = 1_000;

/// What is known of a set that logs.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Set {
    pub(super) target: String,
    pub(super) module: String,
    pub(super) name: String,
    /// `running`, `stopped`, and others that a source may have.
    pub(super) status: String,
    pub(super) serial_number: Option<f64>,
    /// In seconds since 1970.
    pub(super) next_start: Option<f64>,
    pub(super) records: Option<f64>,
    pub(super) bytes: Option<f64>,
    pub(super) gaps: Option<f64>,
    pub(super) waiting: Option<f64>,
    pub(super) failures: Option<f64>,
    /// Whether records of it cannot be written now.
    pub(super) is_failing: bool,
}

impl Set {
    /// Takes what one series says.
    fn take(&mut self, what: What, point: &Point<'_>) {
        let value = point.value.as_f64();
        let slot = match what {
            What::Status => {
                if value == 1.0 {
                    self.status = label_of(point, STATUS);
                }
                return;
            }
            What::Failing => {
                self.is_failing |= value > 0.0;
                return;
            }
            What::SerialNumber => &mut self.serial_number,
            What::NextStart => &mut self.next_start,
            What::Records => &mut self.records,
            What::Bytes => &mut self.bytes,
            What::Gaps => &mut self.gaps,
            What::Waiting => &mut self.waiting,
            What::Failures => &mut self.failures,
        };
        // A set has one series for each of its logs, or for each kind of failure.
        *slot = Some(slot.unwrap_or_default() + value);
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    Status,
    SerialNumber,
    NextStart,
    Records,
    Bytes,
    Gaps,
    Waiting,
    Failures,
    Failing,
}

/// Object and item of the families that are read.
const FAMILIES: &[(&str, &str, What)] = &[
    (RUN, "Status", What::Status),
    (RUN, "Serial Number", What::SerialNumber),
    (RUN, "Next Start Timestamp", What::NextStart),
    (RUN, "Failures", What::Failures),
    (LOG, "Records", What::Records),
    (LOG, "Bytes", What::Bytes),
    (LOG, "Gaps", What::Gaps),
    (LOG, "Waiting", What::Waiting),
    (LOG, "Failures", What::Failures),
    (LOG, "Failing", What::Failing),
];

fn what_of(family: &Family) -> Option<What> {
    let is_it =
        |(object, item, _): &&(&str, &str, What)| family.counterset == *object && family.counter == *item;
    let found = FAMILIES.iter().find(is_it).filter(|_| !family.namespace.is_empty())?;
    Some(found.2)
}

/// All sets that log: those that fail first, then by target and name.
pub(super) fn sets(targets: &[Entry]) -> Vec<Set> {
    let mut sets = Vec::new();
    for entry in targets {
        let taken = Taken::from(entry);
        let mut of_target: BTreeMap<(usize, String), Set> = BTreeMap::new();
        for counter in taken.counters_of(|family| what_of(family).is_some()) {
            let Some(what) = what_of(counter.family()) else { continue };
            for point in counter.points() {
                let key = (counter.module(), label_of(&point, SET));
                of_target.entry(key).or_default().take(what, &point);
            }
        }
        sets.extend(of_target.into_iter().map(|((module, name), set)| {
            let module = entry.modules.get(module).cloned().unwrap_or_default();
            Set { target: entry.name.clone(), module, name, ..set }
        }));
    }
    sets.sort_by_key(|set| !set.is_failing);
    sets
}

fn label_of(point: &Point<'_>, name: &str) -> String {
    point.labels().find(|(label, _)| *label == name).map_or_else(String::new, |(_, value)| value.into_owned())
}
