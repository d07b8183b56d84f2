//! Why an attempt of a collection failed, and whether it makes another one.

use host_session::Recovery;
use plugin_sdk::Failure;

/// Why an attempt failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttemptError {
    /// For the exporter.
    pub failure: Failure,
    /// Whether the same collection makes another attempt.
    pub retry: Retry,
}

/// Whether a collection makes another attempt after one that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Retry {
    /// The failure is the answer.
    Never,
    /// If something was kept from an earlier collection, which may have been lost meanwhile: at least this has to be opened
    /// again.
    IfLost(Recovery),
    /// Once this is opened again: the source has learnt something, and the next attempt goes another way. The source sees
    /// to it that this does not go on for ever.
    Always(Recovery),
}

impl Retry {
    /// That of an error which leaves so much to be opened again.
    pub(crate) const fn after(recovery: Recovery) -> Self {
        match recovery {
            Recovery::Nothing => Self::Never,
            lost => Self::IfLost(lost),
        }
    }
}

impl From<Failure> for AttemptError {
    fn from(failure: Failure) -> Self {
        Self { failure, retry: Retry::Never }
    }
}
