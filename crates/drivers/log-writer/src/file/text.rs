//! A log as CSV or TSV.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

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

    /// Goes on in a file with the same header, behind its last whole row; nothing if it is another log.
    pub(super) fn resume(
        folder: &Dir,
        name: &str,
        format: TextFormat,
        header: &LogHeader,
        start: Timestamp,
    ) -> Result<Option<Self>, SinkError> {
        let log = TextLog::new(format, header, start);
        let resume = || {
            let file = safe_files::open_to_write(folder, name)?;
            let Some(whole) = whole_length(&file, log.header())? else { return Ok(None) };
            file.set_len(whole)?;
            Ok(Some(Growing::new(file, whole)))
        };
        let file = resume().map_err(|error| failure(format_args!("go on in {name}"), &error))?;
        Ok(file.map(|file| Self { log, file }))
    }

    /// Whether there is a row.
    pub(super) fn has_rows(&self) -> bool {
        self.file.length() > self.log.header().len() as u64
    }
}

/// How much of a file with this header is whole rows; nothing if it has another.
fn whole_length(file: &File, header: &[u8]) -> io::Result<Option<u64>> {
    let length = file.metadata()?.len();
    let header_length = header.len() as u64;
    let mut first = vec![0; header.len()];
    if length < header_length {
        return Ok(None);
    }
    file.read_exact_at(&mut first, 0)?;
    if first != header {
        return Ok(None);
    }
    // Rows have no line break but at their end. Blocks overlap by a byte, so that one is never missed between two.
    let mut block = vec![0; BLOCK];
    let mut end = length;
    while end > header_length {
        let begin = end.saturating_sub(BLOCK as u64).max(header_length);
        let block = &mut block[..usize::try_from(end - begin).unwrap_or(BLOCK)];
        file.read_exact_at(block, begin)?;
        if let Some(at) = block.windows(2).rposition(|pair| pair == b"\r\n") {
            return Ok(Some(begin + at as u64 + 2));
        }
        if begin == header_length {
            break;
        }
        end = begin + 1;
    }
    Ok(Some(header_length))
}

const BLOCK: usize = 64 << 10;
