use core::fmt;
use std::io;
use std::sync::Arc;

use ms_smb2::client::{ClientConnection, Event, FileId, Negotiated, Reply, RequestId, TreeId};
use ssp::{Credentials, Peer};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::Mutex;
use tokio::time::{Instant, timeout_at};
use tracing::{debug, trace};
use transport::BoxStream;

use crate::smb::SmbOptions;
use crate::{Error, Operation};

/// A connection that several pipes use, one after the other.
pub type SharedSmbConnection = Arc<Mutex<SmbConnection>>;

/// One TCP connection to an SMB server, and our session on it.
///
/// Call [`negotiate`](Self::negotiate), [`authenticate`](Self::authenticate), [`connect_ipc`](Self::connect_ipc),
/// then [`NamedPipe::open`](crate::NamedPipe::open) as often as wanted. Nothing runs in the background: bytes
/// move while one of these is awaited, and each ends by its deadline.
///
/// A call that is dropped half-way, or that reaches its deadline, leaves the connection usable: what was begun to
/// be written is finished by the next call, the request is cancelled, and its late answer is thrown away. Only an
/// abandoned authentication, a broken stream, or a peer that breaks the protocol ends the connection;
/// [`is_usable`](Self::is_usable) tells.
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
    stream: BoxStream,
    /// A frame that is being written, and how much of it has been.
    outgoing: Vec<u8>,
    outgoing_sent: usize,
    incoming: Box<[u8]>,
    /// The request whose answer is awaited; still set when the next one begins if nobody awaits it any longer.
    awaited: Option<RequestId>,
    requests: u64,
}

/// INVARIANT: `Authenticating` is left only by the authentication that set it, so that one that was dropped
/// half-way is seen by whatever comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Negotiating,
    Negotiated,
    Authenticating,
    Ready,
    Broken,
}

