//! [MS-PCQ] 3.1.4.1.6: the buffer of `PerflibV2QueryCounterData`, read in place and written.

mod advance;
mod block;
mod frames;
mod layout;
mod values;
mod writer;

pub use self::block::{Block, Body};
pub use self::layout::Layout;
pub(crate) use self::layout::Reading;
pub use self::values::{InstanceValues, Instances, Values};
pub use self::writer::{Clocks, QueryDataWriter};

use wire::{Decode, DecodeResult, ReadCursor};

use self::advance::Advance;
use self::frames::{Frames, narrowed};
use crate::pcq::wire::{DataHeader, checked_size};

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
    reading: Reading,
}

impl<'a> QueryData<'a> {
    /// Reads the header of a reply whose host is not known. Bytes behind dwTotalSize are not looked at.
    ///
    /// # Errors
    /// When the header is cut off, or dwTotalSize is not between its size and that of `bytes`.
    pub fn parse(bytes: &'a [u8]) -> DecodeResult<Self> {
        Self::parse_with(bytes, &mut Layout::default())
    }

    /// The same for a host whose earlier replies proved `layout`; this one may add to it.
    ///
    /// # Errors
    /// As [`QueryData::parse`].
    pub fn parse_with(bytes: &'a [u8], layout: &mut Layout) -> DecodeResult<Self> {
        let src = &mut ReadCursor::new(bytes);
        let header = DataHeader::decode(src)?;
        let field = (DataHeader::NAME, "dwTotalSize");
        let min = DataHeader::FIXED_PART_SIZE;
        let total_size = checked_size(field, 0, header.total_size_bytes, min, bytes.len())?;
        let blocks = narrowed(src, total_size - min);
        Ok(Self { header, blocks, reading: layout.learn(blocks, header.num_counters) })
    }

    /// Where [`QueryData::parse_with`] found this header and this reading for these bytes.
    pub(crate) fn parsed_before(header: DataHeader, reading: Reading, bytes: &'a [u8]) -> Self {
        let total_size = usize::try_from(header.total_size_bytes).unwrap_or(usize::MAX);
        let mut blocks = ReadCursor::new(&bytes[..total_size]);
        blocks.read_slice(DataHeader::FIXED_PART_SIZE);
        Self { header, blocks, reading }
    }

    /// The clocks, and what the sizes say.
    #[must_use]
    pub const fn header(&self) -> &DataHeader {
        &self.header
    }

    pub(crate) const fn reading(&self) -> Reading {
        self.reading
    }

    /// The blocks, in the order of [`crate::pcq::wire::CounterIdentifier::index`].
    #[must_use]
    pub const fn blocks(&self) -> Blocks<'a> {
        let Reading { blocks, id_lists } = self.reading;
        Blocks { frames: Frames::new(self.blocks, self.header.num_counters, blocks), index: 0, id_lists }
    }
}

/// Iterates over the blocks of a [`QueryData`].
///
/// A block that contradicts itself is an error in its place, and the ones behind it follow; where its own size
/// cannot be believed, or the block behind it cannot be found for certain, the error is the last item.
#[derive(Clone, Debug)]
pub struct Blocks<'a> {
    frames: Frames<'a>,
    index: u32,
    id_lists: Option<Advance>,
}

impl<'a> Iterator for Blocks<'a> {
    type Item = DecodeResult<Block<'a>>;

    fn next(&mut self) -> Option<Self::Item> {
        let frame = self.frames.next()?;
        let index = self.index;
        self.index += 1;
        Some(frame.and_then(|(header, body)| Block::decode(index, header, body, self.id_lists)))
    }
}

impl core::iter::FusedIterator for Blocks<'_> {}
