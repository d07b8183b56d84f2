//! Logs of performance counters in databases, [MS-PLA] 2.2.2.7: SQLite and PostgreSQL.
//!
//! A [`SqliteSink`] or a [`PostgresSink`] writes one [`Log`] into the three tables that PDH has in databases: `CounterData`,
//! `CounterDetails` and `DisplayToID`. They are made if they are missing; queries that are made for the tables of Windows run
//! over them. What the specification leaves open is decided in `gaps.toml` beside this crate.
//!
//! A sink is made without input or output. It opens its file or connection when the first records come, and again after a
//! failure. Up to 50,000 values, or one record, are added in one transaction, which counts the records in `DisplayToID`, too.
//! After an interruption the count says which records are there, whatever the caller writes again: none is lost or doubled.
//! A record that a caller has dropped after a failure may be in the database all the same.
//!
//! ```no_run
//! use std::path::Path;
//!
//! use counter_log::{Batch, LogHeader, LogSink, Sample};
//! use jiff::{Timestamp, tz::TimeZone};
//! use counter_log::database::{Log, SqliteFile, SqliteSink};
//!
//! # async fn write(header: LogHeader, now: Timestamp) -> Result<(), Box<dyn std::error::Error>> {
//! let log = Log::new("web1 Nightly 000001", header)?;
//! let mut sink = SqliteSink::new(SqliteFile::at(Path::new("/var/lib/perfmon/counters.db"))?, log);
//! let mut batch = Batch::new(1);
//! batch.push(now, [Sample { value: Some(12.5), raw: None }]);
//! let written = sink.write(&batch).await;
//! assert_eq!(written.records, 1, "{:?}", written.failure);
//! sink.finish().await?;
//! # Ok(())
//! # }
//! ```

#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "files, sockets and clocks")]

mod chunk;
mod log;
mod postgres;
mod progress;
mod record;
mod sqlite;
mod tables;

pub use self::log::{COLUMNS_MAX, Log};
pub use self::postgres::{PostgresSettings, PostgresSink, Tls};
pub use self::sqlite::{SqliteFile, SqliteSink};
use std::fmt;

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

/// The id of a data set: a random GUID, [MS-DTYP] 2.3.4, in the order in which its text has the bytes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct DataSetId(pub(crate) [u8; 16]);

impl DataSetId {
    /// A new one of version 4, if the system has random bytes.
    pub(crate) fn random() -> Option<Self> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes).ok()?;
        bytes[6] = bytes[6] & 0x0F | 0x40;
        bytes[8] = bytes[8] & 0x3F | 0x80;
        Some(Self(bytes))
    }
}

/// As SQL Server shows it: in capitals, without braces.
impl fmt::Display for DataSetId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, byte) in self.0.iter().enumerate() {
            if matches!(index, 4 | 6 | 8 | 10) {
                f.write_str("-")?;
            }
            write!(f, "{byte:02X}")?;
        }
        Ok(())
    }
}

impl fmt::Debug for DataSetId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
