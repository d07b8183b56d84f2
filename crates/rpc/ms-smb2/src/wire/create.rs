use wire::{Decode, DecodeResult, Encode, EncodeResult, ReadCursor, WriteCursor, ensure_size};

use super::{FileId, Header};

/// [MS-SMB2] 2.2.13 SMB2 CREATE Request, as far as a pipe needs it: no create contexts, no lock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CreateRequest {
    /// The access asked for.
    pub desired_access: u32,
    /// The pipe's name, without `\PIPE\`.
    pub name: String,
}

impl CreateRequest {
    /// To read and write data, attributes and extended attributes, to read the security descriptor, to wait.
    pub const PIPE_ACCESS: u32 = 0x0012_019F;
    /// Bytes in front of the name.
    pub const FIXED_PART_SIZE: usize = 2 /* StructureSize */
        + 1 /* SecurityFlags */
        + 1 /* RequestedOplockLevel */
        + 4 /* ImpersonationLevel */
        + 8 /* SmbCreateFlags */
        + 8 /* Reserved */
        + 4 /* DesiredAccess */
        + 4 /* FileAttributes */
        + 4 /* ShareAccess */
        + 4 /* CreateDisposition */
        + 4 /* CreateOptions */
        + 2 /* NameOffset */
        + 2 /* NameLength */
        + 4 /* CreateContextsOffset */
        + 4 /* CreateContextsLength */;
    const NAME: &'static str = "SMB2 CREATE Request";
    const STRUCTURE_SIZE: u16 = 57;
    const IMPERSONATION: u32 = 2;
    const SHARE_READ_WRITE: u32 = 1 | 2;
    const DISPOSITION_OPEN: u32 = 1;

    /// The buffer has one byte at least.
    fn buffer_len(&self) -> usize {
        wire::utf16_len_bytes(&self.name).max(1)
    }
}

impl Encode for CreateRequest {
    fn encode(&self, dst: &mut WriteCursor<'_>) -> EncodeResult<()> {
        let name = wire::encode_utf16(&self.name);
        let name_at = Header::FIXED_PART_SIZE + Self::FIXED_PART_SIZE;
        dst.write_u16(Self::STRUCTURE_SIZE);
        dst.write_u8(0);
        dst.write_u8(0);
        dst.write_u32(Self::IMPERSONATION);
        dst.write_u64(0);
        dst.write_u64(0);
        dst.write_u32(self.desired_access);
        dst.write_u32(0);
        dst.write_u32(Self::SHARE_READ_WRITE);
        dst.write_u32(Self::DISPOSITION_OPEN);
        dst.write_u32(0);
        dst.write_u16(super::length_u16(Self::NAME, "NameOffset", name_at)?);
        dst.write_u16(super::length_u16(Self::NAME, "NameLength", name.len())?);
        dst.write_u32(0);
        dst.write_u32(0);
        dst.write_slice(&name);
        dst.write_zeros(self.buffer_len() - name.len());
        Ok(())
    }

    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn size(&self) -> usize {
        Self::FIXED_PART_SIZE + self.buffer_len()
    }
}

impl<'de> Decode<'de> for CreateRequest {
    fn decode(src: &mut ReadCursor<'de>) -> DecodeResult<Self> {
        ensure_size!(in: src, name: Self::NAME, size: Self::FIXED_PART_SIZE);
        super::structure_size(src, Self::NAME, Self::STRUCTURE_SIZE)?;
        src.read_u16();
        src.read_u32();
        src.read_u64();
        src.read_u64();
        let desired_access = src.read_u32();
        src.read_array::<16>();
        let (offset, size) = (usize::from(src.read_u16()), usize::from(src.read_u16()));
        src.read_u64();
        Ok(Self { desired_access, name: super::text_at(src, Self::NAME, "Name", offset, size)? })
    }
}

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
