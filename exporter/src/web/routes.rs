use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use hyper::header::{
    ACCEPT, ALLOW, CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderValue, RETRY_AFTER, VARY,
    X_CONTENT_TYPE_OPTIONS,
};
use hyper::{Method, Request, Response, StatusCode};
use prometheus_client::registry::Registry;
use tokio::sync::Semaphore;
use tracing::error;

use super::body::{Answer, Page};
use super::page;
use crate::config::Web;
use crate::expose::{Encoder, Format, OwnMetrics, negotiate};
use crate::pipeline::Store;
use crate::telemetry::{Book, ScrapeOutcome, Scrapes, TargetEntry};

/// How much the server gives to whom.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Open connections; more wait in the kernel's queue.
    pub connections_max: usize,
    /// Pages of metrics at a time; more are answered 503.
    pub scrapes_max: usize,
    /// A request's head must be there within it.
    pub header_timeout: Duration,
    /// A reader may take nothing for so long.
    pub write_timeout: Duration,
}

impl From<&Web> for Limits {
    fn from(web: &Web) -> Self {
        Self {
            connections_max: web.max_connections as usize,
            scrapes_max: web.max_scrapes as usize,
            header_timeout: web.header_timeout,
            write_timeout: web.write_timeout,
        }
    }
}

/// What is served.
pub struct Site {
    book: Arc<Book>,
    registry: Registry,
    scrapes: Arc<Scrapes>,
    pages: Arc<Semaphore>,
    is_ready: AtomicBool,
}

impl Site {
    /// A site that is not ready yet.
    #[must_use]
    pub fn new(book: Arc<Book>, registry: Registry, scrapes: Arc<Scrapes>, limits: Limits) -> Self {
        let pages = Arc::new(Semaphore::new(limits.scrapes_max));
        Self { book, registry, scrapes, pages, is_ready: AtomicBool::new(false) }
    }

    /// What `/-/ready` answers from now on.
    pub fn set_ready(&self, is_ready: bool) {
        self.is_ready.store(is_ready, Ordering::Relaxed);
    }

    pub(super) fn scrapes(&self) -> &Arc<Scrapes> {
        &self.scrapes
    }

    /// Answers a request.
    pub(super) fn answer<B>(&self, request: &Request<B>) -> Response<Answer> {
        let is_head = request.method() == Method::HEAD;
        let answer: fn(&Self, &Request<B>) -> Response<Answer> = match request.uri().path() {
            "/metrics" => Self::metrics,
            "/-/healthy" => |_, _| plain(StatusCode::OK, "healthy\n"),
            "/-/ready" => |site, _| site.ready(),
            "/" => |site, _| site.index(),
            "/page.css" => |_, _| typed("text/css; charset=utf-8", page::STYLE),
            _ => |_, _| plain(StatusCode::NOT_FOUND, "there is nothing here; try / or /metrics\n"),
        };
        let mut response = if is_head || request.method() == Method::GET {
            answer(self, request)
        } else {
            let mut refused = plain(StatusCode::METHOD_NOT_ALLOWED, "only GET and HEAD are answered here\n");
            refused.headers_mut().insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
            refused
        };
        let headers = response.headers_mut();
        headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        if is_head { response.map(|_| Answer::empty()) } else { response }
    }

    fn metrics<B>(&self, request: &Request<B>) -> Response<Answer> {
        let Ok(permit) = Arc::clone(&self.pages).try_acquire_owned() else {
            self.scrapes.count(ScrapeOutcome::Rejected);
            let mut busy = plain(StatusCode::SERVICE_UNAVAILABLE, "too many pages at a time; try again\n");
            busy.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static("1"));
            return busy;
        };
        let accept = request.headers().get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok());
        let format = negotiate(Some(&accept.collect::<Vec<_>>().join(",")));
        if request.method() == Method::HEAD {
            return page_of(format, Answer::empty());
        }
        let stores = self.book.targets().iter().flat_map(TargetEntry::stores);
        let snapshots = stores.map(|store| Store::snapshot(store)).collect();
        let own = OwnMetrics::read(&self.registry).inspect_err(|_| error!("Own metrics not encoded")).ok();
        let encoder = Encoder::new(format, snapshots, own);
        let page = Page::new(encoder, Arc::clone(&self.scrapes), permit);
        page_of(format, Answer::Page(Box::new(page)))
    }

    fn ready(&self) -> Response<Answer> {
        if self.is_ready.load(Ordering::Relaxed) {
            plain(StatusCode::OK, "ready\n")
        } else {
            plain(
                StatusCode::SERVICE_UNAVAILABLE,
                "not ready: plugins are being loaded, or the program is ending\n",
            )
        }
    }

    fn index(&self) -> Response<Answer> {
        let mut response = typed("text/html; charset=utf-8", page::index(&self.book));
        let policy = "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
        response.headers_mut().insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(policy));
        response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        response
    }
}

fn page_of(format: Format, answer: Answer) -> Response<Answer> {
    let mut response = Response::new(answer);
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(format.content_type()));
    headers.insert(VARY, HeaderValue::from_static("Accept"));
    response
}

fn plain(status: StatusCode, text: &'static str) -> Response<Answer> {
    let mut response = typed("text/plain; charset=utf-8", text);
    *response.status_mut() = status;
    response
}

fn typed(content_type: &'static str, text: impl Into<String>) -> Response<Answer> {
    let mut response = Response::new(Answer::text(text));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    response
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn site(limits: Limits) -> Site {
        let config = crate::config::parse("perfmon.yml", "targets: []", Path::new("/")).unwrap();
        let book = Arc::new(Book::new(&config));
        Site::new(book, Registry::default(), Arc::new(Scrapes::default()), limits)
    }

    fn get(site: &Site, path: &str) -> Response<Answer> {
        site.answer(&Request::get(path).body(()).unwrap())
    }

    #[test]
    fn a_site_is_healthy_before_it_is_ready() {
        let site = site(Limits::from(&Web::default()));
        assert_eq!(get(&site, "/-/healthy").status(), StatusCode::OK);
        assert_eq!(get(&site, "/-/ready").status(), StatusCode::SERVICE_UNAVAILABLE);
        site.set_ready(true);
        assert_eq!(get(&site, "/-/ready").status(), StatusCode::OK);
    }

    #[test]
    fn one_page_too_many_is_told_when_to_come_back() {
        let site = site(Limits { scrapes_max: 1, ..Limits::from(&Web::default()) });
        let first = get(&site, "/metrics");
        let second = get(&site, "/metrics");
        assert_eq!((first.status(), second.status()), (StatusCode::OK, StatusCode::SERVICE_UNAVAILABLE));
        assert_eq!(second.headers()[RETRY_AFTER], "1");
        // A reader that goes away gives its place back, and is counted.
        drop(first);
        assert_eq!(get(&site, "/metrics").status(), StatusCode::OK);
        assert_eq!(site.scrapes.of(ScrapeOutcome::Rejected), 1);
        assert_eq!(site.scrapes.of(ScrapeOutcome::Aborted), 2);
    }
}
