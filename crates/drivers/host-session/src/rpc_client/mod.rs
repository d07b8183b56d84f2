//! SMB named pipes and RPC associations, driven by their callers.
//!
//! The state machines of `ms-smb2` and `dcerpc` do no input or output; this crate connects them to a stream and a
//! clock. There are no background tasks: bytes move while a call is awaited, and every call ends by the deadline
//! that it is given.
//!
//! ```no_run
//! # async fn version(stream: transport::BoxStream, credentials: ssp::Credentials) -> Result<(), host_session::rpc_client::Error> {
//! # let winreg = dcerpc::SyntaxId::new(wire::Guid::from_u128(0x338cd001_2244_31f1_aaaa_900038001003), 1, 0);
//! use std::sync::Arc;
//! use std::time::Duration;
//! use dcerpc::client::{CallRequest, ClientConfig};
//! use host_session::rpc_client::{Association, NamedPipe, Security, SmbConnection, SmbOptions};
//! use tokio::sync::Mutex;
//! use tokio::time::Instant;
//!
//! let deadline = Instant::now() + Duration::from_secs(10);
//! let mut smb = SmbConnection::negotiate(stream, "web1", SmbOptions::default(), deadline).await?;
//! smb.authenticate(credentials.clone(), deadline).await?;
//! smb.connect_ipc(deadline).await?;
//! let pipe = NamedPipe::open(&Arc::new(Mutex::new(smb)), "winreg", deadline).await?;
//! let sealed = Security::sealed(credentials, "cifs/web1");
//! let mut association =
//!     Association::bind(pipe, &[winreg], Some(&sealed), ClientConfig::default(), deadline).await?;
//! let open_hklm = CallRequest { context_id: 0, opnum: 2, object: None, stub: &[0, 0, 0, 0, 0, 0, 0, 2] };
//! let _response = association.call(open_hklm, deadline).await?;
//! # Ok(()) }
//! ```
//!
//! * [`SmbConnection`]: negotiation, session, tree; authenticates again when the session expires. Abandoned
//!   requests are cancelled and their late answers dropped, so that the connection stays in step.
//! * [`NamedPipe`] and [`TcpTransport`]: the transports of an association.
//! * [`Association`]: bind, calls, and [`Association::channel`] for the typed stubs of an interface.
//!
//! Every [`Error`] has its operation ([`Error::operation`], [`Error::stage`]) and a kind from a closed list
//! ([`Error::kind`]).

mod association;
mod error;
mod logon;
mod pipe;
mod read_ahead;
mod smb;

use core::fmt;
use std::io;

use tokio::io::AsyncWriteExt;
use tokio::time::{Instant, timeout_at};
use transport::{BoxStream, read_once};
use wire::NtStatus;

pub use self::association::{Association, Interface, Security};
pub use self::error::{Error, ErrorKind, Operation, Stage};
pub use self::pipe::{NamedPipe, Transport};
pub use self::smb::{SharedSmbConnection, SmbConnection, SmbOptions};

// What ends a connection, a pipe or an association, and which error later operations over it get.

/// Whether a connection, a pipe or an association takes another operation.
///
/// INVARIANT: `Busy` from the beginning of an operation until its answer is complete, so that the next one detects one that
/// was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Usability {
    Free,
    Busy,
    /// It failed by an error of this kind, which stays the reason: nothing that is tried afterwards says more.
    Ended(ErrorKind),
}

impl Usability {
    const fn is_free(self) -> bool {
        matches!(self, Self::Free)
    }

    fn begin(&mut self, operation: Operation, what: &'static str) -> Result<(), Error> {
        match *self {
            Self::Free => {
                *self = Self::Busy;
                Ok(())
            }
            Self::Busy => Err(Error::Abandoned { operation, what }),
            Self::Ended(by) => Err(Error::Ended { operation, what, by }),
        }
    }

    /// The end of an operation that began, if what it used has not ended meanwhile.
    fn end<T>(&mut self, outcome: Result<T, Error>) -> Result<T, Error> {
        match &outcome {
            Ok(_) if *self == Self::Busy => *self = Self::Free,
            Ok(_) => {}
            Err(error) => *self = Self::Ended(error.kind()),
        }
        outcome
    }
}

impl Error {
    /// The kind of the error.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Timeout { .. } => ErrorKind::Timeout,
            Self::Stream { .. } => ErrorKind::ConnectionLost,
            // The server has forgotten the session, or its tree: nothing works on this connection any more.
            Self::Status {
                status: NtStatus::STATUS_USER_SESSION_DELETED | NtStatus::STATUS_NETWORK_NAME_DELETED,
                ..
            } => ErrorKind::ConnectionLost,
            Self::Status { status, .. } => ErrorKind::Refused(*status),
            Self::Fault { status, .. } => ErrorKind::Fault(*status),
            Self::Security { .. } => ErrorKind::Security,
            Self::Protocol { .. } => ErrorKind::Protocol,
            Self::Abandoned { .. } => ErrorKind::Abandoned,
            Self::Ended { by, .. } => *by,
            Self::Smb { source, .. } => of_smb(source),
            Self::Rpc { source, .. } => of_rpc(source),
        }
    }
}

