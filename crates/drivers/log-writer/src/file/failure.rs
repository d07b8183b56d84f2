//! What an error of the system means for a log.

use std::fmt::Display;
use std::io;

use counter_log::{SinkError, SinkErrorKind};

/// `doing` says what was done, with the name of the file.
pub(super) fn failure(doing: impl Display, error: &io::Error) -> SinkError {
    let kind = kind_of(error);
    let next = match kind {
        SinkErrorKind::Full => "; free space there, or let the data manager remove older folders",
        SinkErrorKind::Denied => "; let the exporter's user write there",
        SinkErrorKind::Unavailable => "; the folder has to be there again",
        SinkErrorKind::Refused | SinkErrorKind::Other => "",
    };
    SinkError { kind, message: format!("{doing}: {error}{next}") }
}

pub(super) fn refused(message: String) -> SinkError {
    SinkError { kind: SinkErrorKind::Refused, message }
}

fn kind_of(error: &io::Error) -> SinkErrorKind {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
            SinkErrorKind::Full
        }
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => SinkErrorKind::Denied,
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory | io::ErrorKind::StaleNetworkFileHandle => {
            SinkErrorKind::Unavailable
        }
        io::ErrorKind::AlreadyExists
        | io::ErrorKind::InvalidFilename
        | io::ErrorKind::IsADirectory
        // What `safe_files` refuses: a link, or whatever else is not a file.
        | io::ErrorKind::InvalidData => SinkErrorKind::Refused,
        _ => SinkErrorKind::Other,
    }
}
