use std::future::Future;
use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use dcerpc::{EndpointState, Transport};
use tokio::net::{TcpListener, UnixListener};
use tokio::task::JoinSet;
use tracing::{debug, warn};

use super::serve_named_pipe;
use super::serve_tcp_of;
use super::smb::serve_smb_of;
use crate::host::WindowsHost;
use crate::service::{Endpoint, TcpPort};

/// Limits of one listener.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Maximum open connections; further ones are closed at once.
    pub connections_max: usize,
    /// Maximum idle time of a connection.
    pub idle_max: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self { connections_max: 4096, idle_max: Duration::from_secs(3600) }
    }
}

/// Pause after an accept that failed for lack of descriptors or memory.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Serves SMB on a listener. Runs until it is dropped, and its connections end with it.
pub async fn listen_smb(host: Arc<WindowsHost>, listener: TcpListener, limits: Limits) {
    let _listening = Listening::at_pipes(&host);
    let mut connections = Connections::new(Arc::clone(&host), limits);
    loop {
        match listener.accept().await {
            Ok((stream, peer)) => {
                debug!(host = host.name(), %peer, "Connected");
                // Answers are small and awaited: Nagle's algorithm would hold each back.
                let peer = Some(peer.ip());
                let served = stream
                    .set_nodelay(true)
                    .map(|()| serve_smb_of(Arc::clone(&host), peer, stream, limits.idle_max));
                connections.add(async move { served?.await });
            }
            Err(error) => accept_failed(&error).await,
        }
    }
}

/// Serves the object resolver on one listener, and the objects of the host on another, whose address clients learn from the
/// resolver. Runs until it is dropped, and its connections end with it.
///
/// # Errors
/// When a listener has no address.
pub async fn listen_dcom(
    host: Arc<WindowsHost>,
    resolver: TcpListener,
    exporter: TcpListener,
    limits: Limits,
) -> io::Result<()> {
    host.state().set_exporter_address(exporter.local_addr()?);
    let resolver = listen_tcp(Arc::clone(&host), TcpPort::Resolver, resolver, limits);
    let exporter = listen_tcp(host, TcpPort::Exporter, exporter, limits);
    tokio::try_join!(resolver, exporter).map(|((), ())| ())
}

async fn listen_tcp(
    host: Arc<WindowsHost>,
    port: TcpPort,
    listener: TcpListener,
    limits: Limits,
) -> io::Result<()> {
    let number = listener.local_addr()?.port();
    let _listening = Listening::at_port(&host, number);
    let mut connections = Connections::new(Arc::clone(&host), limits);
    loop {
        match listener.accept().await {
            Ok((stream, peer)) => {
                debug!(host = host.name(), %peer, ?port, "Connected");
                let peer = Some(peer.ip());
                let served = stream
                    .set_nodelay(true)
                    .map(|()| serve_tcp_of(Arc::clone(&host), peer, (port, number), stream, limits.idle_max));
                connections.add(async move { served?.await });
            }
            Err(error) => accept_failed(&error).await,
        }
    }
}

/// Accepts connections and never answers. Runs until it is dropped, and its connections end with it.
pub async fn listen_black_hole(host: Arc<WindowsHost>, listener: TcpListener, limits: Limits) {
    let mut connections = Connections::new(Arc::clone(&host), limits);
    loop {
        match listener.accept().await {
            Ok((mut stream, _)) => connections.add(async move {
                tokio::io::copy(&mut stream, &mut tokio::io::sink()).await.map(|_bytes| ())
            }),
            Err(error) => accept_failed(&error).await,
        }
    }
}

/// Serves the pipe `name` on a socket that smbd connects to. Runs until it is dropped, and its connections end with it.
pub async fn listen_pipe_socket(
    host: Arc<WindowsHost>,
    name: &'static str,
    listener: UnixListener,
    limits: Limits,
) {
    let _listening = Listening::at_pipe(&host, name);
    let mut connections = Connections::new(Arc::clone(&host), limits);
    loop {
        match listener.accept().await {
            Ok((stream, _)) => connections.add(serve_named_pipe(Arc::clone(&host), name, stream)),
            Err(error) => accept_failed(&error).await,
        }
    }
}

async fn accept_failed(error: &io::Error) {
    warn!(%error, "Accept failed");
    tokio::time::sleep(ACCEPT_PAUSE).await;
}

struct Connections {
    host: Arc<WindowsHost>,
    tasks: JoinSet<()>,
    connections_max: usize,
}

impl Connections {
    fn new(host: Arc<WindowsHost>, limits: Limits) -> Self {
        Self { host, tasks: JoinSet::new(), connections_max: limits.connections_max }
    }

    fn add(&mut self, serving: impl Future<Output = io::Result<()>> + Send + 'static) {
        while self.tasks.try_join_next().is_some() {}
        if self.tasks.len() >= self.connections_max {
            warn!(host = self.host.name(), "Too many connections");
            return;
        }
        let open = Open::new(Arc::clone(&self.host));
        self.tasks.spawn(async move {
            if let Err(error) = serving.await {
                debug!(host = open.0.name(), %error, "Connection ended");
            }
        });
    }
}

/// A connection that is counted while it is there.
struct Open(Arc<WindowsHost>);

impl Open {
    fn new(host: Arc<WindowsHost>) -> Self {
        host.counts().connections.fetch_add(1, Ordering::Relaxed);
        host.counts().open_connections.fetch_add(1, Ordering::Relaxed);
        Self(host)
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.0.counts().open_connections.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Endpoints of a host that take associations until this is dropped, as its observers see it.
pub(super) struct Listening {
    host: Arc<WindowsHost>,
    transport: Transport,
    names: Vec<String>,
}

impl Listening {
    fn at_port(host: &Arc<WindowsHost>, number: u16) -> Self {
        Self::new(host, Transport::Tcp, vec![number.to_string()])
    }

    fn at_pipes(host: &Arc<WindowsHost>) -> Self {
        Self::new(host, Transport::NamedPipe, host.pipes())
    }

    fn at_pipe(host: &Arc<WindowsHost>, name: &'static str) -> Self {
        Self::new(host, Transport::NamedPipe, vec![Endpoint::NamedPipe(name).to_string()])
    }

    fn new(host: &Arc<WindowsHost>, transport: Transport, names: Vec<String>) -> Self {
        let listening = Self { host: Arc::clone(host), transport, names };
        listening.tell(EndpointState::Listening);
        listening
    }

    fn tell(&self, state: EndpointState) {
        for name in &self.names {
            self.host.observers().endpoint(self.transport, name, state);
        }
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.tell(EndpointState::Closed);
    }
}
