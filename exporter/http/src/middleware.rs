//! The checks of each request before the app answers it.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use hyper::body::{Body, Incoming};
use hyper::header::{
    AUTHORIZATION, CONNECTION, CONTENT_LENGTH, HOST, HeaderValue, RETRY_AFTER, TRANSFER_ENCODING,
    WWW_AUTHENTICATE,
};
use hyper::{Request, Response, StatusCode, Version};
use tracing::debug;

use super::settings::Settings;
use super::traffic::{Timed, Traffic};
use crate::gate::{Gate, Protection, Refusal, Verdict};
use crate::heads::URI_BYTES_MAX;
use crate::peers::PeerPermit;
use crate::{App, Caller, Limits, plain, streams};

/// What is between the requests of a connection and the app.
pub(crate) struct Middleware<A> {
    pub(crate) app: Arc<A>,
    pub(crate) settings: Arc<Settings>,
    pub(crate) gate: Arc<Gate>,
    pub(crate) limits: Limits,
    pub(crate) peer: SocketAddr,
    pub(crate) peer_permit: PeerPermit,
    /// The connection is encrypted.
    pub(crate) is_secure: bool,
    /// The peer's certificate was verified.
    pub(crate) has_certificate: bool,
    pub(crate) traffic: Arc<Traffic>,
}

impl<A: App> Middleware<A> {
    pub(crate) async fn answer(&self, request: &Request<Incoming>) -> Response<Timed<A::Body>> {
        let under_way = self.traffic.begin();
        let protection = self.gate.current();
        let mut response = match self.refuse(&protection, request).await {
            Some(refused) => refused,
            None => {
                let is_authenticated = !protection.users.is_empty() || self.has_certificate;
                match self.refuse_name(request, is_authenticated) {
                    Some(refused) => refused,
                    None => self.app.answer(request, &self.caller(is_authenticated)).await,
                }
            }
        };
        response = self.app.dress(request, response);
        for (name, value) in &protection.headers {
            response.headers_mut().insert(name, value.clone());
        }
        if request.version() == Version::HTTP_2 {
            // Where a connection of HTTP/1 would end, only its request does.
            response.headers_mut().remove(CONNECTION);
            streams::begins_to_send();
        }
        let deadline = tokio::time::Instant::now() + self.limits.answer_timeout;
        response.map(|answer| Timed { answer, deadline, _under_way: under_way })
    }

    fn caller(&self, is_authenticated: bool) -> Caller {
        Caller {
            peer: self.peer_permit.key,
            is_authenticated,
            end: streams::end().unwrap_or_else(|| Arc::clone(&self.traffic.end)),
        }
    }

    async fn refuse(
        &self,
        protection: &Protection,
        request: &Request<Incoming>,
    ) -> Option<Response<A::Body>> {
        if let Some((refusal, status, text)) = malformed(request) {
            self.count(refusal);
            let mut refused = plain(status, text);
            refused.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
            return Some(refused);
        }
        if let Err(wait) = protection.admit(Instant::now()) {
            self.count(Refusal::RateLimit);
            return Some(later(StatusCode::TOO_MANY_REQUESTS, "too many requests; try again\n", wait));
        }
        if protection.users.is_empty() {
            return None;
        }
        let given = request.headers().get(AUTHORIZATION).map(HeaderValue::as_bytes);
        match self.gate.login().judge(&protection.users, given, self.peer_permit.key).await {
            Verdict::Accepted => None,
            Verdict::Rejected => Some(self.unauthorized(Refusal::LoginRejected)),
            Verdict::Missing => Some(self.unauthorized(Refusal::LoginMissing)),
            Verdict::Busy => {
                self.count(Refusal::LoginBusy);
                let text = "too many passwords are being compared; try again\n";
                Some(later(StatusCode::SERVICE_UNAVAILABLE, text, Duration::from_secs(1)))
            }
        }
    }

    /// Refuses pages by names that are not ours. A web site can lead its own name to our address, and then a browser
    /// shows our answers to its scripts. It has neither a certificate for that name nor our passwords.
    fn refuse_name(&self, request: &Request<Incoming>, is_authenticated: bool) -> Option<Response<A::Body>> {
        if self.is_secure || is_authenticated || !self.app.is_for_people(request) {
            return None;
        }
        let header = request.headers().get(HOST).map(|host| String::from_utf8_lossy(host.as_bytes()));
        let host = header.or_else(|| Some(request.uri().authority()?.as_str().into()))?;
        if self.settings.page_hosts().allows(&host) {
            return None;
        }
        self.count(Refusal::ForeignHost);
        let text = format!(
            "pages are not served under the name `{}`; to use it, add it to `web.allowed_hosts`\n",
            host.escape_debug()
        );
        Some(plain(StatusCode::MISDIRECTED_REQUEST, text))
    }

    fn unauthorized(&self, refusal: Refusal) -> Response<A::Body> {
        self.count(refusal);
        let mut refused = plain(StatusCode::UNAUTHORIZED, "a user name and a password are required\n");
        let challenge = HeaderValue::from_static("Basic realm=\"perfmon-exporter\", charset=\"UTF-8\"");
        refused.headers_mut().insert(WWW_AUTHENTICATE, challenge);
        refused
    }

    fn count(&self, refusal: Refusal) {
        self.gate.figures().count(refusal);
        debug!(peer = %self.peer, reason = refusal.as_str(), "Request refused");
    }
}

/// What nobody may send. Where a proxy and we could disagree on where a request ends, what follows might be taken for
/// another one: so the connection ends with whoever sends such a thing.
fn malformed<B: Body>(request: &Request<B>) -> Option<(Refusal, StatusCode, &'static str)> {
    let headers = request.headers();
    let uri_bytes = request.uri().path_and_query().map_or(0, |whole| whole.as_str().len());
    if uri_bytes > URI_BYTES_MAX {
        return Some((Refusal::Uri, StatusCode::URI_TOO_LONG, "the URI is too long\n"));
    }
    let mut lengths = headers.get_all(CONTENT_LENGTH).iter();
    let is_empty = lengths.next().is_none_or(|length| length == "0") && lengths.next().is_none();
    if headers.contains_key(TRANSFER_ENCODING) || !is_empty || !request.body().is_end_stream() {
        return Some((Refusal::Body, StatusCode::BAD_REQUEST, "requests with a body are not accepted\n"));
    }
    let hosts = headers.get_all(HOST).iter().count();
    if hosts > 1 || (hosts == 0 && request.version() == Version::HTTP_11) {
        return Some((Refusal::Host, StatusCode::BAD_REQUEST, "a request must name exactly one host\n"));
    }
    None
}

fn later<B: From<String>>(status: StatusCode, text: &'static str, wait: Duration) -> Response<B> {
    let mut refused = plain(status, text);
    let wait_s = wait.as_millis().div_ceil(1000).max(1);
    if let Ok(wait_s) = HeaderValue::from_str(&wait_s.to_string()) {
        refused.headers_mut().insert(RETRY_AFTER, wait_s);
    }
    refused
}
