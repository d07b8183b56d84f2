//! The outcome of a collection.

use plugin_abi::FamilyId;

/// A failure reason that a source declares: an element of [`crate::Source::REASONS`].
pub type DeclaredReason = plugin_abi::DeclaredReason<&'static str>;

/// The reason, from a closed list. `Declared` is the index of an element of [`crate::Source::REASONS`].
pub type Reason = plugin_abi::Reason<u32>;

/// Where and why a collection failed.
pub type Failure = plugin_abi::FailureOf<u32>;

/// The outcome of a collection that did not fail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Coverage {
    /// Everything was sent: a series without a value is gone.
    Full,
    /// These families were sent completely; the others are unknown.
    Partial {
        /// The completely sent families.
        families: Vec<FamilyId>,
        /// Why the others were not sent.
        failure: Option<Failure>,
    },
}
