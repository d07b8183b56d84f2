//! The side that looks at the state, from another process or later.

mod cells;
mod references;

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicU64, Ordering, fence};
use std::{fmt, io};

use super::cell::{Kind, Malformed};
use crate::cell::Cell;
use crate::error::Error;
use crate::header::{FileHeader, HIDDEN_WORD, HeaderWords, SECTIONS_WORD};
use crate::layout::{CELL_BYTES, CellId};

/// How much is read of a file, and of a directory of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadLimits {
    /// Cells of a file that are looked at.
    pub cells_max: usize,
    /// Cells of all files of a directory that are looked at.
    pub directory_cells_max: usize,
    /// Problems that are listed; more are counted.
    pub problems_max: usize,
    /// How often a cell is read again that changed while it was read.
    pub retries_max: u32,
}

impl Default for ReadLimits {
    /// Twice as many cells as a file has by default, and two such files in a directory.
    fn default() -> Self {
        Self { cells_max: 262_144, directory_cells_max: 524_288, problems_max: 100, retries_max: 64 }
    }
}

/// What stood in the cells of a file. Each cell is whole; they were read one after the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    /// The front of the file.
    pub header: FileHeader,
    /// The sections that the file had.
    pub sections: u16,
    /// Objects of the process that found no cell.
    pub hidden: u64,
    /// The objects, in the order of their cells.
    pub cells: Vec<(CellId, Cell)>,
    /// What could not be read, and what points nowhere.
    pub problems: Problems,
}

impl Snapshot {
    /// The object of a cell.
    #[must_use]
    pub fn get(&self, id: CellId) -> Option<&Cell> {
        let index = self.cells.binary_search_by_key(&id, |(id, _)| *id).ok()?;
        Some(&self.cells[index].1)
    }
}

/// Reads all cells of a file. It never waits for the writer, and what it cannot believe is listed among the problems.
///
/// # Errors
/// When there is no header to believe.
pub fn read(source: &(impl Source + ?Sized), limits: &ReadLimits) -> Result<Snapshot, Error> {
    let words = header_words(source)?;
    let header = FileHeader::decode(&words)?;
    let mut problems = Problems::new(limits.problems_max);
    let sections_max = header.capacity.sections_max;
    let sections = u16::try_from(words[SECTIONS_WORD]).unwrap_or(u16::MAX);
    if sections == 0 || sections > sections_max {
        problems.add(Problem::Sections { sections: words[SECTIONS_WORD], sections_max });
    }
    let sections = sections.min(sections_max);
    let mut cells = Vec::new();
    cells::read(source, header.capacity, sections, limits, &mut cells, &mut problems)?;
    references::check(&cells, &mut problems);
    Ok(Snapshot { header, sections, hidden: words[HIDDEN_WORD], cells, problems })
}

fn header_words(source: &(impl Source + ?Sized)) -> Result<HeaderWords, Error> {
    let mut bytes = [0; CELL_BYTES];
    let found_bytes = source.read_at(0, &mut bytes).map_err(|error| Error::Read { error })?;
    if found_bytes < CELL_BYTES {
        return Err(Error::HeaderCutShort { expected_bytes: CELL_BYTES, found_bytes });
    }
    let (words, _) = bytes.as_chunks::<8>();
    Ok(std::array::from_fn(|index| u64::from_ne_bytes(words[index])))
}

/// Bytes that another thread or process may change or cut off while they are read.
pub trait Source {
    /// Reads what is there at `offset`, at most as much as fits. Later reads find nothing older.
    ///
    /// # Errors
    /// When the bytes cannot be read. At the end there are none, which is no error.
    fn read_at(&self, offset: u64, bytes: &mut [u8]) -> io::Result<usize>;
}

