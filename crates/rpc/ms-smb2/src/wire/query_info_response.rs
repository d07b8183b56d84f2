use wire::{Decode, DecodeResult, Encode, EncodeResult, ReadCursor, WriteCursor, ensure_size};

use super::Header;

/// [MS-SMB2] 2.2.38 SMB2 QUERY_INFO Response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueryInfoResponse<'a> {
    /// The structure that the class of the request names.
    pub output: &'a [u8],
}

impl QueryInfoResponse<'_> {
    /// Bytes in front of the output.
    pub const FIXED_PART_SIZE: usize = 2 /* StructureSize */
        + 2 /* OutputBufferOffset */
        + 4 /* OutputBufferLength */;
    const NAME: &'static str = "SMB2 QUERY_INFO Response";
    const STRUCTURE_SIZE: u16 = 9;
}

impl Encode for QueryInfoResponse<'_> {
    fn encode(&self, dst: &mut WriteCursor<'_>) -> EncodeResult<()> {
        let output_at = Header::FIXED_PART_SIZE + Self::FIXED_PART_SIZE;
        dst.write_u16(Self::STRUCTURE_SIZE);
        dst.write_u16(super::length_u16(Self::NAME, "OutputBufferOffset", output_at)?);
        dst.write_u32(super::length_u32(Self::NAME, "OutputBufferLength", self.output.len())?);
        dst.write_slice(self.output);
        Ok(())
    }

    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn size(&self) -> usize {
        Self::FIXED_PART_SIZE + self.output.len()
    }
}

impl<'de> Decode<'de> for QueryInfoResponse<'de> {
    fn decode(src: &mut ReadCursor<'de>) -> DecodeResult<Self> {
        ensure_size!(in: src, name: Self::NAME, size: Self::FIXED_PART_SIZE);
        super::structure_size(src, Self::NAME, Self::STRUCTURE_SIZE)?;
        let offset = usize::from(src.read_u16());
        let size = super::index(Self::NAME, "OutputBufferLength", src.read_u32())?;
        Ok(Self { output: super::buffer_at(src, Self::NAME, "Output", offset, size)? })
    }
}
