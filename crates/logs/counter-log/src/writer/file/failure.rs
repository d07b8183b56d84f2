//! What an error of the system means for a log.

use std::fmt::Display;
use std::io;

use crate::{SinkError, SinkErrorKind};

/// `doing` says what was done, with the name of the file. The next step follows what the system says.
pub(super) fn failure(doing: impl Display, error: &io::Error) -> SinkError {
    let kind = kind_of(error);
    let next = match kind {
        SinkErrorKind::Full => "; free space there, or let the data manager remove older folders",
        SinkErrorKind::Denied => "; let the exporter's user write there",
        SinkErrorKind::Unavailable => "; create the folder again",
        SinkErrorKind::Refused => "; move away what is there, or give the log another name",
        SinkErrorKind::Other => "; check the disk",
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_of_failure_has_a_next_step() {
        let kinds = [
            (io::ErrorKind::StorageFull, SinkErrorKind::Full),
            (io::ErrorKind::PermissionDenied, SinkErrorKind::Denied),
            (io::ErrorKind::ReadOnlyFilesystem, SinkErrorKind::Denied),
            (io::ErrorKind::NotFound, SinkErrorKind::Unavailable),
            (io::ErrorKind::IsADirectory, SinkErrorKind::Refused),
            (io::ErrorKind::TimedOut, SinkErrorKind::Other),
        ];
        for (error, kind) in kinds {
            let error_of_log = failure("write log.csv", &error.into());
            assert_eq!(error_of_log.kind, kind, "{error:?}");
            let (what, next) = error_of_log.message.rsplit_once("; ").expect("a next step");
            assert!(what.starts_with("write log.csv: ") && next.contains(' '), "{error_of_log}");
        }
    }
}
