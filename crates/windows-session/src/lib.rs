//! One Windows host: connect, log on, and ask for its performance counters.
//!
//! ```no_run
//! # async fn poll(credentials: ssp::Credentials) -> Result<(), Box<dyn std::error::Error>> {
//! use std::time::Duration;
//! use tokio::time::Instant;
//! use windows_session::{Options, Session, Stage, Target};
//!
//! let connector = transport::TcpConnector::default();
//! let deadline = Instant::now() + Duration::from_secs(10);
//! let target = Target::new("web1.corp.example.com", 445);
//! let mut session = Session::connect(target, credentials, Options::default(), &connector, deadline).await?;
//! println!("{:?} over SMB {}", session.host().names.os_version, session.host().dialect);
//!
//! let timer = session.start_stage(Stage::Query);
//! let sets = match session.perflib(deadline).enumerate_counter_set().await {
//!     Ok(sets) => sets,
//!     Err(error) => return Err(session.error(&error).into()),
//! };
//! println!("{} countersets in {:?}", sets.len(), session.stop_stage(timer).duration);
//! # Ok(()) }
//! ```
//!
//! * [`Session`] is kept between polls. A [`SessionError`] says by its [`Recovery`] what to build anew.
//! * [`Stage`] and [`Reason`] are closed lists with the words of the plugins' header, and every reason has an
//!   [`advice`](Reason::advice) for the person who reads the message.
//! * Opening the pipe starts the host's remote registry service where it is set to start by itself; [`PipeRetry`]
//!   says how long that is waited for.

mod connect;
mod error;
mod host;
mod one_call;
mod options;
mod reason;
mod session;
mod stages;

pub use ms_rrp::RegisteredCounterSets;

pub use self::connect::{LoggedOn, Reached};
pub use self::error::{Recovery, SessionError};
pub use self::host::HostInfo;
pub use self::one_call::concerns_one_call;
pub use self::options::{Options, PipeRetry, Target};
pub use self::reason::{Reason, Stage, Verdict};
pub use self::session::Session;
pub use self::stages::{StageReport, StageTimer};
