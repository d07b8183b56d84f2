//! A sink that keeps everything, for tests and for `plugin check`.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};
use plugin_abi::{
    AlertState, Batch, BatchOutcome, CollectionId, Column, Completion, DataSink, DisplayRule, DropReason,
    Evaluation, Event, Failure, FamilyDef, HistogramBatch, Kind, Level, NoRoom, Notices, Outcome, SeriesDef,
    StageReport, Start, ValueKind, Verdict,
};

/// Keeps everything that arrives.
#[derive(Debug, Default)]
pub struct RecordingSink {
    alerts_max: Option<usize>,
    recorded: Mutex<Recorded>,
    changed: Condvar,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Recorded {
    pub families: Vec<RecordedFamily>,
    pub series: Vec<RecordedSeries>,
    pub completions: Vec<RecordedCompletion>,
    /// Log records in order.
    pub logs: Vec<RecordedLog>,
    /// Events in order: name and body.
    pub events: Vec<(String, String)>,
    /// The alerts that events were about, in order.
    pub alerts: Vec<(String, AlertState)>,
    /// The labels of each of them.
    pub alert_labels: Vec<Vec<(String, String)>>,
    /// What each of them compares.
    pub evaluations: Vec<Option<Evaluation>>,
    /// Facts about the target, in order.
    pub facts: Vec<(String, String)>,
    /// How many batches came.
    pub batches: u64,
    /// Times of checking the batches of each collection, in nanoseconds.
    pub checked_ns: Vec<u64>,
    /// How often the instance was restarted.
    pub resets: u64,
}

impl Recorded {
    /// The alerts that opened and did not close.
    #[must_use]
    pub fn open_alerts(&self) -> BTreeSet<&str> {
        let mut open = BTreeSet::new();
        for (id, state) in &self.alerts {
            if *state == AlertState::Closed {
                open.remove(&**id)
            } else {
                open.insert(&**id)
            };
        }
        open
    }
}

/// A log record that arrived.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedLog {
    pub level: Level,
    pub message: String,
    pub fields: Vec<(String, String)>,
}

/// A family that arrived.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordedFamily {
    pub namespace: String,
    pub object: String,
    pub item: String,
    pub part: String,
    pub kind: Kind,
    pub unit: String,
    pub help: String,
    pub origin: String,
    pub value: ValueKind,
    pub bounds: Vec<f64>,
    /// The rule of [`FamilyDef::display`].
    pub display: DisplayRule,
    /// The base of [`FamilyDef::display`].
    pub base: String,
}

/// A series that arrived, with its last value.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordedSeries {
    pub family: u32,
    pub labels: Vec<(String, String)>,
    /// Its start, if known; a batch may change it.
    pub start: Option<Start>,
    pub value: Option<Value>,
    /// The last counts and sum of a histogram.
    pub histogram: Option<(Vec<u64>, f64)>,
    /// The time of its last value, if there was one.
    pub timestamp: Option<i64>,
    /// Whether it was retired.
    pub retired: bool,
}

/// A value as it came.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    /// From a column of doubles.
    F64(f64),
    /// From an unsigned column.
    U64(u64),
    /// From a signed column.
    I64(i64),
}

/// A completion that arrived.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordedCompletion {
    pub collection: CollectionId,
    pub outcome: RecordedOutcome,
    /// What its stages cost.
    pub stages: Vec<StageReport>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum RecordedOutcome {
    Full,
    Partial(Vec<u32>, Option<Failure>),
    Failed(Failure),
}

impl RecordingSink {
    /// One in which so many alerts may be open.
    #[must_use]
    pub fn with_alerts_max(alerts_max: usize) -> Self {
        Self { alerts_max: Some(alerts_max), ..Self::default() }
    }

    /// What arrived so far.
    #[must_use]
    pub fn recorded(&self) -> Recorded {
        self.recorded.lock().clone()
    }

