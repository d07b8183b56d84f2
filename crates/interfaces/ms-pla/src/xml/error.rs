use core::fmt;

use super::element::Position;

/// Why a document is refused.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Error {
    /// Where: the beginning of what is wrong.
    pub position: Position,
    /// The elements around it, from the root, with `/` between them.
    pub path: String,
    /// What is wrong.
    pub reason: String,
}

impl Error {
    pub(super) fn new(position: Position, path: &str, reason: impl Into<String>) -> Self {
        Self { position, path: path.to_owned(), reason: reason.into() }
    }
}

impl Error {
    /// The same error of an element in this one.
    pub(super) fn within(mut self, name: &str) -> Self {
        let behind = if self.path.is_empty() { String::new() } else { format!("/{}", self.path) };
        self.path = format!("{name}{behind}");
        self
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { position, path, reason } = self;
        if path.is_empty() {
            write!(f, "{position}: {reason}")
        } else {
            write!(f, "{position}: `{path}` {reason}")
        }
    }
}

impl core::error::Error for Error {}
