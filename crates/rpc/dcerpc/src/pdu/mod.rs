//! The connection-oriented PDUs of C706 12.6.4 with the additions of [MS-RPCE] 2.2.2, one in a file.
//!
//! [`Pdu::decode`] reads any of them; the associations read the parts, since the stub data of a request or
//! response has to be decrypted in place first.

mod bind;
mod call;
mod header;
mod presentation;
mod verification_trailer;

use wire::{
    Decode, DecodeError, DecodeResult, Encode, EncodeError, EncodeResult, ReadCursor, WriteCursor,
    ensure_size,
};

pub use self::bind::{Bind, BindAck, BindNak, BindNakReason};
pub use self::call::{Fault, Request, ResponseFragment};
pub use self::header::{CommonHeader, PacketType, PfcFlags};
pub use self::presentation::{ContextElement, ContextList, ContextResult, ResultList};
pub use self::verification_trailer::{Command, CommandKind, Header2, VerificationTrailer};

use crate::{AuthLevel, AuthService, CallId, ContextId};

/// Any PDU, as it came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pdu<'a> {
    pub header: CommonHeader,
    pub body: Body<'a>,
    /// The authentication at the end, if there is one.
    pub verifier: Option<Verifier<'a>>,
}

/// The part of a PDU between the common header and the verifier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Body<'a> {
    /// A bind or an alter_context.
    Bind(Bind),
    /// A bind_ack or an alter_context_resp.
    BindAck(BindAck),
    BindNak(BindNak),
    Auth3,
    /// A request with its stub data, which may be encrypted.
    Request(Request, &'a [u8]),
    /// A response with its stub data, which may be encrypted.
    Response(Response, &'a [u8]),
    Fault(Fault),
    /// A shutdown, co_cancel or orphaned: there is nothing.
    Empty,
}

impl<'a> Pdu<'a> {
    const NAME: &'static str = "PDU";

    /// Reads one PDU of exactly `bytes`.
    ///
    /// # Errors
    /// When the bytes break the PDU's layout, or are no PDU.
    pub fn decode(bytes: &'a [u8]) -> DecodeResult<Self> {
        let header: CommonHeader = wire::decode(bytes)?;
        if usize::from(header.frag_length) != bytes.len() {
            return Err(DecodeError::invalid_field(
                Self::NAME,
                "frag_length",
                CommonHeader::FRAG_LENGTH_OFFSET,
                "not the length of the PDU",
            ));
        }
        let (body_end, verifier) = Verifier::split(&header, bytes, CommonHeader::FIXED_PART_SIZE)?;
        let mut src = ReadCursor::new(&bytes[..body_end]);
        src.read_slice(CommonHeader::FIXED_PART_SIZE);
        let body = match header.packet_type {
            PacketType::BIND | PacketType::ALTER_CONTEXT => Body::Bind(Bind::decode(&mut src)?),
            PacketType::BIND_ACK | PacketType::ALTER_CONTEXT_RESP => {
                Body::BindAck(BindAck::decode(&mut src)?)
            }
            PacketType::BIND_NAK => Body::BindNak(BindNak::decode(&mut src)?),
            PacketType::AUTH3 => Body::Auth3,
            PacketType::REQUEST => Body::Request(Request::decode(&mut src, header.flags)?, src.remaining()),
            PacketType::RESPONSE => Body::Response(Response::decode(&mut src)?, src.remaining()),
            PacketType::FAULT => Body::Fault(Fault::decode(&mut src)?),
            PacketType::SHUTDOWN | PacketType::CO_CANCEL | PacketType::ORPHANED => Body::Empty,
            PacketType(other) => {
                return Err(DecodeError::unsupported(Self::NAME, "PTYPE", 2, other.into()));
            }
        };
        Ok(Self { header, body, verifier })
    }
}

/// Writes a PDU whose body goes in the clear: everything but requests and responses.
///
/// # Errors
/// When a value does not fit its field.
pub fn encode_pdu(
    packet_type: PacketType,
    flags: PfcFlags,
    call_id: CallId,
    body: Option<&dyn Encode>,
    verifier: Option<Verifier<'_>>,
) -> EncodeResult<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut dst = WriteCursor::new(&mut bytes);
    CommonHeader { packet_type, flags, frag_length: 0, auth_length: 0, call_id }.encode(&mut dst)?;
    if let Some(body) = body {
        body.encode(&mut dst)?;
    }
    if let Some(Verifier { mut trailer, token }) = verifier {
        let body_end = dst.pos();
        dst.align(4);
        // Less than four.
        trailer.auth_pad_length = u8::try_from(dst.pos() - body_end).unwrap_or_default();
        trailer.encode(&mut dst)?;
        dst.write_slice(token);
        dst.patch_u16(CommonHeader::AUTH_LENGTH_OFFSET, length_field("auth_length", token.len())?);
    }
    let length = dst.pos();
    dst.patch_u16(CommonHeader::FRAG_LENGTH_OFFSET, length_field("frag_length", length)?);
    Ok(bytes)
}

/// A length that the common header gives two bytes.
pub(crate) fn length_field(field: &'static str, length: usize) -> EncodeResult<u16> {
    u16::try_from(length).map_err(|_| EncodeError::new("PDU", field, "more than 65535 bytes"))
}

