//! How hosts are found and connected to.

use std::sync::LazyLock;

use host_session::PinnedConnector;
use resolver::Resolver;
use transport::TcpConnector;

use crate::TransportSettings;

/// Finds the addresses of all targets, so that there is one limit for all look-ups.
static RESOLVER: LazyLock<Resolver> = LazyLock::new(Resolver::default);

/// A TCP connector that shares its look-ups with all others of this plugin.
pub(crate) fn shared() -> TcpConnector {
    TcpConnector::with_resolver(RESOLVER.clone())
}

/// The same, for the addresses that the settings name, if they do.
pub(crate) fn pinned(transport: &TransportSettings) -> PinnedConnector {
    PinnedConnector::new(shared(), transport.addresses.clone())
}
