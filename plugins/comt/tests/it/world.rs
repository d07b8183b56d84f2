//! The plugin against simulated hosts, and what is asked of its collections.

use std::net::Ipv4Addr;
use std::sync::LazyLock;

use plugin_harness::{Collection, Watch, config};
use plugin_host::InstanceConfig;
use plugin_host::testing::Value;
use serde_json::json;

use crate::call_backs;
pub(crate) use crate::sim_host::SimHost;

/// The plugin, which shares its call-backs with all tests.
pub(crate) struct Plugin(plugin_harness::Plugin);

impl std::ops::Deref for Plugin {
    type Target = plugin_harness::Plugin;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl Plugin {
    pub(crate) fn new() -> Self {
        LazyLock::force(&call_backs::FIRST);
        Self(plugin_harness::Plugin::new("comt", plugin_comt::entry))
    }

    /// An instance for a simulated host, with nothing set.
    pub(crate) fn watch(&self, sim: &SimHost) -> Watch {
        self.watch_with(sim.port, json!({}))
    }

    pub(crate) fn watch_with(&self, port: u16, settings: serde_json::Value) -> Watch {
        self.watch_host(&Ipv4Addr::LOCALHOST.to_string(), port, settings)
    }

    pub(crate) fn watch_host(&self, host: &str, port: u16, settings: serde_json::Value) -> Watch {
        self.0.watch("comt", config(host, port, settings))
    }

    /// As for a probe.
    pub(crate) fn watch_on_demand(&self, port: u16, settings: serde_json::Value) -> Watch {
        let config = config(&Ipv4Addr::LOCALHOST.to_string(), port, settings);
        self.0.watch("comt", InstanceConfig { is_on_demand: true, ..config })
    }
}

/// What is asked of collections.
pub(crate) trait Asked {
    /// All series with their values, but for the object.
    fn all_but(&self, object: &str) -> Vec<(String, Vec<String>, Option<Value>)>;

    /// How many series of an object are there.
    fn count(&self, object: &str) -> usize;

    /// How many things were left out, by kind and reason.
    #[track_caller]
    fn left_out(&self, kind: &str, reason: &str) -> f64;
}

impl Asked for Collection {
    fn all_but(&self, object: &str) -> Vec<(String, Vec<String>, Option<Value>)> {
        let rows = self.live().filter(|(family, _)| family.object != object).map(|(family, series)| {
            let labels = series.labels.iter().map(|(name, value)| format!("{name}={value}")).collect();
            (format!("{} {}", family.object, family.item), labels, series.value)
        });
        let mut rows: Vec<_> = rows.collect();
        rows.sort_by(|one, other| (&one.0, &one.1).cmp(&(&other.0, &other.1)));
        rows
    }

    fn count(&self, object: &str) -> usize {
        self.live().filter(|(family, _)| family.object == object).count()
    }

    fn left_out(&self, kind: &str, reason: &str) -> f64 {
        self.value("Entries", "Left Out", &[kind, reason]).expect("it is counted")
    }
}
