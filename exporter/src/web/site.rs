use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use config::AllowedHosts;
use prometheus_client::registry::Registry;
use tokio::sync::Semaphore;

use super::limits::Limits;
use super::page_permits::PagePermits;
use super::page_state::PageState;
use super::probe_permits::ProbePermits;
use super::prober::Prober;
use super::reloader::Reloader;
use super::scrapes::Scrapes;
use crate::targets::TargetRegistry;

/// What a site is made of. Each part is there for one or a few routes, which say what they need of it.
pub struct Parts {
    /// The account of every target.
    pub target_registry: Arc<TargetRegistry>,
    /// The exporter's own metrics.
    pub registry: Registry,
    /// Counts what is read.
    pub scrapes: Arc<Scrapes>,
    /// Asks targets for `/probe`, and lists them for `/sd`; without it there is neither.
    pub prober: Option<Arc<dyn Prober>>,
    /// Names by which browsers may ask for pages, until the same.
    pub page_hosts: AllowedHosts,
    /// How much is given to whom, until [`Site::set_limits`] says otherwise.
    pub limits: Limits,
    /// Reads the configuration again.
    pub reloader: Option<Arc<dyn Reloader>>,
    /// What pages for people show.
    pub page_state: PageState,
}

/// What is served.
pub struct Site {
    pub(super) target_registry: Arc<TargetRegistry>,
    pub(super) registry: Arc<Registry>,
    pub(super) scrapes: Arc<Scrapes>,
    pub(super) prober: Option<Arc<dyn Prober>>,
    pub(super) reloader: Option<Arc<dyn Reloader>>,
    pub(super) page_permits: Arc<PagePermits>,
    pub(super) probe_permits: Arc<ProbePermits>,
    given: Mutex<Given>,
    pub(super) page_state: PageState,
    is_ready: AtomicBool,
}

/// What is given now. Places that are taken when their number changes come on top of the new ones.
struct Given {
    page_hosts: Arc<AllowedHosts>,
    limits: Limits,
    /// A place for each connection.
    connections: Arc<Semaphore>,
}

impl Site {
    /// A site that is not ready yet.
    #[must_use]
    pub fn new(parts: Parts) -> Self {
        let Parts { target_registry, registry, scrapes, prober, page_hosts, limits, reloader, page_state } =
            parts;
        let given = Given {
            page_hosts: Arc::new(page_hosts),
            limits,
            connections: Arc::new(Semaphore::new(limits.connections_max)),
        };
        Self {
            target_registry,
            registry: Arc::new(registry),
            scrapes,
            prober,
            reloader,
            page_permits: PagePermits::new(limits.scrapes_max),
            probe_permits: Arc::default(),
            given: Mutex::new(given),
            page_state,
            is_ready: AtomicBool::new(false),
        }
    }

    /// From now on so much is given; times hold for connections that come from now on.
    pub fn set_limits(&self, limits: Limits, page_hosts: AllowedHosts) {
        let mut given = self.given();
        given.page_hosts = Arc::new(page_hosts);
        self.page_permits.set_max(limits.scrapes_max);
        if given.limits.connections_max != limits.connections_max {
            given.connections = Arc::new(Semaphore::new(limits.connections_max));
        }
        given.limits = limits;
    }

    pub(super) fn limits(&self) -> Limits {
        self.given().limits
    }

    pub(super) fn page_hosts(&self) -> Arc<AllowedHosts> {
        Arc::clone(&self.given().page_hosts)
    }

    pub(super) fn connection_places(&self) -> Arc<Semaphore> {
        Arc::clone(&self.given().connections)
    }

    fn given(&self) -> MutexGuard<'_, Given> {
        self.given.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What `/-/ready` answers from now on.
    pub fn set_ready(&self, is_ready: bool) {
        self.is_ready.store(is_ready, Ordering::Relaxed);
    }

    pub(super) fn is_ready(&self) -> bool {
        self.is_ready.load(Ordering::Relaxed)
    }
}
