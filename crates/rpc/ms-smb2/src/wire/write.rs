use wire::{Decode, DecodeResult, Encode, EncodeResult, ReadCursor, WriteCursor, ensure_size};

use super::{FileId, Header};

/// [MS-SMB2] 2.2.21 SMB2 WRITE Request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WriteRequest<'a> {
    pub file_id: FileId,
    pub data: &'a [u8],
}

impl WriteRequest<'_> {
    /// Bytes in front of the data.
    pub const FIXED_PART_SIZE: usize = 2 /* StructureSize */
        + 2 /* DataOffset */
        + 4 /* Length */
        + 8 /* Offset */
        + 16 /* FileId */
        + 4 /* Channel */
        + 4 /* RemainingBytes */
        + 2 /* WriteChannelInfoOffset */
        + 2 /* WriteChannelInfoLength */
        + 4 /* Flags */;
    const NAME: &'static str = "SMB2 WRITE Request";
    const STRUCTURE_SIZE: u16 = 49;
}

impl Encode for WriteRequest<'_> {
    fn encode(&self, dst: &mut WriteCursor<'_>) -> EncodeResult<()> {
        let data_at = Header::FIXED_PART_SIZE + Self::FIXED_PART_SIZE;
        dst.write_u16(Self::STRUCTURE_SIZE);
        dst.write_u16(super::length_u16(Self::NAME, "DataOffset", data_at)?);
        dst.write_u32(super::length_u32(Self::NAME, "Length", self.data.len())?);
        dst.write_u64(0);
        self.file_id.encode(dst)?;
        dst.write_zeros(4 + 4 + 2 + 2 + 4);
        dst.write_slice(self.data);
        Ok(())
    }

    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn size(&self) -> usize {
        Self::FIXED_PART_SIZE + self.data.len()
    }
}

impl<'de> Decode<'de> for WriteRequest<'de> {
    fn decode(src: &mut ReadCursor<'de>) -> DecodeResult<Self> {
        ensure_size!(in: src, name: Self::NAME, size: Self::FIXED_PART_SIZE);
        super::structure_size(src, Self::NAME, Self::STRUCTURE_SIZE)?;
        let offset = usize::from(src.read_u16());
        let size = super::index(Self::NAME, "Length", src.read_u32())?;
        src.read_u64();
        let file_id = FileId::decode(src)?;
        src.read_array::<16>();
        Ok(Self { file_id, data: super::buffer_at(src, Self::NAME, "Data", offset, size)? })
    }
}

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
