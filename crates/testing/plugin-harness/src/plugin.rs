//! A plugin and its instances.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use plugin_abi::{CredentialBroker, TargetInfo};
use plugin_host::testing::{RecordedOutcome, RecordingSink};
use plugin_host::{EntryFn, Host, HostOptions, Instance, InstanceConfig, Library, monotonic_ns};
use serde_json::Value;

use super::sim_host::Lender;
use crate::collection::Collection;

/// A plugin that is linked into the test, in a host of its own.
pub struct Plugin {
    pub library: Library,
    pub lender: Arc<Lender>,
    host: Host,
    /// What the clock of collections is ahead of that of the machine, in nanoseconds.
    ahead_ns: Arc<AtomicU64>,
}

/// An instance of a source, with all that it sent.
#[derive(Debug)]
pub struct Watch {
    pub instance: Instance,
    pub sink: Arc<RecordingSink>,
    /// What it was made with.
    pub config: InstanceConfig,
}

/// The settings of an instance that watches a host on loopback, by the name `web1`.
#[must_use]
pub fn config(host: &str, port: u16, settings: Value) -> InstanceConfig {
    let target = TargetInfo {
        name: "web1".to_owned(),
        host: host.to_owned(),
        port: Some(port),
        identity: "corp".to_owned(),
        service_principal: None,
    };
    InstanceConfig { target, settings, is_on_demand: false }
}

impl Plugin {
    /// Links a plugin. It gets leases of the right password.
    #[must_use]
    pub fn new(name: &str, entry: EntryFn) -> Self {
        Self::with(name, entry, Lender::default(), HostOptions::default())
    }

    /// Links a plugin with this credential broker, and with the other options.
    #[must_use]
    pub fn with(name: &str, entry: EntryFn, lender: Lender, options: HostOptions) -> Self {
        let lender = Arc::new(lender);
        let broker: Arc<dyn CredentialBroker> = Arc::<Lender>::clone(&lender);
        let ahead_ns = Arc::new(AtomicU64::new(0));
        let (clock, ahead) = (Arc::clone(&options.clock), Arc::clone(&ahead_ns));
        let clock = Arc::new(move || clock() + ahead.load(Ordering::Relaxed));
        let host = Host::new(HostOptions { broker, clock, ..options });
        let library = host.link(name, entry).expect("the plugin is linked");
        Self { library, lender, host, ahead_ns }
    }

    /// The next collections are later by so much.
    pub fn advance(&self, time: Duration) {
        let time_ns = u64::try_from(time.as_nanos()).expect("a short time");
        self.ahead_ns.fetch_add(time_ns, Ordering::Relaxed);
    }

    /// Makes an instance of a source.
    #[must_use]
    pub fn watch(&self, source: &str, config: InstanceConfig) -> Watch {
        let sink = Arc::new(RecordingSink::default());
        let created = self.library.create(source, &config, Arc::<RecordingSink>::clone(&sink));
        Watch { instance: created.expect("the source takes the settings"), sink, config }
    }

    /// Waits until no instance is left.
    pub fn wait_ended(&self) {
        assert_eq!(self.host.wait_destroyed(Duration::from_secs(60)), 0, "all instances end");
    }
}

impl Watch {
    /// Collects with a deadline far away.
    #[track_caller]
    pub fn collect(&self) -> Collection {
        self.collect_within(Duration::from_secs(60))
    }

    /// Collects, and insists that this ends in time.
    #[track_caller]
    pub fn collect_within(&self, time: Duration) -> Collection {
        let before = self.sink.recorded().completions.len();
        let deadline_ns = monotonic_ns() + u64::try_from(time.as_nanos()).expect("a short time");
        self.instance.collect(deadline_ns).expect("the collection begins");
        // Other programs of a busy machine may take more time than the sink's patience.
        let mut ends = (0..6).filter_map(|_| self.sink.wait_completions(before + 1));
        let recorded = ends.next().expect("the collection ends");
        assert!(monotonic_ns() < deadline_ns, "it ended after its deadline");
        Collection::last_of(recorded)
    }

    /// Collects, and insists that the collection is complete.
    #[track_caller]
    pub fn full(&self) -> Collection {
        let collection = self.collect();
        assert_eq!(collection.outcome, RecordedOutcome::Full);
        collection
    }

    /// Gives the source other settings.
    pub fn reconfigure(&self, settings: Value) {
        let config = InstanceConfig { settings, ..self.config.clone() };
        self.instance.reconfigure(&config).expect("the source takes the settings");
    }
}
