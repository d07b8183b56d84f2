//! Logs of performance counters, [MS-PLA] 3.2.4.6: the columns of a log, its records, and the formats that they are written in.
//!
//! What is known of a column is `Column` in `header`, which `parquet::journal` keeps. The columns of tables of Parquet are `FIELDS`
//! and, in the same order, `write_columns` in `parquet/row_group.rs`; others need another `START` of `parquet::journal`, or files
//! that were begun before could not be ended. Those of databases, which are PDH's, are in `database`.
//!
//! [`TextLog`] writes CSV and TSV as the library PDH of Windows does. [`parquet`] has the table that records become in Parquet,
//! and the journal that keeps them until they are there.
//!
//! No input or output, and no clock, but in `writer`, `database` and `data_manager`.
#![deny(clippy::disallowed_methods, clippy::disallowed_types)]

mod batch;
pub mod data_manager;
pub mod database;
mod header;
pub mod parquet;
mod text;
pub mod writer;

pub use self::batch::{Batch, LogSink, RawSample, Row, Sample, SinkError, SinkErrorKind, Written};
pub use self::header::{Column, LogHeader, LogZone};
pub use self::text::{TextFormat, TextLog};
