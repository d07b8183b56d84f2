use std::sync::Arc;

use config::AllowedHosts;
use parking_lot::{Mutex, MutexGuard};
use tokio::sync::Semaphore;

use crate::Limits;

/// What a reload changes of a server that runs.
#[derive(Debug)]
pub struct Settings(Mutex<Current>);

/// Permits that are held when their number changes come on top of the new ones.
#[derive(Debug)]
struct Current {
    page_hosts: Arc<AllowedHosts>,
    limits: Limits,
    connections: Arc<Semaphore>,
}

impl Settings {
    /// Limits, and the names by which browsers may ask for pages.
    #[must_use]
    pub fn new(limits: Limits, page_hosts: AllowedHosts) -> Self {
        let connections = Arc::new(Semaphore::new(limits.connections_max));
        Self(Mutex::new(Current { page_hosts: Arc::new(page_hosts), limits, connections }))
    }

    /// From now on these count; times hold for connections that come from now on.
    pub fn set(&self, limits: Limits, page_hosts: AllowedHosts) {
        let mut current = self.current();
        current.page_hosts = Arc::new(page_hosts);
        if current.limits.connections_max != limits.connections_max {
            current.connections = Arc::new(Semaphore::new(limits.connections_max));
        }
        current.limits = limits;
    }

    pub(crate) fn limits(&self) -> Limits {
        self.current().limits
    }

    pub(crate) fn page_hosts(&self) -> Arc<AllowedHosts> {
        Arc::clone(&self.current().page_hosts)
    }

    /// A permit for each connection.
    pub(crate) fn connection_permits(&self) -> Arc<Semaphore> {
        Arc::clone(&self.current().connections)
    }

    fn current(&self) -> MutexGuard<'_, Current> {
        self.0.lock()
    }
}
