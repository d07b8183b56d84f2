//! An RPC association with a subscriber, driven inline.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use dcerpc::client::{CallRequest, ClientAssociation, ClientConfig, Event};
use dcerpc::{AssociationInfo, ContextId, FaultStatus, Observers, Role, SyntaxId, Transport};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream, lookup_host};
use wire::{DecodeError, EncodeError, Guid, HResult, Win32Error};

use super::security;
use crate::host::WindowsHost;
use crate::service::RpcCounts;

/// Why a subscriber was not called.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CallError {
    /// The reference leads nowhere.
    #[error("the reference cannot be followed: {0}")]
    Reference(&'static str),
    #[error("connect to {address}: {source}")]
    Connect { address: String, source: io::Error },
    #[error("stream: {0}")]
    Stream(#[from] io::Error),
    /// The association failed, or an interface was refused.
    #[error("association: {0}")]
    Rpc(#[from] dcerpc::Error),
    /// A call was answered by a fault.
    #[error("{0}")]
    Fault(FaultStatus),
    #[error("resolver: {0}")]
    Resolver(Win32Error),
    #[error("object: {0}")]
    Object(HResult),
    /// An answer is no answer.
    #[error("answer: {0}")]
    Answer(#[from] rpc::ndr::Error),
    /// An answer has wrong contents.
    #[error("answer: {0}")]
    Contents(#[from] DecodeError),
    /// A request cannot be written.
    #[error("request: {0}")]
    Request(#[from] EncodeError),
    /// It took too long.
    #[error("no answer in time")]
    Timeout,
}

/// The RPC run time of the program that calls.
pub(super) struct RunTime {
    /// Calls come from the address of its objects: several hosts may be on one machine.
    pub(super) host: Arc<WindowsHost>,
    /// Another address that they come from.
    pub(super) from: Option<IpAddr>,
    /// What is sent and received is added to this.
    pub(super) counts: Arc<RpcCounts>,
    pub(super) observers: Arc<dyn Observers>,
}

/// A connection, with the security that the host chooses.
pub(super) struct Caller {
    stream: TcpStream,
    rpc: ClientAssociation,
    counts: Arc<RpcCounts>,
}

impl Caller {
    /// Connects and binds an interface, which is context 0.
    pub(super) async fn connect(
        host: &str,
        port: u16,
        interface: SyntaxId,
        run_time: &RunTime,
    ) -> Result<Self, CallError> {
        let own = || run_time.host.state().exporter_address().map(|address| address.ip());
        let from = run_time.from.or_else(own);
        let connected = connect_from(from, host, port).await.and_then(|stream| {
            stream.set_nodelay(true)?;
            Ok(stream)
        });
        let address = || format!("{host}:{port}");
        let stream = connected.map_err(|source| CallError::Connect { address: address(), source })?;
        let (auth, context) = security::begin(run_time.host.behaviour().choices.com_plus.call_back_security);
        let mut rpc = ClientAssociation::new(ClientConfig { auth, ..ClientConfig::default() }, context)?;
        rpc.set_observer(run_time.observers.association(&AssociationInfo {
            role: Role::Client,
            transport: Transport::Tcp,
            server: host,
            endpoint: &port.to_string(),
            peer: stream.peer_addr().ok().map(|peer| peer.ip()),
        }));
        let mut caller = Self { stream, rpc, counts: Arc::clone(&run_time.counts) };
        caller.rpc.bind(&[interface])?;
        caller.event().await?;
        Ok(caller)
    }

    /// Binds a further interface.
    pub(super) async fn add(&mut self, interface: SyntaxId) -> Result<ContextId, CallError> {
        let context_id = self.rpc.alter_context(interface)?;
        match self.event().await? {
            Event::Altered { context } => match context.outcome {
                Ok(()) => Ok(context_id),
                Err((result, reason)) => {
                    Err(dcerpc::Error::ContextRefused { interface, result, reason }.into())
                }
            },
            _ => Err(CallError::Reference("the subscriber answers something else")),
        }
    }

    /// Makes a call, and returns the stub of its response.
    pub(super) async fn call(
        &mut self,
        context_id: ContextId,
        opnum: u16,
        object: Option<Guid>,
        stub: &[u8],
    ) -> Result<Vec<u8>, CallError> {
        self.rpc.call(CallRequest { context_id, opnum, object, stub })?;
        self.counts.call_sent();
        match self.event().await? {
            Event::Response { stub, .. } => Ok(stub),
            Event::Fault { status, .. } => Err(CallError::Fault(status)),
            _ => Err(CallError::Reference("the subscriber answers something else")),
        }
    }

    async fn event(&mut self) -> Result<Event, CallError> {
        let mut buffer = [0; 8192];
        loop {
            while let Some(pdu) = self.rpc.poll_transmit() {
                self.stream.write_all(&pdu.bytes).await?;
                self.counts.packets_sent(1);
            }
            if let Some(event) = self.rpc.poll_event() {
                return Ok(event);
            }
            let count = self.stream.read(&mut buffer).await?;
            if count == 0 {
                return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
            }
            let received_before = self.rpc.received_pdus();
            let handled = self.rpc.handle_bytes(&buffer[..count]);
            self.counts.packets_received(self.rpc.received_pdus() - received_before);
            handled?;
        }
    }
}

/// Connects to the first address of a host that answers, from this address where both are of one kind.
async fn connect_from(from: Option<IpAddr>, host: &str, port: u16) -> io::Result<TcpStream> {
    let mut failed = io::Error::from(io::ErrorKind::AddrNotAvailable);
    for address in lookup_host((host, port)).await? {
        let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
        let own = from.filter(|ip| ip.is_ipv4() == address.is_ipv4() && !ip.is_unspecified());
        if let Some(ip) = own {
            socket.bind(SocketAddr::new(ip, 0))?;
        }
        match socket.connect(address).await {
            Ok(stream) => return Ok(stream),
            Err(error) => failed = error,
        }
    }
    Err(failed)
}
