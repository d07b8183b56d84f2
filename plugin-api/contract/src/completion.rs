//! How a collection ended, and what it cost.

use plugin_abi::Stage;

use crate::failure::Failure;

/// One collection. Never reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CollectionId(pub u64);

/// How a collection ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Completion<'a> {
    /// With what.
    pub outcome: Outcome<'a>,
    /// Where the time went; each stage at most once, in the order of [`Stage`].
    pub stages: &'a [StageReport],
}

/// The end of a collection.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome<'a> {
    /// All there is was sent: a series that got no value is gone.
    Full,
    /// These families were sent in full; of the others nothing is known.
    Partial {
        /// Ids of the families that are covered.
        families: &'a [u32],
        /// Why the others are not, where the source tells.
        failure: Option<Failure>,
    },
    /// Nothing may be believed.
    Failed(Failure),
}

/// What one stage of a collection cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StageReport {
    /// Which.
    pub stage: Stage,
    /// When it began, on the monotonic clock.
    pub start_ns: u64,
    /// How long it took in all.
    pub duration_ns: u64,
    /// Calls to the target.
    pub calls: u64,
    /// Bytes received.
    pub bytes_in: u64,
    /// Bytes sent.
    pub bytes_out: u64,
}
