//! Where the data of an instance goes.

use crate::batch::{Batch, BatchOutcome};
use crate::completion::{CollectionId, Completion};
use crate::event::{Event, Level};
use crate::family::{FamilyDef, SeriesDef, Verdict};
use crate::histogram::HistogramBatch;

/// Where one instance's data goes. The exporter implements it.
///
/// Calls come from any thread; those that touch data (`register_*`, `retire`, `batch`, `histograms`, `checked`, `complete`, `reset`)
/// never overlap for one instance, `log` and `event` may. Values may arrive outside of a collection.
pub trait InstanceSink: Send + Sync {
    /// Offers families; pushes one verdict for each, in order, onto `verdicts` (empty before).
    fn register_families(&self, families: &[FamilyDef<'_>], verdicts: &mut Vec<Verdict>);

    /// Offers series; pushes one verdict for each, in order, onto `verdicts` (empty before).
    fn register_series(&self, series: &[SeriesDef<'_>], verdicts: &mut Vec<Verdict>);

    /// These series are gone. Ids that are retired already are passed over.
    fn retire(&self, ids: &[u32]);

    /// New values.
    fn batch(&self, batch: &Batch<'_>) -> BatchOutcome;

    /// New histograms.
    fn histograms(&self, batch: &HistogramBatch<'_>) -> BatchOutcome;

    /// Checking the batches of the collection that is about to complete took so long in all, before they came here;
    /// reckoned from the largest of them. Not called where there was none.
    fn checked(&self, took_ns: u64) {
        let _ = took_ns;
    }

    /// The collection is over; called exactly once for each that the instance accepted.
    fn complete(&self, collection: CollectionId, completion: Completion<'_>);

    /// The instance was started anew (after a panic): its families and series are gone, ids begin at 0 again.
    fn reset(&self);

    /// Whether a record of this level would be kept.
    fn log_enabled(&self, level: Level) -> bool;

    /// A log record: a capitalised phrase with fields, none of them secret.
    fn log(&self, level: Level, message: &str, fields: &[(&str, &str)]);

    /// Something happened on the target.
    fn event(&self, event: &Event<'_>);

    /// What the target says of itself: a name such as `os.type` or `os.version`, `[a-z][a-z0-9_.]*`, and its value, one
    /// line; an empty one takes back what was said. Sinks that have no use for it pass over it.
    fn fact(&self, _name: &str, _value: &str) {}
}

/// Takes the log records that are about no instance.
pub trait LibraryLog: Send + Sync {
    /// Whether a record of this level would be kept.
    fn log_enabled(&self, plugin: &str, level: Level) -> bool;

    /// A log record.
    fn log(&self, plugin: &str, level: Level, message: &str, fields: &[(&str, &str)]);
}
