//! [MS-PCQ] 3.1.4.1.6: the buffer of `PerflibV2QueryCounterData`, read in place and written.

mod block;
mod values;
mod writer;

use wire::{Decode, DecodeError, DecodeResult, ReadCursor};

pub use self::block::{Block, Body};
pub use self::values::{InstanceValues, Instances, Values};
pub use self::writer::{Clocks, QueryDataWriter};

use self::block::{Listed, counter_set, multi_counters};
use super::super::types::BlockType;
use crate::pcq::wire::{ALIGNMENT, CounterHeader, DataHeader, checked_size};

/// One reply of `PerflibV2QueryCounterData`, borrowed and without allocations.
///
/// [`QueryData::parse`] checks the header; each step of [`QueryData::blocks`] checks one block as a whole, so
/// that what is inside of a [`Block`] can be iterated without further errors.
#[derive(Clone, Copy, Debug)]
pub struct QueryData<'a> {
    header: DataHeader,
    // Offsets in errors count from the beginning of the buffer.
    // INVARIANT: after the header, and ends where dwTotalSize says.
    blocks: ReadCursor<'a>,
    reading: Reading,
}

impl<'a> QueryData<'a> {
    /// Reads the header of a reply whose host is not known. Bytes after dwTotalSize are not looked at.
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
/// A block that contradicts itself is an error in its place, and the ones after it follow; where its own size
/// cannot be believed, or the block after it cannot be found for certain, the error is the last item.
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

/// How a reader advances past a structure whose size is no multiple of 8.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Advance {
    /// By the size alone.
    BySize,
    /// To the next multiple of 8, counted from the beginning of the structure.
    OverPadding,
}

impl Advance {
    /// Bytes to pass over after a structure of `size` bytes.
    const fn gap(self, size: usize) -> usize {
        match self {
            Self::BySize => 0,
            Self::OverPadding => size.next_multiple_of(ALIGNMENT) - size,
        }
    }
}

/// Iterates over the blocks of a reply without looking into them: header, and what follows it up to the block's end.
///
/// Where a size cannot be believed, or the next block cannot be found for certain, the error is the last item.
#[derive(Clone, Debug)]
struct Frames<'a> {
    src: ReadCursor<'a>,
    left: u32,
    advance: Option<Advance>,
    /// Where the size of a block is after which nothing is certain.
    undecided_at: Option<usize>,
}

impl<'a> Frames<'a> {
    /// The `count` blocks that begin at `src`.
    const fn new(src: ReadCursor<'a>, count: u32, advance: Option<Advance>) -> Self {
        Self { src, left: count, advance, undecided_at: None }
    }

    fn frame(&mut self) -> DecodeResult<(CounterHeader, ReadCursor<'a>)> {
        if let Some(offset) = self.undecided_at {
            let reason = "the next block may begin here or behind padding, and nothing says which";
            return Err(DecodeError::invalid_field(CounterHeader::NAME, "dwSize", offset, reason));
        }
        let start = self.src.pos();
        let mut body = self.src;
        let header = CounterHeader::decode(&mut body)?;
        let size = header.block_size();
        let body = narrowed(&body, size - CounterHeader::FIXED_PART_SIZE);
        self.src.read_slice(size);
        if !size.is_multiple_of(ALIGNMENT) {
            match self.advance {
                // Behind the last block the padding may be missing.
                Some(advance) => {
                    self.src.read_slice(advance.gap(size).min(self.src.len()));
                }
                None => self.undecided_at = Some(start + CounterHeader::SIZE_OFFSET),
            }
        }
        Ok((header, body))
    }
}

impl<'a> Iterator for Frames<'a> {
    type Item = DecodeResult<(CounterHeader, ReadCursor<'a>)>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.left == 0 {
            return None;
        }
        self.left -= 1;
        let frame = self.frame();
        if frame.is_err() {
            self.left = 0;
        }
        Some(frame)
    }
}

/// A cursor at the same place whose buffer ends `size` bytes after it. The caller checked that they are there.
fn narrowed<'a>(src: &ReadCursor<'a>, size: usize) -> ReadCursor<'a> {
    let mut inner = ReadCursor::new(&src.buffer()[..src.pos() + size]);
    inner.read_slice(src.pos());
    inner
}

// Where the parts of a block are, and which padding is tolerated.

