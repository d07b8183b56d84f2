use core::fmt;
use std::borrow::Cow;
use std::net::Ipv6Addr;
use std::sync::Arc;

use ms_smb2::client::{ClientConnection, Encryption, Event, FileId, Negotiated, Reply, TreeId};
use ssp::{Credentials, Peer};
use tokio::sync::Mutex;
use tokio::time::{Instant, timeout_at};
use tracing::debug;
use transport::BoxStream;
use wire::NtStatus;

use crate::rpc_client::smb::SmbOptions;
use crate::rpc_client::smb::{Awaited, PipeRead};
use crate::rpc_client::{Error, ErrorKind, Operation};

/// A connection that several pipes use, one after the other.
pub type SharedSmbConnection = Arc<Mutex<SmbConnection>>;

/// One TCP connection to an SMB server, and our session on it.
///
/// Call [`negotiate`](Self::negotiate), [`authenticate`](Self::authenticate), [`connect_ipc`](Self::connect_ipc),
/// then [`NamedPipe::open`](crate::rpc_client::NamedPipe::open) as often as wanted. Nothing runs in the background: bytes
/// move while one of these is awaited, and each ends by its deadline.
///
/// After a call that is dropped or reaches its deadline the connection stays usable: the next call finishes a
/// partial write, the request is cancelled, and its late answer is dropped. Only an abandoned authentication, a
/// broken stream, or a peer that violates the protocol ends the connection; see [`is_usable`](Self::is_usable).
pub struct SmbConnection {
    pub(super) smb: ClientConnection,
    pub(super) state: State,
    pub(super) options: SmbOptions,
    pub(super) target_name: String,
    pub(super) credentials: Option<Credentials>,
    pub(super) peer: Peer,
    server_name: String,
    negotiated: Option<Negotiated>,
    ipc: Option<TreeId>,
    pub(super) stream: BoxStream,
    /// A frame that is being written, and the number of written bytes.
    pub(super) outgoing: Vec<u8>,
    pub(super) outgoing_sent: usize,
    /// The awaited answer; still set when the next call begins if the last one was abandoned.
    pub(super) awaited: Option<Awaited>,
    /// READs whose results were not read, in the order in which they were sent.
    pub(super) reads: Vec<PipeRead>,
    pub(super) dropped_pipes: DroppedPipes,
    pub(super) requests: u64,
}

/// Dropped pipes, which the next call closes at the server.
pub(crate) type DroppedPipes = Arc<parking_lot::Mutex<Vec<FileId>>>;

/// INVARIANT: only the authentication that set `Authenticating` ends it, so later calls detect one that was
/// dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Negotiating,
    Negotiated,
    Authenticating,
    Ready,
    /// By an error of this kind.
    Broken(ErrorKind),
}

impl SmbConnection {
    /// Agrees on a dialect with the server `server_name` at the other end of `stream`.
    ///
    /// # Errors If the server speaks only SMB1, or has no dialect or cipher in common with us.
    pub async fn negotiate(
        stream: BoxStream,
        server_name: &str,
        options: SmbOptions,
        deadline: Instant,
    ) -> Result<Self, Error> {
        let operation = Operation::Negotiate;
        let smb = ClientConnection::new(options.client_config(server_name))
            .map_err(|source| Error::Smb { operation, source })?;
        let mut connection = Self {
            smb,
            state: State::Negotiating,
            options,
            target_name: format!("cifs/{server_name}"),
            credentials: None,
            peer: Peer::default(),
            server_name: server_name.to_owned(),
            negotiated: None,
            ipc: None,
            stream,
            outgoing: Vec::new(),
            outgoing_sent: 0,
            awaited: None,
            reads: Vec::new(),
            dropped_pipes: DroppedPipes::default(),
            requests: 1,
        };
        match timeout_at(deadline, connection.event(operation)).await {
            Err(_) => Err(Error::Timeout { operation }),
            Ok(Err(error)) => Err(connection.without_dialect(error)),
            Ok(Ok(Event::Negotiated(negotiated))) => {
                let Negotiated { dialect, cipher, signing, .. } = &negotiated;
                debug!(server_name, %dialect, ?cipher, %signing, "Dialect negotiated");
                connection.negotiated = Some(negotiated);
                connection.state = State::Negotiated;
                Ok(connection)
            }
            Ok(Ok(_)) => {
                Err(Error::Protocol { operation, reason: "the first answer is not the negotiation's" })
            }
        }
    }

    /// If encryption is required, only dialects with encryption are offered; a server without any of them reports
    /// that ([MS-SMB2] 3.3.5.4).
    fn without_dialect(&self, error: Error) -> Error {
        let refused = ms_smb2::Error::NegotiationRefused { status: NtStatus::STATUS_NOT_SUPPORTED };
        match error {
            Error::Smb { operation, source }
                if source == refused && self.options.encryption == Encryption::Required =>
            {
                Error::Smb { operation, source: ms_smb2::Error::EncryptionUnavailable }
            }
            other => other,
        }
    }

