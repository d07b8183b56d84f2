use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use config::Target;
use otlp::encode::Resource;
use parking_lot::Mutex;
use plugin_abi::{Completion, Failure};
use series::pipeline::{FailureStreak, Refusal, Store};
use support::telemetry::unix_seconds;
use tokio::sync::Notify;

use super::status::{Place, TargetStatus};
use super::{Groups, Identity, OperatingSystem};
use crate::Changes;
use crate::account::Now;
use crate::health::TargetHealth;

/// What a target is, and what is known of it.
pub struct TargetState {
    pub name: String,
    pub host: String,
    /// The port that it is asked at, where its plugins have one.
    pub port: Option<u16>,
    pub modules: Vec<String>,
    /// Maximum of series that it may have.
    pub max_series: u32,
    /// Its labels from the configuration.
    pub labels: Vec<(String, String)>,
    /// The identity that it is shown.
    pub identity: Option<String>,
    /// How it is reached.
    pub transport: String,
    pub interval: Duration,
    pub deadline: Duration,
    /// Where changes of state are kept, once it is in a registry.
    changes: OnceLock<Arc<Changes>>,
    /// Where targets that fail or recover together are counted, once it is in a registry.
    groups: OnceLock<Arc<Groups>>,
    /// How long its series outlive a collection that fails.
    pub stale_after: Duration,
    stores: Vec<OnceLock<Arc<Store>>>,
    to_collectors: Identity,
    status: Mutex<TargetStatus>,
    /// A collection ended, or could not begin.
    ended: Notify,
}

impl TargetState {
    /// The state of a target that is asked at `port`.
    #[must_use]
    pub fn new(target: &Target, port: Option<u16>) -> Self {
        Self {
            name: target.name.clone(),
            host: target.host.clone(),
            port,
            modules: target.modules.clone(),
            max_series: target.max_series,
            labels: target.labels.iter().map(|(name, value)| (name.clone(), value.clone())).collect(),
            identity: target.identity.clone(),
            transport: target.transport.clone(),
            interval: target.interval,
            deadline: target.deadline,
            changes: OnceLock::new(),
            groups: OnceLock::new(),
            stale_after: target.stale_after,
            stores: target.modules.iter().map(|_| OnceLock::new()).collect(),
            to_collectors: Identity::of(target),
            status: Mutex::new(TargetStatus::of_modules(target.modules.len())),
            ended: Notify::new(),
        }
    }

    /// From now on changes of its state are kept there, and it is counted there; the first such place has them all.
    pub(super) fn enter_registry(&self, changes: &Arc<Changes>, groups: &Arc<Groups>) {
        self.changes.get_or_init(|| Arc::clone(changes));
        self.groups.get_or_init(|| Arc::clone(groups));
    }

    /// The target to collectors, as far as it is known by now.
    #[must_use]
    pub fn resource(&self) -> Arc<Resource> {
        self.to_collectors.resource()
    }

    /// The target said something of itself, such as its `os.type`. Facts that nobody needs are passed over.
    pub fn set_fact(&self, name: &str, value: &str) {
        self.to_collectors.set_fact(name, value);
    }

    /// The operating system that it said it runs.
    #[must_use]
    pub fn operating_system(&self) -> OperatingSystem {
        self.to_collectors.operating_system()
    }

    /// A collection of a module begins, which may take `deadline`.
    pub fn started(&self, module: usize, deadline: Duration) {
        let mut status = self.status.lock();
        let job = &mut status.jobs[module];
        (job.running_since, job.deadline) = (Some(Instant::now()), deadline);
    }

    /// A collection of a module could not begin.
    pub fn not_started(&self, module: usize, failure: &Failure) {
        let mut status = self.status.lock();
        status.jobs[module].enter_not_started(&self.modules[module], failure);
        self.log_changes(&mut status);
        drop(status);
        self.ended.notify_waiters();
    }

    /// Waits until each of these modules had a collection.
    pub async fn ended(&self, modules: &[usize]) {
        loop {
            let next = self.ended.notified();
            tokio::pin!(next);
            // From here on no end is missed.
            next.as_mut().enable();
            if modules.iter().all(|&module| self.status.lock().jobs[module].has_ended()) {
                return;
            }
            next.await;
        }
    }

    /// The target is no longer asked; what its collections still say is not news.
    pub fn end(&self) {
        self.status.lock().end(&self.place());
    }

    /// What is known of it now.
    #[must_use]
    pub fn status(&self) -> TargetStatus {
        self.status.lock().clone()
    }

    /// Looks at what is known of it now, without a copy. Collections that end meanwhile wait.
    pub fn read<T>(&self, look: impl FnOnce(&TargetStatus) -> T) -> T {
        look(&self.status.lock())
    }

    /// The store of a module, if it exists.
    #[must_use]
    pub fn store(&self, module: usize) -> Option<&Arc<Store>> {
        self.stores.get(module)?.get()
    }

    #[must_use]
    pub fn health(&self) -> TargetHealth {
        self.status.lock().health()
    }

    /// The stores that its modules' instances send into, as far as they exist.
    pub fn stores(&self) -> impl Iterator<Item = &Arc<Store>> {
        self.stores.iter().filter_map(OnceLock::get)
    }

    /// Names the store of a module.
    pub fn set_store(&self, module: usize, store: Arc<Store>) {
        // A module has one store for its life; a second one would change nothing.
        let _ = self.stores[module].set(store);
    }

    /// Series of a module that outlived a streak of failures go.
    pub(crate) fn expire(&self, module: usize, streak: FailureStreak) {
        let Some(store) = self.stores[module].get() else { return };
        store.expire(streak);
        self.status.lock().jobs[module].series = store.snapshot().series();
    }

    /// Enters the end of a collection; answers how long it took, unless nobody wants to know any more.
    pub fn completed(&self, module: usize, completion: &Completion<'_>, series: usize) -> Option<Duration> {
        let now = Now { mono: Instant::now(), unix_s: unix_seconds() };
        let mut status = self.status.lock();
        if status.is_ended() {
            return None;
        }
        let job = &mut status.jobs[module];
        job.enter(&self.modules[module], completion, series, now);
        // Whose rules drop all that is found need not look for names.
        let ruled =
            self.stores[module].get().map_or(0, |store| store.refusals().count(Refusal::DroppedByRule));
        job.matches_nothing &= ruled == 0;
        let took = job.last_duration;
        job.log_matches_nothing(&self.name, &self.modules[module]);
        let dropped = self.stores().map(|store| store.refusals().count(Refusal::SeriesLimit)).sum();
        status.log_limit(&self.name, self.max_series, dropped);
        self.log_changes(&mut status);
        drop(status);
        self.ended.notify_waiters();
        took
    }

    /// Logs what changed, and only that.
    fn log_changes(&self, status: &mut TargetStatus) {
        let turn = status.log_changes(&self.place());
        if let (Some(changes), Some(turn)) = (self.changes.get(), turn) {
            changes.push(&self.name, turn);
        }
    }

    fn place(&self) -> Place<'_> {
        Place {
            target: &self.name,
            host: &self.host,
            port: self.port,
            identity: self.identity.as_deref().unwrap_or_default(),
            groups: self.groups.get().map(Arc::as_ref),
        }
    }
}
