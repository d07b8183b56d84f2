use wire::{Decode, DecodeResult, Encode, EncodeResult, ReadCursor, WriteCursor, ensure_size};

/// The empty body: LOGOFF ([MS-SMB2] 2.2.7, 2.2.8), TREE_DISCONNECT (2.2.11, 2.2.12), ECHO (2.2.28,
/// 2.2.29) and CANCEL (2.2.30).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EmptyBody;

impl EmptyBody {
    /// Bytes on the wire.
    pub const FIXED_PART_SIZE: usize = 2 /* StructureSize */ + 2 /* Reserved */;
    const NAME: &'static str = "SMB2 empty body";
    const STRUCTURE_SIZE: u16 = 4;
}

impl Encode for EmptyBody {
    fn encode(&self, dst: &mut WriteCursor<'_>) -> EncodeResult<()> {
        dst.write_u16(Self::STRUCTURE_SIZE);
        dst.write_u16(0);
        Ok(())
    }

    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn size(&self) -> usize {
        Self::FIXED_PART_SIZE
    }
}

impl<'de> Decode<'de> for EmptyBody {
    fn decode(src: &mut ReadCursor<'de>) -> DecodeResult<Self> {
        ensure_size!(in: src, name: Self::NAME, size: Self::FIXED_PART_SIZE);
        super::structure_size(src, Self::NAME, Self::STRUCTURE_SIZE)?;
        src.read_u16();
        Ok(Self)
    }
}