    /// Connects the tree of pipes, `IPC$`.
    ///
    /// # Errors If the server refuses, or the connection fails.
    pub async fn connect_ipc(&mut self, deadline: Instant) -> Result<(), Error> {
        let operation = Operation::ConnectTree;
        let unc = format!(r"\\{}\IPC$", unc_host(&self.server_name));
        match self.request(operation, deadline, |smb| smb.tree_connect(&unc)).await? {
            Reply::TreeConnected(tree) => {
                self.ipc = Some(tree);
                Ok(())
            }
            _ => Err(unexpected(operation)),
        }
    }

    pub(crate) async fn create_pipe(&mut self, name: &str, deadline: Instant) -> Result<FileId, Error> {
        let operation = Operation::OpenPipe;
        let tree = self.ipc.ok_or(Error::Protocol { operation, reason: "IPC$ is not connected" })?;
        match self.request(operation, deadline, |smb| smb.create_pipe(tree, name)).await? {
            Reply::Created(file) => Ok(file),
            _ => Err(unexpected(operation)),
        }
    }

    /// Sends an ECHO, which also keeps the server from closing an idle connection.
    ///
    /// # Errors
    /// If no answer comes in time.
    pub async fn echo(&mut self, deadline: Instant) -> Result<(), Error> {
        match self.request(Operation::Echo, deadline, ClientConnection::echo).await? {
            Reply::Echoed => Ok(()),
            _ => Err(unexpected(Operation::Echo)),
        }
    }

    /// Logs off. The connection takes no more calls.
    ///
    /// # Errors If the server does not confirm in time.
    pub async fn log_off(&mut self, deadline: Instant) -> Result<(), Error> {
        let outcome = self.request(Operation::LogOff, deadline, ClientConnection::logoff).await;
        self.state = State::Broken(ErrorKind::ConnectionLost);
        outcome.map(|_| ())
    }

    /// Why it takes no requests.
    pub(super) const fn unusable(&self, operation: Operation) -> Error {
        let what = "the connection";
        match self.state {
            State::Broken(by) => Error::Ended { operation, what, by },
            _ => Error::Abandoned { operation, what },
        }
    }

    pub(crate) fn dropped_pipes(&self) -> DroppedPipes {
        Arc::clone(&self.dropped_pipes)
    }

    /// Whether another call can succeed.
    #[must_use]
    pub fn is_usable(&self) -> bool {
        self.state == State::Ready
    }

    /// Whether SMB encrypts messages (RPC seals its own).
    #[must_use]
    pub fn is_encrypted(&self) -> bool {
        self.smb.is_encrypted()
    }

    /// The negotiated dialect and the server's GUID.
    #[must_use]
    pub const fn negotiated(&self) -> Option<&Negotiated> {
        self.negotiated.as_ref()
    }

    /// What the server's security context reported.
    #[must_use]
    pub const fn peer(&self) -> &Peer {
        &self.peer
    }

    /// SMB requests made so far. For bytes, wrap the stream in [`transport::Counted`].
    #[must_use]
    pub const fn requests(&self) -> u64 {
        self.requests
    }

    pub(super) const fn count_request(&mut self) {
        self.requests += 1;
    }
}

impl fmt::Debug for SmbConnection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SmbConnection")
            .field("server_name", &self.server_name)
            .field("state", &self.state)
            .field("credentials", &self.credentials)
            .field("requests", &self.requests)
            .finish_non_exhaustive()
    }
}

pub(crate) const fn unexpected(operation: Operation) -> Error {
    Error::Protocol { operation, reason: "the answer belongs to another kind of request" }
}

/// A host as in a UNC path. An IPv6 address cannot be part of one, because it has colons. Windows instead uses a
/// name that it resolves to the address without a name server.
fn unc_host(host: &str) -> Cow<'_, str> {
    let (address, zone) = host.split_once('%').map_or((host, None), |(address, zone)| (address, Some(zone)));
    if address.parse::<Ipv6Addr>().is_err() {
        return Cow::Borrowed(host);
    }
    let zone = zone.map(|zone| format!("s{zone}")).unwrap_or_default();
    Cow::Owned(format!("{}{zone}.ipv6-literal.net", address.replace(':', "-")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_of_ipv6_is_written_without_colons_in_a_unc_path() {
        for (host, expected) in [
            ("web1", "web1"),
            ("192.0.2.7", "192.0.2.7"),
            ("2001:db8::ff00:42:8329", "2001-db8--ff00-42-8329.ipv6-literal.net"),
            ("fe80::1%4", "fe80--1s4.ipv6-literal.net"),
        ] {
            assert_eq!(unc_host(host), expected);
        }
    }
}
