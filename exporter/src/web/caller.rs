use std::sync::Arc;

use tokio::sync::Notify;

use super::peers::PeerKey;

/// What an answer depends on of the client that asks for it.
#[derive(Clone, Debug)]
pub(super) struct Caller {
    pub(super) peer: PeerKey,
    /// A password or a verified certificate was asked for and given.
    pub(super) is_authenticated: bool,
    /// Notified to end the answer while it is sent: of HTTP/1 with its connection, of HTTP/2 with its stream.
    pub(super) end: Arc<Notify>,
}

/// Stands in the extensions of a request that came over TLS.
#[derive(Clone, Copy, Debug)]
pub(super) struct Secure;

#[cfg(test)]
impl Caller {
    /// Somebody at this address.
    pub(super) fn at(address: &str) -> Self {
        let address = address.parse().expect("the test names an address");
        Self { peer: PeerKey::of(address), is_authenticated: false, end: Arc::default() }
    }
}
