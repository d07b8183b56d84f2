use wire::{Decode, DecodeResult, Encode, EncodeResult, ReadCursor, WriteCursor, ensure_size};

use super::FileId;

/// [MS-SMB2] 2.2.15 SMB2 CLOSE Request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CloseRequest {
    /// What to close.
    pub file_id: FileId,
}

impl CloseRequest {
    /// Bytes on the wire.
    pub const FIXED_PART_SIZE: usize = 2 /* StructureSize */ + 2 /* Flags */ + 4 /* Reserved */ + 16 /* FileId */;
    const NAME: &'static str = "SMB2 CLOSE Request";
    const STRUCTURE_SIZE: u16 = 24;
}

impl Encode for CloseRequest {
    fn encode(&self, dst: &mut WriteCursor<'_>) -> EncodeResult<()> {
        dst.write_u16(Self::STRUCTURE_SIZE);
        dst.write_u16(0);
        dst.write_u32(0);
        self.file_id.encode(dst)
    }

    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn size(&self) -> usize {
        Self::FIXED_PART_SIZE
    }
}

impl<'de> Decode<'de> for CloseRequest {
    fn decode(src: &mut ReadCursor<'de>) -> DecodeResult<Self> {
        ensure_size!(in: src, name: Self::NAME, size: Self::FIXED_PART_SIZE);
        super::structure_size(src, Self::NAME, Self::STRUCTURE_SIZE)?;
        src.read_u16();
        src.read_u32();
        Ok(Self { file_id: FileId::decode(src)? })
    }
}
