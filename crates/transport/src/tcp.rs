use std::io;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use tokio::net::{TcpStream, lookup_host};
use tokio::time::{Instant, timeout_at};
use tracing::debug;

use crate::connector::{Addresses, BoxFuture, Connector};
use crate::race::first_success;
use crate::{BoxStream, ConnectError, ConnectErrorKind, ConnectStage, Endpoint};

/// TCP, with `TCP_NODELAY`: small requests that wait for replies must not wait for Nagle.
#[derive(Clone, Debug)]
pub struct TcpConnector {
    /// How long one address has for itself before the next one is tried beside it.
    pub stagger: Duration,
    /// Addresses of one name that are tried.
    pub addresses_max: usize,
}

impl Default for TcpConnector {
    fn default() -> Self {
        Self { stagger: Duration::from_millis(250), addresses_max: 8 }
    }
}

impl TcpConnector {
    async fn lookup(&self, endpoint: &Endpoint, deadline: Instant) -> Result<Addresses, ConnectError> {
        let failed = |kind, source| ConnectError {
            endpoint: endpoint.clone(),
            stage: ConnectStage::Dns,
            kind,
            source,
        };
        if let Ok(address) = endpoint.host.parse::<IpAddr>() {
            return Ok(vec![SocketAddr::new(address, endpoint.port)]);
        }
        let lookup = lookup_host((endpoint.host.as_str(), endpoint.port));
        match timeout_at(deadline, lookup).await {
            Err(_) => Err(failed(ConnectErrorKind::Timeout, None)),
            Ok(Err(error)) => Err(failed(ConnectErrorKind::NameNotFound, Some(error))),
            Ok(Ok(found)) => {
                let addresses = interleave_families(found.collect(), self.addresses_max);
                debug!(%endpoint, ?addresses, "Name resolved");
                if addresses.is_empty() {
                    Err(failed(ConnectErrorKind::NameNotFound, None))
                } else {
                    Ok(addresses)
                }
            }
        }
    }

    async fn open(
        &self,
        endpoint: &Endpoint,
        addresses: &[SocketAddr],
        deadline: Instant,
    ) -> Result<BoxStream, ConnectError> {
        let attempt = |address: &SocketAddr| -> BoxFuture<'static, io::Result<TcpStream>> {
            let address = *address;
            Box::pin(async move {
                let stream = TcpStream::connect(address).await?;
                stream.set_nodelay(true)?;
                Ok(stream)
            })
        };
        let race = first_success(addresses, self.stagger, attempt);
        let (kind, source) = match timeout_at(deadline, race).await {
            Ok(Ok(stream)) => return Ok(Box::new(stream)),
            Ok(Err(errors)) => match errors.into_iter().max_by_key(telling) {
                Some(error) => (ConnectErrorKind::of(&error), Some(error)),
                None => (ConnectErrorKind::Other, None),
            },
            Err(_) => (ConnectErrorKind::Timeout, None),
        };
        Err(ConnectError { endpoint: endpoint.clone(), stage: ConnectStage::Tcp, kind, source })
    }
}

impl Connector for TcpConnector {
    fn resolve<'a>(
        &'a self,
        endpoint: &'a Endpoint,
        deadline: Instant,
    ) -> BoxFuture<'a, Result<Addresses, ConnectError>> {
        Box::pin(self.lookup(endpoint, deadline))
    }

    fn connect_to<'a>(
        &'a self,
        endpoint: &'a Endpoint,
        addresses: &'a [SocketAddr],
        deadline: Instant,
    ) -> BoxFuture<'a, Result<BoxStream, ConnectError>> {
        Box::pin(self.open(endpoint, addresses, deadline))
    }
}

/// How much an address's failure says about the host: a refusal proves that it is there.
fn telling(error: &io::Error) -> u8 {
    match ConnectErrorKind::of(error) {
        ConnectErrorKind::ConnectionRefused | ConnectErrorKind::ConnectionReset => 3,
        ConnectErrorKind::Timeout => 2,
        ConnectErrorKind::Unreachable => 1,
        _ => 0,
    }
}

/// Alternates the address families, beginning with the resolver's first choice.
fn interleave_families(found: Addresses, addresses_max: usize) -> Addresses {
    let first_is_v6 = found.first().is_some_and(SocketAddr::is_ipv6);
    let (first, second): (Vec<_>, Vec<_>) = found.into_iter().partition(|a| a.is_ipv6() == first_is_v6);
    let mut second = second.into_iter();
    let mut ordered = Vec::new();
    for address in first {
        ordered.push(address);
        ordered.extend(second.next());
    }
    ordered.extend(second);
    ordered.truncate(addresses_max);
    ordered
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn families_alternate_from_the_resolvers_first_choice() {
        let parse = |text: &str| text.parse::<SocketAddr>().unwrap();
        let found = ["[::1]:1", "[::2]:1", "[::3]:1", "1.1.1.1:1", "2.2.2.2:1"].map(parse).to_vec();
        let expected = ["[::1]:1", "1.1.1.1:1", "[::2]:1", "2.2.2.2:1"].map(parse).to_vec();
        assert_eq!(interleave_families(found, 4), expected);
    }

    #[test]
    fn a_refusal_says_more_than_a_lost_way() {
        let refused = io::Error::from(io::ErrorKind::ConnectionRefused);
        let unreachable = io::Error::from(io::ErrorKind::NetworkUnreachable);
        assert!(telling(&refused) > telling(&unreachable));
    }
}