const fn of_smb(error: &ms_smb2::Error) -> ErrorKind {
    use ms_smb2::Error as Smb;
    match error {
        Smb::Decode(_) | Smb::FrameSize { .. } => ErrorKind::Malformed,
        Smb::Smb1Only { .. }
        | Smb::DialectRefused { .. }
        | Smb::NegotiationRefused { status: NtStatus::STATUS_NOT_SUPPORTED } => ErrorKind::Smb1Only,
        Smb::NegotiationRefused { status } => ErrorKind::Refused(*status),
        Smb::EncryptionUnavailable | Smb::EncryptionDisabled => ErrorKind::Encryption,
        Smb::SignatureMissing | Smb::SignatureInvalid | Smb::Guest => ErrorKind::Signing,
        Smb::Downgrade { .. } | Smb::EncryptionMissing | Smb::DecryptionFailed => ErrorKind::Downgrade,
        Smb::SessionDeleted | Smb::Forgotten { .. } | Smb::Closed => ErrorKind::ConnectionLost,
        Smb::Limit { .. } | Smb::CreditsExhausted => ErrorKind::Limit,
        Smb::UnknownMessageId { .. } | Smb::WrongSession { .. } | Smb::Protocol { .. } => ErrorKind::Protocol,
        Smb::Encode(_) | Smb::InvalidState { .. } => ErrorKind::Internal,
        _ => ErrorKind::Internal,
    }
}

const fn of_rpc(error: &dcerpc::Error) -> ErrorKind {
    use dcerpc::Error as Rpc;
    match error {
        Rpc::Decode(_) => ErrorKind::Malformed,
        Rpc::BindRefused { .. } => ErrorKind::BindRefused,
        Rpc::ContextRefused { .. } => ErrorKind::InterfaceRefused,
        Rpc::BindFault { status, .. } => ErrorKind::Fault(*status),
        Rpc::LimitExceeded { .. } => ErrorKind::Limit,
        Rpc::Security { .. } | Rpc::AuthenticationIncomplete { .. } => ErrorKind::Security,
        Rpc::LevelDowngrade { .. } | Rpc::WrongSecurityContext => ErrorKind::Downgrade,
        Rpc::UnexpectedPdu { .. }
        | Rpc::WrongCallId { .. }
        | Rpc::WrongContext { .. }
        | Rpc::FragmentOrder { .. } => ErrorKind::Protocol,
        Rpc::Failed => ErrorKind::Abandoned,
        _ => ErrorKind::Internal,
    }
}

const STREAM: &str = "the stream";

/// RPC directly over a stream, `ncacn_ip_tcp`.
pub struct TcpTransport {
    stream: BoxStream,
    usability: Usability,
}

impl TcpTransport {
    /// A transport over a stream to an RPC server.
    #[must_use]
    pub fn new(stream: BoxStream) -> Self {
        Self { stream, usability: Usability::Free }
    }

    async fn write(&mut self, pdu: &[u8]) -> io::Result<()> {
        self.stream.write_all(pdu).await?;
        self.stream.flush().await
    }

    async fn read(&mut self) -> io::Result<Vec<u8>> {
        let bytes = read_once(&mut self.stream, <[u8]>::to_vec).await?;
        if bytes.is_empty() { Err(io::ErrorKind::UnexpectedEof.into()) } else { Ok(bytes) }
    }

    fn end<T>(
        &mut self,
        operation: Operation,
        outcome: Result<io::Result<T>, tokio::time::error::Elapsed>,
    ) -> Result<T, Error> {
        self.usability.end(match outcome {
            Err(_) => Err(Error::Timeout { operation }),
            Ok(Err(source)) => Err(Error::Stream { operation, source }),
            Ok(Ok(done)) => Ok(done),
        })
    }
}

impl Transport for TcpTransport {
    async fn send(&mut self, pdu: &[u8], operation: Operation, deadline: Instant) -> Result<(), Error> {
        self.usability.begin(operation, STREAM)?;
        let outcome = timeout_at(deadline, self.write(pdu)).await;
        self.end(operation, outcome)
    }

    async fn receive(&mut self, operation: Operation, deadline: Instant) -> Result<Vec<u8>, Error> {
        self.usability.begin(operation, STREAM)?;
        let outcome = timeout_at(deadline, self.read()).await;
        self.end(operation, outcome)
    }
}

impl fmt::Debug for TcpTransport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TcpTransport").field("usability", &self.usability).finish_non_exhaustive()
    }
}
