//! The observer of a store.

use plugin_abi::{CollectionId, Completion, Event, Level};

use super::FailureStreak;

/// Observes one instance, for the schedule, metrics and logs. It must not block.
pub trait StoreObserver: Send + Sync {
    /// The time for the published snapshot, in Unix nanoseconds, because the store has no clock.
    fn now_unix_nanos(&self) -> u64 {
        0
    }

    /// A collection ended; the store's snapshot is already the new one and has so many series.
    fn completed(&self, collection: CollectionId, completion: &Completion<'_>, series: usize) {
        let _ = (collection, completion, series);
    }

    /// A collection failed, the first one in a row, and series outlive it: [`super::Store::expire`] ends them.
    fn stale(&self, streak: FailureStreak) {
        let _ = streak;
    }

    /// Whether a log record of this level would be kept.
    fn log_enabled(&self, level: Level) -> bool {
        let _ = level;
        false
    }

    fn log(&self, level: Level, message: &str, fields: &[(&str, &str)]) {
        let _ = (level, message, fields);
    }

    /// Something happened on the target.
    fn event(&self, event: &Event<'_>) {
        let _ = event;
    }
}

#[derive(Clone, Copy, Debug, Default)]
pub struct NoObserver;

impl StoreObserver for NoObserver {}
