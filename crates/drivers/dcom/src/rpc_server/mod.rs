//! An RPC server over TCP, `ncacn_ip_tcp`, for peers that are not trusted.
//!
//! ```no_run
//! # async fn serve(clock: std::sync::Arc<dyn dcom::rpc_server::Interface>) -> std::io::Result<()> {
//! use dcom::rpc_server::{Options, Server, TcpListeners};
//! use tokio::net::TcpListener;
//!
//! let server = Server::new(Options::default(), vec![clock]);
//! let listener = TcpListener::bind("127.0.0.1:135").await?;
//! let running = TcpListeners::start(&server, vec![listener])?;
//! // …
//! running.stop().await;
//! for (reason, count) in server.counters().refused() {
//!     println!("{reason}: {count}");
//! }
//! # Ok(()) }
//! ```
//!
//! What protects it:
//!
//! - Addresses that [`Options::is_allowed`] does not know are refused before a byte is read, so are connections above
//!   [`Limits`].
//! - Each connection has [`Deadlines`] for its bind, for each fragment, for each call, for the reading of answers, and
//!   between calls.
//! - Memory for what peers began and did not finish is limited for all connections together, as connections are: see
//!   [`Limits`]. Where there is not enough, the peer with the most gives, so each has a share.
//! - Whatever ends a connection is counted by its reason: [`Counters`].
//!
//! Calls are executed one at a time on each connection, where they are read, so an [`Interface`] returns at once and
//! leaves longer work to others. Calls without authentication are executed; with it only if [`Options::acceptor`] makes
//! a security context.

mod admission;
mod connection;
mod counters;

use core::fmt;
use std::future::Future;
use std::io;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use dcerpc::server::{AssociationGroups, IncomingCall, ServerAssociation, ServerConfig};
use dcerpc::{AssociationInfo, AuthService, FaultStatus, Observers, Role, SyntaxId, Transport};
use rpc::CallInfo;
use ssp::SecurityContext;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tracing::{debug, warn};
use transport::BoxStream;

pub use self::counters::{Counters, Refusal};

use self::admission::{Admission, Permit};
use self::connection::{Connection, End};

/// A connection that came in.
pub struct Incoming {
    pub stream: BoxStream,
    /// Where it comes from.
    pub peer: IpAddr,
    /// The port that it came to, which a bind_ack says.
    pub port: u16,
}

impl fmt::Debug for Incoming {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Incoming").field("peer", &self.peer).field("port", &self.port).finish_non_exhaustive()
    }
}

/// An RPC interface that is served, usually by the `dispatch` of a declared one.
pub trait Interface: Send + Sync {
    fn syntax_id(&self) -> SyntaxId;

    /// Executes a call and returns the stub of the response. It returns at once: its peer's other calls wait meanwhile.
    ///
    /// # Errors
    /// The fault to answer.
    fn call(&self, call: &Call<'_>) -> Result<Vec<u8>, FaultStatus>;
}

/// A call for an [`Interface`].
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    pub opnum: u16,
    pub stub: &'a [u8],
    /// How the call is protected, and which object it is for.
    pub info: CallInfo,
    /// The authenticated account of the caller, if there is one.
    pub account: Option<&'a ssp::Account>,
    /// Where the call comes from; IPv4 addresses are never mapped ones.
    pub peer: IpAddr,
}

impl<'a> Call<'a> {
    pub(crate) fn new(incoming: &'a IncomingCall, peer: IpAddr) -> Self {
        Self {
            opnum: incoming.opnum,
            stub: &incoming.stub,
            info: CallInfo { auth_level: incoming.auth_level, object: incoming.object },
            account: incoming.peer.as_deref(),
            peer,
        }
    }
}

/// Which addresses may connect. It may change its mind between two connections.
pub type AddressFilter = Arc<dyn Fn(IpAddr) -> bool + Send + Sync>;

/// Makes a security context for the service that a peer asks for, or refuses the service.
pub type Acceptor = Arc<dyn Fn(AuthService) -> Option<Box<dyn SecurityContext>> + Send + Sync>;

/// Is told which peer was refused, or had its connection ended, why, and by which error if there was one. It returns at once.
pub type RefusalObserver = Arc<dyn Fn(IpAddr, Refusal, Option<&dcerpc::Error>) + Send + Sync>;

