//! What is logged of a target's events and alerts.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::{Instant, SystemTime};

use alerts::Feed;
use otlp::encode::{Scope, Trigger};
use otlp::push::{Ended, EventRouter};
use parking_lot::Mutex;
use plugin_abi::{Alert, AlertState, CollectionId, Completion, Event, Level, NoRoom, Notices};
use plugin_host::monotonic_ns;
use series::pipeline::{FailureStreak, StoreObserver};
use support::telemetry::log::{
    Origin, log_more_alerts, log_plugin_event, log_plugin_record, plugin_log_enabled,
};

use super::account::ending;
use super::costs::PluginCosts;
use super::registry::TargetState;
use crate::schedule::{Ending, JobId, Schedule};

/// Hears of one module's collections on one target: enters them in the target's state and tells the schedule. What the module says
/// goes from here to the log, the registry of alerts and the collectors.
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
    /// The last collection whose end was reported.
    pub ended: AtomicU64,
    /// What of its alerts has a line of the log.
    pub alert_lines: AlertLines,
}

/// Which alerts have a line of their own in the log: the first of each name and state, and the others are counted until the
/// collection ends. A rule on all processes of a host is one thing that happened, not hundreds.
#[derive(Debug, Default)]
pub struct AlertLines(Mutex<Vec<AlertGroup>>);

/// Alerts of one name that did the same.
#[derive(Debug, PartialEq, Eq)]
struct AlertGroup {
    level: Level,
    event: String,
    name: String,
    state: AlertState,
    /// Without a line of their own.
    more: usize,
}

impl AlertLines {
    /// Whether an event has a line of its own.
    fn admits(&self, event: &Event<'_>) -> bool {
        let Some(alert) = event.alert else { return true };
        let name = alert.labels.iter().find(|(name, _)| *name == ALERT_NAME).map_or("", |(_, name)| *name);
        let mut groups = self.0.lock();
        // What finds no room is counted with the last one.
        let is_last = |index: usize| index + 1 == GROUPS_MAX;
        let known = groups.iter_mut().enumerate().find(|(index, group)| {
            is_last(*index) || (&*group.event, &*group.name, group.state) == (event.name, name, alert.state)
        });
        if let Some((_, group)) = known {
            group.more += 1;
            return false;
        }
        let (event, name, level) = (event.name.to_owned(), name.to_owned(), event.level);
        groups.push(AlertGroup { level, event, name, state: alert.state, more: 0 });
        true
    }

    fn take(&self) -> Vec<AlertGroup> {
        std::mem::take(&mut *self.0.lock())
    }
}

/// The label of what people call an alert.
const ALERT_NAME: &str = "alert";
/// Names and states of alerts that have lines of their own in one collection.
const GROUPS_MAX: usize = 64;

/// Tells the schedule of an end even if something else that hears of it panics: else the target is never collected again.
struct EndOnDrop<'a>(&'a JobObserver, Ending);

impl Drop for EndOnDrop<'_> {
    fn drop(&mut self) {
        self.0.schedule.ended(self.0.job, self.1);
    }
}

/// Tells collectors what happens, as it happens.
#[derive(Clone)]
pub struct Reporter {
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
        support::telemetry::unix_nanos(SystemTime::now())
    }

    fn completed(&self, collection: CollectionId, completion: &Completion<'_>, series: usize) {
        // What panicked on the way is reported again, and a second end would be that of the next collection.
        if self.ended.swap(collection.0, Ordering::Relaxed) == collection.0 {
            return;
        }
        let _end = EndOnDrop(self, ending(&completion.outcome));
        if let Some(entry) = self.entry.upgrade() {
            for AlertGroup { level, event, name, state, more } in self.alert_lines.take() {
                if more > 0 {
                    log_more_alerts(self.origin(&entry), level, &event, &name, state, more);
                }
            }
        }
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
        if let Some(alerts) = &self.alerts {
            alerts.collected(&completion.outcome, SystemTime::now(), Instant::now());
        }
    }

    fn stale(&self, streak: FailureStreak) {
        let Some(entry) = self.entry.upgrade() else { return };
        let (expiring, module) = (Weak::clone(&self.entry), self.module);
        self.schedule.later(entry.stale_after, move || {
            if let Some(entry) = expiring.upgrade() {
                entry.expire(module, streak);
            }
        });
    }
}

impl Notices for JobObserver {
    fn log_enabled(&self, level: Level) -> bool {
        plugin_log_enabled(level)
    }

    fn log(&self, level: Level, message: &str, fields: &[(&str, &str)]) {
        if let Some(entry) = self.entry.upgrade() {
            log_plugin_record(self.origin(&entry), level, message, fields);
        }
    }

    fn event(&self, event: &Event<'_>) -> Result<(), NoRoom> {
        let Some(entry) = self.entry.upgrade() else { return Ok(()) };
        let state = self.alerts.as_ref().map_or(Ok(None), |alerts| alerts.event(event, SystemTime::now()))?;
        let alert = event.alert.map(|alert| Alert { state: state.unwrap_or(alert.state), ..alert });
        let event = Event { alert, ..*event };
        let level = if self.alert_lines.admits(&event) { event.level } else { Level::Debug };
        log_plugin_event(self.origin(&entry), &Event { level, ..event });
        if let Some(reporter) = &self.reporter {
            reporter.event(&entry, &event);
        }
        Ok(())
    }

    fn is_open(&self, alert: &str) -> bool {
        self.alerts.as_ref().is_some_and(|alerts| alerts.is_open(alert))
    }

    fn fact(&self, name: &str, value: &str) {
        if let Some(entry) = self.entry.upgrade() {
            entry.set_fact(name, value);
        }
    }

    fn restarted(&self) {
        if let Some(alerts) = &self.alerts {
            alerts.restarted();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_hundred_alerts_of_one_rule_have_one_line_and_a_count() {
        let lines = AlertLines::default();
        let admits = |name: &str, instance: usize, state| {
            let (id, fields) = (format!("{name}/{instance}"), [("set", "S"), ("alert", name)]);
            let alert = Some(Alert::new(&id, state, &fields));
            let (event, level, time_unix_nanos) = ("pla.alert", Level::Warn, None);
            lines.admits(&Event { name: event, level, time_unix_nanos, body: "", fields: &[], alert })
        };
        for instance in 0..300 {
            assert_eq!(admits("Many", instance, AlertState::Opened), instance == 0);
        }
        assert!(admits("Few", 0, AlertState::Opened) && admits("Many", 0, AlertState::Closed));
        let counts: Vec<_> = lines.take().iter().map(|group| (group.name.clone(), group.more)).collect();
        assert_eq!(counts, [("Many".to_owned(), 299), ("Few".to_owned(), 0), ("Many".to_owned(), 0)]);
        assert!(admits("Many", 1, AlertState::Opened), "each collection says what happened in it");
        let names = (0..2 * GROUPS_MAX).filter(|name| admits(&name.to_string(), 0, AlertState::Opened));
        assert_eq!(names.count(), GROUPS_MAX - 1);
        assert_eq!(lines.take().last().map(|group| group.more), Some(GROUPS_MAX + 1));
    }
}
