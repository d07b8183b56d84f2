//! Simulated hosts on loopback.

use std::net::Ipv4Addr;
use std::sync::Arc;

use parking_lot::Mutex;
use plugin_harness::{NOON, account, at_noon};
use windows_sim::WindowsHost;
use windows_sim::model::{self, Clock, ComProcess, ValueSource};
use windows_sim::server::{Delivery, EventPublisher};
use windows_sim::service::{event_system, tracker};

use crate::call_backs;

/// A simulated Windows host whose object resolver is on a port of loopback.
pub(crate) struct SimHost {
    sim: plugin_harness::SimHost,
    pub(crate) clock: Clock,
    source: Arc<dyn ValueSource>,
    publisher: Mutex<EventPublisher>,
}

impl std::ops::Deref for SimHost {
    type Target = plugin_harness::SimHost;

    fn deref(&self) -> &Self::Target {
        &self.sim
    }
}

impl SimHost {
    /// At noon, until the clock is moved.
    pub(crate) fn new() -> Self {
        Self::on(Ipv4Addr::LOCALHOST)
    }

    /// At another address of loopback. It calls back from the first one all the same.
    pub(crate) fn on(address: Ipv4Addr) -> Self {
        let clock = Clock::manual(NOON);
        let mut host = Self::made(Arc::new(model::Host::new(at_noon(&clock))), clock, address);
        host.publisher.get_mut().call_from(Ipv4Addr::LOCALHOST.into());
        host
    }

    pub(crate) fn with_source(source: Arc<dyn ValueSource>, clock: Clock) -> Self {
        Self::made(source, clock, Ipv4Addr::LOCALHOST)
    }

    fn made(source: Arc<dyn ValueSource>, clock: Clock, address: Ipv4Addr) -> Self {
        let host = WindowsHost::new("web1", Arc::clone(&source), account());
        let sim = plugin_harness::SimHost::dcom(host, address);
        let publisher = Mutex::new(EventPublisher::new(Arc::clone(&sim.host), call_backs::port()));
        Self { sim, clock, source, publisher }
    }

    /// Calls all subscribers of the tracker with the state of now.
    pub(crate) fn publish(&self) -> Vec<Delivery> {
        let mut publisher = self.publisher.lock();
        self.runtime().block_on(publisher.publish())
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

    /// Calls of the tracker so far: of all applications, and of the components of one.
    pub(crate) fn calls(&self) -> (u64, u64) {
        let calls = |opnum| self.sim.host.counts().calls(tracker::NAME, opnum);
        (calls(4), calls(5))
    }

    /// Calls that store a subscription so far.
    pub(crate) fn stores(&self) -> u64 {
        self.sim.host.counts().calls(event_system::NAME, 8)
    }
}
