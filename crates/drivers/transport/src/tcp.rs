use std::future::{Future, poll_fn};
use std::io;
use std::net::SocketAddr;
use std::task::Poll;
use std::time::Duration;

use rustix::net::sockopt;
use tokio::net::TcpStream;
use tokio::time::{Instant, Sleep, sleep, timeout_at};
use tracing::debug;

use crate::connector::{Addresses, BoxFuture, Connector};
use crate::resolver::{LookupErrorKind, Resolver};
use crate::{BoxStream, ConnectError, ConnectErrorKind, ConnectStage, Endpoint};

/// TCP, with `TCP_NODELAY`: small requests that wait for replies must not wait for Nagle.
///
/// Connections are kept for long, and a host may vanish silently. So the kernel sends keep-alive probes, and closes a
/// connection whose data is not acknowledged in time: its next user gets an error at once, or has time left to connect
/// again.
#[derive(Clone, Debug)]
pub struct TcpConnector {
    /// Resolves names. Connectors that share one also share its look-ups and their limit.
    pub resolver: Resolver,
    /// How long one address is tried before the next one is tried as well.
    pub stagger: Duration,
    /// Maximum number of addresses of one name that are tried.
    pub addresses_max: usize,
    /// Keep-alive probes of an idle connection.
    pub keep_alive: KeepAlive,
    /// How long sent data may stay unacknowledged by the other system's kernel.
    pub unacknowledged_max: Duration,
}

/// Keep-alive probes of TCP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeepAlive {
    /// Time without traffic before the first probe. Whole seconds.
    pub idle: Duration,
    /// Time between two probes. Whole seconds.
    pub interval: Duration,
    /// Number of probes before the connection is closed.
    pub probes: u32,
}

impl Default for KeepAlive {
    fn default() -> Self {
        Self { idle: Duration::from_secs(20), interval: Duration::from_secs(5), probes: 3 }
    }
}

impl Default for TcpConnector {
    fn default() -> Self {
        Self {
            resolver: Resolver::default(),
            stagger: Duration::from_millis(250),
            addresses_max: 8,
            keep_alive: KeepAlive::default(),
            unacknowledged_max: Duration::from_secs(5),
        }
    }
}

impl TcpConnector {
    /// A connector that resolves names with `resolver`.
    #[must_use]
    pub fn with_resolver(resolver: Resolver) -> Self {
        Self { resolver, ..Self::default() }
    }

    async fn lookup(&self, endpoint: &Endpoint, deadline: Instant) -> Result<Addresses, ConnectError> {
        let found = self.resolver.lookup(&endpoint.host, deadline).await.map_err(|error| ConnectError {
            endpoint: endpoint.clone(),
            addresses: Vec::new(),
            stage: ConnectStage::Dns,
            kind: match error.kind() {
                LookupErrorKind::TimedOut => ConnectErrorKind::NameLookupTimedOut,
                LookupErrorKind::NotFound => ConnectErrorKind::NameNotFound,
                LookupErrorKind::ServerFailed => ConnectErrorKind::NameServerFailed,
            },
            // The kind already means a time-out.
            source: (error.kind() != LookupErrorKind::TimedOut).then(|| io::Error::other(error)),
        })?;
        let found = found.into_iter().map(|address| SocketAddr::new(address, endpoint.port)).collect();
        let addresses = interleave_families(found, self.addresses_max);
        debug!(%endpoint, ?addresses, "Name resolved");
        Ok(addresses)
    }

