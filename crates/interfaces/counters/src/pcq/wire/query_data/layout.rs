//! Where the parts of a block are, and which padding is tolerated.

use wire::{Decode, ReadCursor};

use crate::pcq::types::BlockType;
use crate::pcq::wire::query_data::Advance;
use crate::pcq::wire::query_data::Frames;
use crate::pcq::wire::query_data::block::{Listed, counter_set, multi_counters};
use crate::pcq::wire::{ALIGNMENT, CounterHeader};

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
    pub(super) blocks: Option<Advance>,
    /// Behind id lists, where that is proven.
    pub(super) id_lists: Option<Advance>,
}

impl Layout {
    /// Finds out how a reply of `count` blocks is read, and keeps what it proves.
    pub(super) fn learn(&mut self, blocks: ReadCursor<'_>, count: u32) -> Reading {
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
