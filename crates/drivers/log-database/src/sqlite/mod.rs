//! Logs in a file of SQLite.

mod file;

use counter_log::{Batch, LogSink, SinkError, SinkErrorKind, Written};

pub use self::file::SqliteFile;
use crate::error::failure;
use crate::log::Log;

/// Writes one log into a file of SQLite. The file is opened when the first records come, and again after a failure.
#[derive(Debug)]
pub struct SqliteSink {
    _file: SqliteFile,
    _log: Log,
}

impl SqliteSink {
    /// A sink that writes `log` into `file`. Opens nothing yet.
    #[must_use]
    pub const fn new(file: SqliteFile, log: Log) -> Self {
        Self { _file: file, _log: log }
    }
}

impl LogSink for SqliteSink {
    async fn write(&mut self, _batch: &Batch) -> Written {
        Written { failure: Some(failure(SinkErrorKind::Other, "not written yet")), ..Written::default() }
    }

    async fn finish(&mut self) -> Result<(), SinkError> {
        Ok(())
    }
}
