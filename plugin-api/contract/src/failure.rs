//! Why a collection failed.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use plugin_abi::{GeneralReason, Stage};

/// Where and why a collection failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The stage.
    pub stage: Stage,
    /// The reason.
    pub reason: Reason,
    /// Details for people; may be empty.
    pub message: String,
    /// The earliest useful retry, according to the source.
    pub retry_after: Option<Duration>,
}

impl Failure {
    /// A failure for a reason of the closed list.
    #[must_use]
    pub fn new(stage: Stage, reason: impl Into<Reason>, message: impl Into<String>) -> Self {
        Self { stage, reason: reason.into(), message: message.into(), retry_after: None }
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
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Reason {
    /// A reason of the header.
    General(GeneralReason),
    /// A reason that the source declared.
    Declared(Arc<DeclaredReason>),
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

impl From<GeneralReason> for Reason {
    fn from(reason: GeneralReason) -> Self {
        Self::General(reason)
    }
}

/// A reason that a source declared.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct DeclaredReason {
    /// The word for labels and logs: `[a-z][a-z0-9_]*`, not a general one.
    pub word: String,
    /// What happened, as a sentence.
    pub sentence: String,
    /// What to do about it.
    pub next_step: String,
}
