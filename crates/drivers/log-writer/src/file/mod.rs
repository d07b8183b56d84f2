//! A log as a file.
#![allow(clippy::unimplemented, unused, reason = "signatures first")]

use std::io;
use std::sync::Arc;

use cap_std::fs::Dir;
use counter_log::{Batch, LogHeader, LogSink, SinkError, Written};

/// Opens the folder of a log, each time that a file is begun: a handle of a folder that was removed stays dead when there is
/// another of its name.
pub type OpenFolder = Arc<dyn Fn() -> io::Result<Dir> + Send + Sync>;

/// In which format a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FileFormat {
    /// [MS-PLA] 2.2.2.7 `plaCommaSeparated`.
    Csv,
    /// [MS-PLA] 2.2.2.7 `plaTabSeparated`.
    Tsv,
    /// Apache Parquet.
    Parquet,
}

/// What becomes of a file that has the name of the log already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Existing {
    /// [MS-PLA] 3.2.4.5 `LogOverwrite`: it is replaced.
    Replace,
    /// It stays, and the log is written beside it, as `NAME (2).csv`.
    Keep,
    /// The log goes on in it if it has the same columns and time zone, else beside it. For a run that is resumed after the
    /// process has ended: a part of a row at the end is removed.
    Resume,
}

/// How the file of a log is written.
#[derive(Clone, Copy, Debug)]
pub struct FileOptions {
    /// Its format.
    pub format: FileFormat,
    /// What becomes of a file that is there already.
    pub existing: Existing,
    /// [MS-PLA] 3.2.4.5 `LogCircular`: the most that the log takes; the oldest records are removed.
    pub circular_bytes_max: Option<u64>,
}

/// The file of a log. Nothing is opened before the first record.
#[derive(Debug)]
pub struct FileLog;

/// What is known of the files of a log while it is written.
#[derive(Debug)]
pub struct FileProgress;

/// What was found in a folder after a process had ended in the middle of its logs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recovered {
    /// Files that were brought to an end.
    pub files: u64,
    /// Records that were read from their journals.
    pub records: u64,
    /// What could not be recovered, with the reasons.
    pub failures: Vec<SinkError>,
}

impl FileLog {
    /// A log in the file `name` of `folder`; `name` has no folder in it.
    pub fn new(folder: OpenFolder, name: &str, header: Arc<LogHeader>, options: FileOptions) -> Self {
        unimplemented!()
    }

    /// The files of this log, also while it is written.
    pub fn progress(&self) -> Arc<FileProgress> {
        unimplemented!()
    }
}

impl FileProgress {
    /// The name of the file that is written; nothing before the first record.
    pub fn name(&self) -> Option<String> {
        unimplemented!()
    }

    /// Its size in bytes.
    pub fn bytes(&self) -> u64 {
        unimplemented!()
    }

    /// How many files were begun.
    pub fn files_begun(&self) -> u64 {
        unimplemented!()
    }
}

/// Brings the Parquet files of `folder` to an end that a process left behind with a journal. Not while logs are written there.
pub fn recover(folder: &Dir) -> io::Result<Recovered> {
    unimplemented!()
}

impl LogSink for FileLog {
    async fn write(&mut self, batch: &Batch) -> Written {
        unimplemented!()
    }

    async fn finish(&mut self) -> Result<(), SinkError> {
        unimplemented!()
    }
}
