//! Connections: how many, and what each may cost.

use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use support::telemetry::log::Throttle;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{AcquireError, OwnedSemaphorePermit, Semaphore, mpsc, watch};
use tokio::task::{JoinHandle, JoinSet};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::{CertificateError, Error, OtherError, ServerConfig};
use tokio_rustls::server::TlsStream;
use tracing::{debug, info, warn};

use super::gate::NotAllowed;
use super::settings::Settings;
use super::traffic::Traffic;
use crate::App;
use crate::connection::{self, Notices};
use crate::gate::{Gate, Refusal};
use crate::middleware::Middleware;
use crate::peers::{PeerLimits, PeerPermit};
use crate::write_timeout::WriteTimeout;

/// After an error of `accept` (no file descriptors left) it is tried again.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Opens the listeners of `addresses`.
///
/// # Errors
/// The first address that cannot be had, by name.
pub async fn bind(addresses: &[String]) -> io::Result<Vec<TcpListener>> {
    let mut listeners = Vec::with_capacity(addresses.len());
    for address in addresses {
        let listener = TcpListener::bind(address.as_str()).await.map_err(|error| {
            io::Error::new(error.kind(), format!("listen on {address}: {error}{}", next_step(error.kind())))
        })?;
        let local = listener.local_addr()?;
        info!(address = %local, "Listening");
        listeners.push(listener);
    }
    Ok(listeners)
}

/// What to do where an address cannot be had.
fn next_step(kind: io::ErrorKind) -> &'static str {
    match kind {
        io::ErrorKind::AddrInUse => "; is another exporter running?",
        io::ErrorKind::AddrNotAvailable => "; this machine does not have it, correct `web.listen`",
        io::ErrorKind::PermissionDenied => "; ports below 1024 need a special right, choose a higher one",
        _ => "; correct `web.listen`",
    }
}

/// Accepts connections until it is stopped.
pub struct Server {
    stop: watch::Sender<bool>,
    accepting: JoinSet<()>,
    /// Hears nothing; it ends when the last connection does.
    conversations: mpsc::Receiver<()>,
    following: JoinHandle<()>,
}

impl Server {
    /// Serves `app` on `listeners` to whom `gate` lets in, as `settings` say.
    #[must_use]
    pub fn start<A: App>(
        app: &Arc<A>,
        settings: &Arc<Settings>,
        gate: &Arc<Gate>,
        listeners: Vec<TcpListener>,
    ) -> Self {
        let (stop, stopped) = watch::channel(false);
        let (waiting_listeners, watched_listeners) = watch::channel(0);
        let (connection_guard, conversations) = mpsc::channel(1);
        let acceptor = Arc::new(Acceptor {
            app: Arc::clone(app),
            settings: Arc::clone(settings),
            gate: Arc::clone(gate),
            peers: Arc::default(),
            handshakes: Handshakes::default(),
            waiting_listeners,
            notices: Notices { stopped, waiting_listeners: watched_listeners },
            misuses: Throttle::default(),
            _connection_guard: connection_guard,
        });
        let mut accepting = JoinSet::new();
        for listener in listeners {
            accepting.spawn(Arc::clone(&acceptor).accept(listener));
        }
        let following = tokio::spawn(Arc::clone(gate).follow());
        Self { stop, accepting, conversations, following }
    }

    /// Closes the listeners, lets answers that are under way end for `grace`, and drops the rest.
    pub async fn stop(mut self, grace: Duration) {
        self.following.abort();
        // The acceptors hold the other end until they end.
        let _ = self.stop.send(true);
        while self.accepting.join_next().await.is_some() {}
        let ended = async { while self.conversations.recv().await.is_some() {} };
        if tokio::time::timeout(grace, ended).await.is_err() {
            warn!("Connections dropped in the middle of an answer");
        }
    }
}

/// What a connection needs, whichever listener it comes from.
struct Acceptor<A> {
    app: Arc<A>,
    settings: Arc<Settings>,
    gate: Arc<Gate>,
    peers: Arc<PeerLimits>,
    handshakes: Handshakes,
    /// How many listeners have somebody for whom there is no permit.
    waiting_listeners: watch::Sender<usize>,
    notices: Notices,
    /// Lines about connections that were ended for their peers' misuse of HTTP/2.
    misuses: Throttle,
    /// Held until the last connection ends.
    _connection_guard: mpsc::Sender<()>,
}

