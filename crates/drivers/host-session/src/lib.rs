//! One Windows host: connect, log on, and bind any RPC interfaces.
//!
//! ```no_run
//! # async fn ask(credentials: ssp::Credentials) -> Result<(), Box<dyn std::error::Error>> {
//! # let winreg = dcerpc::SyntaxId::new(wire::Guid::from_u128(0x338cd001_2244_31f1_aaaa_900038001003), 1, 0);
//! use std::time::Duration;
//! use dcerpc::Channel as _;
//! use tokio::time::Instant;
//! use host_session::{Endpoint, Options, Reason, Session, SessionError, Stage, Target};
//!
//! let connector = transport::TcpConnector::default();
//! let deadline = Instant::now() + Duration::from_secs(10);
//! let target = Target::new("web1.corp.example.com", 445);
//! let pipe = Endpoint::NamedPipe { name: "winreg", stopped: Reason::RemoteRegistryStopped };
//! let options = Options::default();
//! let mut session =
//!     Session::connect(target, credentials, options, pipe, &[winreg], &connector, deadline).await?;
//! println!("{:?} over SMB {}", session.host().names.os_version, session.host().dialect);
//!
//! let timer = session.start_stage(Stage::Query);
//! let open_hklm = session.channel(0, deadline).call(2, None, &[0, 0, 0, 0, 0, 0, 0, 2]).await;
//! match open_hklm {
//!     Ok(stub) => println!("{} bytes in {:?}", stub.len(), session.stop_stage(timer).duration),
//!     Err(error) => return Err(SessionError::of_call(session.target(), pipe, &"open HKLM", &error).into()),
//! }
//! # Ok(()) }
//! ```
//!
//! * [`Session`] is RPC over a pipe, [`TcpSession`] over TCP. They are kept between polls. The [`Recovery`] of a [`SessionError`] says what to rebuild.
//! * Where a TCP port is not fixed, the host's endpoint mapper tells it: [`TcpPort`].
//! * The caller chooses the [`Endpoint`], the interfaces after it and their typed stubs. Constructors of
//!   [`SessionError`] convert the stubs' errors; [`call_error`] does for methods that return Win32 errors.
//! * [`Stage`] and [`Reason`] are closed lists with the words of the plugins' header, and every reason has an
//!   [`advice`](Reason::advice) for the person who reads the message.
//! * Opening a pipe starts a trigger-started service; [`PipeRetry`] says how long to wait for it.

mod classify;
mod connect;
mod connecting;
mod error;
mod errors;
mod mapped;
mod options;
mod pinned;
mod reason;
pub mod rpc_client;
mod session;
mod stages;
mod tcp;

pub use self::connect::{LoggedOn, Reached};
pub use self::error::SessionError;
pub use self::errors::{call_error, concerns_one_call};
pub use self::mapped::TcpPort;
pub use self::options::{Endpoint, Options, PipeRetry, Target, TcpService};
pub use self::pinned::PinnedConnector;
pub use self::reason::{Reason, Stage, Verdict};
pub use self::session::Session;
pub use self::stages::{StageReport, StageTimer};
pub use self::tcp::{TcpReached, TcpSession};
use ms_smb2::client::Negotiated;
use ms_smb2::{Cipher, Dialect, SigningAlgorithm};
use ssp::ServerInfo;
use wire::{FileTime, Guid};

/// What has to be opened again after an error, before another attempt can succeed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Recovery {
    /// Nothing: the error is the result.
    Nothing,
    /// Context handles: the service was restarted, dropped them, or failed.
    Handle,
    /// The pipe. See [`Session::reopen`](crate::Session::reopen).
    Pipe,
    /// The connection, also after access was denied: new rights take effect at the next logon. See
    /// [`Session::connect`](crate::Session::connect).
    Connection,
}

impl Recovery {
    /// The next larger step, if an attempt after this one failed again.
    #[must_use]
    pub const fn next(self) -> Self {
        match self {
            Self::Nothing => Self::Handle,
            Self::Handle => Self::Pipe,
            Self::Pipe | Self::Connection => Self::Connection,
        }
    }
}

/// What a host reported about itself while connecting. The names are not verified.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostInfo {
    /// The SMB dialect in use.
    pub dialect: Dialect,
    /// How SMB encrypts, where it does.
    pub cipher: Option<Cipher>,
    /// Whether SMB encrypts; the calls inside are sealed either way.
    pub is_encrypted: bool,
    /// How SMB signs what it does not encrypt.
    pub signing: SigningAlgorithm,
    /// The SMB server's identity; another one under the same name means another machine.
    pub server_guid: Guid,
    /// The host's clock when it answered.
    pub system_time: FileTime,
    /// Names and version of the operating system.
    pub names: ServerInfo,
}

impl HostInfo {
    pub(crate) fn new(negotiated: &Negotiated, is_encrypted: bool, names: ServerInfo) -> Self {
        Self {
            dialect: negotiated.dialect,
            cipher: negotiated.cipher,
            is_encrypted,
            signing: negotiated.signing,
            server_guid: negotiated.server_guid,
            system_time: negotiated.system_time,
            names,
        }
    }
}
