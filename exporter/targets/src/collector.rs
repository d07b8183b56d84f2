//! One collection of a target, from its start to what is made of its end.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime};

use alerts::Feed;
use plugin_abi::{CollectionId, Failure, GeneralReason, Outcome, Stage};
use plugin_host::{CollectError, Instance, InstanceConfig, InstanceState, monotonic_ns};
use series::pipeline::Store;

use super::registry::TargetState;
use crate::schedule::{Collector, NotStarted};

/// A job whose instance could not be made is looked at again after this; only another configuration will help.
const BROKEN_RETRY: Duration = Duration::from_secs(3600);

/// Collects through a plugin instance. Dropped with it, which destroys the instance.
pub struct PluginCollector {
    entry: Arc<TargetState>,
    module: usize,
    store: Arc<Store>,
    instance: Result<Instance, Failure>,
    collection: AtomicU64,
    /// Hears that nothing confirms its alerts; nobody in tests.
    alerts: Option<Arc<Feed>>,
}

impl PluginCollector {
    /// A collector of the target's module of that index. `instance` is the instance, or why there is none.
    #[must_use]
    pub fn new(
        entry: Arc<TargetState>,
        module: usize,
        store: Arc<Store>,
        instance: Result<Instance, Failure>,
    ) -> Self {
        Self { entry, module, store, instance, collection: AtomicU64::new(0), alerts: None }
    }

    /// The same, for an instance that has alerts.
    #[must_use]
    pub fn with_alerts(self, alerts: Option<Arc<Feed>>) -> Self {
        Self { alerts, ..self }
    }

    /// Gives its instance other settings, so that it keeps what it knows. Blocks while the plugin takes its time.
    ///
    /// # Errors
    /// Why the instance has to be made again for them.
    pub fn reconfigure(&self, config: &InstanceConfig) -> Result<(), String> {
        let instance = self.instance.as_ref().map_err(|failure| failure.message.clone())?;
        match instance.state() {
            InstanceState::Idle | InstanceState::Collecting => {
                instance.reconfigure(config).map_err(|error| error.to_string())
            }
            // Other settings may be what helps it.
            InstanceState::Quarantined { why, .. } => Err(format!("it is in quarantine: {why}")),
            _ => Err("its last collection has not ended".to_owned()),
        }
    }

    fn not_started(&self, failure: &Failure, retry_after: Option<Duration>) -> NotStarted {
        self.store.fail();
        self.entry.not_started(self.module, failure);
        if let Some(alerts) = &self.alerts {
            alerts.collected(&Outcome::Failed(failure.clone()), SystemTime::now(), Instant::now());
        }
        NotStarted { retry_after }
    }

    fn refused(&self, error: &CollectError) -> NotStarted {
        let retry_after = match error {
            CollectError::Quarantined { until_ns, .. } => {
                Some(Duration::from_nanos(until_ns.saturating_sub(monotonic_ns())))
            }
            _ => None,
        };
        self.not_started(&failure_of(error), retry_after)
    }
}

/// Starts a collection that may take `deadline`. Schedule, probes and `check-config --online` all begin here, so that
/// a host gets the same time from each of them.
pub fn begin(instance: &Instance, deadline: Duration) -> Result<CollectionId, CollectError> {
    let deadline_ns = u64::try_from(deadline.as_nanos()).unwrap_or(u64::MAX);
    instance.collect(monotonic_ns().saturating_add(deadline_ns))
}

/// What a target is said to have where a collection could not begin.
pub fn failure_of(error: &CollectError) -> Failure {
    let reason = match error {
        CollectError::InFlight | CollectError::TargetBusy { .. } => GeneralReason::Busy,
        CollectError::Hung => GeneralReason::Timeout,
        CollectError::Quarantined { .. } => GeneralReason::Internal,
        CollectError::Stopped => GeneralReason::Cancelled,
        _ => GeneralReason::Other,
    };
    Failure::new(Stage::Plugin, reason, error.to_string())
}

impl Collector for PluginCollector {
    fn start(&self, deadline: Duration) -> Result<(), NotStarted> {
        let instance = match &self.instance {
            Ok(instance) => instance,
            Err(failure) => return Err(self.not_started(failure, Some(BROKEN_RETRY))),
        };
        self.entry.started(self.module, deadline);
        match begin(instance, deadline) {
            Ok(CollectionId(collection)) => {
                self.collection.store(collection, Ordering::Relaxed);
                Ok(())
            }
            Err(error) => Err(self.refused(&error)),
        }
    }

    fn min_interval(&self) -> Option<Duration> {
        self.instance.as_ref().ok()?.min_interval()
    }

    fn cancel(&self) {
        if let Ok(instance) = &self.instance {
            instance.cancel(CollectionId(self.collection.load(Ordering::Relaxed)));
        }
    }
}