impl<A: App> Acceptor<A> {
    async fn accept(self: Arc<Self>, listener: TcpListener) {
        let mut stopped = self.notices.stopped.clone();
        // Without descriptors it fails ten times a second: that is said once.
        let mut is_told = false;
        loop {
            tokio::select! {
                _ = stopped.changed() => return,
                next = self.next(&listener) => match next {
                    Ok((stream, peer, permit)) => {
                        is_told = false;
                        self.spawn(stream, peer, permit);
                    }
                    Err(error) => {
                        if !std::mem::replace(&mut is_told, true) {
                            let next_step = "if file descriptors run out, raise their limit (LimitNOFILE=, \
                                             ulimit -n) or lower `web.max_connections`";
                            warn!(%error, next_step, "Connection not accepted");
                        }
                        // Those that idle may give theirs.
                        let _waiting = Waiting::of(&self.waiting_listeners);
                        tokio::time::sleep(ACCEPT_PAUSE).await;
                    }
                },
            }
        }
    }

    async fn next(
        &self,
        listener: &TcpListener,
    ) -> io::Result<(TcpStream, SocketAddr, OwnedSemaphorePermit)> {
        let permit = self.permit().await.map_err(io::Error::other)?;
        let (stream, peer) = listener.accept().await?;
        Ok((stream, peer, permit))
    }

    /// A permit for a connection; where there is none, connections that idle give theirs.
    async fn permit(&self) -> Result<OwnedSemaphorePermit, AcquireError> {
        let permits = self.settings.connection_permits();
        if let Ok(permit) = Arc::clone(&permits).try_acquire_owned() {
            return Ok(permit);
        }
        let _waiting = Waiting::of(&self.waiting_listeners);
        permits.acquire_owned().await
    }

    fn spawn(self: &Arc<Self>, stream: TcpStream, peer: SocketAddr, permit: OwnedSemaphorePermit) {
        let limits = self.settings.limits();
        let traffic = Traffic::new();
        let Some(peer_permit) = self.peers.admit(peer.ip(), &traffic, limits.connections_per_peer_max) else {
            self.refused(peer, Refusal::Peer, &"too many connections of this peer");
            return;
        };
        let acceptor = Arc::clone(self);
        tokio::spawn(async move {
            let app = Arc::clone(&acceptor.app);
            app.connection_opened();
            acceptor.serve(stream, peer, peer_permit, traffic).await;
            app.connection_closed();
            drop(permit);
        });
    }

    /// Serves a connection to its end.
    async fn serve(
        self: Arc<Self>,
        stream: TcpStream,
        peer: SocketAddr,
        peer_permit: PeerPermit,
        traffic: Arc<Traffic>,
    ) {
        let limits = self.settings.limits();
        // Answers go out in large pieces; waiting for more would only delay the last one.
        let _ = stream.set_nodelay(true);
        let with_timeout = |stream| WriteTimeout::new(stream, limits.write_timeout, limits.answer_timeout);
        let notices = self.notices.clone();
        let protection = self.gate.current();
        let ended = match protection.tls() {
            None => {
                let middleware = self.middleware(peer, peer_permit, traffic, false);
                connection::serve(middleware, with_timeout(stream), false, notices).await
            }
            Some(config) => {
                let timeout = limits.handshake_timeout;
                let mut stopped = notices.stopped.clone();
                let shaken = tokio::select! {
                    shaken = self.handshakes.shake(config, stream, with_timeout, &peer_permit.handshakes, timeout) => shaken,
                    // A handshake that is under way at the end is nobody's answer.
                    _ = stopped.wait_for(|is_stopped| *is_stopped) => return,
                };
                let stream = match shaken {
                    Ok(stream) => stream,
                    Err((refusal, error)) => return self.refused(peer, refusal, &error),
                };
                let is_http2 = stream.get_ref().1.alpn_protocol() == Some(b"h2");
                let certificates = stream.get_ref().1.peer_certificates();
                let has_certificate = protection.verifies_clients() && certificates.is_some();
                let middleware = self.middleware(peer, peer_permit, traffic, true);
                let middleware = Middleware { has_certificate, ..middleware };
                connection::serve(middleware, stream, is_http2, notices).await
            }
        };
        if let Err(error) = ended {
            self.report_ended(peer, &error);
        }
    }

    fn middleware(
        &self,
        peer: SocketAddr,
        peer_permit: PeerPermit,
        traffic: Arc<Traffic>,
        is_secure: bool,
    ) -> Middleware<A> {
        Middleware {
            app: Arc::clone(&self.app),
            settings: Arc::clone(&self.settings),
            gate: Arc::clone(&self.gate),
            limits: self.settings.limits(),
            peer,
            peer_permit,
            is_secure,
            has_certificate: false,
            traffic,
        }
    }

