//! The plugin against simulated hosts, on a clock that tests move on.

mod ended;

use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use plugin_abi::{AlertState, Level, LibraryLog};
use plugin_harness::{CounterHost, Lender};
pub(crate) use plugin_harness::{NOON, PASSWORD, USER, at_noon};
use plugin_host::{HostOptions, InstanceConfig, monotonic_ns};
use serde_json::{Value, json};
use windows_sim::model::{Clock, HostOptions as ModelOptions, ValueSource};

pub(crate) use self::ended::Ended;

thread_local! {
    /// How far the clocks of this test are ahead: each test has a thread of its own.
    static AHEAD_NS: Arc<AtomicU64> = Arc::default();
}

/// A simulated Windows host on a port of loopback.
pub(crate) struct SimHost(CounterHost);

impl Deref for SimHost {
    type Target = CounterHost;

    fn deref(&self) -> &CounterHost {
        &self.0
    }
}

impl SimHost {
    pub(crate) fn new() -> Self {
        Self(CounterHost::new())
    }

    pub(crate) fn with_options(change: impl FnOnce(&mut ModelOptions)) -> Self {
        Self(CounterHost::with_options(change))
    }

    pub(crate) fn with_source(source: Arc<dyn ValueSource>, clock: Clock) -> Self {
        Self(CounterHost::with_source(source, clock))
    }

    /// Time passes, for the host and for the plugin.
    pub(crate) fn pass(&self, time: Duration) {
        self.clock.advance(time);
        let time_ns = u64::try_from(time.as_nanos()).expect("a short time");
        AHEAD_NS.with(|ahead_ns| ahead_ns.fetch_add(time_ns, Ordering::Relaxed));
    }

    /// Values that were fetched so far: by a query, and of the registry.
    pub(crate) fn fetches(&self) -> (u64, u64) {
        (self.calls(6), self.host.counts().calls("winreg", 17))
    }
}

pub(crate) struct Plugin(plugin_harness::Plugin, Arc<Lines>);

/// What it says beside collections, with the level.
#[derive(Default)]
struct Lines(Mutex<Vec<(Level, String)>>);

impl LibraryLog for Lines {
    fn log_enabled(&self, _plugin: &str, level: Level) -> bool {
        matches!(level, Level::Error | Level::Warn | Level::Info)
    }

    fn log(&self, _plugin: &str, level: Level, message: &str, _fields: &[(&str, &str)]) {
        self.0.lock().push((level, message.to_owned()));
    }
}

impl Deref for Plugin {
    type Target = plugin_harness::Plugin;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl Plugin {
    pub(crate) fn new() -> Self {
        let ahead_ns = AHEAD_NS.with(Arc::clone);
        let started_ns = monotonic_ns();
        let clock = Arc::new(move || started_ns + ahead_ns.load(Ordering::Relaxed));
        let lines = Arc::new(Lines::default());
        let log = Some(Arc::<Lines>::clone(&lines) as Arc<dyn LibraryLog>);
        let options = HostOptions { clock, log, ..HostOptions::default() };
        Self(plugin_harness::Plugin::with("pla", plugin_pla::entry, Lender::default(), options), lines)
    }

    /// The levels at which this was said beside collections, so far.
    pub(crate) fn said(&self, message: &str) -> Vec<Level> {
        let lines = self.1.0.lock();
        lines.iter().filter(|(_, said)| said == message).map(|(level, _)| *level).collect()
    }

    /// An instance for a simulated host.
    pub(crate) fn watch(&self, sim: &SimHost, settings: Value) -> Watch {
        self.watch_as(config(sim, settings))
    }

    /// An instance for another target.
    pub(crate) fn watch_as(&self, config: InstanceConfig) -> Watch {
        Watch(self.0.watch("pla", config))
    }

    /// As for a probe.
    pub(crate) fn watch_on_demand(&self, sim: &SimHost, settings: Value) -> Watch {
        Watch(self.0.watch("pla", InstanceConfig { is_on_demand: true, ..config(sim, settings) }))
    }

    /// Ends an instance, and waits for that.
    pub(crate) fn end(&self, watch: Watch) {
        drop(watch);
        self.wait_ended();
    }
}

/// What the exporter passes for a simulated host.
pub(crate) fn config(sim: &SimHost, settings: Value) -> InstanceConfig {
    plugin_harness::config("127.0.0.1", sim.port, settings)
}

/// A set of alerts in the settings.
pub(crate) fn set(alerts: &Value) -> Value {
    json!({ "sets": [{ "name": "Mill", "alerts": alerts }] })
}

/// One instance of the source with all that it sent.
pub(crate) struct Watch(plugin_harness::Watch);

impl Deref for Watch {
    type Target = plugin_harness::Watch;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl Watch {
    /// Collects with a deadline far away.
    #[track_caller]
    pub(crate) fn collect(&self) -> Ended {
        Ended(self.0.collect())
    }

    /// Collects with this deadline.
    #[track_caller]
    pub(crate) fn collect_within(&self, time: Duration) -> Ended {
        Ended(self.0.collect_within(time))
    }

    /// Collects, and insists that it is complete.
    #[track_caller]
    pub(crate) fn full(&self) -> Ended {
        Ended(self.0.full())
    }

    /// The alerts that were reported so far.
    pub(crate) fn alerts(&self) -> Vec<(String, AlertState)> {
        self.sink.recorded().alerts
    }
}
