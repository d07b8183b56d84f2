use wire::{Decode, DecodeResult, Encode, EncodeResult, Guid, ReadCursor, WriteCursor, ensure_size};

use super::{Capabilities, SecurityMode};
use crate::DialectRevision;

/// [MS-SMB2] 2.2.31.4 `VALIDATE_NEGOTIATE_INFO` Request: the client says again, signed, what it said unsigned.
#[derive(Clone, Debug, PartialEq, Eq)]
#[doc(alias = "VALIDATE_NEGOTIATE_INFO")]
pub struct ValidateNegotiateRequest {
    /// As in the negotiation.
    pub capabilities: Capabilities,
    /// As in the negotiation.
    pub client_guid: Guid,
    /// As in the negotiation.
    pub security_mode: SecurityMode,
    /// As in the negotiation.
    pub dialects: Vec<DialectRevision>,
}

impl ValidateNegotiateRequest {
    /// Bytes in front of the dialects.
    pub const FIXED_PART_SIZE: usize = 4 /* Capabilities */
        + 16 /* Guid */
        + 2 /* SecurityMode */
        + 2 /* DialectCount */;
    const NAME: &'static str = "VALIDATE_NEGOTIATE_INFO Request";
}

impl Encode for ValidateNegotiateRequest {
    fn encode(&self, dst: &mut WriteCursor<'_>) -> EncodeResult<()> {
        dst.write_u32(self.capabilities.0);
        self.client_guid.encode(dst)?;
        dst.write_u16(self.security_mode.0);
        dst.write_u16(super::length_u16(Self::NAME, "DialectCount", self.dialects.len())?);
        for dialect in &self.dialects {
            dst.write_u16(dialect.0);
        }
        Ok(())
    }

    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn size(&self) -> usize {
        Self::FIXED_PART_SIZE + 2 * self.dialects.len()
    }
}

impl<'de> Decode<'de> for ValidateNegotiateRequest {
    fn decode(src: &mut ReadCursor<'de>) -> DecodeResult<Self> {
        ensure_size!(in: src, name: Self::NAME, size: Self::FIXED_PART_SIZE);
        let capabilities = Capabilities(src.read_u32());
        let client_guid = Guid::decode(src)?;
        let security_mode = SecurityMode(src.read_u16());
        let dialect_count = src.read_u16();
        let mut list = src.take_cursor(Self::NAME, "Dialects", 2 * usize::from(dialect_count))?;
        let dialects = (0..dialect_count).map(|_| DialectRevision(list.read_u16())).collect();
        Ok(Self { capabilities, client_guid, security_mode, dialects })
    }
}

/// [MS-SMB2] 2.2.32.6 `VALIDATE_NEGOTIATE_INFO` Response: the server says again, signed, what it said unsigned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ValidateNegotiateResponse {
    /// As in the negotiation.
    pub capabilities: Capabilities,
    /// As in the negotiation.
    pub server_guid: Guid,
    /// As in the negotiation.
    pub security_mode: SecurityMode,
    /// As in the negotiation.
    pub dialect: DialectRevision,
}

impl ValidateNegotiateResponse {
    /// Bytes on the wire.
    pub const FIXED_PART_SIZE: usize = 4 /* Capabilities */
        + 16 /* Guid */
        + 2 /* SecurityMode */
        + 2 /* Dialect */;
    const NAME: &'static str = "VALIDATE_NEGOTIATE_INFO Response";
}

impl Encode for ValidateNegotiateResponse {
    fn encode(&self, dst: &mut WriteCursor<'_>) -> EncodeResult<()> {
        dst.write_u32(self.capabilities.0);
        self.server_guid.encode(dst)?;
        dst.write_u16(self.security_mode.0);
        dst.write_u16(self.dialect.0);
        Ok(())
    }

    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn size(&self) -> usize {
        Self::FIXED_PART_SIZE
    }
}

impl<'de> Decode<'de> for ValidateNegotiateResponse {
    fn decode(src: &mut ReadCursor<'de>) -> DecodeResult<Self> {
        ensure_size!(in: src, name: Self::NAME, size: Self::FIXED_PART_SIZE);
        let capabilities = Capabilities(src.read_u32());
        let server_guid = Guid::decode(src)?;
        let security_mode = SecurityMode(src.read_u16());
        Ok(Self { capabilities, server_guid, security_mode, dialect: DialectRevision(src.read_u16()) })
    }
}
