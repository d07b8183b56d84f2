//! Logs as Parquet.
//!
//! A log is one table in the long form, a row for each sample: `time` (UTC, microseconds), `machine`, `object`, `parent`,
//! `instance`, `instance_index`, `counter`, `counter_type`, `value`, `raw_first`, `raw_second`, `multi_count`, `time_base`. So
//! logs with other columns are read together, `WHERE counter = …` needs no name of an instance, and names take a few bits of a
//! sample. Within a row group, the samples of one column stand together in the order of time: they compress best so.
//!
//! A Parquet file has its directory, the *footer*, at its end, and without it nothing of the file can be read. Records are
//! therefore kept in a [`journal`] beside the file. From time to time [`Table::add`] makes a row group of them, which is written
//! over the last footer, with a new footer after it. The journal has what is needed to do that again after it was interrupted.

pub mod journal;
mod row_group;

pub use self::row_group::{ROW_GROUP_VALUES, START, Table};

/// What is wrong with a journal, or with what is to be written.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The library refuses it.
    #[error("parquet: {0}")]
    Parquet(#[from] ::parquet::errors::ParquetError),
    /// A journal is not one, or its first frame is incomplete.
    #[error("not the journal of a log: {0}")]
    Journal(&'static str),
    /// More than a journal has.
    #[error(
        "a log has {columns} columns; at most {max} are written as Parquet: log fewer counters in one log"
    )]
    Columns {
        /// How many there are.
        columns: usize,
        /// How many there may be.
        max: usize,
    },
    /// More than the first frame of a journal has room for.
    #[error(
        "the names of the counters of a log, and the row groups of its file, take {bytes} bytes; at most {max} are \
         written as Parquet: log fewer counters in one log"
    )]
    Names {
        /// How many there are.
        bytes: usize,
        /// How many there may be.
        max: usize,
    },
}

#[cfg(test)]
mod tests;
