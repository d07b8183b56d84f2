//! Simulated hosts on loopback: one whose endpoint map a test writes, and the servers that it leads to.

use std::net::{Ipv4Addr, TcpListener as StdListener};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio::task::JoinHandle;
use windows_sim::model::{Host, HostOptions};
use windows_sim::service::{self, Service};
use windows_sim::{Account, Accounts, WindowsHost, server};

use super::mapper::{Map, Mapper};
use super::world::{PASSWORD, USER};

/// A host at an address of loopback.
pub(crate) struct SimHost {
    pub(crate) host: Arc<WindowsHost>,
    pub(crate) map: Map,
    /// Where its endpoint mapper is.
    pub(crate) port: u16,
    /// Where its objects are.
    pub(crate) objects: u16,
    address: Ipv4Addr,
    listener: JoinHandle<()>,
    // Last, so that what runs on it ends first.
    runtime: Runtime,
}

impl SimHost {
    /// With a map that a test writes.
    pub(crate) fn new() -> Self {
        let map = Map::default();
        let others = service::standard().into_iter().filter(|one| one.name() != "epm");
        let services: Vec<_> = others.chain([Arc::new(Mapper(map.clone())) as Arc<dyn Service>]).collect();
        Self::with_services(&services, map, Ipv4Addr::LOCALHOST)
    }

    /// With the map that simulated hosts have.
    pub(crate) fn standard() -> Self {
        Self::standard_on(Ipv4Addr::LOCALHOST)
    }

    pub(crate) fn standard_on(address: Ipv4Addr) -> Self {
        Self::with_services(&service::standard(), Map::default(), address)
    }

    fn with_services(services: &[Arc<dyn Service>], map: Map, address: Ipv4Addr) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
        let runtime = runtime.expect("threads for the simulator");
        let account = Account::new("CORP", USER, ssp::Secret::new(PASSWORD));
        let source = Arc::new(Host::new(HostOptions::default()));
        let accounts = Arc::new(Accounts::new(vec![account]));
        let host = Arc::new(WindowsHost::with_services("web1", source, accounts, services));
        let (listener, [port, objects]) = listen(&runtime, &host, address, [0, 0]);
        Self { host, map, port, objects, address, listener, runtime }
    }

    /// From now on this goes wrong, and nothing else.
    pub(crate) fn rule(&self, rule: &str) {
        let rules = vec![rule.parse().expect("a rule of the simulator")];
        self.host.change_behaviour(|behaviour| behaviour.rules = rules);
    }

    pub(crate) fn heal(&self) {
        self.host.change_behaviour(|behaviour| behaviour.rules.clear());
    }

    /// All connections end, and the next ones are taken.
    pub(crate) fn cut(&mut self) {
        self.shut();
        let ports = [self.port, self.objects];
        self.listener = listen(&self.runtime, &self.host, self.address, ports).0;
    }

    /// All connections end, and nobody listens any more.
    pub(crate) fn shut(&self) {
        self.listener.abort();
        while !self.listener.is_finished() {
            std::thread::yield_now();
        }
    }

    /// A port that takes connections and never answers.
    pub(crate) fn black_hole(&self) -> u16 {
        let listener = self.runtime.block_on(TcpListener::bind((self.address, 0))).expect("a port");
        let port = listener.local_addr().expect("its number").port();
        let host = Arc::clone(&self.host);
        self.runtime.spawn(server::listen_black_hole(host, listener, server::Limits::default()));
        port
    }

    /// Calls of a method of the management interface so far, at all ports.
    pub(crate) fn management_calls(&self, opnum: u16) -> u64 {
        self.host.counts().calls("mgmt", opnum)
    }

    pub(crate) fn connections(&self) -> u64 {
        self.host.counts().connections.load(Ordering::Relaxed)
    }

    /// Logons so far: right and wrong ones.
    pub(crate) fn logons(&self) -> (u64, u64) {
        let attempts = self.host.accounts().attempts();
        attempts.values().fold((0, 0), |sum, seen| (sum.0 + seen.accepted, sum.1 + seen.refused))
    }

    pub(crate) fn change_password(&self) {
        self.host.accounts().change(|accounts| accounts[0].password = ssp::Secret::new("another one"));
    }
}

/// A port at which nobody listens.
pub(crate) fn closed_port() -> u16 {
    let listener = StdListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
    listener.local_addr().expect("its number").port()
}

fn listen(
    runtime: &Runtime,
    host: &Arc<WindowsHost>,
    address: Ipv4Addr,
    ports: [u16; 2],
) -> (JoinHandle<()>, [u16; 2]) {
    let [mapper, objects] =
        ports.map(|port| runtime.block_on(TcpListener::bind((address, port))).expect("a port on loopback"));
    let ports = [&mapper, &objects].map(|one| one.local_addr().expect("its number").port());
    let host = Arc::clone(host);
    let serving = async move {
        let served = server::listen_dcom(host, mapper, objects, server::Limits::default()).await;
        served.expect("the listeners have addresses");
    };
    (runtime.spawn(serving), ports)
}