impl SmbConnection {
    /// Agrees on a dialect with the server `server_name` at the other end of `stream`.
    ///
    /// # Errors
    /// When the server speaks SMB1 only, or shares no dialect or cipher with us.
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
            incoming: vec![0; READ_BYTES].into(),
            awaited: None,
            requests: 1,
        };
        match timeout_at(deadline, connection.event(operation)).await {
            Err(_) => Err(Error::Timeout { operation }),
            Ok(Err(error)) => Err(error),
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

    /// Connects the tree of pipes, `IPC$`.
    ///
    /// # Errors
    /// When the server refuses, or the connection fails.
    pub async fn connect_ipc(&mut self, deadline: Instant) -> Result<(), Error> {
        let operation = Operation::ConnectTree;
        let unc = format!(r"\\{}\IPC$", self.server_name);
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

    /// Asks the server for a sign of life, which also keeps the connection from being taken for idle.
    ///
    /// # Errors
    /// When none comes in time.
    pub async fn echo(&mut self, deadline: Instant) -> Result<(), Error> {
        match self.request(Operation::Echo, deadline, ClientConnection::echo).await? {
            Reply::Echoed => Ok(()),
            _ => Err(unexpected(Operation::Echo)),
        }
    }

    /// Ends the session politely. The connection takes no more calls.
    ///
    /// # Errors
    /// When the server does not confirm in time.
    pub async fn log_off(&mut self, deadline: Instant) -> Result<(), Error> {
        let outcome = self.request(Operation::LogOff, deadline, ClientConnection::logoff).await;
        self.state = State::Broken;
        outcome.map(|_| ())
    }

    /// Makes one request and awaits its answer, authenticating again where the session has expired meanwhile.
    pub(crate) async fn request(
        &mut self,
        operation: Operation,
        deadline: Instant,
        issue: impl Fn(&mut ClientConnection) -> Result<RequestId, ms_smb2::Error> + Send,
    ) -> Result<Reply, Error> {
        self.forget_abandoned(operation)?;
        match timeout_at(deadline, self.converse(operation, issue)).await {
            Ok(outcome) => outcome,
            Err(_) => {
                self.cancel_now(operation).await;
                Err(Error::Timeout { operation })
            }
        }
    }

    async fn converse(
        &mut self,
        operation: Operation,
        issue: impl Fn(&mut ClientConnection) -> Result<RequestId, ms_smb2::Error> + Send,
    ) -> Result<Reply, Error> {
        let mut repeated = 0;
        let mut request = self.issue(operation, &issue)?;
        loop {
            match self.event(operation).await? {
                Event::Completed { request: answered, result } if answered == request => {
                    self.awaited = None;
                    return result.map_err(|status| Error::Status { operation, status });
                }
                Event::SessionExpired { request: refused } if refused == request => {
                    self.awaited = None;
                    repeated += 1;
                    if repeated > self.options.reauthentications_max {
                        return Err(Error::Protocol {
                            operation,
                            reason: "the session expires again and again",
                        });
                    }
                    debug!(%operation, "Session expired, authenticating again");
                    self.exchange_tokens().await?;
                    request = self.issue(operation, &issue)?;
                }
                other => trace!(?other, "Late or interim answer passed over"),
            }
        }
    }

    fn issue(
        &mut self,
        operation: Operation,
        issue: &impl Fn(&mut ClientConnection) -> Result<RequestId, ms_smb2::Error>,
    ) -> Result<RequestId, Error> {
        let request = issue(&mut self.smb).map_err(|source| Error::Smb { operation, source })?;
        self.awaited = Some(request);
        self.requests += 1;
        Ok(request)
    }

    /// Looks at what the last call left behind.
    fn forget_abandoned(&mut self, operation: Operation) -> Result<(), Error> {
        if self.state != State::Ready {
            return Err(Error::Abandoned { operation, what: "the connection" });
        }
        if let Some(request) = self.awaited.take()
            && let Err(error) = self.smb.cancel(request)
        {
            debug!(%error, "Abandoned request was not cancelled");
        }
        Ok(())
    }

    /// Cancels what is awaited, and writes as much of the cancellation as the stream takes without waiting.
    async fn cancel_now(&mut self, operation: Operation) {
        if self.forget_abandoned(operation).is_ok() {
            // A deadline in the past polls once.
            let _written_later = timeout_at(Instant::now(), self.flush()).await;
        }
    }

    /// The next event: writes what waits to be written, then reads until something happens.
    pub(super) async fn event(&mut self, operation: Operation) -> Result<Event, Error> {
        let outcome = self.next_event(operation).await;
        if outcome.is_err() {
            self.state = State::Broken;
        }
        outcome
    }

    async fn next_event(&mut self, operation: Operation) -> Result<Event, Error> {
        loop {
            let stream_failed = |source| Error::Stream { operation, source };
            self.flush().await.map_err(stream_failed)?;
            if let Some(event) = self.smb.poll_event() {
                return Ok(event);
            }
            let len = self.stream.read(&mut self.incoming).await.map_err(stream_failed)?;
            let smb_failed = |source| Error::Smb { operation, source };
            if len == 0 {
                return Err(smb_failed(self.smb.handle_eof()));
            }
            self.smb.handle_bytes(&self.incoming[..len]).map_err(smb_failed)?;
        }
    }

    /// Writes every frame that waits, each in one piece. May be dropped and called again.
    async fn flush(&mut self) -> io::Result<()> {
        loop {
            while self.outgoing_sent < self.outgoing.len() {
                let len = self.stream.write(&self.outgoing[self.outgoing_sent..]).await?;
                if len == 0 {
                    return Err(io::ErrorKind::WriteZero.into());
                }
                self.outgoing_sent += len;
            }
            self.outgoing_sent = 0;
            self.outgoing.clear();
            match self.smb.poll_transmit() {
                Some(frame) => self.outgoing = frame,
                None => return self.stream.flush().await,
            }
        }
    }

    /// Whether another call can succeed.
    #[must_use]
    pub fn is_usable(&self) -> bool {
        self.state == State::Ready
    }

    /// Whether messages are encrypted by SMB (the RPC inside is sealed by itself).
    #[must_use]
    pub fn is_encrypted(&self) -> bool {
        self.smb.is_encrypted()
    }

    /// What was agreed upon, and who the server says it is.
    #[must_use]
    pub const fn negotiated(&self) -> Option<&Negotiated> {
        self.negotiated.as_ref()
    }

    /// What the server's security context told.
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

/// What one read of the stream takes at most.
const READ_BYTES: usize = 64 * 1024;
