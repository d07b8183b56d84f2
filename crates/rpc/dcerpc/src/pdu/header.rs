use core::fmt;
use core::ops::BitOr;

use wire::{
    Decode, DecodeError, DecodeResult, Encode, EncodeResult, ReadCursor, WriteCursor, ensure_size, open_enum,
};

use crate::CallId;

/// C706 12.6.3.1: the sixteen bytes that every connection-oriented PDU begins with.
///
/// Decoding checks what the whole stream depends on: version 5, little-endian data, and a fragment length that
/// covers this header and the verifier.
#[doc(alias = "rpcconn_common_hdr_t")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommonHeader {
    pub packet_type: PacketType,
    /// First, last and the like.
    pub flags: PfcFlags,
    /// Bytes of the whole PDU, this header included.
    // INVARIANT: frag_length >= FIXED_PART_SIZE, plus the verifier where auth_length is not zero.
    pub frag_length: u16,
    /// Bytes of the authentication token after the `sec_trailer`; zero where there is neither.
    pub auth_length: u16,
    /// The call that the PDU belongs to.
    pub call_id: CallId,
}

impl CommonHeader {
    /// Bytes on the wire.
    pub const FIXED_PART_SIZE: usize = 1 /* rpc_vers */
        + 1 /* rpc_vers_minor */
        + 1 /* PTYPE */
        + 1 /* pfc_flags */
        + 4 /* packed_drep */
        + 2 /* frag_length */
        + 2 /* auth_length */
        + 4 /* call_id */;
    /// The offset of `frag_length`: a stream has to be read up to it before the length of a PDU is known.
    pub const FRAG_LENGTH_OFFSET: usize = 8;
    pub(crate) const AUTH_LENGTH_OFFSET: usize = 10;
    const NAME: &'static str = "rpcconn_common_hdr_t";
    const RPC_VERS: u8 = 5;
    /// Little-endian integers, ASCII characters, IEEE floating point.
    const PACKED_DREP: [u8; 4] = [0x10, 0, 0, 0];
    const DREP_LITTLE_ENDIAN: u8 = 0x10;
}

impl Encode for CommonHeader {
    fn encode(&self, dst: &mut WriteCursor<'_>) -> EncodeResult<()> {
        dst.write_u8(Self::RPC_VERS);
        dst.write_u8(0);
        dst.write_u8(self.packet_type.0);
        dst.write_u8(self.flags.0);
        dst.write_slice(&Self::PACKED_DREP);
        dst.write_u16(self.frag_length);
        dst.write_u16(self.auth_length);
        dst.write_u32(self.call_id.0);
        Ok(())
    }

    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn size(&self) -> usize {
        Self::FIXED_PART_SIZE
    }
}

impl<'de> Decode<'de> for CommonHeader {
    fn decode(src: &mut ReadCursor<'de>) -> DecodeResult<Self> {
        ensure_size!(in: src, name: Self::NAME, size: Self::FIXED_PART_SIZE);
        let start = src.pos();
        let invalid = |field, offset, reason| {
            Err(DecodeError::invalid_field(Self::NAME, field, start + offset, reason))
        };
        if src.read_u8() != Self::RPC_VERS {
            return invalid("rpc_vers", 0, "not version 5, so this is no DCE/RPC");
        }
        // Minor version 1 differs in fragmented binds only, which nobody sends.
        if src.read_u8() > 1 {
            return invalid("rpc_vers_minor", 1, "above 1");
        }
        let packet_type = PacketType(src.read_u8());
        let flags = PfcFlags(src.read_u8());
        let drep: [u8; 4] = src.read_array();
        if drep[0] & 0xf0 != Self::DREP_LITTLE_ENDIAN {
            return invalid("packed_drep", 4, "big-endian data is not supported");
        }
        let header = Self {
            packet_type,
            flags,
            frag_length: src.read_u16(),
            auth_length: src.read_u16(),
            call_id: CallId(src.read_u32()),
        };
        if usize::from(header.frag_length) < Self::FIXED_PART_SIZE + header.verifier_len() {
            return invalid("frag_length", 8, "less than the header and the verifier");
        }
        Ok(header)
    }
}

impl CommonHeader {
    /// Bytes of `sec_trailer` and token.
    #[must_use]
    pub fn verifier_len(&self) -> usize {
        match self.auth_length {
            0 => 0,
            token => super::SecTrailer::FIXED_PART_SIZE + usize::from(token),
        }
    }
}

impl fmt::Display for CommonHeader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of call {}, {} bytes", self.packet_type, self.call_id, self.frag_length)
    }
}

open_enum! {
    /// C706 12.6.3.1: the PDU's type.
    #[doc(alias = "PTYPE")]
    pub struct PacketType(u8) {
        REQUEST = 0,
        RESPONSE = 2,
        FAULT = 3,
        BIND = 11,
        BIND_ACK = 12,
        BIND_NAK = 13,
        /// Adds a presentation context, or goes on authenticating.
        ALTER_CONTEXT = 14,
        ALTER_CONTEXT_RESP = 15,
        /// The last leg of an authentication.
        AUTH3 = 16,
        /// The server asks the client to close.
        SHUTDOWN = 17,
        /// The client asks the server to give a call up.
        CO_CANCEL = 18,
        /// The client does not wait for a call any longer.
        ORPHANED = 19,
    }
}

/// C706 12.6.3.1: flags of a PDU.
#[doc(alias = "pfc_flags")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct PfcFlags(pub u8);

impl PfcFlags {
    pub const FIRST_FRAG: Self = Self(0x01);
    pub const LAST_FRAG: Self = Self(0x02);
    pub const WHOLE: Self = Self(0x03);
    /// In a request: a cancel was pending when it was sent.
    pub const PENDING_CANCEL: Self = Self(0x04);
    /// [MS-RPCE] 2.2.2.3, in a bind and its answers: headers are signed.
    pub const SUPPORT_HEADER_SIGN: Self = Self(0x04);
    /// The sender can have several calls on one connection.
    pub const CONC_MPX: Self = Self(0x10);
    /// In a fault: the call was not executed.
    pub const DID_NOT_EXECUTE: Self = Self(0x20);
    /// In a request: no answer is wanted.
    pub const MAYBE: Self = Self(0x40);
    /// In a request: an object's UUID precedes the stub data.
    pub const OBJECT_UUID: Self = Self(0x80);

    /// Whether all of `flags` are set.
    #[must_use]
    pub const fn contains(self, flags: Self) -> bool {
        self.0 & flags.0 == flags.0
    }
}

impl BitOr for PfcFlags {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}
