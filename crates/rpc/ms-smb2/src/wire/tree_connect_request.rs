use wire::{Decode, DecodeResult, Encode, EncodeResult, ReadCursor, WriteCursor, ensure_size};

use super::Header;

/// [MS-SMB2] 2.2.9 SMB2 TREE_CONNECT Request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeConnectRequest {
    pub path: String,
}

impl TreeConnectRequest {
    /// Bytes in front of the path.
    pub const FIXED_PART_SIZE: usize = 2 /* StructureSize */
        + 2 /* Flags */
        + 2 /* PathOffset */
        + 2 /* PathLength */;
    const NAME: &'static str = "SMB2 TREE_CONNECT Request";
    const STRUCTURE_SIZE: u16 = 9;
}

impl Encode for TreeConnectRequest {
    fn encode(&self, dst: &mut WriteCursor<'_>) -> EncodeResult<()> {
        let path = wire::encode_utf16(&self.path);
        let path_at = Header::FIXED_PART_SIZE + Self::FIXED_PART_SIZE;
        dst.write_u16(Self::STRUCTURE_SIZE);
        dst.write_u16(0);
        dst.write_u16(super::length_u16(Self::NAME, "PathOffset", path_at)?);
        dst.write_u16(super::length_u16(Self::NAME, "PathLength", path.len())?);
        dst.write_slice(&path);
        Ok(())
    }

    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn size(&self) -> usize {
        Self::FIXED_PART_SIZE + wire::utf16_len_bytes(&self.path)
    }
}

impl<'de> Decode<'de> for TreeConnectRequest {
    fn decode(src: &mut ReadCursor<'de>) -> DecodeResult<Self> {
        ensure_size!(in: src, name: Self::NAME, size: Self::FIXED_PART_SIZE);
        super::structure_size(src, Self::NAME, Self::STRUCTURE_SIZE)?;
        src.read_u16();
        let (offset, size) = (usize::from(src.read_u16()), usize::from(src.read_u16()));
        Ok(Self { path: super::text_at(src, Self::NAME, "Path", offset, size)? })
    }
}
