use std::net::{IpAddr, SocketAddr};

use parking_lot::Mutex;
use tokio::time::Instant;
use transport::{Addresses, BoxFuture, BoxStream, ConnectError, Connector, Endpoint, TcpConnector};

/// Connects over TCP. If it has addresses, it connects only to these: they were resolved and checked before, and a
/// second look-up may return others.
///
/// It remembers the address that it reached, so that credentials are requested for that address: a separate look-up
/// of the name may return another host than the one that gets the credentials.
#[derive(Debug)]
pub struct PinnedConnector {
    tcp: TcpConnector,
    addresses: Vec<IpAddr>,
    reached: Mutex<Option<IpAddr>>,
}

impl PinnedConnector {
    /// Connects with `tcp`; only to these addresses, if there are any.
    #[must_use]
    pub fn new(tcp: TcpConnector, addresses: Vec<IpAddr>) -> Self {
        Self { tcp, addresses, reached: Mutex::default() }
    }

    /// Where the last connection went.
    #[must_use]
    pub fn reached(&self) -> Option<IpAddr> {
        *self.reached.lock()
    }
}

impl Connector for PinnedConnector {
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
            // If this fails, the connection is closed without being used.
            let peer = stream.peer_addr().ok().map(|peer| peer.ip());
            *self.reached.lock() = peer;
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
        let connector = PinnedConnector::new(TcpConnector::default(), addresses.clone());
        let endpoint = Endpoint::new("localhost", 445);
        let found = connector.resolve(&endpoint, Instant::now() + Duration::from_secs(1)).await;
        let expected: Vec<SocketAddr> = addresses.into_iter().map(|ip| SocketAddr::new(ip, 445)).collect();
        assert_eq!(found.unwrap(), expected);
    }
}
