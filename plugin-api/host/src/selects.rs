//! What settings of a source collect.

use crate::error::Problem;

/// A family by the words of its source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FamilyKey {
    /// Empty for performance counters.
    pub namespace: String,
    /// The object.
    pub object: String,
    /// The item of the object.
    pub item: String,
    /// The part of the item; empty for the whole.
    pub part: String,
}

/// Whether settings collect a family.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Selects {
    /// They do, if the target has it.
    Yes,
    /// They do not. These settings would: where, what to do, and the value. Empty if no settings would.
    No(Vec<Problem>),
    /// The plugin does not say.
    Unknown,
}
