//! `/metrics`: every target's series and the exporter's own metrics, as the reader wants them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use exposition::{CodedPage, Coding, Encoder, OwnMetrics, Representation, negotiate};
use http_server::{Caller, header, plain};
use hyper::header::{
    ACCEPT, ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_TYPE, HeaderValue, RETRY_AFTER, VARY,
};
use hyper::{Method, Request, Response, StatusCode};
use parking_lot::Mutex;
use prometheus_client::registry::Registry;
use series::pipeline::Store;
use targets::TargetRegistry;

use super::body::{Answer, Page, PageOwner};
use super::page_permits::PagePermits;
use super::page_state::{Kept, PageState};
use super::prober::Prober;
use super::scrapes::{ScrapeOutcome, Scrapes};
use super::{ProbePermits, Reloader, SiteSettings};

pub(super) async fn metrics<B>(site: &Site, request: &Request<B>, caller: &Caller) -> Response<Answer> {
    let began = Instant::now();
    let representation = negotiate(header(request, &ACCEPT).as_deref());
    let Some(coding) = Coding::negotiate(header(request, &ACCEPT_ENCODING).as_deref()) else {
        return plain(StatusCode::NOT_ACCEPTABLE, "pages are sent as they are, in gzip or in zstd\n");
    };
    if request.method() == Method::HEAD {
        return page_of(representation, coding, Answer::empty());
    }
    let Ok(permit) = site.page_permits.acquire(caller.peer, Arc::clone(&caller.end)).await else {
        site.scrapes.count(ScrapeOutcome::Rejected);
        let mut busy = plain(StatusCode::SERVICE_UNAVAILABLE, "too many pages at a time; try again\n");
        busy.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static("1"));
        return busy;
    };
    let targets = site.target_registry.targets();
    let shows_targets = site.settings().metrics_targets;
    let shown = targets.iter().filter(|_| shows_targets);
    let stores = shown.flat_map(|target| target.stores());
    let snapshots = stores.map(|store| Store::snapshot(store)).collect();
    let own = OwnMetrics::of(Arc::clone(&site.registry));
    let Ok(page) = CodedPage::new(Encoder::new(representation, snapshots, Some(own)), coding) else {
        return plain(StatusCode::INTERNAL_SERVER_ERROR, "there is no memory to compress a page\n");
    };
    stream(site, page, began, representation, coding, PageOwner::Metrics(permit))
}

/// A page that is made as it is sent.
pub(super) fn stream(
    site: &Site,
    page: CodedPage,
    began: Instant,
    representation: Representation,
    coding: Coding,
    owner: PageOwner,
) -> Response<Answer> {
    let written_as = (representation.format, coding);
    let page = Page::new(page, written_as, Arc::clone(&site.scrapes), began, owner);
    page_of(representation, coding, Answer::Page(Box::new(page)))
}

fn page_of(representation: Representation, coding: Coding, answer: Answer) -> Response<Answer> {
    let mut response = Response::new(answer);
    let headers = response.headers_mut();
    if let Ok(content_type) = HeaderValue::from_str(&representation.content_type()) {
        headers.insert(CONTENT_TYPE, content_type);
    }
    if let Some(coding) = coding.content_encoding() {
        headers.insert(CONTENT_ENCODING, HeaderValue::from_static(coding));
    }
    headers.insert(VARY, HeaderValue::from_static("Accept, Accept-Encoding"));
    response
}

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
