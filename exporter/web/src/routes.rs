//! Which path is answered how.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use http_server::{App, Caller, header, plain};
use hyper::body::Incoming;
use hyper::header::{ACCEPT, ALLOW, CACHE_CONTROL, CONTENT_TYPE, HeaderValue, X_CONTENT_TYPE_OPTIONS};
use hyper::{Method, Request, Response, StatusCode};

use super::body::Answer;
use super::files::{self, FILES};
use super::metrics::{Site, metrics};
use super::pages::{self, Page};
use super::probe::{asked, probe};
use super::prober::discovery;
use super::reload::reload;

/// What is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Route {
    Metrics,
    Probe,
    Discovery,
    Healthy,
    Ready,
    Reload,
    File,
    Page(Page),
    Nothing,
}

impl Route {
    fn of(path: &str) -> Self {
        match path {
            "/metrics" => Self::Metrics,
            "/probe" => Self::Probe,
            "/sd" => Self::Discovery,
            "/-/healthy" => Self::Healthy,
            "/-/ready" => Self::Ready,
            "/-/reload" => Self::Reload,
            _ if path.starts_with(FILES) => Self::File,
            _ => Page::of(path).map_or(Self::Nothing, Self::Page),
        }
    }

    /// The methods that it has, as `Allow` lists them.
    fn allows(self) -> &'static [Method] {
        match self {
            Self::Reload => &[Method::POST, Method::PUT],
            _ => &[Method::GET, Method::HEAD],
        }
    }
}

/// Whether a request is for what people read or do in a browser: pages, files, reports of probes, reloads. What Prometheus and
/// others read by machine may be asked for by any name of ours, such as that of a service in Kubernetes.
fn is_for_people<B>(request: &Request<B>) -> bool {
    match Route::of(request.uri().path()) {
        Route::Page(page) => !page.is_asset(),
        Route::Reload | Route::File => true,
        Route::Probe => asked(request).is_ok_and(|asked| asked.debug),
        Route::Metrics | Route::Discovery | Route::Healthy | Route::Ready | Route::Nothing => false,
    }
}

impl Site {
    pub(super) async fn answer_any<B>(
        self: &Arc<Self>,
        request: &Request<B>,
        caller: &Caller,
    ) -> Response<Answer> {
        let route = Route::of(request.uri().path());
        let mut response = if route.allows().contains(request.method()) {
            self.answer_route(route, request, caller).await
        } else {
            not_allowed(route.allows())
        };
        response.headers_mut().insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        if request.method() == Method::HEAD { response.map(|_| Answer::empty()) } else { response }
    }

    async fn answer_route<B>(
        self: &Arc<Self>,
        route: Route,
        request: &Request<B>,
        caller: &Caller,
    ) -> Response<Answer> {
        match route {
            Route::Metrics => metrics(self, request, caller).await,
            Route::Probe => match &self.prober {
                Some(prober) => probe(self, &**prober, request, caller).await,
                None => nothing(),
            },
            Route::Discovery => match &self.prober {
                Some(prober) => discovery(&**prober, request),
                None => nothing(),
            },
            Route::Healthy => plain(StatusCode::OK, "healthy\n"),
            Route::Ready => ready(self.is_ready()),
            Route::Reload => reload(self, request).await,
            Route::File => files::answer(self, request, caller).await,
            Route::Page(page) => pages::answer(self, page, request, caller).await,
            Route::Nothing => nothing(),
        }
    }
}

impl App for Site {
    type Body = Answer;

    fn answer(
        self: &Arc<Self>,
        request: &Request<Incoming>,
        caller: &Caller,
    ) -> impl Future<Output = Response<Answer>> + Send {
        self.answer_any(request, caller)
    }

    fn is_for_people(&self, request: &Request<Incoming>) -> bool {
        is_for_people(request)
    }

    fn dress(&self, request: &Request<Incoming>, response: Response<Answer>) -> Response<Answer> {
        if wants_error_page(request, &response) {
            error_page(request, response, self.keeps_files())
        } else {
            response
        }
    }

    fn connection_opened(&self) {
        self.scrapes.connections.fetch_add(1, Ordering::Relaxed);
    }

    fn connection_closed(&self) {
        self.scrapes.connections.fetch_sub(1, Ordering::Relaxed);
    }
}

fn nothing() -> Response<Answer> {
    plain(StatusCode::NOT_FOUND, "there is no such page; try / or /metrics\n")
}

fn ready(is_ready: bool) -> Response<Answer> {
    if is_ready {
        plain(StatusCode::OK, "ready\n")
    } else {
        plain(
            StatusCode::SERVICE_UNAVAILABLE,
            "not ready: plugins are being loaded, or the program is ending\n",
        )
    }
}

fn not_allowed(methods: &[Method]) -> Response<Answer> {
    let list: Vec<&str> = methods.iter().map(Method::as_str).collect();
    let list = list.join(", ");
    let mut refused = plain(StatusCode::METHOD_NOT_ALLOWED, format!("only {list} are allowed here\n"));
    if let Ok(list) = HeaderValue::from_str(&list) {
        refused.headers_mut().insert(ALLOW, list);
    }
    refused
}

// Errors as pages for browsers, and as a line of text for everything else.

