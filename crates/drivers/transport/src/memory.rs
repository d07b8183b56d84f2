use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;

use parking_lot::{Mutex, MutexGuard};
use tokio::io::{DuplexStream, duplex};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};

use crate::connector::{Addresses, BoxFuture, Connector};
use crate::{BoxStream, ConnectError, ConnectErrorKind, ConnectStage, Endpoint};

/// A network inside one process: hosts with names, and ports that accept, refuse, or drop connections.
///
/// Clones are the same network. A host exists after the first call that names it; other names do not resolve, and
/// addresses stand for themselves. It uses no clock, so tests can pause time.
#[derive(Clone, Default)]
pub struct MemoryNetwork(Arc<Mutex<Hosts>>);

#[derive(Default)]
struct Hosts {
    addresses: HashMap<String, Ipv4Addr>,
    ports: HashMap<(IpAddr, u16), Port>,
}

enum Port {
    Listening(mpsc::UnboundedSender<DuplexStream>),
    BlackHole,
}

/// The accepting end of one port of a [`MemoryNetwork`]. Dropping it closes the port.
pub struct MemoryListener(mpsc::UnboundedReceiver<DuplexStream>);

impl MemoryNetwork {
    /// A network without hosts.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Opens `port` on `host`.
    pub fn listen(&self, host: &str, port: u16) -> MemoryListener {
        let (sender, receiver) = mpsc::unbounded_channel();
        self.hosts().set(host, port, Port::Listening(sender));
        MemoryListener(receiver)
    }

    /// Makes `port` on `host` drop every attempt to connect, like a firewall.
    pub fn black_hole(&self, host: &str, port: u16) {
        self.hosts().set(host, port, Port::BlackHole);
    }

    /// Lets `host` resolve, with every port closed.
    pub fn add_host(&self, host: &str) {
        self.hosts().address(host);
    }

    fn hosts(&self) -> MutexGuard<'_, Hosts> {
        self.0.lock()
    }

    /// The client's end of a new stream, or `None` if attempts are dropped.
    fn dial(&self, address: SocketAddr) -> Option<Result<DuplexStream, ConnectErrorKind>> {
        match self.hosts().ports.get(&(address.ip(), address.port())) {
            Some(Port::BlackHole) => None,
            Some(Port::Listening(sender)) => {
                let (client, server) = duplex(PIPE_BYTES_MAX);
                Some(sender.send(server).map(|()| client).map_err(|_| ConnectErrorKind::ConnectionRefused))
            }
            None => Some(Err(ConnectErrorKind::ConnectionRefused)),
        }
    }
}

impl Hosts {
    fn set(&mut self, host: &str, port: u16, state: Port) {
        let address = self.address(host);
        self.ports.insert((IpAddr::V4(address), port), state);
    }

    fn address(&mut self, host: &str) -> Ipv4Addr {
        let next = u32::try_from(self.addresses.len()).unwrap_or(u32::MAX);
        let fresh = Ipv4Addr::from_bits(FIRST_ADDRESS.to_bits().saturating_add(next));
        *self.addresses.entry(host.to_owned()).or_insert(fresh)
    }
}

impl MemoryListener {
    /// The next connection. Waits forever after the last [`MemoryNetwork`] handle was dropped.
    pub async fn accept(&mut self) -> BoxStream {
        match self.0.recv().await {
            Some(stream) => Box::new(stream),
            None => std::future::pending().await,
        }
    }
}

impl Connector for MemoryNetwork {
    fn resolve<'a>(
        &'a self,
        endpoint: &'a Endpoint,
        _deadline: Instant,
    ) -> BoxFuture<'a, Result<Addresses, ConnectError>> {
        let known = self.hosts().addresses.get(&endpoint.host).copied();
        let known = known.or_else(|| endpoint.host.parse().ok());
        let resolved = match known {
            Some(address) => Ok(vec![SocketAddr::new(IpAddr::V4(address), endpoint.port)]),
            None => Err(failed(endpoint, &[], ConnectStage::Dns, ConnectErrorKind::NameNotFound)),
        };
        Box::pin(std::future::ready(resolved))
    }

    fn connect_to<'a>(
        &'a self,
        endpoint: &'a Endpoint,
        addresses: &'a [SocketAddr],
        deadline: Instant,
    ) -> BoxFuture<'a, Result<BoxStream, ConnectError>> {
        Box::pin(async move {
            let mut kind = ConnectErrorKind::Unreachable;
            for address in addresses {
                match self.dial(*address) {
                    Some(Ok(stream)) => return Ok(Box::new(stream) as BoxStream),
                    Some(Err(refused)) => kind = refused,
                    None => {
                        sleep_until(deadline).await;
                        kind = ConnectErrorKind::Timeout;
                    }
                }
            }
            Err(failed(endpoint, addresses, ConnectStage::Tcp, kind))
        })
    }
}

fn failed(
    endpoint: &Endpoint,
    addresses: &[SocketAddr],
    stage: ConnectStage,
    kind: ConnectErrorKind,
) -> ConnectError {
    let (endpoint, addresses) = (endpoint.clone(), addresses.iter().map(SocketAddr::ip).collect());
    ConnectError { endpoint, addresses, stage, kind, source: None }
}

/// Bytes that one direction holds before a writer waits.
const PIPE_BYTES_MAX: usize = 64 * 1024;

/// The first address of hosts: RFC 2544's range for tests.
const FIRST_ADDRESS: Ipv4Addr = Ipv4Addr::new(198, 18, 0, 1);
