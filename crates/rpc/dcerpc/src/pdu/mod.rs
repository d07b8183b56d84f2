//! The connection-oriented PDUs of C706 12.6.4 with the additions of [MS-RPCE] 2.2.2, one in a file.
//!
//! [`Pdu::decode`] reads any of them; the associations read the parts, since the stub data of a request or
//! response has to be decrypted in place first.

mod alter_context;
mod auth3;
mod bind;
mod bind_ack;
mod bind_nak;
mod fault;
mod header;
mod presentation;
mod request;
mod response;
mod response_fragment;
mod sec_trailer;
mod verification_trailer;
mod verifier;

use wire::{Decode, DecodeError, DecodeResult, Encode, EncodeError, EncodeResult, ReadCursor, WriteCursor};

pub use self::alter_context::{AlterContext, AlterContextResponse};
pub use self::auth3::Auth3;
pub use self::bind::Bind;
pub use self::bind_ack::BindAck;
pub use self::bind_nak::{BindNak, BindNakReason};
pub use self::fault::Fault;
pub use self::header::{CommonHeader, PacketType, PfcFlags};
pub use self::presentation::{ContextElement, ContextList, ContextResult, ResultList};
pub use self::request::Request;
pub use self::response::Response;
pub use self::response_fragment::ResponseFragment;
pub use self::sec_trailer::SecTrailer;
pub use self::verification_trailer::{Command, CommandKind, Header2, VerificationTrailer};
pub use self::verifier::Verifier;

use crate::CallId;

/// Any PDU, as it came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pdu<'a> {
    /// The common header.
    pub header: CommonHeader,
    /// What follows it.
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
    /// A bind_nak.
    BindNak(BindNak),
    /// An auth3.
    Auth3,
    /// A request with its stub data, which may be encrypted.
    Request(Request, &'a [u8]),
    /// A response with its stub data, which may be encrypted.
    Response(Response, &'a [u8]),
    /// A fault.
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
