//! The series of sets that log counters here.

use std::collections::HashMap;

use counter_log::SinkErrorKind;
use data_manager::Limit;
use jiff::Timestamp;
use pla_engine::RunState;
use plugin_sdk::{FamilyId, Output, SeriesId};

use super::log_families as families;
use super::{Labels, register};
use crate::runs::{ActiveCollector, Run};

/// The series that are there. A sample of the same sets and logs as the one before allocates nothing.
#[derive(Debug, Default)]
pub(super) struct LogTable {
    /// Empty before the first set that logs; `None` for those that the exporter dropped.
    families: Vec<Option<FamilyId>>,
    /// In the order of [`show`]. No id for those that the exporter dropped.
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
    log: Option<S>,
    /// Name and value of a further label.
    label: Option<(&'static str, &'static str)>,
}

impl LogTable {
    /// The families that were accepted.
    pub(super) fn families(&self) -> impl Iterator<Item = FamilyId> {
        self.families.iter().copied().flatten()
    }

    /// Sends what is known of all sets.
    pub(super) fn send(&mut self, runs: &[Run], output: &mut Output) {
        if self.families.is_empty() {
            if runs.is_empty() {
                return;
            }
            self.families = output.register_families(families::FAMILIES);
        }
        let Self { series, values, .. } = self;
        values.clear();
        let mut are_same = true;
        show(runs, &mut |key, value| {
            are_same &= series.get(values.len()).is_some_and(|(known, _)| known.borrowed() == key);
            values.push(value);
        });
        if !are_same || series.len() != values.len() {
            self.register(runs, output);
        }
        for ((_, id), value) in self.series.iter().zip(&self.values) {
            if let Some(id) = id {
                output.push_f64(*id, *value);
            }
        }
    }

    /// Ends the series that are gone, and registers those that are new.
    fn register(&mut self, runs: &[Run], output: &mut Output) {
        let mut before: HashMap<Key<String>, Option<SeriesId>> = self.series.drain(..).collect();
        let mut keys = Vec::new();
        show(runs, &mut |key, _| keys.push(key.owned()));
        let known: Vec<Option<Option<SeriesId>>> = keys.iter().map(|key| before.remove(key)).collect();
        let gone: Vec<SeriesId> = before.into_values().flatten().collect();
        output.retire(&gone);
        let new = keys.iter().zip(&known).filter(|(_, known)| known.is_none());
        let new: Vec<(usize, Labels)> = new.map(|(key, _)| (key.family, key.labels())).collect();
        let ids = register(&self.families, new.iter().map(|(family, labels)| (*family, labels)), output);
        let mut ids = ids.into_iter();
        let all = keys.into_iter().zip(known);
        self.series.extend(all.map(|(key, known)| (key, known.or_else(|| ids.next()).flatten())));
    }
}

impl Key<String> {
    fn borrowed(&self) -> Key<&str> {
        let Self { family, set, log, label } = self;
        Key { family: *family, set, log: log.as_deref(), label: *label }
    }

    fn labels(&self) -> Labels {
        let log = self.log.iter().map(|log| ("log", log.clone()));
        let label = self.label.iter().map(|(name, value)| (*name, (*value).to_owned()));
        [("set", self.set.clone())].into_iter().chain(log).chain(label).collect()
    }
}

impl<'a> Key<&'a str> {
    const fn of(family: usize, set: &'a str) -> Self {
        Self { family, set, log: None, label: None }
    }

    fn owned(self) -> Key<String> {
        let Self { family, set, log, label } = self;
        Key { family, set: set.to_owned(), log: log.map(str::to_owned), label }
    }
}

/// Passes all series with their values to `take`. The order is the same while the same sets and logs are there.
fn show<'a>(runs: &'a [Run], take: &mut impl FnMut(Key<&'a str>, f64)) {
    for run in runs {
        show_run(run, take);
        run.collectors().iter().for_each(|active| show_log(&run.name, active, take));
    }
}

fn show_run<'a>(run: &'a Run, take: &mut impl FnMut(Key<&'a str>, f64)) {
    let own = |family| Key::of(family, &run.name);
    let with = |family, name, value| Key { label: Some((name, value)), ..own(family) };
    if let Some(life) = run.life() {
        for state in RunState::ALL {
            let is_it = f64::from(u8::from(state == life.state()));
            take(with(families::STATUS, "status", state.as_str()), is_it);
        }
        if let Some(number) = life.serial_number() {
            take(own(families::SERIAL_NUMBER), number.into());
        }
        if let Some(start) = life.next_start() {
            take(own(families::NEXT_START), seconds(start));
        }
    }
    let (counts, compiled) = (run.counts(), &run.compiled);
    take(own(families::STARTS), real(counts.runs));
    take(own(families::MISSED), real(counts.missed_starts));
    take(with(families::RUN_FAILURES, "kind", "start"), real(counts.failed_starts));
    take(with(families::RUN_FAILURES, "kind", "data_manager"), real(compiled.failures));
    for limit in Limit::ALL {
        let removed = compiled.removed.iter().find(|(by, _)| *by == limit.as_str());
        let folders = removed.map_or(0, |(_, folders)| *folders);
        take(with(families::REMOVED, "limit", limit.as_str()), real(folders));
    }
    if let Some(ended) = compiled.ended {
        take(own(families::COMPILED_AT), seconds(ended));
        take(own(families::COMPILE_TIME), compiled.took_s);
    }
}

fn show_log<'a>(set: &'a str, active: &'a ActiveCollector, take: &mut impl FnMut(Key<&'a str>, f64)) {
    let own = |family| Key { log: Some(active.name()), ..Key::of(family, set) };
    let totals = active.totals();
    take(own(families::RECORDS), real(totals.written));
    take(own(families::BYTES), real(totals.bytes));
    take(own(families::SEGMENTS), real(totals.segments));
    take(own(families::GAPS), real(totals.gaps));
    take(own(families::DROPPED), real(totals.dropped));
    take(own(families::WAITING), real(totals.waiting));
    take(own(families::LEFT_OUT), real(active.left_out()));
    for (kind, failures) in SinkErrorKind::ALL.into_iter().zip(totals.failures) {
        let label = Some(("kind", kind.as_str()));
        take(Key { label, ..own(families::LOG_FAILURES) }, real(failures));
    }
}

fn seconds(time: Timestamp) -> f64 {
    real(u64::try_from(time.as_second()).unwrap_or_default())
}

#[expect(clippy::cast_precision_loss, reason = "counts that matter have less than 53 bits")]
const fn real(number: u64) -> f64 {
    number as f64
}
