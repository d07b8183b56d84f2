//! Problems with settings.

/// One thing that a source does not accept about its settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// A JSON pointer (`/countersets/2/name`), empty for the whole; [`Problem::NO_IDENTITY`] for a problem with the
    /// target.
    pub pointer: String,
    /// What is wrong.
    pub message: String,
    /// A valid value; may be empty.
    pub suggestion: String,
}

impl Problem {
    /// The pointer of a problem with the target instead of the settings: it needs an identity and has none.
    pub const NO_IDENTITY: &'static str = "/target/identity";

    /// A problem without a suggestion.
    pub fn new(pointer: impl Into<String>, message: impl Into<String>) -> Self {
        Self { pointer: pointer.into(), message: message.into(), suggestion: String::new() }
    }

    /// The same with a suggestion.
    #[must_use]
    pub fn suggest(mut self, suggestion: impl Into<String>) -> Self {
        self.suggestion = suggestion.into();
        self
    }
}
