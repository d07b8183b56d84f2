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
//! * The caller chooses the [`Endpoint`], the interfaces behind it and their typed stubs. Constructors of
//!   [`SessionError`] convert the stubs' errors; [`call_error`] does for methods that return Win32 errors.
//! * [`Stage`] and [`Reason`] are closed lists with the words of the plugins' header, and every reason has an
//!   [`advice`](Reason::advice) for the person who reads the message.
//! * Opening a pipe starts a trigger-started service; [`PipeRetry`] says how long to wait for it.

mod call;
mod classify;
mod connect;
mod connecting;
mod endpoint;
mod error;
mod host;
mod mapped;
mod one_call;
mod options;
mod pinned;
mod reason;
mod recovery;
pub mod rpc_client;
mod session;
mod stages;
mod tcp;

pub use self::call::call_error;
pub use self::connect::{LoggedOn, Reached};
pub use self::endpoint::{Endpoint, TcpService};
pub use self::error::SessionError;
pub use self::host::HostInfo;
pub use self::mapped::TcpPort;
pub use self::one_call::concerns_one_call;
pub use self::options::{Options, PipeRetry, Target};
pub use self::pinned::PinnedConnector;
pub use self::reason::{Reason, Stage, Verdict};
pub use self::recovery::Recovery;
pub use self::session::Session;
pub use self::stages::{StageReport, StageTimer};
pub use self::tcp::{TcpReached, TcpSession};