/// How a server treats its peers.
#[derive(Clone)]
pub struct Options {
    /// Which addresses may connect: all by default. IPv4 addresses are never mapped ones.
    pub is_allowed: AddressFilter,
    /// How peers authenticate: not at all by default.
    pub acceptor: Acceptor,
    /// Is notified of refusals; does nothing by default.
    pub on_refusal: RefusalObserver,
    /// Make an observer of each association: none by default.
    pub observers: Arc<dyn Observers>,
    /// What peers may use.
    pub limits: Limits,
    /// How long they may take.
    pub deadlines: Deadlines,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            is_allowed: Arc::new(|_| true),
            acceptor: Arc::new(|_| None),
            on_refusal: Arc::new(|_, _, _| {}),
            observers: Arc::new(()),
            limits: Limits::default(),
            deadlines: Deadlines::default(),
        }
    }
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("limits", &self.limits)
            .field("deadlines", &self.deadlines)
            .finish_non_exhaustive()
    }
}

/// What the connections of a server share.
pub(crate) struct Shared {
    pub(crate) options: Options,
    interfaces: Vec<Arc<dyn Interface>>,
    groups: AssociationGroups,
    pub(crate) admission: Admission,
    pub(crate) counters: Counters,
}

impl Shared {
    pub(crate) fn new(options: Options, interfaces: Vec<Arc<dyn Interface>>) -> Self {
        Self {
            options,
            interfaces,
            groups: AssociationGroups::default(),
            admission: Admission::default(),
            counters: Counters::default(),
        }
    }

    /// An association that a peer can bind at a port.
    pub(crate) fn association(&self, peer: IpAddr, port: u16) -> ServerAssociation {
        let Limits { fragment_bytes_max, association, .. } = self.options.limits;
        let interfaces = self.interfaces.iter().map(|interface| interface.syntax_id()).collect();
        let config = ServerConfig {
            max_xmit_frag: fragment_bytes_max,
            max_recv_frag: fragment_bytes_max,
            groups: self.groups.clone(),
            client_machine: peer.to_string(),
            sec_addr: port.to_string(),
            limits: association,
            ..ServerConfig::new(interfaces)
        };
        let observer = self.options.observers.association(&AssociationInfo {
            role: Role::Server,
            transport: Transport::Tcp,
            server: "",
            endpoint: &config.sec_addr,
            peer: Some(peer),
        });
        let acceptor = Arc::clone(&self.options.acceptor);
        let mut association = ServerAssociation::new(config, move |service| acceptor(service));
        association.set_observer(observer);
        association
    }

    /// Executes a call of an interface that was bound.
    pub(crate) fn dispatch(&self, bound: &SyntaxId, call: &Call<'_>) -> Result<Vec<u8>, FaultStatus> {
        let interface = self.interfaces.iter().find(|interface| interface.syntax_id().serves(bound));
        interface.ok_or(FaultStatus::NCA_S_UNK_IF)?.call(call)
    }
}

/// What peers may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Open connections. Above it, the address with the most gives one for one with fewer.
    pub connections_max: usize,
    /// Open connections of one address.
    pub connections_per_peer_max: usize,
    /// The longest fragment that is taken. At least 1,432.
    pub fragment_bytes_max: u16,
    /// Memory for PDUs and calls that peers began and did not finish, of all connections. Above it, the
    /// address with the most ends the connection that has the most.
    pub pending_bytes_max: usize,
    /// What one connection may send.
    pub association: dcerpc::Limits,
}

impl Default for Limits {
    /// For small calls of a few hundred peers.
    fn default() -> Self {
        Self {
            connections_max: 1024,
            connections_per_peer_max: 16,
            fragment_bytes_max: 5840,
            pending_bytes_max: 64 << 20,
            association: dcerpc::Limits {
                stub_bytes_max: 4 << 20,
                fragments_max: 8192,
                contexts_max: 16,
                security_contexts_max: 4,
                calls_max: 4,
                ..dcerpc::Limits::default()
            },
        }
    }
}

/// How long peers may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deadlines {
    /// From the beginning of a connection until calls can be made: bound, and authenticated unless it needs not be.
    pub bind_max: Duration,
    /// From the first byte of a fragment to its last, and from one fragment of a call to the next.
    pub fragment_max: Duration,
    /// From the first byte of a call to its last.
    pub request_max: Duration,
    /// Until an answer is taken.
    pub answer_max: Duration,
    pub idle_max: Duration,
}

