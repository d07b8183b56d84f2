//! The structures of [MS-SMB2] 2.2, one a file.
//!
//! Offsets on this wire count from the beginning of the message's header. A body is therefore read with a cursor
//! over the whole message that stands behind the header, and written with the knowledge that it begins at
//! [`Header::FIXED_PART_SIZE`].

mod close_request;
mod close_response;
mod create_request;
mod create_response;
mod empty_body;
mod error_response;
mod file_id;
mod header;
mod ioctl_request;
mod ioctl_response;
mod negotiate_context;
mod negotiate_request;
mod negotiate_response;
mod query_info_request;
mod query_info_response;
mod read_request;
mod read_response;
mod session_setup_request;
mod session_setup_response;
mod smb1_negotiate;
mod transform_header;
mod tree_connect_request;
mod tree_connect_response;
mod validate_negotiate_request;
mod validate_negotiate_response;
mod write_request;
mod write_response;

use wire::{DecodeError, DecodeResult, EncodeError, EncodeResult, ReadCursor, ensure_size};

pub use self::close_request::CloseRequest;
pub use self::close_response::CloseResponse;
pub use self::create_request::CreateRequest;
pub use self::create_response::CreateResponse;
pub use self::empty_body::EmptyBody;
pub use self::error_response::ErrorResponse;
pub use self::file_id::FileId;
pub use self::header::{Command, Flags, Header, Owner};
pub use self::ioctl_request::{ControlCode, IoctlRequest};
pub use self::ioctl_response::IoctlResponse;
pub use self::negotiate_context::{HASH_SHA512, NegotiateContext};
pub use self::negotiate_request::{Capabilities, NegotiateRequest, SecurityMode};
pub use self::negotiate_response::NegotiateResponse;
pub use self::query_info_request::{FileInfoClass, QueryInfoRequest};
pub use self::query_info_response::QueryInfoResponse;
pub use self::read_request::ReadRequest;
pub use self::read_response::ReadResponse;
pub use self::session_setup_request::SessionSetupRequest;
pub use self::session_setup_response::{SessionFlags, SessionSetupResponse};
pub use self::smb1_negotiate::Smb1Negotiate;
pub use self::transform_header::TransformHeader;
pub use self::tree_connect_request::TreeConnectRequest;
pub use self::tree_connect_response::{ShareType, TreeConnectResponse};
pub use self::validate_negotiate_request::ValidateNegotiateRequest;
pub use self::validate_negotiate_response::ValidateNegotiateResponse;
pub use self::write_request::WriteRequest;
pub use self::write_response::WriteResponse;

/// Reads a body's `StructureSize`, which is the same in every message of its kind.
fn structure_size(src: &mut ReadCursor<'_>, name: &'static str, size: u16) -> DecodeResult<()> {
    ensure_size!(in: src, name: name, field: "StructureSize", size: 2);
    let at = src.pos();
    if src.read_u16() == size {
        Ok(())
    } else {
        Err(DecodeError::invalid_field(name, "StructureSize", at, "is not the one of this structure"))
    }
}

/// The bytes at `offset` of the message, which have to lie behind what the cursor has read.
fn buffer_at<'de>(
    src: &ReadCursor<'de>,
    name: &'static str,
    field: &'static str,
    offset: usize,
    size: usize,
) -> DecodeResult<&'de [u8]> {
    if size == 0 {
        return Ok(&[]);
    }
    if offset < src.pos() {
        return Err(DecodeError::invalid_field(name, field, src.pos(), "offset points into the fixed part"));
    }
    let message = src.buffer();
    let end = offset.checked_add(size).filter(|&end| end <= message.len());
    match end {
        Some(end) => Ok(&message[offset..end]),
        None => {
            let received = message.len().saturating_sub(offset);
            Err(DecodeError::not_enough_bytes(name, field, offset, received, size))
        }
    }
}

/// The text at `offset` of the message.
fn text_at(
    src: &ReadCursor<'_>,
    name: &'static str,
    field: &'static str,
    offset: usize,
    size: usize,
) -> DecodeResult<String> {
    let bytes = buffer_at(src, name, field, offset, size)?;
    wire::decode_utf16(bytes).map_err(|_| DecodeError::invalid_field(name, field, offset, "is not UTF-16"))
}

/// A length from the wire. Lengths are 16 or 32 bits wide, so that this fails on 16-bit machines only.
fn index(name: &'static str, field: &'static str, value: u32) -> DecodeResult<usize> {
    usize::try_from(value)
        .map_err(|_| DecodeError::limit_exceeded(name, field, 0, value.into(), u64::from(u16::MAX)))
}

fn length_u16(name: &'static str, field: &'static str, size: usize) -> EncodeResult<u16> {
    u16::try_from(size).map_err(|_| EncodeError::new(name, field, "is longer than 65535 bytes"))
}

fn length_u32(name: &'static str, field: &'static str, size: usize) -> EncodeResult<u32> {
    u32::try_from(size).map_err(|_| EncodeError::new(name, field, "is longer than 4 GiB"))
}
