//! The calls that `counter-poll` needs, over a pipe of a session.

use std::time::{Duration, SystemTime};

use crate::HostChannel;
use dcerpc::Channel;
use host_session::rpc_client::{Error, ErrorKind, Interface, NamedPipe};
use tokio::time::Instant;
use wire::Guid;

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
