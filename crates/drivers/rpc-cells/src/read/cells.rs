use super::{Problem, Problems, ReadLimits, Source};
use crate::cell::{Cell, CopyWords};
use crate::error::Error;
use crate::layout::{CELL_BYTES, COPY_WORDS, Capacity, CellId};
use crate::sequence::settled;

/// Reads the objects of all sections.
pub(super) fn read(
    source: &(impl Source + ?Sized),
    capacity: Capacity,
    sections: u16,
    limits: &ReadLimits,
    cells: &mut Vec<(CellId, Cell)>,
    problems: &mut Problems,
) -> Result<(), Error> {
    let mut passes = Passes::new(capacity.section_bytes());
    let mut looked_at = 0;
    for section in 0..sections {
        let begin = capacity.index(CellId { section, cell: 0 }) as u64 * CELL_BYTES as u64;
        let found = passes.read(source, begin)?;
        // The first cell of a section is no object's.
        for (cell, sample) in (0_u16..).zip(passes.samples()).skip(1) {
            if looked_at == limits.cells_max {
                problems.add(Problem::TooManyCells { cells_max: limits.cells_max });
                return Ok(());
            }
            looked_at += 1;
            let id = CellId { section, cell };
            let copy = match sample.settled() {
                Some(copy) => Some(copy),
                None => read_again(source, begin + u64::from(cell) * CELL_BYTES as u64, limits.retries_max)?,
            };
            let Some(copy) = copy else {
                problems.add(Problem::Changing { cell: id });
                continue;
            };
            match Cell::decode(&copy) {
                Ok(Some(object)) => cells.push((id, object)),
                Ok(None) => {}
                Err(reason) => problems.add(Problem::Malformed { cell: id, reason }),
            }
        }
        let whole = u16::try_from(found / CELL_BYTES).unwrap_or(u16::MAX);
        if whole < capacity.cells_per_section {
            problems.add(Problem::CutShort { first_missing: CellId { section, cell: whole } });
            return Ok(());
        }
    }
    Ok(())
}

/// Three reads of the same bytes, one after the other. Only the order of reads is certain, not that of the bytes within
/// one: so a number of the first and of the last say whether the copy of the one between is whole.
struct Passes {
    before: Vec<u8>,
    between: Vec<u8>,
    after: Vec<u8>,
    found: usize,
}

/// The bytes of one cell in each pass.
struct Sample<'a> {
    before: &'a [u8; CELL_BYTES],
    between: &'a [u8; CELL_BYTES],
    after: &'a [u8; CELL_BYTES],
}

impl Passes {
    fn new(bytes: usize) -> Self {
        Self { before: vec![0; bytes], between: vec![0; bytes], after: vec![0; bytes], found: 0 }
    }

    /// Reads the bytes at `offset`. Returns how many each pass found.
    fn read(&mut self, source: &(impl Source + ?Sized), offset: u64) -> Result<usize, Error> {
        let read = |bytes: &mut [u8]| source.read_at(offset, bytes).map_err(|error| Error::Read { error });
        let found = [read(&mut self.before)?, read(&mut self.between)?, read(&mut self.after)?];
        self.found = found.into_iter().min().unwrap_or(0);
        Ok(self.found)
    }

    /// The cells that each pass found.
    fn samples(&self) -> impl Iterator<Item = Sample<'_>> {
        let cells = |bytes| <[u8]>::as_chunks::<CELL_BYTES>(bytes).0.iter();
        let passes = cells(&self.before).zip(cells(&self.between)).zip(cells(&self.after));
        passes
            .map(|((before, between), after)| Sample { before, between, after })
            .take(self.found / CELL_BYTES)
    }
}

impl Sample<'_> {
    /// The current copy, if it stayed the current one.
    fn settled(&self) -> Option<CopyWords> {
        let copy = |current| {
            let first = 1 + COPY_WORDS * current;
            std::array::from_fn(|index| word(self.between, first + index))
        };
        settled(word(self.before, 0), copy, || word(self.after, 0))
    }
}

fn word(cell: &[u8; CELL_BYTES], index: usize) -> u64 {
    u64::from_ne_bytes(cell.as_chunks::<8>().0[index])
}

/// Reads a cell alone, which takes less time than a section and so meets fewer changes.
fn read_again(
    source: &(impl Source + ?Sized),
    offset: u64,
    retries_max: u32,
) -> Result<Option<CopyWords>, Error> {
    let mut passes = Passes::new(CELL_BYTES);
    for _ in 0..retries_max {
        passes.read(source, offset)?;
        if let Some(copy) = passes.samples().next().and_then(|sample| sample.settled()) {
            return Ok(Some(copy));
        }
    }
    Ok(None)
}
