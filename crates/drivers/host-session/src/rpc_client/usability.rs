//! What ends a connection, a pipe or an association, and what later operations over it are told.

use crate::rpc_client::{Error, ErrorKind, Operation};

/// Whether a connection, a pipe or an association takes another operation.
///
/// INVARIANT: `Busy` from the beginning of an operation until its answer is complete, so that the next one detects one that
/// was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Usability {
    Free,
    Busy,
    /// It failed by an error of this kind, which stays the reason: nothing that is tried afterwards says more.
    Ended(ErrorKind),
}

impl Usability {
    pub(crate) const fn is_free(self) -> bool {
        matches!(self, Self::Free)
    }

    pub(crate) fn begin(&mut self, operation: Operation, what: &'static str) -> Result<(), Error> {
        match *self {
            Self::Free => {
                *self = Self::Busy;
                Ok(())
            }
            Self::Busy => Err(Error::Abandoned { operation, what }),
            Self::Ended(by) => Err(Error::Ended { operation, what, by }),
        }
    }

    /// The end of an operation that began, if what it used has not ended meanwhile.
    pub(crate) fn end<T>(&mut self, outcome: Result<T, Error>) -> Result<T, Error> {
        match &outcome {
            Ok(_) if *self == Self::Busy => *self = Self::Free,
            Ok(_) => {}
            Err(error) => *self = Self::Ended(error.kind()),
        }
        outcome
    }
}
