//! The exporter's web server: HTTP/1.1, and over TLS also HTTP/2. It knows no metric and no target: what is served is an
//! [`App`]'s to say.
//!
//! A [`Server`] accepts connections for an app. Who may read is the [`Gate`]'s to say, by the web configuration file.
//! What a connection or a request passes before it is answered is in `middleware`.
//!
//! Limits: connections, of all and of one peer, whose idle ones end when it needs one; TLS handshakes; time for a
//! handshake, for a request's head, without a byte taken, for an answer, without a request; a head's bytes (431), a
//! URI's (414). Nothing here takes a body, so a request that announces one is refused, and its connection ends with it.

mod connection;
mod gate;
mod heads;
mod middleware;
#[doc(hidden)]
pub mod parsers;
mod peers;
mod server;
mod settings;
mod streams;
mod traffic;
mod write_timeout;

pub use self::gate::{Gate, METRICS};
pub use self::peers::PeerKey;
pub use self::server::{Server, bind};
pub use self::settings::Settings;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use config::Web;
use hyper::body::{Body, Incoming};
use hyper::header::{CONTENT_TYPE, HeaderName, HeaderValue};
use hyper::{Request, Response, StatusCode};
use tokio::sync::Notify;

/// What an answer depends on of the client that asks for it.
#[derive(Clone, Debug)]
pub struct Caller {
    pub peer: PeerKey,
    /// A password or a verified certificate was asked for and given.
    pub is_authenticated: bool,
    /// Notified to end the answer while it is sent: of HTTP/1 with its connection, of HTTP/2 with its stream.
    pub end: Arc<Notify>,
}

/// Stands in the extensions of a request that came over TLS.
#[derive(Clone, Copy, Debug)]
pub struct Secure;

/// A line for people and programs.
pub fn plain<B: From<String>>(status: StatusCode, text: impl Into<String>) -> Response<B> {
    let mut response = typed("text/plain; charset=utf-8", text);
    *response.status_mut() = status;
    response
}

/// A text of a type.
pub fn typed<B: From<String>>(content_type: &'static str, text: impl Into<String>) -> Response<B> {
    let mut response = Response::new(B::from(text.into()));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    response
}

/// All values of a header that stands for a list.
pub fn header<B>(request: &Request<B>, name: &HeaderName) -> Option<String> {
    let values = request.headers().get_all(name).iter().filter_map(|value| value.to_str().ok());
    let values: Vec<&str> = values.collect();
    request.headers().contains_key(name).then(|| values.join(","))
}

/// What is served. It sees only requests that the server let through.
pub trait App: Send + Sync + 'static {
    /// What it answers with; the server itself answers with texts.
    type Body: Body<Data = Bytes, Error = Infallible> + From<String> + Send + Unpin + 'static;

    fn answer(
        self: &Arc<Self>,
        request: &Request<Incoming>,
        caller: &Caller,
    ) -> impl Future<Output = Response<Self::Body>> + Send;

    /// Whether a request is for what people read or do in a browser. By a name that is not ours it is refused then.
    fn is_for_people(&self, request: &Request<Incoming>) -> bool;

    /// Formats a response for its client: errors, also those of the server, as a page for people.
    fn dress(&self, request: &Request<Incoming>, response: Response<Self::Body>) -> Response<Self::Body> {
        let _ = request;
        response
    }

    /// A connection was accepted.
    fn connection_opened(&self) {}

    /// A connection is gone.
    fn connection_closed(&self) {}
}

/// How much the server gives to whom.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Open connections; more wait in the kernel's queue.
    pub connections_max: usize,
    /// Open connections of one peer; more are closed at once.
    pub connections_per_peer_max: u32,
    /// A TLS handshake ends within it.
    pub handshake_timeout: Duration,
    /// A request's head must be there within it.
    pub header_timeout: Duration,
    /// Maximum time without reads of the reader.
    pub write_timeout: Duration,
    /// A reader has taken its answer within it.
    pub answer_timeout: Duration,
    /// Maximum time of a connection without a request.
    pub idle_timeout: Duration,
}

impl From<&Web> for Limits {
    fn from(web: &Web) -> Self {
        let half = (web.max_connections / 2).max(1);
        Self {
            connections_max: web.max_connections as usize,
            connections_per_peer_max: web.max_connections_per_peer.unwrap_or(half),
            handshake_timeout: web.handshake_timeout,
            header_timeout: web.header_timeout,
            write_timeout: web.write_timeout,
            answer_timeout: web.answer_timeout,
            idle_timeout: web.idle_timeout,
        }
    }
}
