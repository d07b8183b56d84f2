use wire::{Decode, DecodeResult, Encode, EncodeResult, ReadCursor, WriteCursor, ensure_size};

/// [MS-SMB2] 2.2.2 SMB2 ERROR Response: the body of nearly every response whose status is not success.
///
/// Its error data name reparse points and buffer sizes; a pipe needs neither, so that they are dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ErrorResponse;

impl ErrorResponse {
    /// Bytes on the wire.
    pub const FIXED_PART_SIZE: usize = 2 /* StructureSize */
        + 1 /* ErrorContextCount */
        + 1 /* Reserved */
        + 4 /* ByteCount */;
    const NAME: &'static str = "SMB2 ERROR Response";
    const STRUCTURE_SIZE: u16 = 9;
}

impl Encode for ErrorResponse {
    fn encode(&self, dst: &mut WriteCursor<'_>) -> EncodeResult<()> {
        dst.write_u16(Self::STRUCTURE_SIZE);
        dst.write_u16(0);
        dst.write_u32(0);
        // Without error data the buffer has one byte.
        dst.write_u8(0);
        Ok(())
    }

    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn size(&self) -> usize {
        Self::FIXED_PART_SIZE + 1 /* ErrorData */
    }
}

impl<'de> Decode<'de> for ErrorResponse {
    fn decode(src: &mut ReadCursor<'de>) -> DecodeResult<Self> {
        ensure_size!(in: src, name: Self::NAME, size: Self::FIXED_PART_SIZE);
        super::structure_size(src, Self::NAME, Self::STRUCTURE_SIZE)?;
        src.read_u16();
        let error_data_bytes = super::index(Self::NAME, "ByteCount", src.read_u32())?;
        src.skip(Self::NAME, "ErrorData", error_data_bytes)?;
        Ok(Self)
    }
}
