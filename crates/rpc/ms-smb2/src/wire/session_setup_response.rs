use wire::{Decode, DecodeResult, Encode, EncodeResult, ReadCursor, WriteCursor, ensure_size};

use super::Header;

/// `SessionFlags` of [MS-SMB2] 2.2.6.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct SessionFlags(pub u16);

impl SessionFlags {
    pub const IS_GUEST: Self = Self(1);
    pub const IS_NULL: Self = Self(2);
    /// All following messages must be encrypted.
    pub const ENCRYPT_DATA: Self = Self(4);

    /// Whether all bits of `other` are set.
    #[must_use]
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}

/// [MS-SMB2] 2.2.6 SMB2 SESSION_SETUP Response: one token of the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SessionSetupResponse<'a> {
    /// How the client was admitted.
    pub session_flags: SessionFlags,
    pub security_buffer: &'a [u8],
}

impl SessionSetupResponse<'_> {
    /// Bytes in front of the token.
    pub const FIXED_PART_SIZE: usize = 2 /* StructureSize */
        + 2 /* SessionFlags */
        + 2 /* SecurityBufferOffset */
        + 2 /* SecurityBufferLength */;
    const NAME: &'static str = "SMB2 SESSION_SETUP Response";
    const STRUCTURE_SIZE: u16 = 9;
}

impl Encode for SessionSetupResponse<'_> {
    fn encode(&self, dst: &mut WriteCursor<'_>) -> EncodeResult<()> {
        let buffer_at = Header::FIXED_PART_SIZE + Self::FIXED_PART_SIZE;
        dst.write_u16(Self::STRUCTURE_SIZE);
        dst.write_u16(self.session_flags.0);
        dst.write_u16(super::length_u16(Self::NAME, "SecurityBufferOffset", buffer_at)?);
        dst.write_u16(super::length_u16(Self::NAME, "SecurityBufferLength", self.security_buffer.len())?);
        dst.write_slice(self.security_buffer);
        Ok(())
    }

    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn size(&self) -> usize {
        Self::FIXED_PART_SIZE + self.security_buffer.len()
    }
}

impl<'de> Decode<'de> for SessionSetupResponse<'de> {
    fn decode(src: &mut ReadCursor<'de>) -> DecodeResult<Self> {
        ensure_size!(in: src, name: Self::NAME, size: Self::FIXED_PART_SIZE);
        super::structure_size(src, Self::NAME, Self::STRUCTURE_SIZE)?;
        let session_flags = SessionFlags(src.read_u16());
        let (offset, size) = (usize::from(src.read_u16()), usize::from(src.read_u16()));
        let security_buffer = super::buffer_at(src, Self::NAME, "SecurityBuffer", offset, size)?;
        Ok(Self { session_flags, security_buffer })
    }
}
