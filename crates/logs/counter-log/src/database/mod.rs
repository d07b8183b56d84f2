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
mod error;
mod guid;
mod log;
mod postgres;
mod progress;
mod record;
mod sqlite;
mod tables;

pub use self::error::Error;
pub use self::log::{COLUMNS_MAX, Log};
pub use self::postgres::{PostgresSettings, PostgresSink, Tls};
pub use self::sqlite::{SqliteFile, SqliteSink};
