//! The performance counters of a Windows host over a [`Session`](host_session::Session): the calls that `counter-poll` needs.
//!
//! Counters of version 2 come from PerflibV2 of [MS-PCQ]; classic ones, and the list of all countersets, from the registry of
//! [MS-RRP]. Both interfaces are behind the pipe of the remote registry service, [`WINREG`], and each association has one of
//! them.
//!
//! ```no_run
//! # use host_session::{Session, SessionError};
//! # use tokio::time::Instant;
//! use counter_poll::over_host::PerflibSession as _;
//!
//! # async fn count(session: &mut Session, deadline: Instant) -> Result<usize, SessionError> {
//! // The session was opened with `WINREG` and `PERFLIB_INTERFACES`.
//! let listed = session.perflib(deadline).enumerate_counter_set().await;
//! let guids = listed.map_err(|error| session.error(&error))?;
//! # Ok(guids.len()) }
//! ```
//!
//! | module | job |
//! | --- | --- |
//! | `session` | the interfaces of a session, and errors of their methods |
//! | `channel` | the calls of `counter-poll`, over one of them |

#![allow(clippy::disallowed_methods, reason = "the time of each call")]

mod channel;
mod session;

pub use self::channel::{CallTimes, Client, PcqError, PipeChannel};
pub use self::session::{
    NAMES, PERFLIB_INTERFACES, PerflibSession, REGISTRY_INTERFACES, WINREG, error_of_classic,
    error_of_perflib, error_of_registry, open_registry, registered_counter_sets, registry,
};
