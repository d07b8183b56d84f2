//! One collection, from any state after the last one: it reopens what was lost meanwhile.

use std::future::Future;
use std::time::Duration;

use host_session::Recovery;
use plugin_sdk::{Collection, Coverage, Failure};
use tokio::time::Instant;

use crate::{AttemptError, Retry};

/// A source that reads one host over a kept connection.
pub trait HostSource: Send {
    /// What it keeps: [`HostConnection`](crate::HostConnection) with handles, or
    /// [`ObjectConnection`](crate::ObjectConnection).
    type Connection: KeptConnection;

    fn connection(&mut self) -> &mut Self::Connection;

    /// Collects once, over whatever is open. `deadline` is a little before that of the collection.
    fn attempt(
        &mut self,
        collection: &mut Collection,
        deadline: Instant,
    ) -> impl Future<Output = Result<Coverage, AttemptError>> + Send;
}

/// A connection that is kept from collection to collection.
pub trait KeptConnection: Send {
    /// What must be opened before a source can call, as far as it is known.
    fn missing(&self) -> Recovery;

    /// Finds out whether it is there where that is in doubt, by `deadline` at the latest.
    fn verify(&mut self, _deadline: Instant) -> impl Future<Output = ()> + Send {
        std::future::ready(())
    }

    /// Closes what must be reopened according to `recovery`.
    fn close(&mut self, recovery: Recovery);

    /// Whether the host could not be reached since this was last asked. What it did not answer then says nothing of it.
    fn take_was_away(&mut self) -> bool;
}

/// Collects, with retries.
///
/// Only handles and connections of earlier collections may have been lost meanwhile; those that fail right after
/// they were opened would fail again. Each attempt begins with less open than the one before, so there are at most
/// four, and those for [`Retry::Once`] and [`Retry::Always`].
///
/// # Errors
/// The failure of the last attempt.
pub async fn collect<S: HostSource>(
    source: &mut S,
    collection: &mut Collection,
) -> Result<Coverage, Failure> {
    let deadline = Instant::from_std(collection.deadline()) - margin(collection.remaining());
    collect_until(source, collection, deadline).await
}

/// The same with another deadline, for a source that has more to do in the collection.
///
/// # Errors
/// The failure of the last attempt.
pub async fn collect_until<S: HostSource>(
    source: &mut S,
    collection: &mut Collection,
    deadline: Instant,
) -> Result<Coverage, Failure> {
    source.connection().verify(deadline).await;
    let mut may_log_on_otherwise = true;
    loop {
        let missing = source.connection().missing();
        let AttemptError { failure, retry } = match source.attempt(collection, deadline).await {
            Ok(coverage) => return Ok(coverage),
            Err(error) => error,
        };
        let is_time_left = Instant::now() < deadline;
        let lost = match retry {
            Retry::Never => return Err(failure),
            Retry::Once => {
                if !is_time_left || !std::mem::replace(&mut may_log_on_otherwise, false) {
                    return Err(failure);
                }
                source.connection().close(Recovery::Connection);
                continue;
            }
            Retry::Always(lost) if is_time_left => {
                tracing::debug!(error = %failure.message, "Continuing in another way");
                source.connection().close(lost);
                continue;
            }
            Retry::IfLost(lost) | Retry::Always(lost) => lost,
        };
        source.connection().close(lost.max(missing.next()));
        if missing == Recovery::Connection || !is_time_left {
            return Err(failure);
        }
        tracing::debug!(error = %failure.message, "Reopening what was lost");
    }
}

/// Time that a collection reserves, so that it ends by itself before it is dropped.
fn margin(remaining: Duration) -> Duration {
    (remaining / 20).min(Duration::from_millis(250))
}
