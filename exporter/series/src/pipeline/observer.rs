//! The observer of a store.

use plugin_abi::{CollectionId, Completion};

use super::FailureStreak;

/// Observes one instance's collections, for the schedule and metrics. It must not block.
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
}

#[derive(Clone, Copy, Debug, Default)]
pub struct NoObserver;

impl StoreObserver for NoObserver {}