/// Reads with `pread`, so that a file which is cut off is a short read and no signal.
impl Source for File {
    fn read_at(&self, offset: u64, bytes: &mut [u8]) -> io::Result<usize> {
        let mut filled = 0;
        while filled < bytes.len() {
            let read = FileExt::read_at(self, &mut bytes[filled..], offset + filled as u64);
            match read {
                Ok(0) => break,
                Ok(read) => filled += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        fence(Ordering::Acquire);
        Ok(filled)
    }
}

/// Bytes that nobody changes, such as a copy of a file.
impl Source for [u8] {
    fn read_at(&self, offset: u64, bytes: &mut [u8]) -> io::Result<usize> {
        let there = usize::try_from(offset).ok().and_then(|offset| self.get(offset..)).unwrap_or_default();
        let length = there.len().min(bytes.len());
        bytes[..length].copy_from_slice(&there[..length]);
        Ok(length)
    }
}

/// Memory of this process, at offsets of whole words.
impl Source for [AtomicU64] {
    fn read_at(&self, offset: u64, bytes: &mut [u8]) -> io::Result<usize> {
        let first = usize::try_from(offset / 8).unwrap_or(usize::MAX);
        let there = self.get(first..).unwrap_or_default();
        let mut filled = 0;
        for (bytes, word) in bytes.chunks_exact_mut(8).zip(there) {
            bytes.copy_from_slice(&word.load(Ordering::Relaxed).to_ne_bytes());
            filled += 8;
        }
        fence(Ordering::Acquire);
        Ok(filled)
    }
}

/// Something in a file that cannot be believed, or was not read.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Problem {
    /// The header names a number of sections that the file cannot have.
    Sections {
        sections: u64,
        /// The limit in the same header.
        sections_max: u16,
    },
    /// The file ends before its last section does.
    CutShort {
        /// The first cell that is missing.
        first_missing: CellId,
    },
    /// The file has more cells than are read.
    TooManyCells { cells_max: usize },
    /// A cell changed each time that it was read.
    Changing { cell: CellId },
    /// A cell with a value that no writer writes.
    Malformed {
        cell: CellId,
        /// What is wrong with it.
        reason: Malformed,
    },
    /// An object names a cell that is not the cell of such an object. If the process runs, the cell may have been freed
    /// while others were read.
    Reference {
        /// The cell of the object.
        cell: CellId,
        /// The field that names the other.
        field: &'static str,
        target: CellId,
        /// What should be there.
        expected: Kind,
        /// What is there; [`Kind::FREE`] if it is nothing.
        found: Kind,
    },
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sections { sections, sections_max } => {
                write!(
                    f,
                    "the header counts {sections} sections; there are at least 1 and at most {sections_max}"
                )
            }
            Self::CutShort { first_missing } => {
                write!(f, "the file is cut short: cell {first_missing} and all behind it are missing")
            }
            Self::TooManyCells { cells_max } => {
                write!(f, "the file has more than {cells_max} cells; the others are not read")
            }
            Self::Changing { cell } => write!(f, "cell {cell} changed each time that it was read"),
            Self::Malformed { cell, reason } => write!(f, "cell {cell} is malformed: {reason}"),
            Self::Reference { cell, field, target, expected, found } => {
                write!(
                    f,
                    "field `{field}` of cell {cell} names cell {target} as {expected}, which is {found}"
                )
            }
        }
    }
}

/// Problems, as many as the limit allows; more are counted.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Problems {
    listed: Vec<Problem>,
    listed_max: usize,
    more: usize,
}

impl Problems {
    fn new(listed_max: usize) -> Self {
        Self { listed: Vec::new(), listed_max, more: 0 }
    }

    fn add(&mut self, problem: Problem) {
        if self.listed.len() < self.listed_max {
            self.listed.push(problem);
        } else {
            self.more += 1;
        }
    }

    /// Those that are listed.
    #[must_use]
    pub fn listed(&self) -> &[Problem] {
        &self.listed
    }

    /// How many there are besides these.
    #[must_use]
    pub fn more(&self) -> usize {
        self.more
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.listed.is_empty() && self.more == 0
    }
}

#[cfg(test)]
mod tests;
