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
mod kind;
mod pipe;
mod read_ahead;
mod smb;
mod tcp;
mod usability;

pub use self::association::{Association, Interface, Security};
pub use self::error::{Error, ErrorKind, Operation, Stage};
pub use self::pipe::{NamedPipe, Transport};
pub use self::smb::{SharedSmbConnection, SmbConnection, SmbOptions};
pub use self::tcp::TcpTransport;
