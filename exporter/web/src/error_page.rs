//! Errors as pages for browsers, and as a line of text for everything else.

use http_server::header;
use hyper::header::{ACCEPT, CACHE_CONTROL, CONTENT_TYPE};
use hyper::{Method, Request, Response};

use super::body::Answer;
use super::pages;

/// Whether the answer is an error that goes to a browser as text.
pub(super) fn is_wanted<B>(request: &Request<B>, response: &Response<Answer>) -> bool {
    let status = response.status();
    let is_error = status.is_client_error() || status.is_server_error();
    let is_text =
        response.headers().get(CONTENT_TYPE).is_some_and(|of| of.as_bytes().starts_with(b"text/plain"));
    is_error && is_text && *request.method() != Method::HEAD && accepts_html(request)
}

/// The same answer as a page.
pub(super) fn of<B>(request: &Request<B>, response: Response<Answer>, has_files: bool) -> Response<Answer> {
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
