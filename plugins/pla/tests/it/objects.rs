//! The objects of a simulated host, beside its pipes: two ports of loopback, and the settings that lead there.

use std::net::Ipv4Addr;
use std::ops::Deref;
use std::sync::Arc;

use ms_pla::Category;
use ms_pla::xml::{AlertDataCollector, DataCollectorSet, PerformanceCounterDataCollector};
use serde_json::{Value, json};
use windows_sim::WindowsHost;
use windows_sim::model::data_collector_sets::Store;

use crate::world::SimHost;

/// The resolver and the objects of a simulated host.
pub(crate) struct Objects {
    sim: plugin_harness::SimHost,
    smb_port: u16,
}

impl Deref for Objects {
    type Target = plugin_harness::SimHost;

    fn deref(&self) -> &Self::Target {
        &self.sim
    }
}

impl Objects {
    pub(crate) fn of(sim: &SimHost) -> Self {
        Self::serve(&sim.host, sim.port)
    }

    /// `host` may be another one than that which has the counters.
    pub(crate) fn serve(host: &Arc<WindowsHost>, smb_port: u16) -> Self {
        Self { sim: plugin_harness::SimHost::dcom(Arc::clone(host), Ipv4Addr::LOCALHOST), smb_port }
    }

    /// Settings with sets and the ports of this host.
    pub(crate) fn settings(&self, sets: &Value) -> Value {
        let transport = json!({"smb": {"port": self.smb_port}, "dcom": {"port": self.port}});
        json!({"sets": sets, "transport": transport})
    }

    /// Calls of a method so far.
    pub(crate) fn calls(&self, service: &str, opnum: u16) -> u64 {
        self.host.counts().calls(service, opnum)
    }

    /// Stores a set with ten collectors of counters.
    pub(crate) fn store_ten(&self, name: &str) {
        let collector = |number: u32| PerformanceCounterDataCollector {
            name: Some(format!("Collector {number}")),
            sample_interval_s: Some(15),
            counters: (0..10).map(|counter| format!(r"\Wheels(*)\Counter {counter}")).collect(),
            ..PerformanceCounterDataCollector::default()
        };
        let set = DataCollectorSet {
            name: Some(name.to_owned()),
            counters: (0..10).map(collector).collect(),
            ..DataCollectorSet::default()
        };
        self.put(name, set);
    }

    fn put(&self, name: &str, set: DataCollectorSet) {
        let stored = self.host.store_data_collector_set(Category::Server, name, set, Store::Either);
        stored.expect("a set can be stored");
    }

    /// Stores a set with this description alone.
    pub(crate) fn store_described(&self, name: &str, description: &str) {
        let description = Some(description.to_owned());
        let set =
            DataCollectorSet { name: Some(name.to_owned()), description, ..DataCollectorSet::default() };
        self.put(name, set);
    }

    /// Stores a set with one alert collector of these thresholds.
    pub(crate) fn store(&self, name: &str, thresholds: &[&str]) {
        let texts = thresholds.iter().map(|&text| text.to_owned()).collect();
        let alert = AlertDataCollector {
            name: Some("High".to_owned()),
            sample_interval_s: Some(15),
            alerts: texts,
            ..AlertDataCollector::default()
        };
        let set = DataCollectorSet {
            name: Some(name.to_owned()),
            serial_number: Some(7),
            alerts: vec![alert],
            ..DataCollectorSet::default()
        };
        self.put(name, set);
    }
}
