//! Name lookup and connections to hosts.

use std::net::IpAddr;
use std::sync::LazyLock;

use host_session::PinnedConnector;
use transport::TcpConnector;
use transport::resolver::Resolver;

use crate::TransportSettings;

/// Shared by all targets, so that there is one limit for all look-ups.
static RESOLVER: LazyLock<Resolver> = LazyLock::new(Resolver::default);

/// A TCP connector that shares its look-ups with all connections of this plugin.
pub(crate) fn shared() -> TcpConnector {
    TcpConnector::with_resolver(RESOLVER.clone())
}

/// The same, limited to the addresses in the settings, if there are any.
pub(crate) fn pinned(transport: &TransportSettings) -> PinnedConnector {
    PinnedConnector::new(shared(), transport.addresses.clone())
}

/// The same, limited to the address that credentials were leased for, if it is known.
pub(crate) fn pinned_to(address: Option<IpAddr>, transport: &TransportSettings) -> PinnedConnector {
    match address {
        Some(address) => PinnedConnector::new(shared(), vec![address]),
        None => pinned(transport),
    }
}

/// The same, limited to this address.
pub(crate) fn to(address: IpAddr) -> PinnedConnector {
    PinnedConnector::new(shared(), vec![address])
}
