//! A log as CSV or TSV.

use cap_std::fs::Dir;
use counter_log::{LogHeader, SinkError, TextFormat, TextLog};
use jiff::Timestamp;

use super::failure::failure;
use super::folder;
use super::growing::{Encoded, Growing};

/// A file of text that rows are added to.
#[derive(Debug)]
pub(super) struct TextFile {
    pub(super) log: TextLog,
    pub(super) file: Growing,
}

impl TextFile {
    /// Begins a file with its header. If there is no room for that, there is no file.
    pub(super) fn begin(
        folder: &Dir,
        name: &str,
        format: TextFormat,
        header: &LogHeader,
        start: Timestamp,
    ) -> Result<Self, SinkError> {
        let log = TextLog::new(format, header, start);
        let file = safe_files::create(folder, name)
            .map_err(|error| failure(format_args!("begin {name}"), &error.into()))?;
        let mut file = Growing::new(file, 0);
        let mut line = Encoded::default();
        line.add(|bytes| bytes.extend_from_slice(log.header()));
        match file.append(&line) {
            (_, None) => Ok(Self { log, file }),
            (_, Some(error)) => {
                // The failure that counts is the first one.
                let _ = folder::remove(folder, name);
                Err(failure(format_args!("write the header of {name}"), &error))
            }
        }
    }

    /// Whether there is a row.
    pub(super) fn has_rows(&self) -> bool {
        self.file.length() > self.log.header().len() as u64
    }
}
