//! Running futures that never wait: state machines without input and output whose interface is async.

use core::pin::pin;
use core::task::{Context, Poll, Waker};

/// Runs a future that never waits.
///
/// # Panics
/// When it waits.
pub fn now<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => output,
        Poll::Pending => unreachable!("nothing here waits"),
    }
}
