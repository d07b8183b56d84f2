use wire::{Decode, DecodeResult, Encode, EncodeResult, ReadCursor, WriteCursor, ensure_size, open_enum};

use super::{FileId, Header};

open_enum! {
    /// `CtlCode` of [MS-SMB2] 2.2.31.
    pub struct ControlCode(u32) {
        /// Resolve a DFS path.
        FSCTL_DFS_GET_REFERRALS = 0x0006_0194,
        /// Look into a pipe without reading from it.
        FSCTL_PIPE_PEEK = 0x0011_400C,
        /// Wait until a pipe of this name can be opened.
        FSCTL_PIPE_WAIT = 0x0011_0018,
        /// Write one message and read one.
        FSCTL_PIPE_TRANSCEIVE = 0x0011_C017,
        /// What did we agree upon?
        FSCTL_VALIDATE_NEGOTIATE_INFO = 0x0014_0204,
    }
}

/// [MS-SMB2] 2.2.31 SMB2 IOCTL Request. Only file system controls are known here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IoctlRequest<'a> {
    pub ctl_code: ControlCode,
    pub file_id: FileId,
    pub input: &'a [u8],
    /// How much output at most.
    pub max_output_response: u32,
}

impl IoctlRequest<'_> {
    /// Bytes in front of the input.
    pub const FIXED_PART_SIZE: usize = 2 /* StructureSize */
        + 2 /* Reserved */
        + 4 /* CtlCode */
        + 16 /* FileId */
        + 4 /* InputOffset */
        + 4 /* InputCount */
        + 4 /* MaxInputResponse */
        + 4 /* OutputOffset */
        + 4 /* OutputCount */
        + 4 /* MaxOutputResponse */
        + 4 /* Flags */
        + 4 /* Reserved2 */;
    const NAME: &'static str = "SMB2 IOCTL Request";
    const STRUCTURE_SIZE: u16 = 57;
    const IS_FSCTL: u32 = 1;
}

impl Encode for IoctlRequest<'_> {
    fn encode(&self, dst: &mut WriteCursor<'_>) -> EncodeResult<()> {
        let input_at = Header::FIXED_PART_SIZE + Self::FIXED_PART_SIZE;
        dst.write_u16(Self::STRUCTURE_SIZE);
        dst.write_u16(0);
        dst.write_u32(self.ctl_code.0);
        self.file_id.encode(dst)?;
        dst.write_u32(super::length_u32(Self::NAME, "InputOffset", input_at)?);
        dst.write_u32(super::length_u32(Self::NAME, "InputCount", self.input.len())?);
        dst.write_u32(0);
        dst.write_u32(0);
        dst.write_u32(0);
        dst.write_u32(self.max_output_response);
        dst.write_u32(Self::IS_FSCTL);
        dst.write_u32(0);
        dst.write_slice(self.input);
        Ok(())
    }

    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn size(&self) -> usize {
        Self::FIXED_PART_SIZE + self.input.len()
    }
}

impl<'de> Decode<'de> for IoctlRequest<'de> {
    fn decode(src: &mut ReadCursor<'de>) -> DecodeResult<Self> {
        ensure_size!(in: src, name: Self::NAME, size: Self::FIXED_PART_SIZE);
        super::structure_size(src, Self::NAME, Self::STRUCTURE_SIZE)?;
        src.read_u16();
        let ctl_code = ControlCode(src.read_u32());
        let file_id = FileId::decode(src)?;
        let offset = super::index(Self::NAME, "InputOffset", src.read_u32())?;
        let size = super::index(Self::NAME, "InputCount", src.read_u32())?;
        src.read_array::<12>();
        let max_output_response = src.read_u32();
        src.read_u64();
        let input = super::buffer_at(src, Self::NAME, "Input", offset, size)?;
        Ok(Self { ctl_code, file_id, input, max_output_response })
    }
}

/// [MS-SMB2] 2.2.32 SMB2 IOCTL Response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IoctlResponse<'a> {
    /// That of the request.
    pub ctl_code: ControlCode,
    /// That of the request.
    pub file_id: FileId,
    pub output: &'a [u8],
}

impl IoctlResponse<'_> {
    /// Bytes in front of the output.
    pub const FIXED_PART_SIZE: usize = 2 /* StructureSize */
        + 2 /* Reserved */
        + 4 /* CtlCode */
        + 16 /* FileId */
        + 4 /* InputOffset */
        + 4 /* InputCount */
        + 4 /* OutputOffset */
        + 4 /* OutputCount */
        + 4 /* Flags */
        + 4 /* Reserved2 */;
    const NAME: &'static str = "SMB2 IOCTL Response";
    const STRUCTURE_SIZE: u16 = 49;
}

impl Encode for IoctlResponse<'_> {
    fn encode(&self, dst: &mut WriteCursor<'_>) -> EncodeResult<()> {
        let output_at =
            super::length_u32(Self::NAME, "OutputOffset", Header::FIXED_PART_SIZE + Self::FIXED_PART_SIZE)?;
        dst.write_u16(Self::STRUCTURE_SIZE);
        dst.write_u16(0);
        dst.write_u32(self.ctl_code.0);
        self.file_id.encode(dst)?;
        dst.write_u32(output_at);
        dst.write_u32(0);
        dst.write_u32(output_at);
        dst.write_u32(super::length_u32(Self::NAME, "OutputCount", self.output.len())?);
        dst.write_u64(0);
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

impl<'de> Decode<'de> for IoctlResponse<'de> {
    fn decode(src: &mut ReadCursor<'de>) -> DecodeResult<Self> {
        ensure_size!(in: src, name: Self::NAME, size: Self::FIXED_PART_SIZE);
        super::structure_size(src, Self::NAME, Self::STRUCTURE_SIZE)?;
        src.read_u16();
        let ctl_code = ControlCode(src.read_u32());
        let file_id = FileId::decode(src)?;
        src.read_u64();
        let offset = super::index(Self::NAME, "OutputOffset", src.read_u32())?;
        let size = super::index(Self::NAME, "OutputCount", src.read_u32())?;
        src.read_u64();
        Ok(Self { ctl_code, file_id, output: super::buffer_at(src, Self::NAME, "Output", offset, size)? })
    }
}
