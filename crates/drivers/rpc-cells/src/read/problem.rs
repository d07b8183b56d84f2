use std::fmt;

use crate::cell::{Kind, Malformed};
use crate::layout::CellId;

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
    pub(super) fn new(listed_max: usize) -> Self {
        Self { listed: Vec::new(), listed_max, more: 0 }
    }

    pub(super) fn add(&mut self, problem: Problem) {
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