/// [MS-RPCE] 2.2.2.5 `rpcconn_rpc_auth_3_hdr_t`, without the common header
///
/// The last leg of an authentication with an odd number of them. It has no answer.
#[doc(alias = "rpcconn_auth3_hdr_t")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Auth3;

impl Auth3 {
    const FIXED_PART_SIZE: usize = 4 /* pad */;
    const NAME: &'static str = "rpcconn_rpc_auth_3_hdr_t";
}

impl Encode for Auth3 {
    fn encode(&self, dst: &mut WriteCursor<'_>) -> EncodeResult<()> {
        dst.write_zeros(Self::FIXED_PART_SIZE);
        Ok(())
    }

    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn size(&self) -> usize {
        Self::FIXED_PART_SIZE
    }
}

impl<'de> Decode<'de> for Auth3 {
    fn decode(src: &mut ReadCursor<'de>) -> DecodeResult<Self> {
        ensure_size!(in: src, name: Self::NAME, size: Self::FIXED_PART_SIZE);
        src.read_slice(Self::FIXED_PART_SIZE);
        Ok(Self)
    }
}

/// C706 12.6.4.10 `rpcconn_response_hdr_t`, without the common header and the stub data
///
/// One fragment of an answer.
#[doc(alias = "rpcconn_response_hdr_t")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Response {
    /// Stub data from here to the end of the answer; no more than a hint.
    pub alloc_hint: u32,
    /// The call's presentation context.
    pub context_id: ContextId,
    /// Cancels that the server received.
    pub cancel_count: u8,
}

impl Response {
    const FIXED_PART_SIZE: usize =
        4 /* alloc_hint */ + 2 /* p_cont_id */ + 1 /* cancel_count */ + 1 /* reserved */;
    const NAME: &'static str = "rpcconn_response_hdr_t";
}

impl Encode for Response {
    fn encode(&self, dst: &mut WriteCursor<'_>) -> EncodeResult<()> {
        dst.write_u32(self.alloc_hint);
        dst.write_u16(self.context_id);
        dst.write_u8(self.cancel_count);
        dst.write_u8(0);
        Ok(())
    }

    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn size(&self) -> usize {
        Self::FIXED_PART_SIZE
    }
}

impl<'de> Decode<'de> for Response {
    fn decode(src: &mut ReadCursor<'de>) -> DecodeResult<Self> {
        ensure_size!(in: src, name: Self::NAME, size: Self::FIXED_PART_SIZE);
        let alloc_hint = src.read_u32();
        let context_id = src.read_u16();
        let cancel_count = src.read_u8();
        src.read_u8();
        Ok(Self { alloc_hint, context_id, cancel_count })
    }
}

/// [MS-RPCE] 2.2.2.11 `sec_trailer`
///
/// Stands between the padded body of a PDU and the authentication token that ends it.
#[doc(alias = "auth_verifier_co_t")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SecTrailer {
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
    const NAME: &'static str = "sec_trailer";
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

/// C706 12.6.4.1 `rpcconn_alter_context_hdr_t`, without the common header
///
/// A client adds presentation contexts, or sends a further leg of its authentication. The layout is that of a
/// bind; fragment sizes and group are written and not read.
#[doc(alias = "rpcconn_alter_context_hdr_t")]
pub type AlterContext = Bind;

/// C706 12.6.4.2 `rpcconn_alter_context_response_hdr_t`, without the common header
///
/// The answer to an [`AlterContext`]. The layout is that of a bind_ack, with an empty secondary address.
#[doc(alias = "rpcconn_alter_context_response_hdr_t")]
pub type AlterContextResponse = BindAck;

/// The end of a PDU: a `sec_trailer` and its token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Verifier<'a> {
    /// What the token is.
    pub trailer: SecTrailer,
    /// The token: a leg of an authentication, or a signature.
    pub token: &'a [u8],
}

impl Verifier<'_> {
    /// Finds the verifier of a whole PDU whose body begins at `body_start`, and where the body ends before its
    /// padding.
    ///
    /// # Errors
    /// When body and verifier do not fit into the PDU.
    pub fn split<'a>(
        header: &CommonHeader,
        pdu: &'a [u8],
        body_start: usize,
    ) -> DecodeResult<(usize, Option<Verifier<'a>>)> {
        let Some(trailer_start) =
            pdu.len().checked_sub(header.verifier_len()).filter(|&end| end >= body_start)
        else {
            return Err(DecodeError::not_enough_bytes(
                SecTrailer::NAME,
                "",
                body_start,
                pdu.len().saturating_sub(body_start),
                header.verifier_len(),
            ));
        };
        if header.auth_length == 0 {
            return Ok((trailer_start, None));
        }
        let mut src = ReadCursor::new(&pdu[trailer_start..]);
        let trailer = SecTrailer::decode(&mut src)?;
        let padding = usize::from(trailer.auth_pad_length);
        if padding > trailer_start - body_start {
            return Err(DecodeError::invalid_field(
                SecTrailer::NAME,
                "auth_pad_length",
                trailer_start + 2,
                "more padding than the body has bytes",
            ));
        }
        Ok((trailer_start - padding, Some(Verifier { trailer, token: src.remaining() })))
    }
}
