//! The objects of a simulated host, beside its pipes: two ports of loopback, and the settings that lead there.

use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex};

use ms_pla::Category;
use ms_pla::xml::{AlertDataCollector, DataCollectorSet, PerformanceCounterDataCollector};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio::task::JoinHandle;
use windows_sim::model::data_collector_sets::Store;
use windows_sim::{WindowsHost, server};

use crate::world::SimHost;

/// The resolver and the objects of a simulated host.
pub(crate) struct Objects {
    host: Arc<WindowsHost>,
    smb_port: u16,
    pub(crate) port: u16,
    listener: Mutex<JoinHandle<()>>,
    // Last, so that what runs on it ends first.
    runtime: Runtime,
}

impl Objects {
    pub(crate) fn of(sim: &SimHost) -> Self {
        Self::serve(&sim.host, sim.port)
    }

    /// `host` may be another one than that which has the counters.
    pub(crate) fn serve(host: &Arc<WindowsHost>, smb_port: u16) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
        let runtime = runtime.expect("threads for the simulator");
        let (port, listener) = listen(&runtime, host, 0);
        Self { host: Arc::clone(host), smb_port, port, listener: Mutex::new(listener), runtime }
    }

    /// Settings with sets and the ports of this host.
    pub(crate) fn settings(&self, sets: &Value) -> Value {
        let transport = json!({"smb": {"port": self.smb_port}, "dcom": {"port": self.port}});
        json!({"sets": sets, "transport": transport})
    }

    /// All connections end, and nobody listens any more.
    pub(crate) fn shut(&self) {
        let mut listener = self.listener.lock().expect("nobody panicked");
        listener.abort();
        // It may have been shut before. It ends with that it was aborted.
        if !listener.is_finished() {
            let _ = self.runtime.block_on(&mut *listener);
        }
    }

    /// All connections end; the next ones are taken.
    pub(crate) fn cut(&self) {
        self.shut();
        *self.listener.lock().expect("nobody panicked") = listen(&self.runtime, &self.host, self.port).1;
    }

    /// Calls of a method so far.
    pub(crate) fn calls(&self, service: &str, opnum: u16) -> u64 {
        self.host.counts().calls(service, opnum)
    }

    /// How often the account logged on.
    pub(crate) fn logons(&self) -> u64 {
        self.host.accounts().attempts().values().map(|seen| seen.accepted + seen.refused).sum()
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

fn listen(runtime: &Runtime, host: &Arc<WindowsHost>, port: u16) -> (u16, JoinHandle<()>) {
    let bind = |port| runtime.block_on(TcpListener::bind((Ipv4Addr::LOCALHOST, port)));
    let resolver = bind(port).expect("a port on loopback");
    let exporter = bind(0).expect("another port on loopback");
    let port = resolver.local_addr().expect("its number").port();
    let host = Arc::clone(host);
    let serving = async move {
        let served = server::listen_dcom(host, resolver, exporter, server::Limits::default()).await;
        served.expect("the listeners have addresses");
    };
    (port, runtime.spawn(serving))
}
