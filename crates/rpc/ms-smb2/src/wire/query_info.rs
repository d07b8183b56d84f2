use wire::{Decode, DecodeResult, Encode, EncodeResult, ReadCursor, WriteCursor, ensure_size, open_enum};

use super::{FileId, Header};

open_enum! {
    /// [MS-FSCC] 2.4, the classes that are asked of pipes.
    pub struct FileInfoClass(u8) {
        FILE_STANDARD_INFORMATION = 5,
        /// Read mode and completion mode.
        FILE_PIPE_INFORMATION = 23,
        /// Type, state and quotas.
        FILE_PIPE_LOCAL_INFORMATION = 24,
    }
}

/// [MS-SMB2] 2.2.37 SMB2 QUERY_INFO Request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueryInfoRequest {
    /// 1 for a file; file systems, security and quotas are not for pipes.
    pub info_type: u8,
    pub file_info_class: FileInfoClass,
    /// How much at most.
    pub output_buffer_length: u32,
    pub file_id: FileId,
}

impl QueryInfoRequest {
    /// `InfoType`: about a file.
    pub const INFO_FILE: u8 = 1;
    /// Bytes on the wire.
    pub const FIXED_PART_SIZE: usize = 2 /* StructureSize */
        + 1 /* InfoType */
        + 1 /* FileInfoClass */
        + 4 /* OutputBufferLength */
        + 2 /* InputBufferOffset */
        + 2 /* Reserved */
        + 4 /* InputBufferLength */
        + 4 /* AdditionalInformation */
        + 4 /* Flags */
        + 16 /* FileId */;
    const NAME: &'static str = "SMB2 QUERY_INFO Request";
    const STRUCTURE_SIZE: u16 = 41;
}

impl Encode for QueryInfoRequest {
    fn encode(&self, dst: &mut WriteCursor<'_>) -> EncodeResult<()> {
        dst.write_u16(Self::STRUCTURE_SIZE);
        dst.write_u8(self.info_type);
        dst.write_u8(self.file_info_class.0);
        dst.write_u32(self.output_buffer_length);
        dst.write_zeros(2 + 2 + 4 + 4 + 4);
        self.file_id.encode(dst)
    }

    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn size(&self) -> usize {
        Self::FIXED_PART_SIZE
    }
}

impl<'de> Decode<'de> for QueryInfoRequest {
    fn decode(src: &mut ReadCursor<'de>) -> DecodeResult<Self> {
        ensure_size!(in: src, name: Self::NAME, size: Self::FIXED_PART_SIZE);
        super::structure_size(src, Self::NAME, Self::STRUCTURE_SIZE)?;
        let info_type = src.read_u8();
        let file_info_class = FileInfoClass(src.read_u8());
        let output_buffer_length = src.read_u32();
        src.read_array::<16>();
        Ok(Self { info_type, file_info_class, output_buffer_length, file_id: FileId::decode(src)? })
    }
}

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
