use std::io;

use rustix::io::Errno;

/// What this crate's functions return.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a file or folder was not opened or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// What has the name is not what was expected, and was left alone.
    #[error("`{name}` {reason}")]
    Refused {
        name: String,
        /// What is not as expected, and what to do about it.
        reason: String,
    },
    /// A call of the system failed.
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl Error {
    pub(crate) fn refused(name: &str, reason: impl Into<String>) -> Self {
        Self::Refused { name: name.to_owned(), reason: reason.into() }
    }
}

impl From<Errno> for Error {
    fn from(error: Errno) -> Self {
        Self::Io(error.into())
    }
}

/// What was refused becomes [`io::ErrorKind::InvalidData`].
impl From<Error> for io::Error {
    fn from(error: Error) -> Self {
        match error {
            Error::Refused { .. } => Self::new(io::ErrorKind::InvalidData, error),
            Error::Io(error) => error,
        }
    }
}
