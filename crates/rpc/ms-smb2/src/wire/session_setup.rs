use wire::{Decode, DecodeResult, Encode, EncodeResult, ReadCursor, WriteCursor, ensure_size};

use super::{Header, SecurityMode};

/// [MS-SMB2] 2.2.5 SMB2 SESSION_SETUP Request: one token of the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SessionSetupRequest<'a> {
    /// Whether the session is to be bound to a second connection, which is refused here.
    pub binding: bool,
    /// Whether the client signs.
    pub security_mode: SecurityMode,
    /// A session of an earlier connection to end.
    pub previous_session_id: u64,
    pub security_buffer: &'a [u8],
}

impl SessionSetupRequest<'_> {
    /// Bytes in front of the token.
    pub const FIXED_PART_SIZE: usize = 2 /* StructureSize */
        + 1 /* Flags */
        + 1 /* SecurityMode */
        + 4 /* Capabilities */
        + 4 /* Channel */
        + 2 /* SecurityBufferOffset */
        + 2 /* SecurityBufferLength */
        + 8 /* PreviousSessionId */;
    const NAME: &'static str = "SMB2 SESSION_SETUP Request";
    const STRUCTURE_SIZE: u16 = 25;
    const FLAG_BINDING: u8 = 1;
}

impl Encode for SessionSetupRequest<'_> {
    fn encode(&self, dst: &mut WriteCursor<'_>) -> EncodeResult<()> {
        let buffer_at = Header::FIXED_PART_SIZE + Self::FIXED_PART_SIZE;
        dst.write_u16(Self::STRUCTURE_SIZE);
        dst.write_u8(if self.binding { Self::FLAG_BINDING } else { 0 });
        dst.write_u8(self.security_mode.0.to_le_bytes()[0]);
        dst.write_u32(0);
        dst.write_u32(0);
        dst.write_u16(super::length_u16(Self::NAME, "SecurityBufferOffset", buffer_at)?);
        dst.write_u16(super::length_u16(Self::NAME, "SecurityBufferLength", self.security_buffer.len())?);
        dst.write_u64(self.previous_session_id);
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

impl<'de> Decode<'de> for SessionSetupRequest<'de> {
    fn decode(src: &mut ReadCursor<'de>) -> DecodeResult<Self> {
        ensure_size!(in: src, name: Self::NAME, size: Self::FIXED_PART_SIZE);
        super::structure_size(src, Self::NAME, Self::STRUCTURE_SIZE)?;
        let binding = src.read_u8() & Self::FLAG_BINDING != 0;
        let security_mode = SecurityMode(src.read_u8().into());
        src.read_u64();
        let (offset, size) = (usize::from(src.read_u16()), usize::from(src.read_u16()));
        let previous_session_id = src.read_u64();
        let security_buffer = super::buffer_at(src, Self::NAME, "SecurityBuffer", offset, size)?;
        Ok(Self { binding, security_mode, previous_session_id, security_buffer })
    }
}

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
