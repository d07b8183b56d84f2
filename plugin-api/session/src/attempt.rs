//! Why an attempt of a collection failed, and whether the collection retries.

use host_session::{Recovery, Verdict};
use plugin_sdk::Failure;

/// Why an attempt failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttemptError {
    pub failure: Failure,
    /// Whether the same collection retries.
    pub retry: Retry,
}

/// Whether a collection retries after a failed attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Retry {
    /// The failure is the result.
    Never,
    /// Retry if something was kept from an earlier collection, because it may have been lost meanwhile. At least
    /// this must be reopened.
    IfLost(Recovery),
    /// Retry once with a new connection: the exporter may lend another kind of credentials now.
    Once,
    /// Retry after reopening this: the next attempt of the source proceeds differently. The source must ensure that
    /// this ends.
    Always(Recovery),
}

impl Retry {
    /// The retry after an error that needs this recovery.
    pub(crate) const fn after(recovery: Recovery) -> Self {
        match recovery {
            Recovery::Nothing => Self::Never,
            lost => Self::IfLost(lost),
        }
    }
}

impl AttemptError {
    /// The host did not accept credentials that were lent for it.
    pub(crate) const fn of_logon(failure: Failure, verdict: Verdict) -> Self {
        let retry = if matches!(verdict, Verdict::Unsuitable) { Retry::Once } else { Retry::Never };
        Self { failure, retry }
    }
}

impl From<Failure> for AttemptError {
    fn from(failure: Failure) -> Self {
        Self { failure, retry: Retry::Never }
    }
}