/// Whether the answer is an error that goes to a browser as text.
fn wants_error_page<B>(request: &Request<B>, response: &Response<Answer>) -> bool {
    let status = response.status();
    let is_error = status.is_client_error() || status.is_server_error();
    let is_text =
        response.headers().get(CONTENT_TYPE).is_some_and(|of| of.as_bytes().starts_with(b"text/plain"));
    is_error && is_text && *request.method() != Method::HEAD && accepts_html(request)
}

/// The same answer as a page.
fn error_page<B>(request: &Request<B>, response: Response<Answer>, has_files: bool) -> Response<Answer> {
    let (text, body) = response.into_parts();
    let Answer::Ready(Some(bytes)) = body else { return Response::from_parts(text, body) };
    let reason = String::from_utf8_lossy(&bytes);
    let mut page = pages::error_page(text.status, request.uri().path(), &reason, has_files);
    // What the text came with, Retry-After and such, holds for the page; what the page has of its own, stays.
    for (name, value) in &text.headers {
        if *name != CONTENT_TYPE && *name != CACHE_CONTROL {
            page.headers_mut().insert(name, value.clone());
        }
    }
    page
}

fn accepts_html<B>(request: &Request<B>) -> bool {
    let accept = header(request, &ACCEPT).unwrap_or_default();
    accept.split(',').any(|range| {
        let mut parts = range.split(';').map(str::trim);
        let is_html = parts.next().is_some_and(|name| name.eq_ignore_ascii_case("text/html"));
        is_html && !parts.any(|parameter| matches!(parameter, "q=0" | "q=0.0" | "q=0.00" | "q=0.000"))
    })
}

#[cfg(test)]
mod tests {
    use hyper::header::{ACCEPT, ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_TYPE, RETRY_AFTER, VARY};

    use http_server::PeerKey;

    use super::*;
    use crate::scrapes::{ScrapeOutcome, Scrapes};
    use crate::{PageState, Parts, SiteSettings};
    use config::Web;
    use targets::TargetRegistry;

    fn site(settings: SiteSettings) -> Arc<Site> {
        Arc::new(Site::new(Parts {
            target_registry: Arc::new(TargetRegistry::default()),
            registry: Arc::default(),
            scrapes: Arc::new(Scrapes::default()),
            prober: None,
            settings,
            reloader: None,
            page_state: PageState::default(),
        }))
    }

    fn caller() -> Caller {
        let peer = PeerKey::of("192.0.2.1".parse().unwrap());
        Caller { peer, is_authenticated: false, end: Arc::default() }
    }

    async fn get(site: &Arc<Site>, path: &str) -> Response<Answer> {
        site.answer_any(&Request::get(path).body(()).unwrap(), &caller()).await
    }

    #[tokio::test]
    async fn a_site_is_healthy_before_it_is_ready() {
        let site = site(SiteSettings::from(&Web::default()));
        assert_eq!(get(&site, "/-/healthy").await.status(), StatusCode::OK);
        assert_eq!(get(&site, "/-/ready").await.status(), StatusCode::SERVICE_UNAVAILABLE);
        site.set_ready(true);
        assert_eq!(get(&site, "/-/ready").await.status(), StatusCode::OK);
    }

    #[tokio::test]
    async fn a_page_comes_as_its_reader_wants_it() {
        let site = site(SiteSettings::from(&Web::default()));
        let ask = async |accept: &str, coding: &str| {
            let request = Request::get("/metrics").header(ACCEPT, accept).header(ACCEPT_ENCODING, coding);
            site.answer_any(&request.body(()).unwrap(), &caller()).await
        };
        let response = ask("application/openmetrics-text;version=1.0.0;escaping=allow-utf-8", "gzip").await;
        assert_eq!(response.headers()[CONTENT_ENCODING], "gzip");
        assert_eq!(
            response.headers()[CONTENT_TYPE],
            "application/openmetrics-text; version=1.0.0; charset=utf-8; escaping=allow-utf-8"
        );
        assert_eq!(response.headers()[VARY], "Accept, Accept-Encoding");
        assert!(!ask("*/*", "br").await.headers().contains_key(CONTENT_ENCODING));
        assert_eq!(ask("*/*", "identity;q=0").await.status(), StatusCode::NOT_ACCEPTABLE);
    }

    #[tokio::test(start_paused = true)]
    async fn a_page_too_many_waits_for_one_that_nobody_reads() {
        let site = site(SiteSettings { scrapes_max: 1, ..SiteSettings::from(&Web::default()) });
        let first = get(&site, "/metrics").await;
        let second = get(&site, "/metrics").await;
        assert_eq!((first.status(), second.status()), (StatusCode::OK, StatusCode::OK));
        drop(first);
        assert_eq!(site.scrapes.of(ScrapeOutcome::Displaced), 1);
        // A reader that goes away gives its permit back, and is counted.
        drop(second);
        assert_eq!(get(&site, "/metrics").await.status(), StatusCode::OK);
        assert_eq!(site.scrapes.of(ScrapeOutcome::Aborted), 2);
    }

    #[tokio::test]
    async fn a_page_that_finds_no_permit_is_told_when_to_come_back() {
        let site = site(SiteSettings { scrapes_max: 0, ..SiteSettings::from(&Web::default()) });
        tokio::time::pause();
        let refused = get(&site, "/metrics").await;
        assert_eq!(refused.status(), StatusCode::SERVICE_UNAVAILABLE);
        assert_eq!(refused.headers()[RETRY_AFTER], "1");
        assert_eq!(site.scrapes.of(ScrapeOutcome::Rejected), 1);
    }
}
