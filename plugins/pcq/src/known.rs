//! Connections to addresses that somebody else found out and approved.

use std::net::{IpAddr, SocketAddr};
use std::sync::{LazyLock, Mutex, PoisonError};

use resolver::Resolver;
use tokio::time::Instant;
use transport::{Addresses, BoxFuture, BoxStream, ConnectError, Connector, Endpoint, TcpConnector};

use crate::config::TransportSettings;

/// Finds the addresses of all targets, so that there is one limit for all look-ups.
static RESOLVER: LazyLock<Resolver> = LazyLock::new(Resolver::default);

/// A TCP connector that shares its look-ups with all others of this plugin.
pub(crate) fn connector() -> TcpConnector {
    TcpConnector::with_resolver(RESOLVER.clone())
}

/// Connects over TCP, to the addresses that the settings name where they do: the name was resolved and checked once,
/// and a second answer of the resolver may be another one.
///
/// It remembers which address it was, so that a secret is asked for by that: whoever checks where a name leads to
/// would ask the resolver again, and may hear of another host than the one that is about to see the secret.
#[derive(Debug)]
pub(crate) struct Known {
    tcp: TcpConnector,
    addresses: Vec<IpAddr>,
    reached: Mutex<Option<IpAddr>>,
}

impl Known {
    pub(crate) fn of(transport: &TransportSettings) -> Self {
        Self { tcp: connector(), addresses: transport.addresses.clone(), reached: Mutex::default() }
    }

    /// Where the last connection went.
    pub(crate) fn reached(&self) -> Option<IpAddr> {
        *self.reached.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Connector for Known {
    fn resolve<'a>(
        &'a self,
        endpoint: &'a Endpoint,
        deadline: Instant,
    ) -> BoxFuture<'a, Result<Addresses, ConnectError>> {
        if self.addresses.is_empty() {
            return self.tcp.resolve(endpoint, deadline);
        }
        let known = self.addresses.iter().map(|&address| SocketAddr::new(address, endpoint.port));
        let known = known.collect();
        Box::pin(async move { Ok(known) })
    }

    fn connect_to<'a>(
        &'a self,
        endpoint: &'a Endpoint,
        addresses: &'a [SocketAddr],
        deadline: Instant,
    ) -> BoxFuture<'a, Result<BoxStream, ConnectError>> {
        Box::pin(async move {
            let stream = self.tcp.open(endpoint, addresses, deadline).await?;
            // It is gone again where this fails; then nothing else is done over it either.
            let peer = stream.peer_addr().ok().map(|peer| peer.ip());
            *self.reached.lock().unwrap_or_else(PoisonError::into_inner) = peer;
            Ok(Box::new(stream) as BoxStream)
        })
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[tokio::test]
    async fn a_name_leads_where_it_was_said_to_and_nowhere_else() {
        let addresses: Vec<IpAddr> = vec!["192.0.2.7".parse().unwrap(), "2001:db8::7".parse().unwrap()];
        let transport = TransportSettings { addresses: addresses.clone(), ..TransportSettings::default() };
        let endpoint = Endpoint::new("localhost", 445);
        let found = Known::of(&transport).resolve(&endpoint, Instant::now() + Duration::from_secs(1)).await;
        let expected: Vec<SocketAddr> = addresses.into_iter().map(|ip| SocketAddr::new(ip, 445)).collect();
        assert_eq!(found.unwrap(), expected);
    }
}
