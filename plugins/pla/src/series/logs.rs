//! The series of sets that log counters here.

use std::collections::HashMap;

use counter_log::SinkErrorKind;
use pla_engine::RunState;
use plugin_sdk::{FamilyId, Output, SeriesId};

use super::log_families as families;
use super::{Labels, register};
use crate::runs::{Collecting, Run};

/// The series that are there, by their family and their labels.
#[derive(Debug, Default)]
pub(super) struct LogTable {
    /// Empty before the first set that logs; `None` for those that the exporter dropped.
    families: Vec<Option<FamilyId>>,
    series: HashMap<(usize, Labels), Option<SeriesId>>,
}

type Samples = Vec<((usize, Labels), f64)>;

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
        let samples: HashMap<(usize, Labels), f64> = runs.iter().flat_map(of_run).collect();
        let gone = self.series.extract_if(|key, _| !samples.contains_key(key));
        let gone: Vec<SeriesId> = gone.filter_map(|(_, id)| id).collect();
        output.retire(&gone);
        let new: Vec<(usize, Labels)> =
            samples.keys().filter(|key| !self.series.contains_key(*key)).cloned().collect();
        let ids = register(&self.families, new.iter().map(|(family, labels)| (*family, labels)), output);
        self.series.extend(new.into_iter().zip(ids));
        for (key, value) in &samples {
            if let Some(Some(id)) = self.series.get(key) {
                output.push_f64(*id, *value);
            }
        }
    }
}

fn of_run(run: &Run) -> Samples {
    let own = || vec![("set", run.name.to_string())];
    let with = |label: &'static str, value: &str| -> Labels {
        own().into_iter().chain([(label, value.to_owned())]).collect()
    };
    let mut samples: Samples = Vec::new();
    if let Some(life) = run.life() {
        let now = life.state();
        let status =
            |state: RunState| ((families::STATUS, with("status", state.as_str())), flag(state == now));
        samples.extend(RunState::ALL.map(status));
        samples.extend(life.serial_number().map(|number| ((families::SERIAL_NUMBER, own()), number.into())));
        let next = life.next_start().map(|start| real(u64::try_from(start.as_second()).unwrap_or_default()));
        samples.extend(next.map(|seconds| ((families::NEXT_START, own()), seconds)));
        let counts = life.counts();
        samples.push(((families::STARTS, own()), real(counts.runs)));
        samples.push(((families::MISSED, own()), real(counts.missed_starts)));
        samples.push(((families::RUN_FAILURES, with("kind", "start")), real(counts.failed_starts)));
    }
    let compiled = &run.compiled;
    samples.push(((families::RUN_FAILURES, with("kind", "data_manager")), real(compiled.failures)));
    let removed = compiled.removed.iter();
    samples
        .extend(removed.map(|(limit, folders)| ((families::REMOVED, with("limit", limit)), real(*folders))));
    if let Some(ended) = compiled.ended {
        samples.push((
            (families::COMPILED_AT, own()),
            real(u64::try_from(ended.as_second()).unwrap_or_default()),
        ));
        samples.push(((families::COMPILE_TIME, own()), compiled.took_s));
    }
    for collecting in run.collectors() {
        let labels: Labels = with("log", collecting.name());
        of_log(collecting, &labels, &mut samples);
    }
    samples
}

fn of_log(collecting: &Collecting, labels: &Labels, samples: &mut Samples) {
    let totals = collecting.totals();
    let figures = [
        (families::RECORDS, totals.written),
        (families::BYTES, totals.bytes),
        (families::SEGMENTS, totals.segments),
        (families::GAPS, totals.gaps),
        (families::DROPPED, totals.dropped),
        (families::WAITING, totals.waiting),
        (families::WITHOUT_COLUMN, collecting.left_out()),
    ];
    samples.extend(figures.map(|(family, number)| ((family, labels.clone()), real(number))));
    for (kind, failures) in SinkErrorKind::ALL.into_iter().zip(totals.failures) {
        let labels = labels.iter().cloned().chain([("kind", kind.as_str().to_owned())]).collect();
        samples.push(((families::LOG_FAILURES, labels), real(failures)));
    }
}

fn flag(is_so: bool) -> f64 {
    f64::from(u8::from(is_so))
}

#[expect(clippy::cast_precision_loss, reason = "counts that matter have less than 53 bits")]
const fn real(number: u64) -> f64 {
    number as f64
}