    async fn dial(&self, address: SocketAddr) -> io::Result<TcpStream> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        let KeepAlive { idle, interval, probes } = self.keep_alive;
        sockopt::set_socket_keepalive(&stream, true)?;
        sockopt::set_tcp_keepidle(&stream, idle)?;
        sockopt::set_tcp_keepintvl(&stream, interval)?;
        sockopt::set_tcp_keepcnt(&stream, probes)?;
        let unacknowledged_ms = u32::try_from(self.unacknowledged_max.as_millis()).unwrap_or(u32::MAX);
        sockopt::set_tcp_user_timeout(&stream, unacknowledged_ms)?;
        Ok(stream)
    }

    /// The tcp stage; also returns the address that was reached.
    ///
    /// # Errors
    /// As [`Connector::connect_to`].
    pub async fn open(
        &self,
        endpoint: &Endpoint,
        addresses: &[SocketAddr],
        deadline: Instant,
    ) -> Result<TcpStream, ConnectError> {
        let attempt = |address: &SocketAddr| -> BoxFuture<'_, io::Result<TcpStream>> {
            let address = *address;
            Box::pin(self.dial(address))
        };
        let race = first_success(addresses, self.stagger, attempt);
        let (kind, source) = match timeout_at(deadline, race).await {
            Ok(Ok(stream)) => return Ok(stream),
            Ok(Err(errors)) => match errors.into_iter().max_by_key(telling) {
                Some(error) => (ConnectErrorKind::of(&error), Some(error)),
                None => (ConnectErrorKind::Other, None),
            },
            Err(_) => (ConnectErrorKind::Timeout, None),
        };
        let (endpoint, addresses) = (endpoint.clone(), addresses.iter().map(SocketAddr::ip).collect());
        Err(ConnectError { endpoint, addresses, stage: ConnectStage::Tcp, kind, source })
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
        Box::pin(async move { Ok(Box::new(self.open(endpoint, addresses, deadline).await?) as BoxStream) })
    }
}

/// How informative the failure of an address is: a refusal proves that the host is up.
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

/// Tries `candidates` in order until one succeeds: the next one starts when the previous one has failed, or has not
/// succeeded within `stagger`; earlier attempts continue. Returns all errors if none succeeds.
///
/// Dropping the future drops every attempt.
async fn first_success<'a, A, T, E>(
    candidates: &[A],
    stagger: Duration,
    attempt: impl Fn(&A) -> BoxFuture<'a, Result<T, E>>,
) -> Result<T, Vec<E>> {
    let mut waiting = candidates.iter();
    let mut running: Vec<BoxFuture<'a, Result<T, E>>> = Vec::with_capacity(candidates.len());
    let mut errors = Vec::new();
    let mut pause: std::pin::Pin<Box<Sleep>> = Box::pin(sleep(Duration::ZERO));
    poll_fn(|cx| {
        loop {
            let failed_before = errors.len();
            let mut index = 0;
            while let Some(future) = running.get_mut(index) {
                match future.as_mut().poll(cx) {
                    Poll::Ready(Ok(winner)) => return Poll::Ready(Ok(winner)),
                    Poll::Ready(Err(error)) => {
                        drop(running.swap_remove(index));
                        errors.push(error);
                    }
                    Poll::Pending => index += 1,
                }
            }
            let patience_is_over = pause.as_mut().poll(cx).is_ready();
            let start_next = running.is_empty() || errors.len() > failed_before || patience_is_over;
            match waiting.as_slice() {
                [] if running.is_empty() => return Poll::Ready(Err(std::mem::take(&mut errors))),
                [] => return Poll::Pending,
                [_, ..] if start_next => running.extend(waiting.next().map(&attempt)),
                [_, ..] => return Poll::Pending,
            }
            pause.as_mut().reset(Instant::now() + stagger);
        }
    })
    .await
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

    #[tokio::test]
    async fn the_system_watches_a_connection_while_nobody_uses_it() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let connector = TcpConnector::default();
        let stream = connector.dial(listener.local_addr().unwrap()).await.unwrap();
        assert!(sockopt::socket_keepalive(&stream).unwrap());
        let KeepAlive { idle, interval, probes } = connector.keep_alive;
        assert_eq!(sockopt::tcp_keepidle(&stream).unwrap(), idle);
        assert_eq!(sockopt::tcp_keepintvl(&stream).unwrap(), interval);
        assert_eq!(sockopt::tcp_keepcnt(&stream).unwrap(), probes);
        assert_eq!(sockopt::tcp_user_timeout(&stream).unwrap(), 5000);
    }

    #[test]
    fn a_refusal_says_more_than_a_lost_way() {
        let refused = io::Error::from(io::ErrorKind::ConnectionRefused);
        let unreachable = io::Error::from(io::ErrorKind::NetworkUnreachable);
        assert!(telling(&refused) > telling(&unreachable));
    }
}
