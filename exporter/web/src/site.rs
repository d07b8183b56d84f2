use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;
use prometheus_client::registry::Registry;

use super::ProbePermits;
use super::Reloader;
use super::SiteSettings;
use super::page_permits::PagePermits;
use super::page_state::{Kept, PageState};
use super::prober::Prober;
use super::scrapes::Scrapes;
use targets::TargetRegistry;

/// What a site is made of. Each part is there for one or a few routes, which say what they need of it.
pub struct Parts {
    /// The account of every target.
    pub target_registry: Arc<TargetRegistry>,
    /// The exporter's own metrics.
    pub registry: Arc<Registry>,
    /// Counts what is read.
    pub scrapes: Arc<Scrapes>,
    /// Asks targets for `/probe`, and lists them for `/sd`; without it there is neither.
    pub prober: Option<Arc<dyn Prober>>,
    /// What a reload changes, until [`Site::set`] says otherwise.
    pub settings: SiteSettings,
    /// Reads the configuration again.
    pub reloader: Option<Arc<dyn Reloader>>,
    /// What pages for people show.
    pub page_state: PageState,
}

pub struct Site {
    pub(super) target_registry: Arc<TargetRegistry>,
    pub(super) registry: Arc<Registry>,
    pub(super) scrapes: Arc<Scrapes>,
    pub(super) prober: Option<Arc<dyn Prober>>,
    pub(super) reloader: Option<Arc<dyn Reloader>>,
    pub(super) page_permits: Arc<PagePermits>,
    pub(super) probe_permits: Arc<ProbePermits>,
    settings: Mutex<SiteSettings>,
    pub(super) page_state: PageState,
    is_ready: AtomicBool,
}

impl Site {
    /// A site that is not ready yet.
    #[must_use]
    pub fn new(parts: Parts) -> Self {
        let Parts { target_registry, registry, scrapes, prober, settings, reloader, page_state } = parts;
        Self {
            target_registry,
            registry,
            scrapes,
            prober,
            reloader,
            page_permits: PagePermits::new(settings.scrapes_max),
            probe_permits: Arc::default(),
            settings: Mutex::new(settings),
            page_state,
            is_ready: AtomicBool::new(false),
        }
    }

    /// From now on these count.
    pub fn set(&self, settings: SiteSettings) {
        self.page_permits.set_max(settings.scrapes_max);
        *self.settings.lock() = settings;
    }

    /// From now on files of targets are there, if anywhere.
    pub fn set_storage(&self, storage: Option<&config::Storage>) {
        let kept = storage
            .map(|storage| Kept { directory: storage.directory.clone(), downloads: storage.downloads });
        self.page_state.files.set(kept);
    }

    /// Whether files of targets are kept.
    pub(super) fn keeps_files(&self) -> bool {
        self.page_state.files.kept().is_some()
    }

    pub(super) fn settings(&self) -> SiteSettings {
        *self.settings.lock()
    }

    /// Sets the answer of `/-/ready`.
    pub fn set_ready(&self, is_ready: bool) {
        self.is_ready.store(is_ready, Ordering::Relaxed);
    }

    pub(super) fn is_ready(&self) -> bool {
        self.is_ready.load(Ordering::Relaxed)
    }
}
