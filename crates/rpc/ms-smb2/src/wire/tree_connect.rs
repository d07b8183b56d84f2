use wire::{Decode, DecodeResult, Encode, EncodeResult, ReadCursor, WriteCursor, ensure_size, open_enum};

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

open_enum! {
    /// `ShareType` of [MS-SMB2] 2.2.10.
    pub struct ShareType(u8) {
        DISK = 1,
        PIPE = 2,
        PRINT = 3,
    }
}

/// [MS-SMB2] 2.2.10 SMB2 TREE_CONNECT Response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TreeConnectResponse {
    /// What the share holds.
    pub share_type: ShareType,
    pub share_flags: u32,
    /// The access that this client has.
    pub maximal_access: u32,
}

impl TreeConnectResponse {
    /// `ShareFlags`: all messages on this tree must be encrypted.
    pub const ENCRYPT_DATA: u32 = 0x8000;
    /// Bytes on the wire.
    pub const FIXED_PART_SIZE: usize = 2 /* StructureSize */
        + 1 /* ShareType */
        + 1 /* Reserved */
        + 4 /* ShareFlags */
        + 4 /* Capabilities */
        + 4 /* MaximalAccess */;
    const NAME: &'static str = "SMB2 TREE_CONNECT Response";
    const STRUCTURE_SIZE: u16 = 16;
}

impl Encode for TreeConnectResponse {
    fn encode(&self, dst: &mut WriteCursor<'_>) -> EncodeResult<()> {
        dst.write_u16(Self::STRUCTURE_SIZE);
        dst.write_u8(self.share_type.0);
        dst.write_u8(0);
        dst.write_u32(self.share_flags);
        dst.write_u32(0);
        dst.write_u32(self.maximal_access);
        Ok(())
    }

    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn size(&self) -> usize {
        Self::FIXED_PART_SIZE
    }
}

impl<'de> Decode<'de> for TreeConnectResponse {
    fn decode(src: &mut ReadCursor<'de>) -> DecodeResult<Self> {
        ensure_size!(in: src, name: Self::NAME, size: Self::FIXED_PART_SIZE);
        super::structure_size(src, Self::NAME, Self::STRUCTURE_SIZE)?;
        let share_type = ShareType(src.read_u8());
        src.read_u8();
        let share_flags = src.read_u32();
        src.read_u32();
        Ok(Self { share_type, share_flags, maximal_access: src.read_u32() })
    }
}
