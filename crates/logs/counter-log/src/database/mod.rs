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

mod log;
mod postgres;
mod progress;
mod record;
mod sqlite;

use std::fmt;
use std::ops::Range;

pub use self::log::{COLUMNS_MAX, Log};
pub use self::postgres::{PostgresSettings, PostgresSink, Tls};
pub use self::sqlite::{SqliteFile, SqliteSink};

use self::progress::{AnotherWriter, Counted, Progress};
use super::{Batch, Row};
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

// [MS-PLA] 2.2.2.7: PDH's three tables, with the columns that PDH really makes: `MultiCount`, `TimeBaseA` and `TimeBaseB` are
// not in the text.

#[derive(Debug)]
struct Table {
    name: &'static str,
    columns: &'static [TableColumn],
    /// What follows the columns.
    keys: &'static str,
    /// An index on this column, for our own look-ups.
    index: Option<&'static str>,
}

/// A column of a table.
#[derive(Debug)]
struct TableColumn {
    name: &'static str,
    kind: Kind,
    is_required: bool,
}

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Guid,
    /// A number that the database gives.
    Identity,
    Int,
    Float,
    /// A text of fixed length.
    Char(i32),
    /// A text of variable length.
    Varchar(i32),
}

const COUNTER_DATA: Table = Table {
    name: "CounterData",
    columns: &[
        required("GUID", Kind::Guid),
        required("CounterID", Kind::Int),
        required("RecordIndex", Kind::Int),
        required("CounterDateTime", Kind::Char(24)),
        required("CounterValue", Kind::Float),
        optional("FirstValueA", Kind::Int),
        optional("FirstValueB", Kind::Int),
        optional("SecondValueA", Kind::Int),
        optional("SecondValueB", Kind::Int),
        optional("MultiCount", Kind::Int),
    ],
    keys: "PRIMARY KEY (GUID, CounterID, RecordIndex)",
    index: None,
};

/// The counters of all logs.
const COUNTER_DETAILS: Table = Table {
    name: "CounterDetails",
    columns: &[
        required("CounterID", Kind::Identity),
        required("MachineName", Kind::Varchar(1024)),
        required("ObjectName", Kind::Varchar(1024)),
        required("CounterName", Kind::Varchar(1024)),
        required("CounterType", Kind::Int),
        required("DefaultScale", Kind::Int),
        optional("InstanceName", Kind::Varchar(1024)),
        optional("InstanceIndex", Kind::Int),
        optional("ParentName", Kind::Varchar(1024)),
        optional("ParentObjectID", Kind::Int),
        optional("TimeBaseA", Kind::Int),
        optional("TimeBaseB", Kind::Int),
    ],
    keys: "PRIMARY KEY (CounterID)",
    index: Some("MachineName"),
};

const DISPLAY_TO_ID: Table = Table {
    name: "DisplayToID",
    columns: &[
        required("GUID", Kind::Guid),
        optional("RunID", Kind::Int),
        required("DisplayString", Kind::Varchar(1024)),
        optional("LogStartTime", Kind::Char(24)),
        optional("LogStopTime", Kind::Char(24)),
        optional("NumberOfRecords", Kind::Int),
        optional("MinutesToUTC", Kind::Int),
        optional("TimeZoneName", Kind::Char(32)),
    ],
    keys: "PRIMARY KEY (GUID), UNIQUE (DisplayString)",
    index: None,
};

const TABLES: [&Table; 3] = [&COUNTER_DATA, &COUNTER_DETAILS, &DISPLAY_TO_ID];

/// What the columns of a log's counters are read by.
const SELECT_COUNTERS: &str = "SELECT CounterID, MachineName, ObjectName, CounterName, CounterType, DefaultScale, \
     InstanceName, InstanceIndex, ParentName, TimeBaseA, TimeBaseB FROM CounterDetails";

