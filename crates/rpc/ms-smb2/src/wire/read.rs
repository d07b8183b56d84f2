use wire::{Decode, DecodeResult, Encode, EncodeResult, ReadCursor, WriteCursor, ensure_size};

use super::{FileId, Header};

/// [MS-SMB2] 2.2.19 SMB2 READ Request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadRequest {
    /// How much at most.
    pub length: u32,
    pub file_id: FileId,
}

impl ReadRequest {
    /// Bytes in front of the channel information.
    pub const FIXED_PART_SIZE: usize = 2 /* StructureSize */
        + 1 /* Padding */
        + 1 /* Flags */
        + 4 /* Length */
        + 8 /* Offset */
        + 16 /* FileId */
        + 4 /* MinimumCount */
        + 4 /* Channel */
        + 4 /* RemainingBytes */
        + 2 /* ReadChannelInfoOffset */
        + 2 /* ReadChannelInfoLength */;
    const NAME: &'static str = "SMB2 READ Request";
    const STRUCTURE_SIZE: u16 = 49;
    /// Where we would like to find the data in the response.
    const DATA_OFFSET: u8 = 80;
}

impl Encode for ReadRequest {
    fn encode(&self, dst: &mut WriteCursor<'_>) -> EncodeResult<()> {
        dst.write_u16(Self::STRUCTURE_SIZE);
        dst.write_u8(Self::DATA_OFFSET);
        dst.write_u8(0);
        dst.write_u32(self.length);
        dst.write_u64(0);
        self.file_id.encode(dst)?;
        dst.write_zeros(4 + 4 + 4 + 2 + 2);
        // Without channel information the buffer has one byte.
        dst.write_u8(0);
        Ok(())
    }

    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn size(&self) -> usize {
        Self::FIXED_PART_SIZE + 1 /* Buffer */
    }
}

impl<'de> Decode<'de> for ReadRequest {
    fn decode(src: &mut ReadCursor<'de>) -> DecodeResult<Self> {
        ensure_size!(in: src, name: Self::NAME, size: Self::FIXED_PART_SIZE);
        super::structure_size(src, Self::NAME, Self::STRUCTURE_SIZE)?;
        src.read_u16();
        let length = src.read_u32();
        src.read_u64();
        let file_id = FileId::decode(src)?;
        src.read_array::<16>();
        Ok(Self { length, file_id })
    }
}

/// [MS-SMB2] 2.2.20 SMB2 READ Response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadResponse<'a> {
    pub data: &'a [u8],
}

impl ReadResponse<'_> {
    /// Bytes in front of the data.
    pub const FIXED_PART_SIZE: usize = 2 /* StructureSize */
        + 1 /* DataOffset */
        + 1 /* Reserved */
        + 4 /* DataLength */
        + 4 /* DataRemaining */
        + 4 /* Reserved2 */;
    const NAME: &'static str = "SMB2 READ Response";
    const STRUCTURE_SIZE: u16 = 17;
    const DATA_OFFSET: u8 = 80;
}

const _: () =
    assert!(Header::FIXED_PART_SIZE + ReadResponse::FIXED_PART_SIZE == ReadResponse::DATA_OFFSET as usize);

impl Encode for ReadResponse<'_> {
    fn encode(&self, dst: &mut WriteCursor<'_>) -> EncodeResult<()> {
        dst.write_u16(Self::STRUCTURE_SIZE);
        dst.write_u8(Self::DATA_OFFSET);
        dst.write_u8(0);
        dst.write_u32(super::length_u32(Self::NAME, "DataLength", self.data.len())?);
        dst.write_u64(0);
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

impl<'de> Decode<'de> for ReadResponse<'de> {
    fn decode(src: &mut ReadCursor<'de>) -> DecodeResult<Self> {
        ensure_size!(in: src, name: Self::NAME, size: Self::FIXED_PART_SIZE);
        super::structure_size(src, Self::NAME, Self::STRUCTURE_SIZE)?;
        let offset = usize::from(src.read_u8());
        src.read_u8();
        let size = super::index(Self::NAME, "DataLength", src.read_u32())?;
        src.read_u64();
        Ok(Self { data: super::buffer_at(src, Self::NAME, "Data", offset, size)? })
    }
}
