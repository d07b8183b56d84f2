use core::fmt;

use wire::{
    Decode, DecodeResult, Encode, EncodeResult, Guid, ReadCursor, WriteCursor, ensure_size, open_enum,
};

/// Names a call within an association; never reused by a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CallId(pub u32);

impl fmt::Display for CallId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

/// Names a presentation context within an association: the index in [`bind`](crate::client::ClientAssociation::bind).
pub type ContextId = u16;

/// C706 12.6.3.1 `p_syntax_id_t`
///
/// An interface or a transfer syntax, with its version.
#[doc(alias = "p_syntax_id_t")]
#[doc(alias = "RPC_SYNTAX_IDENTIFIER")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SyntaxId {
    pub uuid: Guid,
    /// Has to be the same on both sides.
    pub version_major: u16,
    /// The server's has to be at least the client's.
    pub version_minor: u16,
}

impl SyntaxId {
    /// Bytes on the wire.
    pub const FIXED_PART_SIZE: usize = Guid::FIXED_PART_SIZE /* if_uuid */ + 4 /* if_version */;
    /// The transfer syntax NDR 2.0, the only one spoken here.
    pub const NDR: Self = Self::new(Guid::from_u128(0x8a885d04_1ceb_11c9_9fe8_08002b104860), 2, 0);
    const NAME: &'static str = "p_syntax_id_t";

    /// Puts the three together.
    #[must_use]
    pub const fn new(uuid: Guid, version_major: u16, version_minor: u16) -> Self {
        Self { uuid, version_major, version_minor }
    }

    /// Whether a server of this interface serves a client that asks for `wanted`.
    #[must_use]
    pub fn serves(&self, wanted: &Self) -> bool {
        self.uuid == wanted.uuid
            && self.version_major == wanted.version_major
            && self.version_minor >= wanted.version_minor
    }

    /// The features of [MS-RPCE] 2.2.2.14, where this is no transfer syntax but a bind time feature negotiation.
    #[must_use]
    pub fn bind_time_features(&self) -> Option<u8> {
        let prefix = [0x2c, 0x1c, 0xb7, 0x6c, 0x12, 0x98, 0x40, 0x45];
        let bytes = self.uuid.to_bytes();
        (bytes[..8] == prefix && self.version_major == 1).then(|| bytes[8])
    }
}

impl Encode for SyntaxId {
    fn encode(&self, dst: &mut WriteCursor<'_>) -> EncodeResult<()> {
        self.uuid.encode(dst)?;
        dst.write_u16(self.version_major);
        dst.write_u16(self.version_minor);
        Ok(())
    }

    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn size(&self) -> usize {
        Self::FIXED_PART_SIZE
    }
}

impl<'de> Decode<'de> for SyntaxId {
    fn decode(src: &mut ReadCursor<'de>) -> DecodeResult<Self> {
        ensure_size!(in: src, name: Self::NAME, size: Self::FIXED_PART_SIZE);
        Ok(Self {
            uuid: Guid::from_bytes(src.read_array()),
            version_major: src.read_u16(),
            version_minor: src.read_u16(),
        })
    }
}

impl fmt::Display for SyntaxId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} v{}.{}", self.uuid, self.version_major, self.version_minor)
    }
}

open_enum! {
    /// `p_cont_def_result_t` of C706 12.6.3.1.
    pub struct Rejection(u16) {
        /// The context is there.
        ACCEPTANCE = 0,
        /// The server's application refused it.
        USER_REJECTION = 1,
        /// The server's run time refused it.
        PROVIDER_REJECTION = 2,
        /// [MS-RPCE] 2.2.2.4: an answer to a bind time feature negotiation.
        NEGOTIATE_ACK = 3,
    }
}

open_enum! {
    /// `p_provider_reason_t` of C706 12.6.3.1.
    pub struct RejectionReason(u16) {
        REASON_NOT_SPECIFIED = 0,
        /// The server does not have that interface, or not in that version.
        ABSTRACT_SYNTAX_NOT_SUPPORTED = 1,
        /// The server speaks none of the transfer syntaxes.
        PROPOSED_TRANSFER_SYNTAXES_NOT_SUPPORTED = 2,
        /// The server has too many contexts.
        LOCAL_LIMIT_EXCEEDED = 3,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_serves_clients_of_its_own_major_and_an_older_minor_version() {
        let interface = SyntaxId::new(Guid::from_u128(1), 2, 3);
        assert!(interface.serves(&SyntaxId::new(Guid::from_u128(1), 2, 3)));
        assert!(interface.serves(&SyntaxId::new(Guid::from_u128(1), 2, 0)));
        assert!(!interface.serves(&SyntaxId::new(Guid::from_u128(1), 2, 4)));
        assert!(!interface.serves(&SyntaxId::new(Guid::from_u128(1), 1, 0)));
        assert!(!interface.serves(&SyntaxId::new(Guid::from_u128(2), 2, 3)));
    }

    // The UUID is that of [MS-RPCE] 2.2.2.14.
    #[test]
    fn a_feature_negotiation_is_told_from_a_transfer_syntax() {
        let negotiation: Guid = "6cb71c2c-9812-4540-0300-000000000000".parse().unwrap();
        assert_eq!(SyntaxId::new(negotiation, 1, 0).bind_time_features(), Some(3));
        assert_eq!(SyntaxId::NDR.bind_time_features(), None);
    }
}