impl Table {
    /// The statements that make the table; `type_of` says what a dialect calls its types, `ending` what it wants after it.
    fn create(&self, type_of: fn(Kind) -> String, ending: &str) -> String {
        let column = |column: &TableColumn| {
            let null = if column.is_required { " NOT NULL" } else { "" };
            format!("{} {}{null}", column.name, type_of(column.kind))
        };
        let columns: Vec<_> = self.columns.iter().map(column).collect();
        let mut statements =
            format!("CREATE TABLE {} ({}, {}){ending};", self.name, columns.join(", "), self.keys);
        if let Some(column) = self.index {
            let name = self.name;
            statements.push_str(&format!(" CREATE INDEX {name}_{column} ON {name} ({column});"));
        }
        statements
    }

    /// The names of its columns.
    fn column_names(&self) -> String {
        self.columns.iter().map(|column| column.name).collect::<Vec<_>>().join(", ")
    }
}

const fn required(name: &'static str, kind: Kind) -> TableColumn {
    TableColumn { name, kind, is_required: true }
}

const fn optional(name: &'static str, kind: Kind) -> TableColumn {
    TableColumn { name, kind, is_required: false }
}

// What one transaction adds, and what it comes to.

/// Some records of a batch, which one transaction adds.
#[derive(Clone, Debug)]
struct Chunk {
    /// Which records of the batch.
    records: Range<usize>,
    /// How many records of the log there are before these.
    before: u32,
    /// Whether the first of them is the first of the writer.
    is_first: bool,
}

/// How many values a transaction has at most, if a single record does not have more.
const VALUES_MAX: usize = 50_000;

impl Chunk {
    /// The records from `start` that go into the next transaction, which begins with this.
    fn next(progress: &mut Progress, batch: &Batch, start: usize, columns: usize) -> Self {
        let records_max = (VALUES_MAX / columns.max(1)).max(1);
        let records = start..batch.len().min(start + records_max);
        let is_first = progress.is_at_start();
        let before = progress.begin(batch, &records);
        Self { records, before, is_first }
    }

    fn rows<'a>(&self, batch: &'a Batch) -> impl Iterator<Item = Row<'a>> + use<'a> {
        batch.rows().skip(self.records.start).take(self.records.len())
    }

    /// `RecordIndex` of each record, whether it is the first of the writer, and the record. PDH counts from 1.
    fn numbered<'a>(&self, batch: &'a Batch) -> impl Iterator<Item = (i32, bool, Row<'a>)> + use<'a> {
        let (before, is_first) = (self.before, self.is_first);
        self.rows(batch).zip(1_u32..).map(move |(row, count)| {
            let index = before.saturating_add(count).min(RECORDS_MAX).cast_signed();
            (index, is_first && count == 1, row)
        })
    }

    /// How many records there are with these.
    fn after(&self, log: &Log) -> Result<u32, SinkError> {
        let more = u32::try_from(self.records.len()).unwrap_or(u32::MAX);
        let after = self.before.saturating_add(more);
        if after <= RECORDS_MAX {
            Ok(after)
        } else {
            let message = format!(
                "log {}: it has {RECORDS_MAX} records, and no room for more; give the next one another name",
                log.name
            );
            Err(failure(SinkErrorKind::Refused, message))
        }
    }
}

/// What the columns `RecordIndex` and `NumberOfRecords` have room for.
const RECORDS_MAX: u32 = i32::MAX.cast_unsigned();

/// What a transaction came to.
#[derive(Debug)]
enum Outcome {
    /// It is done: the log has so many records, and they took so many bytes.
    Done { records: u32, bytes: u64 },
    /// The log has this, which is not what was expected. Nothing was added.
    Moved(Counted),
}

/// The failure of a log that somebody else writes.
fn another_writer(database: &str, log: &Log, found: &AnotherWriter) -> SinkError {
    let AnotherWriter { expected, found } = found;
    let message = format!(
        "{database}: log {}: {found} records instead of {expected}; another program writes this log: give one of them another name",
        log.name
    );
    failure(SinkErrorKind::Refused, message)
}