    /// Waits until `count` collections were completed. `None` after ten seconds.
    #[must_use]
    pub fn wait_completions(&self, count: usize) -> Option<Recorded> {
        self.wait(|recorded| recorded.completions.len() >= count)
    }

    /// Waits until `condition` holds. `None` after ten seconds.
    pub fn wait(&self, condition: impl Fn(&Recorded) -> bool) -> Option<Recorded> {
        self.wait_for(PATIENCE, condition)
    }

    pub(crate) fn wait_for(
        &self,
        patience: Duration,
        condition: impl Fn(&Recorded) -> bool,
    ) -> Option<Recorded> {
        let until = Instant::now() + patience;
        let mut recorded = self.recorded.lock();
        loop {
            if condition(&recorded) {
                return Some(recorded.clone());
            }
            let pause = until.saturating_duration_since(Instant::now());
            if pause.is_zero() {
                return None;
            }
            self.changed.wait_for(&mut recorded, pause);
        }
    }

    fn change<R>(&self, action: impl FnOnce(&mut Recorded) -> R) -> R {
        let result = action(&mut self.recorded.lock());
        self.changed.notify_all();
        result
    }
}

const PATIENCE: Duration = Duration::from_secs(10);

impl DataSink for RecordingSink {
    fn register_families(&self, families: &[FamilyDef<'_>], verdicts: &mut Vec<Verdict>) {
        self.change(|recorded| {
            for family in families {
                verdicts.push(accepted(recorded.families.len()));
                recorded.families.push(RecordedFamily::of(family));
            }
        });
    }

    fn register_series(&self, series: &[SeriesDef<'_>], verdicts: &mut Vec<Verdict>) {
        self.change(|recorded| {
            for def in series {
                let new = RecordedSeries::of(def);
                let same = |old: &RecordedSeries| {
                    !old.retired && old.family == new.family && old.labels == new.labels
                };
                let verdict = if recorded.series.iter().any(same) {
                    Verdict::Dropped(DropReason::Duplicate)
                } else {
                    recorded.series.push(new);
                    accepted(recorded.series.len() - 1)
                };
                verdicts.push(verdict);
            }
        });
    }

    fn retire(&self, ids: &[u32]) {
        self.change(|recorded| {
            for id in ids {
                if let Some(series) = recorded.series.get_mut(*id as usize) {
                    series.retired = true;
                }
            }
        });
    }

    fn batch(&self, batch: &Batch<'_>) -> BatchOutcome {
        self.change(|recorded| {
            recorded.batches += 1;
            let mut outcome = BatchOutcome::default();
            for (row, id) in batch.ids.iter().enumerate() {
                let Some(series) = recorded.series.get_mut(*id as usize) else { continue };
                let kind = recorded.families.get(series.family as usize).map(|family| family.value);
                if series.retired {
                    outcome.retired += 1;
                } else if kind != Some(batch.values.kind()) {
                    outcome.wrong_kind += 1;
                } else {
                    outcome.stored += 1;
                    series.value = value(&batch.values, row);
                    series.timestamp = batch.timestamps.and_then(|times| times.get(row)).copied();
                    series.begin_anew(batch.start_times, row);
                }
            }
            outcome
        })
    }

    fn histograms(&self, batch: &HistogramBatch<'_>) -> BatchOutcome {
        self.change(|recorded| {
            recorded.batches += 1;
            let mut outcome = BatchOutcome::default();
            let rows = batch.ids.iter().zip(batch.sums).zip(batch.counts.chunks_exact(batch.buckets));
            for (row, ((id, &sum), counts)) in rows.enumerate() {
                let Some(series) = recorded.series.get_mut(*id as usize) else { continue };
                if series.retired {
                    outcome.retired += 1;
                } else if series.family != batch.family {
                    outcome.wrong_kind += 1;
                } else {
                    outcome.stored += 1;
                    series.histogram = Some((counts.to_vec(), sum));
                    series.timestamp = batch.timestamps.and_then(|times| times.get(row)).copied();
                    series.begin_anew(batch.start_times, row);
                }
            }
            outcome
        })
    }

    fn checked(&self, took_ns: u64) {
        self.change(|recorded| recorded.checked_ns.push(took_ns));
    }

    fn complete(&self, collection: CollectionId, completion: Completion<'_>) {
        let outcome = match completion.outcome {
            Outcome::Full => RecordedOutcome::Full,
            Outcome::Partial { families, failure } => RecordedOutcome::Partial(families.to_vec(), failure),
            Outcome::Failed(failure) => RecordedOutcome::Failed(failure),
        };
        let stages = completion.stages.to_vec();
        self.change(|recorded| recorded.completions.push(RecordedCompletion { collection, outcome, stages }));
    }

    fn reset(&self) {
        self.change(|recorded| {
            recorded.families.clear();
            recorded.series.clear();
            recorded.resets += 1;
        });
    }
}

impl Notices for RecordingSink {
    fn log_enabled(&self, _level: Level) -> bool {
        true
    }

    fn log(&self, level: Level, message: &str, fields: &[(&str, &str)]) {
        self.change(|recorded| {
            recorded.logs.push(RecordedLog { level, message: message.to_owned(), fields: owned(fields) });
        });
    }

    fn event(&self, event: &Event<'_>) -> Result<(), NoRoom> {
        self.change(|recorded| {
            if let (Some(alert), Some(max)) = (event.alert, self.alerts_max) {
                let open = recorded.open_alerts();
                if alert.state != AlertState::Closed && !open.contains(alert.id) && open.len() >= max {
                    return Err(NoRoom);
                }
            }
            recorded.events.push((event.name.to_owned(), event.body.to_owned()));
            recorded.alerts.extend(event.alert.map(|alert| (alert.id.to_owned(), alert.state)));
            recorded.alert_labels.extend(event.alert.map(|alert| owned(alert.labels)));
            recorded.evaluations.extend(event.alert.map(|alert| alert.evaluation));
            Ok(())
        })
    }

    fn is_open(&self, alert: &str) -> bool {
        self.recorded.lock().open_alerts().contains(alert)
    }

    fn fact(&self, name: &str, value: &str) {
        self.change(|recorded| recorded.facts.push((name.to_owned(), value.to_owned())));
    }
}

impl RecordedFamily {
    fn of(family: &FamilyDef<'_>) -> Self {
        Self {
            namespace: family.namespace.to_owned(),
            object: family.object.to_owned(),
            item: family.item.to_owned(),
            part: family.part.to_owned(),
            kind: family.kind,
            unit: family.unit.to_owned(),
            help: family.help.to_owned(),
            origin: family.origin.to_owned(),
            value: family.value,
            bounds: family.bounds.to_vec(),
            display: family.display.rule,
            base: family.display.base.to_owned(),
        }
    }
}

impl RecordedSeries {
    fn of(series: &SeriesDef<'_>) -> Self {
        Self {
            family: series.family.0,
            labels: owned(series.labels),
            start: series.start,
            value: None,
            histogram: None,
            timestamp: None,
            retired: false,
        }
    }
}

impl RecordedSeries {
    /// Sets the start from a batch.
    fn begin_anew(&mut self, start_times: Option<&[i64]>, row: usize) {
        let start_time = start_times.and_then(|starts| starts.get(row)).copied();
        if let Some(start) = start_time.filter(|start| *start != 0) {
            self.start = Some(Start { unix_nanos: start, is_inferred: false });
        }
    }
}

fn value(column: &Column<'_>, row: usize) -> Option<Value> {
    match column {
        Column::F64(values) => values.get(row).copied().map(Value::F64),
        Column::U64(values) => values.get(row).copied().map(Value::U64),
        Column::I64(values) => values.get(row).copied().map(Value::I64),
    }
}

fn accepted(index: usize) -> Verdict {
    u32::try_from(index).map_or(Verdict::Dropped(DropReason::Limit), Verdict::Accepted)
}

fn owned(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}