/// Where the host's replies put what follows a structure whose size is no multiple of 8, as far as they proved it.
///
/// [MS-PCQ] 2.2.4.11 and perflib.h give `PERF_MULTI_COUNTERS.dwSize` as 8 bytes and 4 more for each id. Neither says
/// whether an odd list is followed by padding to 8 that the size does not count. The same goes for the blocks. A block
/// that ends exactly where its size says when it is read in one way, and does not when it is read in the other, proves
/// which way the host goes. Keep one `Layout` for each host and hand it to [`QueryData::parse_with`]: what was proven
/// is tried first, and decides where a block can be read in both ways.
///
/// [`QueryData::parse_with`]: crate::pcq::wire::QueryData::parse_with
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Layout {
    id_lists: Proof,
    blocks: Proof,
}

/// What replies proved about one kind of structure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
enum Proof {
    /// Nothing: each size was a multiple of 8, or could be read in both ways.
    #[default]
    None,
    One(Advance),
    /// The host goes both ways, so that nothing follows for others.
    Contradictory,
}

impl Proof {
    const fn proven(self) -> Option<Advance> {
        match self {
            Self::One(advance) => Some(advance),
            Self::None | Self::Contradictory => None,
        }
    }

    fn add(&mut self, advance: Advance) {
        *self = match *self {
            Self::One(other) if other != advance => Self::Contradictory,
            Self::Contradictory => Self::Contradictory,
            _ => Self::One(advance),
        };
    }
}

/// How one reply is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reading {
    /// From block to block; nothing where both ways end where the reply does.
    blocks: Option<Advance>,
    /// Behind id lists, where that is proven.
    id_lists: Option<Advance>,
}

impl Layout {
    /// Finds out how a reply of `count` blocks is read, and keeps what it proves.
    fn learn(&mut self, blocks: ReadCursor<'_>, count: u32) -> Reading {
        let advance = self.learn_blocks(blocks, count);
        if self.id_lists == Proof::None {
            for (header, body) in Frames::new(blocks, count, advance).map_while(Result::ok) {
                if let Some(proof) = proof_of(header, body) {
                    self.id_lists.add(proof);
                }
            }
        }
        Reading { blocks: advance, id_lists: self.id_lists.proven() }
    }

    fn learn_blocks(&mut self, blocks: ReadCursor<'_>, count: u32) -> Option<Advance> {
        let by_size = Walk::along(blocks, count, Advance::BySize);
        if !by_size.has_choice {
            return Some(Advance::BySize);
        }
        let proven = self.blocks.proven();
        if proven.is_some_and(|advance| Walk::along(blocks, count, advance).ends) {
            return proven;
        }
        let over_padding = Walk::along(blocks, count, Advance::OverPadding);
        let found = match (by_size.ends, over_padding.ends) {
            (true, false) => Advance::BySize,
            (false, true) => Advance::OverPadding,
            (true, true) => return None,
            // Neither is right: the iterator over the blocks says where it goes wrong.
            (false, false) => return Some(Advance::BySize),
        };
        self.blocks.add(found);
        Some(found)
    }
}

/// One way through the blocks, by their sizes.
struct Walk {
    /// Whether a block was met after which there are two ways.
    has_choice: bool,
    /// Whether the last block ends where the reply does, padding aside.
    ends: bool,
}

impl Walk {
    fn along(mut src: ReadCursor<'_>, count: u32, advance: Advance) -> Self {
        let mut walk = Self { has_choice: false, ends: false };
        for left in (0..count).rev() {
            // Each block takes its header at least, so a count that lies ends with the reply.
            let Ok(header) = CounterHeader::decode(&mut { src }) else { return walk };
            let size = header.block_size();
            src.read_slice(size);
            if left > 0 && !size.is_multiple_of(ALIGNMENT) {
                walk.has_choice = true;
                let gap = advance.gap(size);
                if gap > src.len() {
                    return walk;
                }
                src.read_slice(gap);
            }
        }
        walk.ends = src.len() < ALIGNMENT;
        walk
    }
}

/// What a block proves about id lists.
fn proof_of(header: CounterHeader, body: ReadCursor<'_>) -> Option<Advance> {
    let listed = match header.block_type {
        BlockType::PERF_MULTI_COUNTERS => Listed::decode(body, multi_counters),
        BlockType::PERF_COUNTERSET => Listed::decode(body, counter_set),
        _ => return None,
    };
    listed.ok()?.proof()
}
