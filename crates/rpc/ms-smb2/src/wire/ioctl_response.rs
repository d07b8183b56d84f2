use wire::{Decode, DecodeResult, Encode, EncodeResult, ReadCursor, WriteCursor, ensure_size};

use super::{ControlCode, FileId, Header};

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
