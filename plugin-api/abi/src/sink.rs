//! The receivers of what an instance sends.

use std::sync::Arc;

use crate::batch::{Batch, BatchOutcome};
use crate::completion::{CollectionId, Completion};
use crate::event::{Event, Level, NoRoom};
use crate::family::{FamilyDef, SeriesDef, Verdict};
use crate::histogram::HistogramBatch;

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
