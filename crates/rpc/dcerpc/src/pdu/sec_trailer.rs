use wire::{Decode, DecodeResult, Encode, EncodeResult, ReadCursor, WriteCursor, ensure_size};

use crate::{AuthLevel, AuthService};

/// [MS-RPCE] 2.2.2.11 `sec_trailer`
///
/// Stands between the padded body of a PDU and the authentication token that ends it.
#[doc(alias = "auth_verifier_co_t")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SecTrailer {
    /// Who authenticates.
    pub auth_type: AuthService,
    /// How much is protected.
    pub auth_level: AuthLevel,
    /// Padding at the end of the body, which is no stub data.
    pub auth_pad_length: u8,
    /// The security context within the association.
    pub auth_context_id: u32,
}

impl SecTrailer {
    /// Bytes on the wire.
    pub const FIXED_PART_SIZE: usize = 1 /* auth_type */
        + 1 /* auth_level */
        + 1 /* auth_pad_length */
        + 1 /* auth_reserved */
        + 4 /* auth_context_id */;
    pub(super) const NAME: &'static str = "sec_trailer";
}

impl Encode for SecTrailer {
    fn encode(&self, dst: &mut WriteCursor<'_>) -> EncodeResult<()> {
        dst.write_u8(self.auth_type.0);
        dst.write_u8(self.auth_level.0);
        dst.write_u8(self.auth_pad_length);
        dst.write_u8(0);
        dst.write_u32(self.auth_context_id);
        Ok(())
    }

    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn size(&self) -> usize {
        Self::FIXED_PART_SIZE
    }
}

impl<'de> Decode<'de> for SecTrailer {
    fn decode(src: &mut ReadCursor<'de>) -> DecodeResult<Self> {
        ensure_size!(in: src, name: Self::NAME, size: Self::FIXED_PART_SIZE);
        let auth_type = AuthService(src.read_u8());
        let auth_level = AuthLevel(src.read_u8());
        let auth_pad_length = src.read_u8();
        src.read_u8();
        Ok(Self { auth_type, auth_level, auth_pad_length, auth_context_id: src.read_u32() })
    }
}
