//! `/-/reload`: reads the configuration again, where that is enabled.

use std::sync::Arc;

use http_server::plain;
use hyper::header::{HOST, HeaderValue, ORIGIN};
use hyper::http::uri::Authority;
use hyper::{Request, Response, StatusCode, Uri};

use super::NotReloaded;
use super::body::Answer;
use super::metrics::Site;

pub(super) async fn reload<B>(site: &Arc<Site>, request: &Request<B>) -> Response<Answer> {
    if !site.settings().lifecycle {
        let text = "reloading over HTTP is not enabled; set `web.enable_lifecycle: true`, or send SIGHUP\n";
        return plain(StatusCode::FORBIDDEN, text);
    }
    if is_of_another_site(request) {
        return plain(StatusCode::FORBIDDEN, "pages of other sites may not request a reload\n");
    }
    let Some(reloader) = &site.reloader else {
        return plain(StatusCode::SERVICE_UNAVAILABLE, "there is nothing to reload\n");
    };
    match reloader.reload().await {
        Ok(text) => plain(StatusCode::OK, text),
        Err(NotReloaded::Refused(report)) => {
            let text = format!("configuration refused, the previous one stays in use:\n{report}\n");
            plain(StatusCode::INTERNAL_SERVER_ERROR, text)
        }
        Err(NotReloaded::Busy) => {
            plain(StatusCode::SERVICE_UNAVAILABLE, "too many wait for a reload; try again\n")
        }
        Err(NotReloaded::Unavailable) => plain(
            StatusCode::SERVICE_UNAVAILABLE,
            "the program is starting or stopping; nothing is reloaded\n",
        ),
    }
}

/// Whether a browser asks for a page of another site, which it may have open as well as one of ours.
///
/// `Sec-Fetch-Site` says it, but browsers send that over TLS and to this machine only; `Origin` comes with every POST
/// of a page, and is `null` where the browser does not want to say. What is no browser sends neither.
fn is_of_another_site<B>(request: &Request<B>) -> bool {
    let value = |name: &str| request.headers().get(name).map(HeaderValue::as_bytes);
    if let Some(fetched_from) = value("sec-fetch-site") {
        return !matches!(fetched_from, b"same-origin" | b"none");
    }
    let Some(origin) = value(ORIGIN.as_str()) else { return false };
    let origin = Uri::try_from(origin).ok();
    let origin = origin.as_ref().and_then(Uri::authority).map(Authority::as_str);
    let host = value(HOST.as_str()).and_then(|host| std::str::from_utf8(host).ok());
    let host = host.or_else(|| Some(request.uri().authority()?.as_str()));
    match (origin, host) {
        (Some(origin), Some(host)) => !origin.eq_ignore_ascii_case(host),
        _ => true,
    }
}
