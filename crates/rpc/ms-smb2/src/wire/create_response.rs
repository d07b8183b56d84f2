use wire::{Decode, DecodeResult, Encode, EncodeResult, ReadCursor, WriteCursor, ensure_size};

use super::FileId;

/// [MS-SMB2] 2.2.14 SMB2 CREATE Response. A pipe has no times, so that all of them are zeros.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CreateResponse {
    pub file_id: FileId,
}

impl CreateResponse {
    /// Bytes on the wire without create contexts.
    pub const FIXED_PART_SIZE: usize = 2 /* StructureSize */
        + 1 /* OplockLevel */
        + 1 /* Flags */
        + 4 /* CreateAction */
        + 8 /* CreationTime */
        + 8 /* LastAccessTime */
        + 8 /* LastWriteTime */
        + 8 /* ChangeTime */
        + 8 /* AllocationSize */
        + 8 /* EndofFile */
        + 4 /* FileAttributes */
        + 4 /* Reserved2 */
        + 16 /* FileId */
        + 4 /* CreateContextsOffset */
        + 4 /* CreateContextsLength */;
    const NAME: &'static str = "SMB2 CREATE Response";
    const STRUCTURE_SIZE: u16 = 89;
    const ACTION_OPENED: u32 = 1;
    const ALLOCATION_SIZE: u64 = 4096;
    const ATTRIBUTE_NORMAL: u32 = 0x80;
}

impl Encode for CreateResponse {
    fn encode(&self, dst: &mut WriteCursor<'_>) -> EncodeResult<()> {
        dst.write_u16(Self::STRUCTURE_SIZE);
        dst.write_u16(0);
        dst.write_u32(Self::ACTION_OPENED);
        dst.write_zeros(4 * 8);
        dst.write_u64(Self::ALLOCATION_SIZE);
        dst.write_u64(0);
        dst.write_u32(Self::ATTRIBUTE_NORMAL);
        dst.write_u32(0);
        self.file_id.encode(dst)?;
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

impl<'de> Decode<'de> for CreateResponse {
    fn decode(src: &mut ReadCursor<'de>) -> DecodeResult<Self> {
        ensure_size!(in: src, name: Self::NAME, size: Self::FIXED_PART_SIZE);
        super::structure_size(src, Self::NAME, Self::STRUCTURE_SIZE)?;
        src.read_array::<62>();
        let file_id = FileId::decode(src)?;
        src.read_u64();
        Ok(Self { file_id })
    }
}
