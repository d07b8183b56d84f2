use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::time::SystemTime;

use otlp::encode::Trigger;
use otlp::push::Ended;
use parking_lot::Mutex;
use plugin_abi::{Alert, AlertState, CollectionId, Completion, Event, Level, NoRoom, Notices};
use plugin_host::monotonic_ns;
use series::pipeline::StoreObserver;
use support::telemetry::log;
use tokio::sync::oneshot;
use tokio::time::Instant;

use targets::{PluginCosts, Reporter, TargetState};

/// Alerts of one module of a probed target that are open.
const OPEN_MAX: usize = 1_000;
/// What one probe logs at most.
const LINES_MAX: usize = 500;

/// What plugins say while a target is probed.
#[derive(Default)]
pub(super) struct Lines {
    lines: Mutex<Vec<String>>,
    began: Mutex<Option<Instant>>,
    /// Whether everything is kept, and not only what the log keeps.
    all: AtomicBool,
}

impl Lines {
    pub(super) fn begin(&self, all: bool) {
        self.all.store(all, Ordering::Relaxed);
        *self.began.lock() = Some(Instant::now());
        self.lines.lock().clear();
    }

    pub(super) fn read(&self) -> Vec<String> {
        self.lines.lock().clone()
    }

    fn wants(&self, level: Level) -> bool {
        self.all.load(Ordering::Relaxed) && level < Level::Trace
    }

    fn add(&self, level: Level, message: &str, fields: &[(&str, &str)]) {
        let mut lines = self.lines.lock();
        if !self.wants(level) || lines.len() > LINES_MAX {
            return;
        }
        if lines.len() == LINES_MAX {
            lines.push("and more".to_owned());
            return;
        }
        let passed = self.began.lock().map_or(0.0, |began| began.elapsed().as_secs_f64());
        let fields: String = fields.iter().map(|(name, value)| format!(" {name}={value:?}")).collect();
        lines.push(format!("{passed:8.3} s {level:?} {message}{fields}"));
    }
}

/// Hears of the collections of one module on a target that is probed.
pub(super) struct ProbeObserver {
    /// The target's state holds the store, and the store this observer.
    pub(super) entry: Weak<TargetState>,
    pub(super) module: usize,
    pub(super) plugin: String,
    pub(super) costs: Arc<PluginCosts>,
    pub(super) reporter: Reporter,
    pub(super) lines: Arc<Lines>,
    /// Alerts that the module said are open. They are kept nowhere else: a probe has no alerts.
    pub(super) open_alerts: Mutex<BTreeSet<String>>,
    pub(super) sender: Mutex<Option<oneshot::Sender<()>>>,
}

impl ProbeObserver {
    fn origin<'a>(&'a self, entry: &'a TargetState) -> log::Origin<'a> {
        log::Origin { target: &entry.name, module: &entry.modules[self.module], plugin: &self.plugin }
    }

    /// The alert; one that is opened again is open.
    fn tracked<'a>(&self, alert: Alert<'a>) -> Result<Alert<'a>, NoRoom> {
        let mut open = self.open_alerts.lock();
        if alert.state == AlertState::Closed {
            open.remove(alert.id);
            return Ok(alert);
        }
        if open.contains(alert.id) {
            return Ok(Alert { state: AlertState::Open, ..alert });
        }
        if open.len() >= OPEN_MAX {
            return Err(NoRoom);
        }
        open.insert(alert.id.to_owned());
        Ok(alert)
    }

    /// Receives the end of the next collection.
    pub(super) fn hear(&self) -> oneshot::Receiver<()> {
        let (sender, receiver) = oneshot::channel();
        *self.sender.lock() = Some(sender);
        receiver
    }
}

impl StoreObserver for ProbeObserver {
    fn now_unix_nanos(&self) -> u64 {
        support::telemetry::unix_nanos(SystemTime::now())
    }

    fn completed(&self, _collection: CollectionId, completion: &Completion<'_>, series: usize) {
        // Dropping it tells the end, also if something here panics.
        let _sender = self.sender.lock().take();
        if let Some(entry) = self.entry.upgrade()
            && let Some(took) = entry.completed(self.module, completion, series)
        {
            self.costs.enter(completion, took);
            let log::Origin { target, module, plugin } = self.origin(&entry);
            let trigger = Trigger::Probe;
            let end_ns = monotonic_ns();
            let ended = Ended { target, module, plugin, trigger, completion, series, took, end_ns };
            self.reporter.collected(&entry, &ended);
        }
    }
}

impl Notices for ProbeObserver {
    fn log_enabled(&self, level: Level) -> bool {
        self.lines.wants(level) || log::plugin_log_enabled(level)
    }

    fn log(&self, level: Level, message: &str, fields: &[(&str, &str)]) {
        self.lines.add(level, message, fields);
        if let Some(entry) = self.entry.upgrade() {
            log::log_plugin_record(self.origin(&entry), level, message, fields);
        }
    }

    fn event(&self, event: &Event<'_>) -> Result<(), NoRoom> {
        let Some(entry) = self.entry.upgrade() else { return Ok(()) };
        let alert = event.alert.map(|alert| self.tracked(alert)).transpose()?;
        let event = Event { alert, ..*event };
        log::log_plugin_event(self.origin(&entry), &event);
        self.reporter.event(&entry, &event);
        Ok(())
    }

    fn is_open(&self, alert: &str) -> bool {
        self.open_alerts.lock().contains(alert)
    }

    fn restarted(&self) {
        self.open_alerts.lock().clear();
    }

    fn fact(&self, name: &str, value: &str) {
        if let Some(entry) = self.entry.upgrade() {
            entry.set_fact(name, value);
        }
    }
}
