//! What sources say about settings.

use std::fmt;

/// One thing that a source does not accept about its settings, or does not do of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Problem {
    /// A JSON pointer (`/countersets/2/name`), empty for the whole; [`Problem::NO_IDENTITY`] for a problem with the
    /// target.
    pub pointer: String,
    pub message: String,
    /// A valid value; may be empty.
    pub suggestion: String,
    /// Whether the settings are accepted all the same, and a part of them is not done.
    pub is_warning: bool,
}

impl Problem {
    /// The pointer of a problem with the target instead of the settings: it needs an identity and has none.
    pub const NO_IDENTITY: &'static str = "/target/identity";

    /// A problem without a suggestion.
    pub fn new(pointer: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            pointer: pointer.into(),
            message: message.into(),
            suggestion: String::new(),
            is_warning: false,
        }
    }

    /// A part of the settings that is not done, or will hardly be meant. They are accepted.
    pub fn warning(pointer: impl Into<String>, message: impl Into<String>) -> Self {
        Self { is_warning: true, ..Self::new(pointer, message) }
    }

    /// The same with a suggestion.
    #[must_use]
    pub fn suggest(mut self, suggestion: impl Into<String>) -> Self {
        self.suggestion = suggestion.into();
        self
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { pointer, message, suggestion, .. } = self;
        match pointer.as_str() {
            "" => write!(f, "the settings: {message}")?,
            pointer => write!(f, "the settings at `{pointer}`: {message}")?,
        }
        if suggestion.is_empty() { Ok(()) } else { write!(f, "; {suggestion}") }
    }
}

/// Whether settings collect a family.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Selects {
    /// They do, if the target has it.
    Yes,
    /// They do not, but would with these settings: the place, what to do as the message, and the value as the suggestion.
    /// Empty if no settings would.
    No(Vec<Problem>),
    /// The source does not say: only a target can tell.
    Unknown,
}
