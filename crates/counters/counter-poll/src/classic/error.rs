use std::error::Error as StdError;

use wire::DecodeError;

use crate::channel::HostChannel;

/// Why there are no values of classic objects.
#[derive(Debug)]
pub enum ClassicError<E: StdError + 'static> {
    /// A call failed.
    Call(counters::rrp::Error<E>),
    /// A reply is no performance data.
    Malformed(DecodeError),
}

impl<E: StdError + 'static> From<counters::rrp::Error<E>> for ClassicError<E> {
    fn from(error: counters::rrp::Error<E>) -> Self {
        Self::Call(error)
    }
}

impl<E: StdError + 'static> ClassicError<E> {
    /// Whether a call got no answer in time over `C`.
    pub fn is_timeout<C: HostChannel<Error = E>>(&self) -> bool {
        matches!(self, Self::Call(counters::rrp::Error::Rpc(rpc::Error::Call { source, .. })) if C::is_timeout(source))
    }
}
