use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use plugin_host::sink::{CollectionId, Failure};
use plugin_host::{CollectError, GeneralReason, Host, Instance, Stage, monotonic_ns};

use super::driver::{Collector, Deadlines, NotStarted};
use crate::pipeline::Store;
use crate::telemetry::{Book, JobKey};

/// A job whose instance could not be made is looked at again after this; only a restart will help.
const BROKEN_RETRY: Duration = Duration::from_secs(3600);

/// Collects through a plugin instance.
pub struct PluginCollector {
    book: Arc<Book>,
    key: JobKey,
    store: Arc<Store>,
    instance: OnceLock<Result<Instance, Failure>>,
    collection: AtomicU64,
}

impl PluginCollector {
    /// A collector that waits for its instance.
    #[must_use]
    pub fn new(book: Arc<Book>, key: JobKey, store: Arc<Store>) -> Self {
        Self { book, key, store, instance: OnceLock::new(), collection: AtomicU64::new(0) }
    }

    /// Hands over the instance, or why there is none.
    pub fn set_instance(&self, instance: Result<Instance, Failure>) {
        // Made once, before the schedule begins.
        let _ = self.instance.set(instance);
    }

    fn not_started(&self, failure: &Failure, retry_after: Option<Duration>) -> NotStarted {
        self.store.fail();
        self.book.not_started(self.key, failure);
        NotStarted { retry_after }
    }
}

impl Collector for PluginCollector {
    fn start(&self, deadline: Duration) -> Result<(), NotStarted> {
        let instance = match self.instance.get() {
            Some(Ok(instance)) => instance,
            Some(Err(failure)) => return Err(self.not_started(failure, Some(BROKEN_RETRY))),
            None => return Err(NotStarted { retry_after: None }),
        };
        self.book.started(self.key);
        let deadline_ns =
            monotonic_ns().saturating_add(u64::try_from(deadline.as_nanos()).unwrap_or(u64::MAX));
        match instance.collect(deadline_ns) {
            Ok(CollectionId(collection)) => {
                self.collection.store(collection, Ordering::Relaxed);
                Ok(())
            }
            Err(error) => Err(self.refused(&error)),
        }
    }

    fn cancel(&self) {
        if let Some(Ok(instance)) = self.instance.get() {
            instance.cancel(CollectionId(self.collection.load(Ordering::Relaxed)));
        }
    }
}

impl PluginCollector {
    fn refused(&self, error: &CollectError) -> NotStarted {
        let (reason, retry_after) = match error {
            CollectError::InFlight | CollectError::TargetBusy { .. } => (GeneralReason::Busy, None),
            CollectError::Hung => (GeneralReason::Timeout, None),
            CollectError::Quarantined { until_ns, .. } => {
                let pause = Duration::from_nanos(until_ns.saturating_sub(monotonic_ns()));
                (GeneralReason::Internal, Some(pause))
            }
            CollectError::Stopped => (GeneralReason::Cancelled, None),
            _ => (GeneralReason::Other, None),
        };
        self.not_started(&Failure::new(Stage::Plugin, reason, error.to_string()), retry_after)
    }
}

/// The deadlines of a plugin host.
pub struct HostDeadlines(pub Host);

impl Deadlines for HostDeadlines {
    fn keep(&self) -> Option<Duration> {
        let now_ns = monotonic_ns();
        let next_ns = self.0.poll_deadlines(now_ns)?;
        Some(Duration::from_nanos(next_ns.saturating_sub(now_ns)))
    }
}
