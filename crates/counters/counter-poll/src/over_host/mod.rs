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

#![allow(clippy::disallowed_methods, reason = "the time of each call")]

mod session;

pub use self::session::{
    NAMES, PERFLIB_INTERFACES, PerflibSession, REGISTRY_INTERFACES, WINREG, error_of_classic,
    error_of_perflib, error_of_registry, open_registry, registered_counter_sets, registry,
};
use std::time::{Duration, SystemTime};

use dcerpc::Channel;
use host_session::rpc_client::{Error, ErrorKind, Interface, NamedPipe};
use tokio::time::Instant;
use wire::Guid;

use crate::HostChannel;

/// An interface of a session.
#[derive(Debug)]
pub struct PipeChannel<'a> {
    interface: Interface<'a, NamedPipe>,
    last_call: Option<CallTimes>,
}

/// When a call began and ended, by our wall clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallTimes {
    /// Before the request was sent.
    pub began: SystemTime,
    /// After the reply was read.
    pub ended: SystemTime,
}

impl<'a> PipeChannel<'a> {
    /// The calls of this interface, until its deadline.
    #[must_use]
    pub const fn new(interface: Interface<'a, NamedPipe>) -> Self {
        Self { interface, last_call: None }
    }

    /// The last call that was answered.
    #[must_use]
    pub const fn last_call(&self) -> Option<CallTimes> {
        self.last_call
    }
}

/// A client of PerflibV2 over a session.
pub type Client<'a> = crate::Client<PipeChannel<'a>>;

/// Why a method of PerflibV2 failed.
pub type PcqError = counters::pcq::Error<Error>;

impl Channel for PipeChannel<'_> {
    type Error = Error;

    async fn call(&mut self, opnum: u16, object: Option<Guid>, stub: &[u8]) -> Result<Vec<u8>, Error> {
        let began = SystemTime::now();
        let reply = self.interface.call(opnum, object, stub).await?;
        self.last_call = Some(CallTimes { began, ended: SystemTime::now() });
        Ok(reply)
    }
}

impl HostChannel for PipeChannel<'_> {
    fn time_left(&self) -> Duration {
        self.interface.deadline().saturating_duration_since(Instant::now())
    }

    fn slowest_answer(&self) -> Duration {
        self.interface.slowest_answer()
    }

    fn limit_calls(&mut self, call_max: Option<Duration>) {
        self.interface.limit_calls(call_max);
    }

    fn is_timeout(error: &Error) -> bool {
        error.kind() == ErrorKind::Timeout
    }

    fn concerns_one_call(error: &Error) -> bool {
        host_session::concerns_one_call(error)
    }
}
