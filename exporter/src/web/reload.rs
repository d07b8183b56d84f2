//! `/-/reload`: reads the configuration again, where that is enabled.

use std::pin::Pin;
use std::sync::Arc;

use hyper::header::HeaderValue;
use hyper::{Request, Response, StatusCode};

use super::answer::plain;
use super::body::Answer;
use super::site::Site;

/// Reads the configuration again for who asks.
pub trait Reloader: Send + Sync {
    /// Done when the configuration that was in the file after this was called is in use, or refused.
    fn reload(&self) -> Reloading<'_>;
}

/// What a reload comes to.
pub type Reloading<'a> = Pin<Box<dyn Future<Output = Result<String, NotReloaded>> + Send + 'a>>;

/// Why the configuration is the one that it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotReloaded {
    /// The file is not as it should be; the report says where.
    Refused(String),
    /// Too many wait for a reload.
    Busy,
    /// The process begins or ends.
    Unavailable,
}

pub(super) async fn reload<B>(site: &Arc<Site>, request: &Request<B>) -> Response<Answer> {
    if !site.limits().lifecycle {
        let text = "reloading over HTTP is not enabled; set `web.enable_lifecycle: true`, or send SIGHUP\n";
        return plain(StatusCode::FORBIDDEN, text);
    }
    // A page of another site that a browser has open may post here, too.
    let fetched_from = request.headers().get("sec-fetch-site").map(HeaderValue::as_bytes);
    if !matches!(fetched_from, None | Some(b"same-origin" | b"none")) {
        return plain(StatusCode::FORBIDDEN, "a page of another site may not ask for a reload\n");
    }
    let Some(reloader) = &site.reloader else {
        return plain(StatusCode::SERVICE_UNAVAILABLE, "there is nothing to reload\n");
    };
    match reloader.reload().await {
        Ok(text) => plain(StatusCode::OK, text),
        Err(NotReloaded::Refused(report)) => {
            let text = format!("configuration refused, the one before stays in use:\n{report}\n");
            plain(StatusCode::INTERNAL_SERVER_ERROR, text)
        }
        Err(NotReloaded::Busy) => {
            plain(StatusCode::SERVICE_UNAVAILABLE, "too many wait for a reload; try again\n")
        }
        Err(NotReloaded::Unavailable) => {
            plain(StatusCode::SERVICE_UNAVAILABLE, "the program begins or ends; nothing is reloaded\n")
        }
    }
}
