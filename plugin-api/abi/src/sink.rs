//! The receivers of what an instance sends, and its values and ends of collections.

use std::sync::Arc;

use super::failure::Failure;
use super::family::ValueKind;
use super::reason::Stage;
use crate::event::{Event, Level, NoRoom};
use crate::family::{FamilyDef, SeriesDef, Verdict};

/// The receiver of one instance's data. The exporter implements it.
///
/// Calls come from any thread, but never overlap for one instance. Values may arrive outside of a collection.
pub trait DataSink: Send + Sync {
    /// Offers families; pushes one verdict for each, in order, onto `verdicts` (empty before).
    fn register_families(&self, families: &[FamilyDef<'_>], verdicts: &mut Vec<Verdict>);

    /// Offers series; pushes one verdict for each, in order, onto `verdicts` (empty before).
    fn register_series(&self, series: &[SeriesDef<'_>], verdicts: &mut Vec<Verdict>);

    /// These series have ended. Ids that are retired already are skipped.
    fn retire(&self, ids: &[u32]);

    fn batch(&self, batch: &Batch<'_>) -> BatchOutcome;

    fn histograms(&self, batch: &HistogramBatch<'_>) -> BatchOutcome;

    /// Called before a collection completes, with the total time of checking its batches, estimated from the
    /// largest ones. Not called if there were none.
    fn checked(&self, took_ns: u64) {
        let _ = took_ns;
    }

    /// The collection has ended; called exactly once for each collection that the instance accepted. A call that panics is
    /// repeated once, with a failure.
    fn complete(&self, collection: CollectionId, completion: Completion<'_>);

    /// The instance was restarted (after a panic): its families and series are gone, ids begin at 0 again.
    fn reset(&self);
}

/// The receiver of what one instance says: log records, events and facts. The exporter implements it, and alone knows which
/// alerts are open.
///
/// Calls come from any thread, and may overlap.
pub trait Notices: Send + Sync {
    /// Whether a record of this level would be logged.
    fn log_enabled(&self, level: Level) -> bool;

    /// A log record: a capitalised phrase with fields, none of them secret.
    fn log(&self, level: Level, message: &str, fields: &[(&str, &str)]);

    /// Something happened on the target.
    ///
    /// # Errors
    /// If it is about an alert that is not open, and too many are.
    fn event(&self, event: &Event<'_>) -> Result<(), NoRoom>;

    /// Whether the alert of this id is open. The end of such an alert is taken however much was said before.
    fn is_open(&self, alert: &str) -> bool {
        let _ = alert;
        false
    }

    /// A fact about the target: a name such as `os.type` or `os.version`, `[a-z][a-z0-9_.]*`, and its value, one
    /// line; an empty value removes the fact. It may be ignored.
    fn fact(&self, name: &str, value: &str) {
        let _ = (name, value);
    }

    /// The instance was restarted (after a panic): it reports again which alerts are open.
    fn restarted(&self) {}
}

/// Where an instance sends to.
#[derive(Clone)]
pub struct Sinks {
    pub data: Arc<dyn DataSink>,
    pub notices: Arc<dyn Notices>,
}

impl<S: DataSink + Notices + 'static> From<Arc<S>> for Sinks {
    fn from(both: Arc<S>) -> Self {
        Self { data: Arc::clone(&both) as Arc<dyn DataSink>, notices: both }
    }
}

/// Receives the log records that belong to no instance.
pub trait LibraryLog: Send + Sync {
    /// Whether a record of this level would be logged.
    fn log_enabled(&self, plugin: &str, level: Level) -> bool;

    fn log(&self, plugin: &str, level: Level, message: &str, fields: &[(&str, &str)]);
}

/// Histograms by series id, all of one family.
///
/// INVARIANT: all columns have the length of `ids`, `counts` has `buckets` times as many; every id is at most the
/// highest id that was ever accepted, and the family is a histogram with one bound less than `buckets`. The counts
/// of a row add up to no more than `u64::MAX`. Sums are finite, and not negative unless the family's first bound
/// is. The sink checks whether a series is still live and of this family when it stores the row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HistogramBatch<'a> {
    /// An id that [`register_families`](crate::DataSink::register_families) accepted.
    pub family: u32,
    /// How many counts each row has.
    pub buckets: usize,
    /// Series ids, in any order.
    pub ids: &'a [u32],
    /// Row by row the observations in each bucket, not cumulative.
    pub counts: &'a [u64],
    /// The sum of the observations of each row.
    pub sums: &'a [f64],
    /// The time of each in Unix nanoseconds, if it is not "now".
    pub timestamps: Option<&'a [i64]>,
    /// The start of each in Unix nanoseconds; 0 if unchanged.
    pub start_times: Option<&'a [i64]>,
}

impl<'a> HistogramBatch<'a> {
    /// Some of the rows, in order.
    #[must_use]
    pub fn rows(&self, rows: std::ops::Range<usize>) -> Self {
        let counts = &self.counts[rows.start * self.buckets..rows.end * self.buckets];
        let part = |column: Option<&'a [i64]>| column.map(|column| &column[rows.clone()]);
        Self {
            ids: &self.ids[rows.clone()],
            counts,
            sums: &self.sums[rows.clone()],
            timestamps: part(self.timestamps),
            start_times: part(self.start_times),
            ..*self
        }
    }
}

// How a collection ended, and the time and traffic of its stages.

/// One collection. Never reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CollectionId(pub u64);

/// How a collection ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Completion<'a> {
    pub outcome: Outcome<'a>,
    /// Its stages; each at most once, in the order of [`Stage`].
    pub stages: &'a [StageReport],
}

/// The outcome of a collection.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome<'a> {
    /// Everything was sent: a series without a value is gone.
    Full,
    /// These families were sent completely; the others are unknown.
    Partial {
        /// Ids of the completely sent families.
        families: &'a [u32],
        /// Why the others were not sent, if the source reports it.
        failure: Option<Failure>,
    },
    /// No data of the collection is valid.
    Failed(Failure),
}

/// Duration and traffic of one stage of a collection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StageReport {
    pub stage: Stage,
    /// When it began, on the monotonic clock.
    pub start_ns: u64,
    pub duration_ns: u64,
    /// Calls to the target.
    pub calls: u64,
    pub bytes_in: u64,
    pub bytes_out: u64,
}

// Values.

/// Values of one type.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Column<'a> {
    F64(&'a [f64]),
    U64(&'a [u64]),
    I64(&'a [i64]),
}

impl Column<'_> {
    /// The number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::F64(values) => values.len(),
            Self::U64(values) => values.len(),
            Self::I64(values) => values.len(),
        }
    }

    /// Whether it is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The type of its values.
    #[must_use]
    pub fn kind(&self) -> ValueKind {
        match self {
            Self::F64(_) => ValueKind::F64,
            Self::U64(_) => ValueKind::U64,
            Self::I64(_) => ValueKind::I64,
        }
    }
}

/// Values by series id.
///
/// INVARIANT: all columns have the length of `ids`, and every id is at most the highest id that was ever accepted.
/// The sink checks whether the series is still live and of this value kind when it stores the value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Batch<'a> {
    /// Series ids, in any order.
    pub ids: &'a [u32],
    /// The value of each.
    pub values: Column<'a>,
    /// The time of each in Unix nanoseconds, if it is not "now".
    pub timestamps: Option<&'a [i64]>,
    /// The start of each in Unix nanoseconds; 0 if it is not known.
    pub start_times: Option<&'a [i64]>,
}

/// The outcome of a batch. Rows that are not stored are counted and dropped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BatchOutcome {
    pub stored: u64,
    /// Rows whose series is retired.
    pub retired: u64,
    /// Rows with another value kind than their family, or of another family.
    pub wrong_kind: u64,
}