    fn report_ended(&self, peer: SocketAddr, error: &hyper::Error) {
        let cause = std::error::Error::source(error).map(ToString::to_string);
        debug!(%peer, %error, cause, "Connection ended early");
        if connection::is_ended_for_misuse(error)
            && let Some(held_back) = self.misuses.pass()
        {
            warn!(
                %peer,
                cause,
                more_since_last_line = held_back,
                next_step = "if this peer is yours, correct or update its HTTP/2 client; if not, block it \
                             with a firewall",
                "HTTP/2 connection closed: the peer violated the protocol or reset too many requests"
            );
        }
    }

    fn refused(&self, peer: SocketAddr, refusal: Refusal, error: &dyn std::fmt::Display) {
        self.gate.figures().count(refusal);
        debug!(%peer, reason = refusal.as_str(), %error, "Connection refused");
    }
}

/// A listener that has no permit for somebody, until this goes.
struct Waiting<'a>(&'a watch::Sender<usize>);

impl<'a> Waiting<'a> {
    fn of(waiting_listeners: &'a watch::Sender<usize>) -> Self {
        waiting_listeners.send_modify(|waiting| *waiting += 1);
        Self(waiting_listeners)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.send_modify(|waiting| *waiting -= 1);
    }
}

/// The answer to HTTP on a TLS port.
const SPEAK_TLS: &[u8] =
    b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Type: text/plain; charset=utf-8\r\n\
    Content-Length: 43\r\n\r\nTLS is spoken here; write https:// instead\n";

#[derive(Clone)]
pub(crate) struct Handshakes(Arc<Semaphore>);

/// TLS handshakes at a time, of all peers together.
const HANDSHAKES_MAX: usize = 64;
/// Who is slower has taken no computing time meanwhile, and goes on without a place, so that a few peers that stop
/// half-way keep nobody waiting.
const PLACE_TIME: Duration = Duration::from_millis(500);

impl Default for Handshakes {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(HANDSHAKES_MAX)))
    }
}

impl Handshakes {
    /// Agrees on keys with a peer, whose own handshakes wait for each other in `turn`.
    pub(crate) async fn shake<S>(
        &self,
        config: Arc<ServerConfig>,
        stream: TcpStream,
        wrap: impl FnOnce(TcpStream) -> S,
        turn: &Semaphore,
        timeout: Duration,
    ) -> Result<TlsStream<S>, (Refusal, io::Error)>
    where
        S: AsyncRead + AsyncWrite + Unpin,
    {
        let shaking = async {
            // A silent peer takes no permit.
            let first = first_byte(&stream).await.map_err(|error| (Refusal::HandshakeClosed, error))?;
            let mut stream = wrap(stream);
            if first.is_ascii_uppercase() {
                // Errors of this message are ignored.
                let _ = stream.write_all(SPEAK_TLS).await;
                let _ = stream.shutdown().await;
                return Err((Refusal::HandshakeNotTls, io::Error::other("HTTP instead of TLS")));
            }
            let over = |_| (Refusal::HandshakeOther, io::Error::other("the server ends"));
            let _turn = turn.acquire().await.map_err(over)?;
            let place = self.0.acquire().await.map_err(over)?;
            let mut shaking = pin!(TlsAcceptor::from(config).accept(stream));
            let shaken = match tokio::time::timeout(PLACE_TIME, shaking.as_mut()).await {
                Ok(shaken) => shaken,
                Err(_slow) => {
                    drop(place);
                    shaking.await
                }
            };
            shaken.map_err(|error| (reason(&error), error))
        };
        match tokio::time::timeout(timeout, shaking).await {
            Ok(shaken) => shaken,
            Err(elapsed) => Err((Refusal::HandshakeTimeout, elapsed.into())),
        }
    }
}

/// Waits for the first byte of a peer without reading it.
async fn first_byte(stream: &TcpStream) -> io::Result<u8> {
    let mut byte = [0];
    match stream.peek(&mut byte).await? {
        0 => Err(io::ErrorKind::UnexpectedEof.into()),
        _ => Ok(byte[0]),
    }
}

fn reason(error: &io::Error) -> Refusal {
    let Some(error) = error.get_ref().and_then(|inner| inner.downcast_ref::<Error>()) else {
        return Refusal::HandshakeClosed;
    };
    match error {
        Error::NoCertificatesPresented => Refusal::HandshakeNoCertificate,
        Error::InvalidCertificate(CertificateError::Other(OtherError(other))) if other.is::<NotAllowed>() => {
            Refusal::HandshakeName
        }
        Error::InvalidCertificate(_) => Refusal::HandshakeCertificate,
        Error::PeerIncompatible(_) => Refusal::HandshakeIncompatible,
        Error::AlertReceived(_) => Refusal::HandshakeByClient,
        Error::InvalidMessage(_) | Error::InappropriateMessage { .. } => Refusal::HandshakeNotTls,
        _ => Refusal::HandshakeOther,
    }
}
