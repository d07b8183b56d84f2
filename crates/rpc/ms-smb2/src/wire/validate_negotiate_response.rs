use wire::{Decode, DecodeResult, Encode, EncodeResult, Guid, ReadCursor, WriteCursor, ensure_size};

use super::{Capabilities, SecurityMode};
use crate::DialectRevision;

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
