//! `/metrics`: every target's series and the exporter's own metrics, as the reader wants them.

use std::sync::Arc;
use std::time::Instant;

use exposition::{CodedPage, Coding, Encoder, OwnMetrics, Representation, negotiate};
use http_server::Caller;
use http_server::{header, plain};
use hyper::header::{
    ACCEPT, ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_TYPE, HeaderValue, RETRY_AFTER, VARY,
};
use hyper::{Method, Request, Response, StatusCode};
use series::pipeline::Store;

use super::body::{Answer, Page, PageOwner};
use super::scrapes::ScrapeOutcome;
use super::site::Site;

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
