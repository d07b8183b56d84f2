use core::fmt;

use wire::{
    Decode, DecodeResult, Encode, EncodeError, EncodeResult, ReadCursor, WriteCursor, ensure_size, open_enum,
};

/// C706 12.6.4.5 `rpcconn_bind_nak_hdr_t`, without the common header
///
/// A server refuses an association. The extended error information of [MS-RPCE] 2.2.2.9 is not read.
#[doc(alias = "rpcconn_bind_nak_hdr_t")]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BindNak {
    pub reason: BindNakReason,
    /// Major and minor of the protocol versions that the server speaks.
    pub versions: Vec<(u8, u8)>,
}

impl BindNak {
    const FIXED_PART_SIZE: usize = 2 /* provider_reject_reason */;
    const NAME: &'static str = "rpcconn_bind_nak_hdr_t";

    /// A refusal that names version 5.0, as the specification requires.
    #[must_use]
    pub fn new(reason: BindNakReason) -> Self {
        Self { reason, versions: vec![(5, 0)] }
    }
}

impl Encode for BindNak {
    fn encode(&self, dst: &mut WriteCursor<'_>) -> EncodeResult<()> {
        dst.write_u16(self.reason.0);
        let versions = u8::try_from(self.versions.len())
            .map_err(|_| EncodeError::new(Self::NAME, "n_protocols", "more than 255"))?;
        dst.write_u8(versions);
        for &(major, minor) in &self.versions {
            dst.write_u8(major);
            dst.write_u8(minor);
        }
        Ok(())
    }

    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn size(&self) -> usize {
        Self::FIXED_PART_SIZE + 1 /* n_protocols */ + self.versions.len() * 2
    }
}

impl<'de> Decode<'de> for BindNak {
    fn decode(src: &mut ReadCursor<'de>) -> DecodeResult<Self> {
        ensure_size!(in: src, name: Self::NAME, size: Self::FIXED_PART_SIZE);
        let reason = BindNakReason(src.read_u16());
        // Some servers stop after the reason.
        let count = if src.is_empty() { 0 } else { usize::from(src.read_u8()) };
        let versions = src.take_slice(Self::NAME, "versions", count * 2)?;
        Ok(Self { reason, versions: versions.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect() })
    }
}

impl fmt::Display for BindNak {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "bind_nak: {}", self.reason)
    }
}

open_enum! {
    /// C706 12.6.3.1 and [MS-RPCE] 2.2.2.5: why an association was refused.
    #[doc(alias = "p_reject_reason_t")]
    pub struct BindNakReason(u16) {
        REASON_NOT_SPECIFIED = 0,
        TEMPORARY_CONGESTION = 1,
        /// The server has too many associations.
        LOCAL_LIMIT_EXCEEDED = 2,
        /// The server does not know the address.
        CALLED_PADDR_UNKNOWN = 3,
        /// The server does not speak the protocol version.
        PROTOCOL_VERSION_NOT_SUPPORTED = 4,
        /// The server has no default context.
        DEFAULT_CONTEXT_NOT_SUPPORTED = 5,
        /// The server cannot read the user data.
        USER_DATA_NOT_READABLE = 6,
        /// The server has no such access point.
        NO_PSAP_AVAILABLE = 7,
        /// The server does not know the authentication service.
        AUTHENTICATION_TYPE_NOT_RECOGNIZED = 8,
        /// The server does not believe the authentication token.
        INVALID_CHECKSUM = 9,
    }
}
