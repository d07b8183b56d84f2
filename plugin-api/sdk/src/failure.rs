//! How a collection ends.

use std::fmt;
use std::time::Duration;

use plugin_abi::{GeneralReason, REASON_DECLARED, Stage};

use crate::family::FamilyId;

/// A failure reason of a source's own: an element of [`crate::Source::REASONS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DeclaredReason {
    /// For labels and logs: `[a-z][a-z0-9_]*`, none of the general ones.
    pub word: &'static str,
    /// What happened.
    pub sentence: &'static str,
    /// What to do about it.
    pub next_step: &'static str,
}

/// Why, from a closed list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reason {
    /// One that every source knows.
    General(GeneralReason),
    /// The element of [`crate::Source::REASONS`] with this index.
    Declared(u32),
}

impl Reason {
    pub(crate) fn code(self) -> u32 {
        match self {
            Self::General(reason) => reason.code(),
            Self::Declared(index) => REASON_DECLARED.saturating_add(index),
        }
    }
}

impl From<GeneralReason> for Reason {
    fn from(reason: GeneralReason) -> Self {
        Self::General(reason)
    }
}

/// Where and why a collection failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// Where.
    pub stage: Stage,
    /// Why.
    pub reason: Reason,
    /// Details for people, no secrets; may be empty.
    pub message: String,
    /// It would not help to try again before so long: to connect where the stage is [`Stage::Bind`] or before, else to
    /// collect. The exporter has a longest pause of its own; before version 1.3 it does not hear of this.
    pub retry_after: Option<Duration>,
}

impl Failure {
    /// A failure at `stage` for `reason`.
    pub fn new(stage: Stage, reason: impl Into<Reason>, message: impl fmt::Display) -> Self {
        Self { stage, reason: reason.into(), message: message.to_string(), retry_after: None }
    }

    /// The same, with the wish not to be tried again before so long.
    #[must_use]
    pub fn with_retry_after(self, retry_after: Duration) -> Self {
        Self { retry_after: Some(retry_after), ..self }
    }
}

/// What a collection that did not fail has covered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Coverage {
    /// All there is was sent: a series that got no value is gone.
    Full,
    /// These families were sent in full; of the others nothing is known.
    Partial {
        /// The families that are covered.
        families: Vec<FamilyId>,
        /// Why the others are not.
        failure: Option<Failure>,
    },
}
