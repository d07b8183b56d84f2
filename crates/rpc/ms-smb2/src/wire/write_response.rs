use wire::{Decode, DecodeResult, Encode, EncodeResult, ReadCursor, WriteCursor, ensure_size};

/// [MS-SMB2] 2.2.22 SMB2 WRITE Response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WriteResponse {
    pub count: u32,
}

impl WriteResponse {
    /// Bytes on the wire.
    pub const FIXED_PART_SIZE: usize = 2 /* StructureSize */
        + 2 /* Reserved */
        + 4 /* Count */
        + 4 /* Remaining */
        + 2 /* WriteChannelInfoOffset */
        + 2 /* WriteChannelInfoLength */;
    const NAME: &'static str = "SMB2 WRITE Response";
    const STRUCTURE_SIZE: u16 = 17;
}

impl Encode for WriteResponse {
    fn encode(&self, dst: &mut WriteCursor<'_>) -> EncodeResult<()> {
        dst.write_u16(Self::STRUCTURE_SIZE);
        dst.write_u16(0);
        dst.write_u32(self.count);
        dst.write_u64(0);
        Ok(())
    }

    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn size(&self) -> usize {
        Self::FIXED_PART_SIZE
    }
}

impl<'de> Decode<'de> for WriteResponse {
    fn decode(src: &mut ReadCursor<'de>) -> DecodeResult<Self> {
        ensure_size!(in: src, name: Self::NAME, size: Self::FIXED_PART_SIZE);
        super::structure_size(src, Self::NAME, Self::STRUCTURE_SIZE)?;
        src.read_u16();
        let count = src.read_u32();
        src.read_u64();
        Ok(Self { count })
    }
}
