use crate::{SinkError, SinkErrorKind};

/// Why a log cannot be described, or a database cannot be named.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The table has room for so many characters, and none for control characters.
    #[error("the name of a log has {characters} characters, or control characters; it may have 1 to {max}")]
    Name {
        /// How long it is.
        characters: usize,
        /// How long it may be.
        max: usize,
    },
    /// Every counter is a row of a table.
    #[error("log {log}: {columns} counters; at most {max} fit a log of a database")]
    TooManyColumns {
        /// The log.
        log: String,
        /// How many there are.
        columns: usize,
        /// How many there may be.
        max: usize,
    },
    /// The file of a database is one component of a path.
    #[error("`{0}` is no name of a file for a database: use one name without a slash")]
    FileName(String),
}

/// A failure of a sink.
pub(crate) fn failure(kind: SinkErrorKind, message: impl Into<String>) -> SinkError {
    SinkError { kind, message: message.into() }
}
