use wire::{
    Decode, DecodeResult, Encode, EncodeResult, FileTime, Guid, ReadCursor, WriteCursor, ensure_size,
};

use super::{Capabilities, Header, NegotiateContext, SecurityMode};
use crate::DialectRevision;

/// [MS-SMB2] 2.2.4 SMB2 NEGOTIATE Response.
///
/// INVARIANT: there are contexts only where the dialect is 3.1.1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NegotiateResponse {
    /// Whether the server signs.
    pub security_mode: SecurityMode,
    pub dialect: DialectRevision,
    pub server_guid: Guid,
    /// What else it can.
    pub capabilities: Capabilities,
    /// The largest input and output of a control code.
    pub max_transact_size: u32,
    pub max_read_size: u32,
    pub max_write_size: u32,
    pub system_time: FileTime,
    /// A SPNEGO token with the mechanisms it takes.
    pub security_buffer: Vec<u8>,
    /// What it chose for 3.1.1.
    pub contexts: Vec<NegotiateContext>,
}

impl NegotiateResponse {
    /// Bytes in front of the security buffer.
    pub const FIXED_PART_SIZE: usize = 2 /* StructureSize */
        + 2 /* SecurityMode */
        + 2 /* DialectRevision */
        + 2 /* NegotiateContextCount */
        + 16 /* ServerGuid */
        + 4 /* Capabilities */
        + 4 /* MaxTransactSize */
        + 4 /* MaxReadSize */
        + 4 /* MaxWriteSize */
        + 8 /* SystemTime */
        + 8 /* ServerStartTime */
        + 2 /* SecurityBufferOffset */
        + 2 /* SecurityBufferLength */
        + 4 /* NegotiateContextOffset */;
    const NAME: &'static str = "SMB2 NEGOTIATE Response";
    const STRUCTURE_SIZE: u16 = 65;

    fn contexts_at(&self) -> usize {
        (Self::FIXED_PART_SIZE + self.security_buffer.len()).next_multiple_of(8)
    }
}

impl Encode for NegotiateResponse {
    fn encode(&self, dst: &mut WriteCursor<'_>) -> EncodeResult<()> {
        let buffer_at = Header::FIXED_PART_SIZE + Self::FIXED_PART_SIZE;
        let contexts_at =
            if self.contexts.is_empty() { 0 } else { Header::FIXED_PART_SIZE + self.contexts_at() };
        dst.write_u16(Self::STRUCTURE_SIZE);
        dst.write_u16(self.security_mode.0);
        dst.write_u16(self.dialect.0);
        dst.write_u16(super::length_u16(Self::NAME, "NegotiateContextCount", self.contexts.len())?);
        self.server_guid.encode(dst)?;
        dst.write_u32(self.capabilities.0);
        dst.write_u32(self.max_transact_size);
        dst.write_u32(self.max_read_size);
        dst.write_u32(self.max_write_size);
        self.system_time.encode(dst)?;
        dst.write_u64(0);
        dst.write_u16(super::length_u16(Self::NAME, "SecurityBufferOffset", buffer_at)?);
        dst.write_u16(super::length_u16(Self::NAME, "SecurityBufferLength", self.security_buffer.len())?);
        dst.write_u32(super::length_u32(Self::NAME, "NegotiateContextOffset", contexts_at)?);
        dst.write_slice(&self.security_buffer);
        if !self.contexts.is_empty() {
            dst.write_zeros(self.contexts_at() - Self::FIXED_PART_SIZE - self.security_buffer.len());
            NegotiateContext::encode_all(&self.contexts, dst)?;
        }
        Ok(())
    }

    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn size(&self) -> usize {
        if self.contexts.is_empty() {
            Self::FIXED_PART_SIZE + self.security_buffer.len()
        } else {
            self.contexts_at() + NegotiateContext::size_all(&self.contexts)
        }
    }
}

impl<'de> Decode<'de> for NegotiateResponse {
    fn decode(src: &mut ReadCursor<'de>) -> DecodeResult<Self> {
        ensure_size!(in: src, name: Self::NAME, size: Self::FIXED_PART_SIZE);
        super::structure_size(src, Self::NAME, Self::STRUCTURE_SIZE)?;
        let security_mode = SecurityMode(src.read_u16());
        let dialect = DialectRevision(src.read_u16());
        let contexts_count = src.read_u16();
        let server_guid = Guid::decode(src)?;
        let capabilities = Capabilities(src.read_u32());
        let max_transact_size = src.read_u32();
        let max_read_size = src.read_u32();
        let max_write_size = src.read_u32();
        let system_time = FileTime::decode(src)?;
        src.read_u64();
        let (offset, size) = (usize::from(src.read_u16()), usize::from(src.read_u16()));
        let contexts_offset = src.read_u32();
        let security_buffer = super::buffer_at(src, Self::NAME, "SecurityBuffer", offset, size)?.to_vec();
        let contexts = if dialect == DialectRevision::SMB_3_1_1 {
            NegotiateContext::decode_all(src, contexts_offset, contexts_count)?
        } else {
            Vec::new()
        };
        Ok(Self {
            security_mode,
            dialect,
            server_guid,
            capabilities,
            max_transact_size,
            max_read_size,
            max_write_size,
            system_time,
            security_buffer,
            contexts,
        })
    }
}
