use wire::{Decode, DecodeResult, Encode, EncodeResult, Guid, ReadCursor, WriteCursor, ensure_size};

use super::{Header, NegotiateContext};
use crate::DialectRevision;

/// `SecurityMode` of [MS-SMB2] 2.2.3.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct SecurityMode(pub u16);

impl SecurityMode {
    pub const SIGNING_ENABLED: Self = Self(1);
    pub const SIGNING_REQUIRED: Self = Self(2);

    /// Whether signing is required.
    #[must_use]
    pub const fn signing_required(self) -> bool {
        self.0 & Self::SIGNING_REQUIRED.0 != 0
    }
}

/// `Capabilities` of [MS-SMB2] 2.2.3.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Capabilities(pub u32);

impl Capabilities {
    /// Requests may cost more than one credit.
    pub const LARGE_MTU: Self = Self(4);
    /// Messages of 3.0 and 3.0.2 can be encrypted.
    pub const ENCRYPTION: Self = Self(0x40);

    /// Whether all bits of `other` are set.
    #[must_use]
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// The bits of both.
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// [MS-SMB2] 2.2.3 SMB2 NEGOTIATE Request: the first message of a client.
///
/// INVARIANT: there are contexts only where 3.1.1 is among the dialects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NegotiateRequest {
    /// What the client speaks.
    pub dialects: Vec<DialectRevision>,
    pub security_mode: SecurityMode,
    /// What else it can.
    pub capabilities: Capabilities,
    pub client_guid: Guid,
    /// What it offers for 3.1.1.
    pub contexts: Vec<NegotiateContext>,
}

impl NegotiateRequest {
    /// Bytes in front of the dialects.
    pub const FIXED_PART_SIZE: usize = 2 /* StructureSize */
        + 2 /* DialectCount */
        + 2 /* SecurityMode */
        + 2 /* Reserved */
        + 4 /* Capabilities */
        + 16 /* ClientGuid */
        + 4 /* NegotiateContextOffset */
        + 2 /* NegotiateContextCount */
        + 2 /* Reserved2 */;
    const NAME: &'static str = "SMB2 NEGOTIATE Request";
    const STRUCTURE_SIZE: u16 = 36;

    fn contexts_at(&self) -> usize {
        (Self::FIXED_PART_SIZE + 2 * self.dialects.len()).next_multiple_of(8)
    }
}

impl Encode for NegotiateRequest {
    fn encode(&self, dst: &mut WriteCursor<'_>) -> EncodeResult<()> {
        dst.write_u16(Self::STRUCTURE_SIZE);
        dst.write_u16(super::length_u16(Self::NAME, "DialectCount", self.dialects.len())?);
        dst.write_u16(self.security_mode.0);
        dst.write_u16(0);
        dst.write_u32(self.capabilities.0);
        self.client_guid.encode(dst)?;
        let contexts_at =
            if self.contexts.is_empty() { 0 } else { Header::FIXED_PART_SIZE + self.contexts_at() };
        dst.write_u32(super::length_u32(Self::NAME, "NegotiateContextOffset", contexts_at)?);
        dst.write_u16(super::length_u16(Self::NAME, "NegotiateContextCount", self.contexts.len())?);
        dst.write_u16(0);
        for dialect in &self.dialects {
            dst.write_u16(dialect.0);
        }
        if !self.contexts.is_empty() {
            dst.write_zeros(self.contexts_at() - Self::FIXED_PART_SIZE - 2 * self.dialects.len());
            NegotiateContext::encode_all(&self.contexts, dst)?;
        }
        Ok(())
    }

    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn size(&self) -> usize {
        if self.contexts.is_empty() {
            Self::FIXED_PART_SIZE + 2 * self.dialects.len()
        } else {
            self.contexts_at() + NegotiateContext::size_all(&self.contexts)
        }
    }
}

impl<'de> Decode<'de> for NegotiateRequest {
    fn decode(src: &mut ReadCursor<'de>) -> DecodeResult<Self> {
        ensure_size!(in: src, name: Self::NAME, size: Self::FIXED_PART_SIZE);
        super::structure_size(src, Self::NAME, Self::STRUCTURE_SIZE)?;
        let dialect_count = src.read_u16();
        let security_mode = SecurityMode(src.read_u16());
        src.read_u16();
        let capabilities = Capabilities(src.read_u32());
        let client_guid = Guid::decode(src)?;
        let contexts_offset = src.read_u32();
        let contexts_count = src.read_u16();
        src.read_u16();
        let mut list = src.take_cursor(Self::NAME, "Dialects", 2 * usize::from(dialect_count))?;
        let dialects: Vec<_> = (0..dialect_count).map(|_| DialectRevision(list.read_u16())).collect();
        // Without 3.1.1 the same bytes are a start time.
        let contexts = if dialects.contains(&DialectRevision::SMB_3_1_1) {
            NegotiateContext::decode_all(src, contexts_offset, contexts_count)?
        } else {
            Vec::new()
        };
        Ok(Self { dialects, security_mode, capabilities, client_guid, contexts })
    }
}
