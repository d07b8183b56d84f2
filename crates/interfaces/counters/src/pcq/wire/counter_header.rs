use core::fmt;

use wire::{Decode, DecodeResult, Encode, EncodeResult, ReadCursor, Win32Error, WriteCursor, ensure_size};

use crate::pcq::types::BlockType;
use crate::pcq::wire::checked_size;

/// [MS-PCQ] 2.2.4.8 `_PERF_COUNTER_HEADER`: the beginning of a block.
#[doc(alias = "PERF_COUNTER_HEADER")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CounterHeader {
    /// How the query of this block went.
    pub status: Win32Error,
    /// What follows.
    pub block_type: BlockType,
    /// This header and what follows. INVARIANT (of a decoded one): it is there.
    pub size_bytes: u32,
}

impl CounterHeader {
    /// Bytes on the wire.
    pub const FIXED_PART_SIZE: usize = 4 /* dwStatus */ + 4 /* dwType */ + 4 /* dwSize */ + 4 /* Reserved */;
    pub(crate) const NAME: &'static str = "PERF_COUNTER_HEADER";
    /// Where dwSize stands.
    pub(crate) const SIZE_OFFSET: usize = 4 /* dwStatus */ + 4 /* dwType */;

    /// Bytes of the whole block; per the invariant of a decoded header they are there.
    pub(crate) fn block_size(self) -> usize {
        usize::try_from(self.size_bytes).unwrap_or(usize::MAX)
    }
}

impl Encode for CounterHeader {
    fn encode(&self, dst: &mut WriteCursor<'_>) -> EncodeResult<()> {
        dst.write_u32(self.status.0);
        dst.write_u32(self.block_type.0);
        dst.write_u32(self.size_bytes);
        dst.write_u32(0); // Reserved
        Ok(())
    }

    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn size(&self) -> usize {
        Self::FIXED_PART_SIZE
    }
}

impl<'de> Decode<'de> for CounterHeader {
    fn decode(src: &mut ReadCursor<'de>) -> DecodeResult<Self> {
        ensure_size!(in: src, name: Self::NAME, size: Self::FIXED_PART_SIZE);
        let available = src.len();
        let status = Win32Error(src.read_u32());
        let block_type = BlockType(src.read_u32());
        let (size_at, size_bytes) = (src.pos(), src.read_u32());
        checked_size((Self::NAME, "dwSize"), size_at, size_bytes, Self::FIXED_PART_SIZE, available)?;
        let _reserved = src.read_u32();
        Ok(Self { status, block_type, size_bytes })
    }
}

impl fmt::Display for CounterHeader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {} bytes, {}", self.block_type, self.size_bytes, self.status)
    }
}
