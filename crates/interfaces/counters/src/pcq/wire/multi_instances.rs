use core::fmt;

use wire::{Decode, DecodeResult, Encode, EncodeResult, ReadCursor, WriteCursor, ensure_size};

use crate::pcq::wire::checked_size;

/// [MS-PCQ] 2.2.4.10 `_PERF_MULTI_INSTANCES`: how many instances follow.
#[doc(alias = "PERF_MULTI_INSTANCES")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MultiInstances {
    /// This header and all instances with their values. INVARIANT (of a decoded one): it is there.
    pub total_size_bytes: u32,
    /// How many there are.
    pub instances: u32,
}

impl MultiInstances {
    /// Bytes on the wire.
    pub const FIXED_PART_SIZE: usize = 4 /* dwTotalSize */ + 4 /* dwInstances */;
    pub(crate) const NAME: &'static str = "PERF_MULTI_INSTANCES";
}

impl Encode for MultiInstances {
    fn encode(&self, dst: &mut WriteCursor<'_>) -> EncodeResult<()> {
        dst.write_u32(self.total_size_bytes);
        dst.write_u32(self.instances);
        Ok(())
    }

    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn size(&self) -> usize {
        Self::FIXED_PART_SIZE
    }
}

impl<'de> Decode<'de> for MultiInstances {
    fn decode(src: &mut ReadCursor<'de>) -> DecodeResult<Self> {
        ensure_size!(in: src, name: Self::NAME, size: Self::FIXED_PART_SIZE);
        let (start, available) = (src.pos(), src.len());
        let total_size_bytes = src.read_u32();
        checked_size((Self::NAME, "dwTotalSize"), start, total_size_bytes, Self::FIXED_PART_SIZE, available)?;
        Ok(Self { total_size_bytes, instances: src.read_u32() })
    }
}

impl fmt::Display for MultiInstances {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} instances in {} bytes", self.instances, self.total_size_bytes)
    }
}
