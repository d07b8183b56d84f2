use std::sync::{Arc, Weak};
use std::time::SystemTime;

use alerts::Feed;
use otlp_encode::{Scope, Trigger};
use otlp_push::{Ended, EventRouter};
use plugin_contract::{CollectionId, Completion, Event, Level, Outcome};
use plugin_host::monotonic_ns;
use series::pipeline::{FailureStreak, StoreObserver};
use telemetry::log::{Origin, log_plugin_event, log_plugin_record, plugin_log_enabled};

use super::account::ending;
use super::costs::PluginCosts;
use super::registry::TargetState;
use crate::schedule::{JobId, Schedule};

/// Hears of one module's collections on one target: enters them in the target's state and tells the schedule.
pub struct JobObserver {
    /// Whose. The target's state holds the store, and the store this observer.
    pub entry: Weak<TargetState>,
    /// Which of its modules.
    pub module: usize,
    /// The schedule's name for it.
    pub job: JobId,
    /// The plugin's name, for its log records.
    pub plugin: String,
    /// Who hears of ends.
    pub schedule: Schedule,
    /// What the plugin's collections take, over all targets.
    pub costs: Arc<PluginCosts>,
    /// Collectors that want to know at once; nobody in tests.
    pub reporter: Option<Reporter>,
    /// Where its alerts go; nowhere in tests.
    pub alerts: Option<Arc<Feed>>,
}

/// Tells collectors what happens, as it happens.
#[derive(Clone)]
pub struct Reporter {
    /// The collectors.
    pub event_router: Arc<EventRouter>,
    /// The plugin that speaks.
    pub scope: Arc<Scope>,
}

impl Reporter {
    /// A collection on the target ended.
    pub fn collected(&self, entry: &TargetState, ended: &Ended<'_>) {
        self.event_router.collected(&entry.resource(), &self.scope, ended, SystemTime::now());
    }

    /// Something happened on the target.
    pub fn event(&self, entry: &TargetState, event: &Event<'_>) {
        self.event_router.event(&entry.resource(), &self.scope, event, SystemTime::now());
    }
}

impl JobObserver {
    fn origin<'a>(&'a self, entry: &'a TargetState) -> Origin<'a> {
        Origin { target: &entry.name, module: &entry.modules[self.module], plugin: &self.plugin }
    }
}

impl StoreObserver for JobObserver {
    fn now_unix_nanos(&self) -> u64 {
        telemetry::unix_nanos(SystemTime::now())
    }

    fn completed(&self, _collection: CollectionId, completion: &Completion<'_>, series: usize) {
        if let Some(entry) = self.entry.upgrade()
            && let Some(took) = entry.completed(self.module, completion, series)
        {
            self.costs.enter(completion, took);
            if let Some(reporter) = &self.reporter {
                let Origin { target, module, plugin } = self.origin(&entry);
                let trigger = Trigger::Schedule;
                let end_ns = monotonic_ns();
                let ended = Ended { target, module, plugin, trigger, completion, series, took, end_ns };
                reporter.collected(&entry, &ended);
            }
        }
        if let (Some(alerts), Outcome::Full) = (&self.alerts, &completion.outcome) {
            alerts.collected(SystemTime::now());
        }
        self.schedule.ended(self.job, ending(&completion.outcome));
    }

    fn stale(&self, row: FailureStreak) {
        let Some(entry) = self.entry.upgrade() else { return };
        let (expiring, module) = (Weak::clone(&self.entry), self.module);
        self.schedule.later(entry.stale_after, move || {
            if let Some(entry) = expiring.upgrade() {
                entry.expire(module, row);
            }
        });
    }

    fn log_enabled(&self, level: Level) -> bool {
        plugin_log_enabled(level)
    }

    fn log(&self, level: Level, message: &str, fields: &[(&str, &str)]) {
        if let Some(entry) = self.entry.upgrade() {
            log_plugin_record(self.origin(&entry), level, message, fields);
        }
    }

    fn event(&self, event: &Event<'_>) {
        if let Some(entry) = self.entry.upgrade() {
            log_plugin_event(self.origin(&entry), event);
            if let Some(alerts) = &self.alerts {
                alerts.event(event, SystemTime::now());
            }
            if let Some(reporter) = &self.reporter {
                reporter.event(&entry, event);
            }
        }
    }
}
