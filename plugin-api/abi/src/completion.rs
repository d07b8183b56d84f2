//! How a collection ended, and the time and traffic of its stages.

use crate::reason::Stage;

use crate::failure::Failure;

/// One collection. Never reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CollectionId(pub u64);

/// How a collection ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Completion<'a> {
    pub outcome: Outcome<'a>,
    /// Its stages; each at most once, in the order of [`Stage`].
    pub stages: &'a [StageReport],
}

/// The outcome of a collection.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome<'a> {
    /// Everything was sent: a series without a value is gone.
    Full,
    /// These families were sent completely; the others are unknown.
    Partial {
        /// Ids of the completely sent families.
        families: &'a [u32],
        /// Why the others were not sent, if the source reports it.
        failure: Option<Failure>,
    },
    /// No data of the collection is valid.
    Failed(Failure),
}

/// Duration and traffic of one stage of a collection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StageReport {
    pub stage: Stage,
    /// When it began, on the monotonic clock.
    pub start_ns: u64,
    pub duration_ns: u64,
    /// Calls to the target.
    pub calls: u64,
    pub bytes_in: u64,
    pub bytes_out: u64,
}
