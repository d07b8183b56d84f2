use wire::{Decode, DecodeResult, Encode, EncodeResult, ReadCursor, WriteCursor, ensure_size};

/// [MS-SMB2] 2.2.16 SMB2 CLOSE Response. Times and sizes are those of files; a pipe has none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CloseResponse;

impl CloseResponse {
    /// Bytes on the wire.
    pub const FIXED_PART_SIZE: usize = 2 /* StructureSize */
        + 2 /* Flags */
        + 4 /* Reserved */
        + 8 /* CreationTime */
        + 8 /* LastAccessTime */
        + 8 /* LastWriteTime */
        + 8 /* ChangeTime */
        + 8 /* AllocationSize */
        + 8 /* EndofFile */
        + 4 /* FileAttributes */;
    const NAME: &'static str = "SMB2 CLOSE Response";
    const STRUCTURE_SIZE: u16 = 60;
}

impl Encode for CloseResponse {
    fn encode(&self, dst: &mut WriteCursor<'_>) -> EncodeResult<()> {
        dst.write_u16(Self::STRUCTURE_SIZE);
        dst.write_zeros(Self::FIXED_PART_SIZE - 2);
        Ok(())
    }

    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn size(&self) -> usize {
        Self::FIXED_PART_SIZE
    }
}

impl<'de> Decode<'de> for CloseResponse {
    fn decode(src: &mut ReadCursor<'de>) -> DecodeResult<Self> {
        ensure_size!(in: src, name: Self::NAME, size: Self::FIXED_PART_SIZE);
        super::structure_size(src, Self::NAME, Self::STRUCTURE_SIZE)?;
        src.read_slice(Self::FIXED_PART_SIZE - 2);
        Ok(Self)
    }
}
