use crate::{SinkError, SinkErrorKind};
use rusqlite::{Error, ErrorCode, ffi};

use crate::database::error::failure;

/// What a failure of SQLite means for a log, and what to do about it.
pub(super) fn failed(database: &str, doing: &str, error: &Error) -> SinkError {
    use SinkErrorKind::{Denied, Full, Other, Refused, Unavailable};
    let (kind, advice) = match error.sqlite_error() {
        // The file of the write-ahead log's index cannot grow.
        Some(error) if error.extended_code == ffi::SQLITE_IOERR_SHMSIZE => (Full, ADVICE_FULL),
        Some(error) => match error.code {
            ErrorCode::DiskFull => (Full, ADVICE_FULL),
            ErrorCode::PermissionDenied
            | ErrorCode::ReadOnly
            | ErrorCode::AuthorizationForStatementDenied => {
                (Denied, "let this account write the file and its folder")
            }
            ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => {
                (Unavailable, "another program keeps the database locked: end its transaction")
            }
            ErrorCode::CannotOpen => (
                Unavailable,
                "check that the folder is there, that this account may write it, and that the file is no link",
            ),
            ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt => {
                (Refused, "move the file away, and a new one is made")
            }
            ErrorCode::ConstraintViolation => {
                (Refused, "the database has rows or constraints that are not of this log: use another file")
            }
            _ => (Other, "check the disk and the file"),
        },
        None => (Refused, "a row has a value that Windows does not write; use another file"),
    };
    failure(kind, format!("{database}: {doing}: {error}; {advice}"))
}

const ADVICE_FULL: &str = "free space on its disk";
