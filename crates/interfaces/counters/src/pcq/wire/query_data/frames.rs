use wire::{Decode, DecodeError, DecodeResult, ReadCursor};

use crate::pcq::wire::query_data::advance::Advance;
use crate::pcq::wire::{ALIGNMENT, CounterHeader};

/// Iterates over the blocks of a reply without looking into them: header, and what follows it up to the block's end.
///
/// Where a size cannot be believed, or the next block cannot be found for certain, the error is the last item.
#[derive(Clone, Debug)]
pub(super) struct Frames<'a> {
    src: ReadCursor<'a>,
    left: u32,
    advance: Option<Advance>,
    /// Where the size of a block is behind which nothing is certain.
    undecided_at: Option<usize>,
}

impl<'a> Frames<'a> {
    /// The `count` blocks that begin at `src`.
    pub(super) const fn new(src: ReadCursor<'a>, count: u32, advance: Option<Advance>) -> Self {
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

/// A cursor at the same place whose buffer ends `size` bytes behind it. The caller checked that they are there.
pub(super) fn narrowed<'a>(src: &ReadCursor<'a>, size: usize) -> ReadCursor<'a> {
    let mut inner = ReadCursor::new(&src.buffer()[..src.pos() + size]);
    inner.read_slice(src.pos());
    inner
}
