//! The outcome of a collection.

use std::fmt;
use std::time::Duration;

use plugin_abi::{GeneralReason, REASON_DECLARED, Stage};

use crate::family::FamilyId;

/// A failure reason that a source declares: an element of [`crate::Source::REASONS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DeclaredReason {
    /// For labels and logs: `[a-z][a-z0-9_]*`, not a general one.
    pub word: &'static str,
    /// What happened.
    pub sentence: &'static str,
    /// What to do about it.
    pub next_step: &'static str,
}

/// The reason, from a closed list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reason {
    /// A general reason.
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
    /// The stage.
    pub stage: Stage,
    /// The reason.
    pub reason: Reason,
    /// Details for people, no secrets; may be empty.
    pub message: String,
    /// The earliest useful retry: of connecting if the stage is [`Stage::Bind`] or before, else of collecting. The
    /// exporter limits the pause.
    pub retry_after: Option<Duration>,
}

impl Failure {
    /// A failure at `stage` for `reason`.
    pub fn new(stage: Stage, reason: impl Into<Reason>, message: impl fmt::Display) -> Self {
        Self { stage, reason: reason.into(), message: message.to_string(), retry_after: None }
    }

    /// The same with the earliest useful retry.
    #[must_use]
    pub fn with_retry_after(self, retry_after: Duration) -> Self {
        Self { retry_after: Some(retry_after), ..self }
    }
}

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
