//! What a failure consists of. The general reasons, with their next steps, are in `reason`.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::raw::REASON_DECLARED;
use crate::reason::{GeneralReason, Stage};

/// A failure as the exporter gets it, with the declared reason itself.
pub type Failure = FailureOf<Arc<DeclaredReason>>;

/// Where and why a collection failed. A source names a declared reason by its index, as the header does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailureOf<D> {
    pub stage: Stage,
    pub reason: Reason<D>,
    /// Details for people, no secrets; may be empty.
    pub message: String,
    /// The earliest useful retry, according to the source: of connecting if the stage is [`Stage::Bind`] or before, else of
    /// collecting. The exporter limits the pause.
    pub retry_after: Option<Duration>,
}

impl<D> FailureOf<D> {
    /// A failure for a reason of the closed list.
    #[must_use]
    pub fn new(stage: Stage, reason: impl Into<Reason<D>>, message: impl fmt::Display) -> Self {
        Self { stage, reason: reason.into(), message: message.to_string(), retry_after: None }
    }

    /// The same with the earliest useful retry.
    #[must_use]
    pub fn with_retry_after(self, retry_after: Duration) -> Self {
        Self { retry_after: Some(retry_after), ..self }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.stage, self.reason.as_str())?;
        if self.message.is_empty() { Ok(()) } else { write!(f, ": {}", self.message) }
    }
}

/// The reason, from a closed list: the general reasons and those that the source declared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reason<D = Arc<DeclaredReason>> {
    /// A reason of the header.
    General(GeneralReason),
    /// A reason that the source declared.
    Declared(D),
}

impl Reason {
    /// The word for labels and logs: `[a-z][a-z0-9_]*`.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::General(reason) => reason.as_str(),
            Self::Declared(reason) => &reason.word,
        }
    }

    /// What happened, as a sentence.
    #[must_use]
    pub fn sentence(&self) -> &str {
        match self {
            Self::General(reason) => reason.sentence(),
            Self::Declared(reason) => &reason.sentence,
        }
    }

    /// What to do about it.
    #[must_use]
    pub fn next_step(&self) -> &str {
        match self {
            Self::General(reason) => reason.next_step(),
            Self::Declared(reason) => &reason.next_step,
        }
    }
}

impl Reason<u32> {
    /// `PERFMON_REASON_…`; `Declared` is the index into the reasons of the source.
    #[must_use]
    pub fn code(self) -> u32 {
        match self {
            Self::General(reason) => reason.code(),
            Self::Declared(index) => REASON_DECLARED.saturating_add(index),
        }
    }
}

impl<D> From<GeneralReason> for Reason<D> {
    fn from(reason: GeneralReason) -> Self {
        Self::General(reason)
    }
}

/// A reason that a source declares.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DeclaredReason<S = String> {
    /// The word for labels and logs: `[a-z][a-z0-9_]*`, not a general one.
    pub word: S,
    /// What happened, as a sentence.
    pub sentence: S,
    /// What to do about it.
    pub next_step: S,
}
