use std::time::Duration;

use config::Web;

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
