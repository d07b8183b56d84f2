//! A log as CSV or TSV.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;

use cap_std::fs::Dir;
use jiff::Timestamp;

use super::failure::failure;
use super::growing::{Encoded, Growing};
use crate::{LogHeader, SinkError, TextFormat, TextLog};

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
                let _ = super::remove_file(folder, name);
                Err(failure(format_args!("write the header of {name}"), &error))
            }
        }
    }

    /// Whether there is a row.
    pub(super) fn has_rows(&self) -> bool {
        self.file.length() > self.log.header().len() as u64
    }
}

/// Cuts off what follows the last line of a log: a row that was not written whole. Returns whether there was one. Other files are
/// left alone.
pub(super) fn cut_row(folder: &Dir, name: &str) -> Result<bool, SinkError> {
    let cut = || -> io::Result<bool> {
        let file = safe_files::open_to_write(folder, name)?;
        let length = file.metadata()?.len();
        let Some(whole) = whole_lines(&file, length)?.filter(|whole| *whole < length) else {
            return Ok(false);
        };
        file.set_len(whole)?;
        file.sync_all()?;
        Ok(true)
    };
    cut().map_err(|error| failure(format_args!("cut an unfinished row off {name}"), &error))
}

/// How much of a log is whole lines; nothing if it is no log, or has no whole header.
fn whole_lines(file: &File, length: u64) -> io::Result<Option<u64>> {
    let mut block = vec![0; BLOCK];
    let mut end = length;
    let mut last_line = None;
    while end > 0 && last_line.is_none() {
        let begin = end.saturating_sub(BLOCK as u64);
        let block = &mut block[..usize::try_from(end - begin).unwrap_or(BLOCK)];
        file.read_exact_at(block, begin)?;
        // Names and values have no line breaks.
        last_line = block.iter().rposition(|byte| *byte == b'\n').map(|at| begin + at as u64 + 1);
        end = begin;
    }
    let mut first = [0; 16];
    let is_log = last_line.is_some_and(|line| line >= first.len() as u64) && {
        file.read_exact_at(&mut first, 0)?;
        first.strip_prefix(BYTE_ORDER_MARK).unwrap_or(&first).starts_with(b"\"(PDH-")
    };
    Ok(last_line.filter(|_| is_log))
}

const BLOCK: usize = 64 << 10;
const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_row_that_is_not_whole_is_cut_off_and_other_files_are_left_alone() {
        let place = tempfile::tempdir().expect("a folder");
        let folder = Dir::open_ambient_dir(place.path(), cap_std::ambient_authority()).expect("it is there");
        let header = "\"(PDH-CSV 4.0) (Coordinated Universal Time)(0)\",\"\\\\web1\\Memory\\Pages/sec\"\r\n";
        let row = "\"01/31/2026 13:00:00.250\",\"512\"\r\n";
        let long = format!("\"{}", "1".repeat(3 * BLOCK));
        for (text, whole) in [
            (format!("{header}{row}\"01/31/2026 13:0"), Some(format!("{header}{row}"))),
            (format!("{header}{row}{long}"), Some(format!("{header}{row}"))),
            (format!("\u{feff}{header}\""), Some(format!("\u{feff}{header}"))),
            (format!("{header}{row}"), None),
            // No log, and a log without a whole header.
            ("a,b\n1,2\n3".to_owned(), None),
            (header[..20].to_owned(), None),
            (String::new(), None),
        ] {
            fs::write(place.path().join("log.csv"), &text).expect("a file");
            assert_eq!(cut_row(&folder, "log.csv").ok(), Some(whole.is_some()), "{text:.80}");
            let left = fs::read_to_string(place.path().join("log.csv")).expect("it is there");
            assert_eq!(left, whole.unwrap_or(text));
        }
    }
}
