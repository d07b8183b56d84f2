//! The receiver of an instance's data.

use crate::batch::{Batch, BatchOutcome};
use crate::completion::{CollectionId, Completion};
use crate::event::{Event, Level};
use crate::family::{FamilyDef, SeriesDef, Verdict};
use crate::histogram::HistogramBatch;

/// The receiver of one instance's data. The exporter implements it.
///
/// Calls come from any thread; those that touch data (`register_*`, `retire`, `batch`, `histograms`, `checked`, `complete`, `reset`)
/// never overlap for one instance, `log` and `event` may. Values may arrive outside of a collection.
pub trait InstanceSink: Send + Sync {
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

    /// Whether a record of this level would be logged.
    fn log_enabled(&self, level: Level) -> bool;

    /// A log record: a capitalised phrase with fields, none of them secret.
    fn log(&self, level: Level, message: &str, fields: &[(&str, &str)]);

    /// Something happened on the target.
    fn event(&self, event: &Event<'_>);

    /// A fact about the target: a name such as `os.type` or `os.version`, `[a-z][a-z0-9_.]*`, and its value, one
    /// line; an empty value removes the fact. Sinks may ignore it.
    fn fact(&self, _name: &str, _value: &str) {}
}

/// Receives the log records that belong to no instance.
pub trait LibraryLog: Send + Sync {
    /// Whether a record of this level would be logged.
    fn log_enabled(&self, plugin: &str, level: Level) -> bool;

    fn log(&self, plugin: &str, level: Level, message: &str, fields: &[(&str, &str)]);
}
