use std::sync::Arc;

use tokio::sync::Notify;

use crate::peers::PeerKey;

/// What an answer depends on of the client that asks for it.
#[derive(Clone, Debug)]
pub struct Caller {
    /// The peer.
    pub peer: PeerKey,
    /// A password or a verified certificate was asked for and given.
    pub is_authenticated: bool,
    /// Notified to end the answer while it is sent: of HTTP/1 with its connection, of HTTP/2 with its stream.
    pub end: Arc<Notify>,
}

/// Stands in the extensions of a request that came over TLS.
#[derive(Clone, Copy, Debug)]
pub struct Secure;
