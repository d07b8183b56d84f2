//! Simulated hosts on loopback.

use std::net::Ipv4Addr;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};

use ms_dtyp::FileTime;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio::task::JoinHandle;
use windows_sim::model::{self, Clock, ComProcess, ValueSource};
use windows_sim::server::{Delivery, EventPublisher};
use windows_sim::service::{event_system, tracker};
use windows_sim::{Account, Accounts, Behaviour, WindowsHost, server};

use crate::call_backs;
use crate::world::{PASSWORD, USER};

/// 2026-01-01 12:00:00, two days after the simulated hosts were started.
const NOON: FileTime = FileTime(134_116_992_000_000_000);
const BOOT: FileTime = FileTime(NOON.0 - 2 * 86_400 * FileTime::INTERVALS_PER_SECOND);

/// A simulated Windows host whose object resolver is on a port of loopback.
pub(crate) struct SimHost {
    pub(crate) host: Arc<WindowsHost>,
    pub(crate) clock: Clock,
    pub(crate) port: u16,
    address: Ipv4Addr,
    source: Arc<dyn ValueSource>,
    listener: Mutex<JoinHandle<()>>,
    publisher: Mutex<EventPublisher>,
    // Last, so that what runs on it ends first.
    runtime: Runtime,
}

impl SimHost {
    /// At noon, until the clock is moved.
    pub(crate) fn new() -> Self {
        Self::on(Ipv4Addr::LOCALHOST)
    }

    /// At another address of loopback. It calls back from the first one all the same.
    pub(crate) fn on(address: Ipv4Addr) -> Self {
        let clock = Clock::manual(NOON);
        let options =
            model::HostOptions { clock: clock.clone(), boot: Some(BOOT), ..model::HostOptions::default() };
        Self::made(Arc::new(model::Host::new(options)), clock, address)
    }

    pub(crate) fn with_source(source: Arc<dyn ValueSource>, clock: Clock) -> Self {
        Self::made(source, clock, Ipv4Addr::LOCALHOST)
    }

    fn made(source: Arc<dyn ValueSource>, clock: Clock, address: Ipv4Addr) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
        let runtime = runtime.expect("threads for the simulator");
        let account = Account::new("CORP", USER, ssp::Secret::new(PASSWORD));
        let accounts = Arc::new(Accounts::new(vec![account]));
        let host = Arc::new(WindowsHost::new("web1", Arc::clone(&source), accounts));
        let (port, listener) = listen(&runtime, &host, (address, 0));
        let publisher = Mutex::new(EventPublisher::new(Arc::clone(&host), call_backs::port()));
        Self { host, clock, port, address, source, listener: Mutex::new(listener), publisher, runtime }
    }

    /// Calls all subscribers of the tracker with the state of now.
    pub(crate) fn publish(&self) -> Vec<Delivery> {
        let mut publisher = self.publisher.lock().expect("nobody panicked");
        self.runtime.block_on(publisher.publish())
    }

    /// The same, and insists that there is one subscriber, which takes it.
    #[track_caller]
    pub(crate) fn tell(&self) {
        let mut deliveries = self.publish();
        assert_eq!(deliveries.len(), 1);
        deliveries.remove(0).outcome.expect("the subscriber takes it");
    }

    /// What its tracker sees now.
    pub(crate) fn processes(&self) -> Vec<ComProcess> {
        self.source.com_processes(&self.source.moment())
    }

    pub(crate) fn behave(&self, change: impl FnOnce(&mut Behaviour)) {
        self.host.change_behaviour(change);
    }

    /// From now on this goes wrong, and nothing else.
    pub(crate) fn rule(&self, rule: &str) {
        let rules = vec![rule.parse().expect("a rule of the simulator")];
        self.behave(|behaviour| behaviour.rules = rules);
    }

    pub(crate) fn heal(&self) {
        self.behave(|behaviour| behaviour.rules.clear());
    }

    /// All connections end, and nobody listens any more.
    pub(crate) fn shut(&self) {
        let listener = self.listener.lock().expect("nobody panicked");
        listener.abort();
        while !listener.is_finished() {
            std::thread::yield_now();
        }
    }

    /// All connections end; the next ones are taken.
    pub(crate) fn cut(&self) {
        self.shut();
        *self.listener.lock().expect("nobody panicked") =
            listen(&self.runtime, &self.host, (self.address, self.port)).1;
    }

    /// Calls of the tracker so far: of all applications, and of the components of one.
    pub(crate) fn calls(&self) -> (u64, u64) {
        let calls = |opnum| self.host.counts().calls(tracker::NAME, opnum);
        (calls(4), calls(5))
    }

    /// Calls that store a subscription so far.
    pub(crate) fn stores(&self) -> u64 {
        self.host.counts().calls(event_system::NAME, 8)
    }

    pub(crate) fn connections(&self) -> u64 {
        self.host.counts().connections.load(Ordering::Relaxed)
    }

    /// Logons so far: right and wrong ones.
    pub(crate) fn logons(&self) -> (u64, u64) {
        let attempts = self.host.accounts().attempts();
        attempts.values().fold((0, 0), |sum, seen| (sum.0 + seen.accepted, sum.1 + seen.refused))
    }
}

fn listen(
    runtime: &Runtime,
    host: &Arc<WindowsHost>,
    (address, port): (Ipv4Addr, u16),
) -> (u16, JoinHandle<()>) {
    let bind = |port| runtime.block_on(TcpListener::bind((address, port)));
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
