//! The structures of [MS-SMB2] 2.2, one a file.
//!
//! Offsets on this wire count from the beginning of the message's header. A body is therefore read with a cursor
//! over the whole message that comes after the header, and written with the knowledge that it begins at
//! [`Header::FIXED_PART_SIZE`].

mod create;
mod header;
mod ioctl;
mod negotiate_context;
mod negotiate_request;
mod negotiate_response;
mod query_info;
mod read;
mod session_setup;
mod transform_header;
mod tree_connect;
mod validate_negotiate;
mod write;

use wire::{
    Decode, DecodeError, DecodeResult, Encode, EncodeError, EncodeResult, ReadCursor, WriteCursor,
    ensure_size,
};

pub use self::create::{CreateRequest, CreateResponse};
pub use self::header::{Command, Flags, Header, Owner};
pub use self::ioctl::{ControlCode, IoctlRequest, IoctlResponse};
pub use self::negotiate_context::{HASH_SHA512, NegotiateContext};
pub use self::negotiate_request::{Capabilities, NegotiateRequest, SecurityMode};
pub use self::negotiate_response::NegotiateResponse;
pub use self::query_info::{FileInfoClass, QueryInfoRequest, QueryInfoResponse};
pub use self::read::{ReadRequest, ReadResponse};
pub use self::session_setup::{SessionFlags, SessionSetupRequest, SessionSetupResponse};
pub use self::transform_header::TransformHeader;
pub use self::tree_connect::{ShareType, TreeConnectRequest, TreeConnectResponse};
pub use self::validate_negotiate::{ValidateNegotiateRequest, ValidateNegotiateResponse};
pub use self::write::{WriteRequest, WriteResponse};

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

/// The bytes at `offset` of the message, which have to lie after what the cursor has read.
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

/// The empty body: LOGOFF ([MS-SMB2] 2.2.7, 2.2.8), TREE_DISCONNECT (2.2.11, 2.2.12), ECHO (2.2.28,
/// 2.2.29) and CANCEL (2.2.30).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EmptyBody;

impl EmptyBody {
    /// Bytes on the wire.
    pub const FIXED_PART_SIZE: usize = 2 /* StructureSize */ + 2 /* Reserved */;
    const NAME: &'static str = "SMB2 empty body";
    const STRUCTURE_SIZE: u16 = 4;
}

impl Encode for EmptyBody {
    fn encode(&self, dst: &mut WriteCursor<'_>) -> EncodeResult<()> {
        dst.write_u16(Self::STRUCTURE_SIZE);
        dst.write_u16(0);
        Ok(())
    }

    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn size(&self) -> usize {
        Self::FIXED_PART_SIZE
    }
}

impl<'de> Decode<'de> for EmptyBody {
    fn decode(src: &mut ReadCursor<'de>) -> DecodeResult<Self> {
        ensure_size!(in: src, name: Self::NAME, size: Self::FIXED_PART_SIZE);
        crate::wire::structure_size(src, Self::NAME, Self::STRUCTURE_SIZE)?;
        src.read_u16();
        Ok(Self)
    }
}

/// `SMB2_FILEID` of [MS-SMB2] 2.2.14.1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[doc(alias = "SMB2_FILEID")]
pub struct FileId {
    /// Survives a reconnect where the file does.
    pub persistent: u64,
    pub volatile: u64,
}

impl FileId {
    /// No file: a pipe-wide control code, or "the file of the request before" in a compound.
    pub const NONE: Self = Self { persistent: u64::MAX, volatile: u64::MAX };
    /// Bytes on the wire.
    pub const FIXED_PART_SIZE: usize = 8 /* Persistent */ + 8 /* Volatile */;
    const NAME: &'static str = "SMB2_FILEID";
}

impl Encode for FileId {
    fn encode(&self, dst: &mut WriteCursor<'_>) -> EncodeResult<()> {
        dst.write_u64(self.persistent);
        dst.write_u64(self.volatile);
        Ok(())
    }

    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn size(&self) -> usize {
        Self::FIXED_PART_SIZE
    }
}

impl<'de> Decode<'de> for FileId {
    fn decode(src: &mut ReadCursor<'de>) -> DecodeResult<Self> {
        ensure_size!(in: src, name: Self::NAME, size: Self::FIXED_PART_SIZE);
        Ok(Self { persistent: src.read_u64(), volatile: src.read_u64() })
    }
}

/// [MS-SMB2] 2.2.15 SMB2 CLOSE Request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CloseRequest {
    pub file_id: FileId,
}

impl CloseRequest {
    /// Bytes on the wire.
    pub const FIXED_PART_SIZE: usize = 2 /* StructureSize */ + 2 /* Flags */ + 4 /* Reserved */ + 16 /* FileId */;
    const NAME: &'static str = "SMB2 CLOSE Request";
    const STRUCTURE_SIZE: u16 = 24;
}

impl Encode for CloseRequest {
    fn encode(&self, dst: &mut WriteCursor<'_>) -> EncodeResult<()> {
        dst.write_u16(Self::STRUCTURE_SIZE);
        dst.write_u16(0);
        dst.write_u32(0);
        self.file_id.encode(dst)
    }

    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn size(&self) -> usize {
        Self::FIXED_PART_SIZE
    }
}

impl<'de> Decode<'de> for CloseRequest {
    fn decode(src: &mut ReadCursor<'de>) -> DecodeResult<Self> {
        ensure_size!(in: src, name: Self::NAME, size: Self::FIXED_PART_SIZE);
        crate::wire::structure_size(src, Self::NAME, Self::STRUCTURE_SIZE)?;
        src.read_u16();
        src.read_u32();
        Ok(Self { file_id: FileId::decode(src)? })
    }
}

