//! One collection, from whatever the last one left: what was lost meanwhile is opened again within it.

use std::future::Future;
use std::time::Duration;

use host_session::Recovery;
use plugin_sdk::{Collection, Coverage, Failure};
use tokio::time::Instant;

use crate::{AttemptError, HostConnection, Retry};

/// A source that asks one host over a connection that it keeps.
pub trait HostSource: Send {
    /// What it keeps open at the host from collection to collection; `()` for nothing.
    type Handles: Send;

    /// The connection.
    fn connection(&mut self) -> &mut HostConnection<Self::Handles>;

    /// Collects once, over whatever is open. Time is up at `deadline`, a little before that of the collection.
    fn attempt(
        &mut self,
        collection: &mut Collection,
        deadline: Instant,
    ) -> impl Future<Output = Result<Coverage, AttemptError>> + Send;
}

/// Collects by as many attempts as it takes.
///
/// Only what was kept from an earlier collection may have been lost meanwhile; what fails right after it was opened would
/// fail again. Each attempt begins with less than the one before, so that there are four at most, and those that
/// [`Retry::Always`] asks for.
///
/// # Errors
/// The failure of the last attempt.
pub async fn collect<S: HostSource>(
    source: &mut S,
    collection: &mut Collection,
) -> Result<Coverage, Failure> {
    let deadline = Instant::from_std(collection.deadline()) - margin(collection.remaining());
    loop {
        let missing = source.connection().missing();
        let AttemptError { failure, retry } = match source.attempt(collection, deadline).await {
            Ok(coverage) => return Ok(coverage),
            Err(error) => error,
        };
        let is_time_left = Instant::now() < deadline;
        let lost = match retry {
            Retry::Never => return Err(failure),
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

/// What a collection keeps for itself, so that it ends by its own account and not by being dropped.
fn margin(remaining: Duration) -> Duration {
    (remaining / 20).min(Duration::from_millis(250))
}
