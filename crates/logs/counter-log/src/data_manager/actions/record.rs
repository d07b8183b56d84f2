//! What folder actions did with a folder: a file in it. Without it a cabinet file that was sent and deleted would be made and
//! sent again by each run.

use std::fmt::Write as _;
use std::io::Read;

use jiff::Timestamp;
use rustix::fd::BorrowedFd;

use crate::data_manager::tree::{self, RECORD};
use crate::data_manager::{Error, Result};

const FIRST_LINE: &str = "folder-actions 1";
/// Bytes of the file. One with more is not read, as if there were none.
const BYTES_MAX: u64 = 64 * 1024 * 1024;

/// The record of a folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Record {
    /// Bytes of the folder before the first action, which decide whether it is large enough for later ones.
    pub(crate) bytes: u64,
    pub(crate) cabinets: Vec<CabinetRecord>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CabinetRecord {
    pub(crate) name: String,
    pub(crate) bytes: u64,
    pub(crate) is_sent: bool,
    /// Whether it is deleted, or will be.
    pub(crate) is_deleted: bool,
    pub(crate) files: Vec<Packed>,
}

/// A file in a cabinet file, as it was when it was put there.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Packed {
    pub(crate) path: String,
    pub(crate) bytes: u64,
    pub(crate) modified: Timestamp,
}

impl Record {
    /// Reads the record of a folder. One that is missing or damaged is empty: then the cabinet files say what is in them.
    pub(crate) fn read(folder: BorrowedFd<'_>) -> Self {
        let mut text = String::new();
        let Ok(file) = tree::open_file(folder, RECORD) else { return Self::default() };
        match file.take(BYTES_MAX + 1).read_to_string(&mut text) {
            Ok(read) if read as u64 <= BYTES_MAX => Self::parse(&text).unwrap_or_default(),
            Ok(_) | Err(_) => Self::default(),
        }
    }

    fn parse(text: &str) -> Option<Self> {
        // A record without its last line was not written to its end.
        let mut lines = text.strip_suffix("end\n")?.lines();
        if lines.next()? != FIRST_LINE {
            return None;
        }
        let mut record =
            Self { bytes: lines.next()?.strip_prefix("bytes ")?.parse().ok()?, cabinets: Vec::new() };
        for line in lines {
            let (kind, rest) = line.split_once(' ')?;
            let (first, rest) = rest.split_once(' ')?;
            let (second, name) = rest.split_once(' ')?;
            let name = name.to_owned();
            match kind {
                "cabinet" => record.cabinets.push(CabinetRecord {
                    name,
                    bytes: first.parse().ok()?,
                    is_sent: second.contains('s'),
                    is_deleted: second.contains('d'),
                    files: Vec::new(),
                }),
                "file" => {
                    let modified = Timestamp::from_nanosecond(second.parse().ok()?).ok()?;
                    let file = Packed { path: name, bytes: first.parse().ok()?, modified };
                    record.cabinets.last_mut()?.files.push(file);
                }
                _ => return None,
            }
        }
        Some(record)
    }

    /// Replaces the record of a folder: there is the old one or the new one, also after a crash.
    pub(crate) fn write(&self, folder: BorrowedFd<'_>) -> Result<()> {
        safe_files::replace(folder, RECORD, self.text().as_bytes())
            .map_err(|error| Error::io("write", RECORD, error))
    }

    fn text(&self) -> String {
        let mut text = format!("{FIRST_LINE}\nbytes {}\n", self.bytes);
        for cabinet in &self.cabinets {
            let (sent, deleted) =
                (if cabinet.is_sent { "s" } else { "" }, if cabinet.is_deleted { "d" } else { "" });
            // Writing to a text does not fail.
            let _ = writeln!(text, "cabinet {} -{sent}{deleted} {}", cabinet.bytes, cabinet.name);
            for file in &cabinet.files {
                let _ = writeln!(text, "file {} {} {}", file.bytes, file.modified.as_nanosecond(), file.path);
            }
        }
        text.push_str("end\n");
        text
    }
}

/// Makes new names in a folder last.
pub(crate) fn sync_folder(folder: BorrowedFd<'_>) -> Result<()> {
    safe_files::sync_folder(folder).map_err(|error| Error::io("sync folder", ".", error))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record() -> Record {
        let file = Packed {
            path: "a b/c.csv".to_owned(),
            bytes: 7,
            modified: Timestamp::from_nanosecond(-5).unwrap(),
        };
        let cabinet = CabinetRecord {
            name: "run 1.cab".to_owned(),
            bytes: 99,
            is_sent: true,
            is_deleted: false,
            files: vec![file],
        };
        let other = CabinetRecord {
            name: "run 1_2.cab".to_owned(),
            is_sent: false,
            is_deleted: true,
            ..cabinet.clone()
        };
        Record { bytes: 12, cabinets: vec![cabinet, other] }
    }

    #[test]
    fn a_record_is_read_as_it_was_written() {
        assert_eq!(Record::parse(&record().text()), Some(record()));
        assert_eq!(Record::parse(&Record::default().text()), Some(Record::default()));
    }

    #[test]
    fn a_record_that_is_cut_off_or_changed_is_none() {
        let text = record().text();
        for end in 0..text.len() {
            assert_eq!(Record::parse(&text[..end]), None, "{end}");
        }
        for bad in ["bytes x", "file 1 1 a", "cabinet 1", "other 1 1 a", "cabinet x - a", "file 1 1.5 a"] {
            assert_eq!(Record::parse(&format!("{FIRST_LINE}\nbytes 1\n{bad}\nend\n")), None, "{bad}");
        }
    }
}