/// [MS-SMB] 2.2.4.5.1 `SMB_COM_NEGOTIATE`, as far as a server of SMB 2 needs it: old clients begin with it and name
/// SMB 2 among their dialects ([MS-SMB2] 3.3.5.3.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Smb1Negotiate {
    /// Whether the client takes any dialect from 2.1 on.
    pub offers_smb2: bool,
}

impl Smb1Negotiate {
    /// The first four bytes of every SMB1 message.
    pub const PROTOCOL_ID: [u8; 4] = [0xFF, b'S', b'M', b'B'];
    /// Bytes in front of the dialects.
    pub const FIXED_PART_SIZE: usize = 4 /* Protocol */
        + 1 /* Command */
        + 27 /* Status to MID */
        + 1 /* WordCount */
        + 2 /* ByteCount */;
    const NAME: &'static str = "SMB_COM_NEGOTIATE";
    const COMMAND: u8 = 0x72;
    /// A dialect is this byte, then text, then a NUL.
    const DIALECT: u8 = 2;
    const SMB2_WILDCARD: &'static [u8] = b"SMB 2.???";
}

impl<'de> Decode<'de> for Smb1Negotiate {
    fn decode(src: &mut ReadCursor<'de>) -> DecodeResult<Self> {
        ensure_size!(in: src, name: Self::NAME, size: Self::FIXED_PART_SIZE);
        let start = src.pos();
        if src.read_array::<4>() != Self::PROTOCOL_ID || src.read_u8() != Self::COMMAND {
            return Err(DecodeError::invalid_field(Self::NAME, "Command", start, "is not SMB_COM_NEGOTIATE"));
        }
        src.read_array::<27>();
        if src.read_u8() != 0 {
            return Err(DecodeError::invalid_field(Self::NAME, "WordCount", start + 32, "is not zero"));
        }
        let size = usize::from(src.read_u16());
        let dialects = src.take_slice(Self::NAME, "Dialects", size)?;
        let mut names =
            dialects.split(|&byte| byte == 0).filter_map(|name| name.strip_prefix(&[Self::DIALECT]));
        Ok(Self { offers_smb2: names.any(|name| name == Self::SMB2_WILDCARD) })
    }
}

/// [MS-SMB2] 2.2.16 SMB2 CLOSE Response. Times and sizes are those of files; a pipe has none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CloseResponse;

impl CloseResponse {
    /// Bytes on the wire.
    pub const FIXED_PART_SIZE: usize = 2 /* StructureSize */
        + 2 /* Flags */
        + 4 /* Reserved */
        + 8 /* CreationTime */
        + 8 /* LastAccessTime */
        + 8 /* LastWriteTime */
        + 8 /* ChangeTime */
        + 8 /* AllocationSize */
        + 8 /* EndofFile */
        + 4 /* FileAttributes */;
    const NAME: &'static str = "SMB2 CLOSE Response";
    const STRUCTURE_SIZE: u16 = 60;
}

impl Encode for CloseResponse {
    fn encode(&self, dst: &mut WriteCursor<'_>) -> EncodeResult<()> {
        dst.write_u16(Self::STRUCTURE_SIZE);
        dst.write_zeros(Self::FIXED_PART_SIZE - 2);
        Ok(())
    }

    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn size(&self) -> usize {
        Self::FIXED_PART_SIZE
    }
}

impl<'de> Decode<'de> for CloseResponse {
    fn decode(src: &mut ReadCursor<'de>) -> DecodeResult<Self> {
        ensure_size!(in: src, name: Self::NAME, size: Self::FIXED_PART_SIZE);
        crate::wire::structure_size(src, Self::NAME, Self::STRUCTURE_SIZE)?;
        src.read_slice(Self::FIXED_PART_SIZE - 2);
        Ok(Self)
    }
}

/// [MS-SMB2] 2.2.2 SMB2 ERROR Response: the body of nearly every response whose status is not success.
///
/// Its error data name reparse points and buffer sizes; a pipe needs neither, so that they are dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ErrorResponse;

impl ErrorResponse {
    /// Bytes on the wire.
    pub const FIXED_PART_SIZE: usize = 2 /* StructureSize */
        + 1 /* ErrorContextCount */
        + 1 /* Reserved */
        + 4 /* ByteCount */;
    const NAME: &'static str = "SMB2 ERROR Response";
    const STRUCTURE_SIZE: u16 = 9;
}

impl Encode for ErrorResponse {
    fn encode(&self, dst: &mut WriteCursor<'_>) -> EncodeResult<()> {
        dst.write_u16(Self::STRUCTURE_SIZE);
        dst.write_u16(0);
        dst.write_u32(0);
        // Without error data the buffer has one byte.
        dst.write_u8(0);
        Ok(())
    }

    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn size(&self) -> usize {
        Self::FIXED_PART_SIZE + 1 /* ErrorData */
    }
}

impl<'de> Decode<'de> for ErrorResponse {
    fn decode(src: &mut ReadCursor<'de>) -> DecodeResult<Self> {
        ensure_size!(in: src, name: Self::NAME, size: Self::FIXED_PART_SIZE);
        structure_size(src, Self::NAME, Self::STRUCTURE_SIZE)?;
        src.read_u16();
        let error_data_bytes = index(Self::NAME, "ByteCount", src.read_u32())?;
        src.skip(Self::NAME, "ErrorData", error_data_bytes)?;
        Ok(Self)
    }
}
