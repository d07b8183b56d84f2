//! The calls that `counter-poll` needs, over a session's pipe.

use std::time::Duration;

use counter_poll::HostChannel;
use dcerpc::Channel;
use ms_dtyp::Guid;
use rpc_client::{Error, ErrorKind, Interface, NamedPipe};
use tokio::time::Instant;

/// An interface of a session.
pub(crate) struct PipeChannel<'a>(Interface<'a, NamedPipe>);

/// A client of PerflibV2 over a session.
pub(crate) type Client<'a> = counter_poll::Client<PipeChannel<'a>>;

/// Why a method of PerflibV2 failed.
pub(crate) type PcqError = ms_pcq::Error<Error>;

impl<'a> PipeChannel<'a> {
    pub(crate) const fn new(interface: Interface<'a, NamedPipe>) -> Self {
        Self(interface)
    }
}

impl Channel for PipeChannel<'_> {
    type Error = Error;

    async fn call(&mut self, opnum: u16, object: Option<Guid>, stub: &[u8]) -> Result<Vec<u8>, Error> {
        self.0.call(opnum, object, stub).await
    }
}

impl HostChannel for PipeChannel<'_> {
    fn time_left(&self) -> Duration {
        self.0.deadline().saturating_duration_since(Instant::now())
    }

    fn slowest_answer(&self) -> Duration {
        self.0.slowest_answer()
    }

    fn limit_calls(&mut self, call_max: Option<Duration>) {
        self.0.limit_calls(call_max);
    }

    fn is_timeout(error: &Error) -> bool {
        error.kind() == ErrorKind::Timeout
    }

    fn concerns_one_call(error: &Error) -> bool {
        host_session::concerns_one_call(error)
    }
}
