//! Simulated Windows hosts with performance counters.

use std::ops::Deref;
use std::sync::Arc;

use windows_sim::WindowsHost;
use windows_sim::model::{Clock, Host, HostOptions, ValueSource};
use windows_sim::service::pcq;

use crate::sim_host::{NOON, SimHost, account, at_noon};

/// A simulated host that listens for SMB, whose counters tests move on with its clock.
pub struct CounterHost {
    sim: SimHost,
    /// The clock of its counters.
    pub clock: Clock,
}

impl Deref for CounterHost {
    type Target = SimHost;

    fn deref(&self) -> &SimHost {
        &self.sim
    }
}

impl Default for CounterHost {
    fn default() -> Self {
        Self::new()
    }
}

impl CounterHost {
    /// The model, at noon, until the clock is moved.
    pub fn new() -> Self {
        Self::with_options(|_| {})
    }

    /// The model with other options.
    pub fn with_options(change: impl FnOnce(&mut HostOptions)) -> Self {
        let clock = Clock::manual(NOON);
        let mut options = at_noon(&clock);
        change(&mut options);
        Self::with_source(Arc::new(Host::new(options)), clock)
    }

    /// A host with these counters.
    pub fn with_source(source: Arc<dyn ValueSource>, clock: Clock) -> Self {
        Self { sim: SimHost::smb(WindowsHost::new("web1", source, account())), clock }
    }

    /// Calls of this method of PerflibV2 so far.
    pub fn calls(&self, opnum: u16) -> u64 {
        self.host.counts().calls(pcq::NAME, opnum)
    }
}
