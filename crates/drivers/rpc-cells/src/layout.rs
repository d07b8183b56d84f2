//! Numbers of the layout; the crate's documentation has the tables.

use std::fmt;
use std::num::ParseIntError;
use std::str::FromStr;

/// The words of a cell.
pub const CELL_WORDS: usize = 1 /* sequence */ + 2 * COPY_WORDS + 1 /* reserved */;
/// The bytes of a cell: two cache lines.
pub const CELL_BYTES: usize = 8 * CELL_WORDS;
/// The words of each of the two copies that a cell has of its object.
pub(crate) const COPY_WORDS: usize = 7;
/// The version of the layout.
pub const VERSION: u32 = 1;

/// The fewest cells of a section: its first, which is no object's, and another.
pub(crate) const CELLS_PER_SECTION_MIN: u16 = 2;
/// The most cells of a section.
pub(crate) const CELLS_PER_SECTION_MAX: u16 = 4096;
/// The most sections of a file.
pub(crate) const SECTIONS_MAX: u16 = 1024;

/// How many cells a file has room for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capacity {
    /// Cells of a section; the first of them is no object's.
    pub cells_per_section: u16,
    /// The most sections that the file may have. It begins with one.
    pub sections_max: u16,
}

impl Capacity {
    /// Whether a file can have so many.
    #[must_use]
    pub fn is_valid(self) -> bool {
        (CELLS_PER_SECTION_MIN..=CELLS_PER_SECTION_MAX).contains(&self.cells_per_section)
            && (1..=SECTIONS_MAX).contains(&self.sections_max)
    }

    /// The cells of all sections.
    #[must_use]
    pub fn cells_max(self) -> usize {
        usize::from(self.sections_max) * usize::from(self.cells_per_section)
    }

    /// The bytes of one section.
    #[must_use]
    pub fn section_bytes(self) -> usize {
        usize::from(self.cells_per_section) * CELL_BYTES
    }

    /// The bytes of a file with all sections.
    #[must_use]
    pub fn bytes_max(self) -> usize {
        self.cells_max() * CELL_BYTES
    }

    /// The number that the cell has among the cells of all sections.
    pub(crate) fn index(self, id: CellId) -> usize {
        usize::from(id.section) * usize::from(self.cells_per_section) + usize::from(id.cell)
    }

    /// The inverse of [`Capacity::index`].
    pub(crate) fn id(self, index: usize) -> CellId {
        let cells = usize::from(self.cells_per_section);
        let part = |number: usize| u16::try_from(number).expect("a capacity has at most so many");
        CellId { section: part(index / cells), cell: part(index % cells) }
    }
}

impl Default for Capacity {
    /// 32 KiB for each of at most 512 sections: 130,560 objects, which is 20,000 connections with calls.
    fn default() -> Self {
        Self { cells_per_section: 256, sections_max: 512 }
    }
}

/// The name of a cell within its process: `section.cell`, written with hexadecimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct CellId {
    pub section: u16,
    /// Its number in the section.
    pub cell: u16,
}

impl CellId {
    /// No cell: the first cell of a section is no object's.
    pub const NONE: Self = Self { section: 0, cell: 0 };

    /// Whether this names a cell.
    #[must_use]
    pub fn is_some(self) -> bool {
        self != Self::NONE
    }

    pub(crate) fn to_bits(self) -> u32 {
        u32::from(self.section) << 16 | u32::from(self.cell)
    }

    pub(crate) fn from_bits(bits: u32) -> Self {
        let [a, b, c, d] = bits.to_be_bytes();
        Self { section: u16::from_be_bytes([a, b]), cell: u16::from_be_bytes([c, d]) }
    }
}

impl fmt::Display for CellId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04x}.{:04x}", self.section, self.cell)
    }
}

/// A text that is no cell id.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("invalid cell id: expected two hexadecimal numbers with a dot between them, such as 0.1f")]
pub struct ParseCellIdError;

impl From<ParseIntError> for ParseCellIdError {
    fn from(_: ParseIntError) -> Self {
        Self
    }
}

impl FromStr for CellId {
    type Err = ParseCellIdError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (section, cell) = text.split_once('.').ok_or(ParseCellIdError)?;
        let number = |digits: &str| -> Result<u16, ParseCellIdError> {
            // A sign is not a digit.
            if !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
                return Err(ParseCellIdError);
            }
            Ok(u16::from_str_radix(digits, 16)?)
        };
        Ok(Self { section: number(section)?, cell: number(cell)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cell_ids_are_read_as_they_are_written() {
        let id = CellId { section: 0xec, cell: 0x3bc };
        assert_eq!(id.to_string(), "00ec.03bc");
        assert_eq!("ec.3bc".parse(), Ok(id));
        assert_eq!(CellId::from_bits(id.to_bits()), id);
        for bad in ["", "1", "1.", ".1", "+1.2", "1.-2", "1.2.3", "10000.0", "g.0", " 1.2"] {
            assert_eq!(bad.parse::<CellId>(), Err(ParseCellIdError), "{bad}");
        }
    }

    #[test]
    fn a_capacity_has_its_limits() {
        let capacity = |cells_per_section, sections_max| Capacity { cells_per_section, sections_max };
        for (capacity, is_valid) in [
            (Capacity::default(), true),
            (capacity(2, 1), true),
            (capacity(4096, 1024), true),
            (capacity(1, 1), false),
            (capacity(4097, 1), false),
            (capacity(2, 0), false),
            (capacity(2, 1025), false),
        ] {
            assert_eq!(capacity.is_valid(), is_valid, "{capacity:?}");
        }
        let capacity = capacity(7, 3);
        for index in 0..capacity.cells_max() {
            assert_eq!(capacity.index(capacity.id(index)), index);
        }
    }
}
