use std::time::Duration;

use counters::pcq::perflibv2::PerflibV2Client;
use dcerpc::Channel;
use rpc::Error as Rpc;

/// The calls of PerflibV2 to one host, with what a poller has to know of time and of errors: how the host is reached is
/// the caller's.
pub trait HostChannel: Channel {
    /// What is left for the calls that follow.
    fn time_left(&self) -> Duration;

    /// How long the slowest answer took so far.
    fn slowest_answer(&self) -> Duration;

    /// From now on each call takes so long at most; with nothing, as long as there is time.
    fn limit_calls(&mut self, call_max: Option<Duration>);

    /// Whether the call got no answer in time.
    fn is_timeout(error: &Self::Error) -> bool;

    /// Whether the error, such as a fault, is about one call alone, so that others may succeed over the same channel.
    fn concerns_one_call(error: &Self::Error) -> bool;
}

/// A client of PerflibV2 over `C`.
pub type Client<C> = PerflibV2Client<C>;

/// Why a method of PerflibV2 over `C` failed.
pub type Error<C> = counters::pcq::Error<<C as Channel>::Error>;

/// Whether an error is about what one call asked for alone, so that calls for other things may succeed over the same
/// channel: a status, an answer that cannot be believed or is too large, or a fault.
pub(crate) fn concerns_one_call<C: HostChannel>(error: &Error<C>) -> bool {
    match error {
        counters::pcq::Error::Rpc(Rpc::Call { source, .. }) => C::concerns_one_call(source),
        counters::pcq::Error::Rpc(Rpc::Status { .. } | Rpc::Stub { .. })
        | counters::pcq::Error::Buffer { .. }
        | counters::pcq::Error::LimitExceeded { .. }
        | counters::pcq::Error::Unsettled { .. } => true,
        _ => false,
    }
}