impl Default for Deadlines {
    fn default() -> Self {
        Self {
            bind_max: Duration::from_secs(10),
            fragment_max: Duration::from_secs(5),
            request_max: Duration::from_secs(30),
            answer_max: Duration::from_secs(10),
            idle_max: Duration::from_secs(600),
        }
    }
}

/// An RPC server: interfaces, and what its connections share. Clones are the same server.
#[derive(Clone)]
pub struct Server(Arc<Shared>);

impl Server {
    /// A server of these interfaces.
    #[must_use]
    pub fn new(options: Options, interfaces: Vec<Arc<dyn Interface>>) -> Self {
        Self(Arc::new(Shared::new(options, interfaces)))
    }

    /// What it did so far.
    #[must_use]
    pub fn counters(&self) -> &Counters {
        &self.0.counters
    }

    /// Serves one connection until it ends, or until `stop`: an answer that is being sent then is sent. A connection that
    /// is refused is closed at once.
    pub async fn serve(&self, incoming: Incoming, stop: impl Future<Output = ()>) {
        let Incoming { stream, peer, port } = incoming;
        let peer = peer.to_canonical();
        let permit = match self.admit(peer) {
            Ok(permit) => permit,
            Err(reason) => {
                debug!(%peer, %reason, "Connection refused");
                self.refuse(peer, reason, None);
                return;
            }
        };
        self.0.counters.count_connection();
        match Connection::new(&self.0, Incoming { stream, peer, port }, permit).serve(stop).await {
            End::Closed => {}
            End::Refused(reason, error) => self.refuse(peer, reason, error.as_ref()),
        }
    }

    fn refuse(&self, peer: IpAddr, reason: Refusal, error: Option<&dcerpc::Error>) {
        self.0.counters.count_refusal(reason);
        (self.0.options.on_refusal)(peer, reason, error);
    }

    fn admit(&self, peer: IpAddr) -> Result<Permit, Refusal> {
        if !(self.0.options.is_allowed)(peer) {
            return Err(Refusal::Address);
        }
        self.0.admission.admit(peer, &self.0.options.limits)
    }
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server").field("options", &self.0.options).finish_non_exhaustive()
    }
}

/// Pause after an accept that failed for lack of descriptors or memory.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// A [`Server`] that listens. Dropped, it closes its ports and ends all connections at once.
#[derive(Debug)]
pub struct TcpListeners {
    tasks: JoinSet<()>,
    stopping: watch::Sender<bool>,
}

impl TcpListeners {
    /// Serves on these ports.
    ///
    /// # Errors
    /// When a listener has no address.
    pub fn start(server: &Server, listeners: Vec<TcpListener>) -> io::Result<Self> {
        let (stopping, stopped) = watch::channel(false);
        let mut tasks = JoinSet::new();
        for listener in listeners {
            let address = listener.local_addr()?;
            debug!(%address, "Listening");
            tasks.spawn(listen(server.clone(), listener, address.port(), stopped.clone()));
        }
        Ok(Self { tasks, stopping })
    }

    /// Closes the ports and the connections, and waits until they are closed. An answer that is being sent is sent.
    pub async fn stop(mut self) {
        self.stopping.send_replace(true);
        while self.tasks.join_next().await.is_some() {}
    }
}

async fn listen(server: Server, listener: TcpListener, port: u16, mut stopped: watch::Receiver<bool>) {
    let mut connections = JoinSet::new();
    loop {
        let accepted = tokio::select! {
            _ = stopped.wait_for(|stopped| *stopped) => break,
            accepted = listener.accept() => accepted,
        };
        while connections.try_join_next().is_some() {}
        match accepted {
            Ok((stream, peer)) => {
                // Answers are small and awaited: Nagle's algorithm would hold each back.
                if let Err(error) = stream.set_nodelay(true) {
                    debug!(%peer, %error, "Connection lost");
                    continue;
                }
                let (server, mut stopped) = (server.clone(), stopped.clone());
                connections.spawn(async move {
                    // A sender that went stops as well.
                    let stop = async move { drop(stopped.wait_for(|stopped| *stopped).await) };
                    let stream = Box::new(stream);
                    server.serve(Incoming { stream, peer: peer.ip(), port }, stop).await;
                });
            }
            Err(error) => {
                warn!(%error, "Accept failed");
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
    drop(listener);
    while connections.join_next().await.is_some() {}
}
