//! [MS-PCQ] 3.1.4.1.6: the buffer of `PerflibV2QueryCounterData`, read in place and written.

mod block;
mod values;
mod writer;

pub use self::block::{Block, Body};
pub use self::values::{InstanceValues, Instances, Values};
pub use self::writer::{Clocks, QueryDataWriter};

use codec::{Decode, DecodeResult, ReadCursor};

use crate::wire::{CounterHeader, DataHeader, checked_size};

/// One reply of `PerflibV2QueryCounterData`, borrowed and without allocations.
///
/// [`QueryData::parse`] checks the header; each step of [`QueryData::blocks`] checks one block as a whole, so
/// that what is inside of a [`Block`] can be iterated without further errors.
#[derive(Clone, Copy, Debug)]
pub struct QueryData<'a> {
    header: DataHeader,
    // Offsets in errors count from the beginning of the buffer.
    // INVARIANT: behind the header, and ends where dwTotalSize says.
    blocks: ReadCursor<'a>,
}

impl<'a> QueryData<'a> {
    /// Reads the header. Bytes behind dwTotalSize are not looked at.
    ///
    /// # Errors
    /// When the header is cut off, or dwTotalSize is not between its size and that of `bytes`.
    pub fn parse(bytes: &'a [u8]) -> DecodeResult<Self> {
        let src = &mut ReadCursor::new(bytes);
        let header = DataHeader::decode(src)?;
        let field = (DataHeader::NAME, "dwTotalSize");
        let min = DataHeader::FIXED_PART_SIZE;
        let total_size = checked_size(field, 0, header.total_size_bytes, min, bytes.len())?;
        Ok(Self { header, blocks: narrowed(src, total_size - min) })
    }

    /// Where [`QueryData::parse`] answered this header for these bytes.
    pub(crate) fn parsed_before(header: DataHeader, bytes: &'a [u8]) -> Self {
        let total_size = usize::try_from(header.total_size_bytes).unwrap_or(usize::MAX);
        let mut blocks = ReadCursor::new(&bytes[..total_size]);
        blocks.read_slice(DataHeader::FIXED_PART_SIZE);
        Self { header, blocks }
    }

    /// The clocks, and what the sizes say.
    #[must_use]
    pub const fn header(&self) -> &DataHeader {
        &self.header
    }

    /// The blocks, in the order of [`crate::wire::CounterIdentifier::index`].
    #[must_use]
    pub const fn blocks(&self) -> Blocks<'a> {
        Blocks { src: self.blocks, index: 0, count: self.header.num_counters }
    }
}

/// Iterates over the blocks of a [`QueryData`].
///
/// A block that contradicts itself is an error in its place, and the ones behind it follow; where its own size
/// cannot be believed, the error is the last item.
#[derive(Clone, Debug)]
pub struct Blocks<'a> {
    src: ReadCursor<'a>,
    index: u32,
    count: u32,
}

impl<'a> Iterator for Blocks<'a> {
    type Item = DecodeResult<Block<'a>>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.index == self.count {
            return None;
        }
        let mut body = self.src;
        let header = match CounterHeader::decode(&mut body) {
            Ok(header) => header,
            Err(error) => {
                self.index = self.count;
                return Some(Err(error));
            }
        };
        // Per the invariant of a decoded header both sizes are there.
        let size = usize::try_from(header.size_bytes).unwrap_or(usize::MAX);
        let body = narrowed(&body, size - CounterHeader::FIXED_PART_SIZE);
        self.src.read_slice(size);
        let index = self.index;
        self.index += 1;
        Some(Block::decode(index, header, body))
    }
}

impl core::iter::FusedIterator for Blocks<'_> {}

/// A cursor at the same place whose buffer ends `size` bytes behind it. The caller checked that they are there.
fn narrowed<'a>(src: &ReadCursor<'a>, size: usize) -> ReadCursor<'a> {
    let mut inner = ReadCursor::new(&src.buffer()[..src.pos() + size]);
    inner.read_slice(src.pos());
    inner
}
