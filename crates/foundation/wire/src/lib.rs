//! What all protocols share: bytes to structures and back for everything that is not NDR, the data types of [MS-DTYP]
//! and the error codes of [MS-ERREF].
//!
//! Four kinds of result live side by side in these protocols and are four types here, converted by name only:
//! [`Win32Error`] (a method's return value), [`HResult`] (COM), [`NtStatus`] (SMB), and the fault status of an
//! RPC PDU, which `dcerpc` owns. All of them are open: a value without a name survives a round trip and prints
//! as its number.
//!
//! All integers are little-endian, as everywhere in the protocols of this project; the few
//! big-endian ones have methods that say so. A decoder takes a [`ReadCursor`], asks for the bytes it needs
//! before it takes them, and on failure returns a [`DecodeError`] that names the structure, the field and the
//! offset. An encoder writes into a [`WriteCursor`] and keeps one law: it writes exactly [`Encode::size`] bytes.
//!
//! ```
//! use wire::{Decode, DecodeResult, Encode, EncodeResult, ReadCursor, WriteCursor, ensure_size};
//!
//! struct InstanceHeader { size_bytes: u32, instance_id: u32 }
//!
//! impl InstanceHeader {
//!     const NAME: &'static str = "PERF_INSTANCE_HEADER";
//!     const FIXED_PART_SIZE: usize = 4 /* Size */ + 4 /* InstanceId */;
//! }
//!
//! impl Encode for InstanceHeader {
//!     fn encode(&self, dst: &mut WriteCursor<'_>) -> EncodeResult<()> {
//!         dst.write_u32(self.size_bytes);
//!         dst.write_u32(self.instance_id);
//!         Ok(())
//!     }
//!     fn name(&self) -> &'static str { Self::NAME }
//!     fn size(&self) -> usize { Self::FIXED_PART_SIZE }
//! }
//!
//! impl<'de> Decode<'de> for InstanceHeader {
//!     fn decode(src: &mut ReadCursor<'de>) -> DecodeResult<Self> {
//!         ensure_size!(in: src, name: Self::NAME, size: Self::FIXED_PART_SIZE);
//!         Ok(Self { size_bytes: src.read_u32(), instance_id: src.read_u32() })
//!     }
//! }
//!
//! let bytes = wire::encode_vec(&InstanceHeader { size_bytes: 16, instance_id: 3 }).unwrap();
//! assert_eq!(bytes, [16, 0, 0, 0, 3, 0, 0, 0]);
//! let error = wire::decode::<InstanceHeader>(&bytes[..5]).err().unwrap();
//! assert_eq!(error.to_string(), "PERF_INSTANCE_HEADER: 8 bytes needed at offset 0, 5 there");
//! ```
#![deny(clippy::disallowed_methods, clippy::disallowed_types)]

mod error;
mod guid;
mod hresult;
mod open_enum;
mod read;
mod sid;
mod status;
mod time;
mod utf16;
mod wide_str;
mod write;

pub use self::error::{DecodeError, DecodeErrorKind, DecodeResult, EncodeError, EncodeResult};
pub use self::guid::{Guid, ParseGuidError};
pub use self::hresult::HResult;
pub use self::read::ReadCursor;
pub use self::sid::Sid;
pub use self::status::{NtStatus, Win32Error};
pub use self::time::{FileTime, SystemTime};
pub use self::utf16::{Utf16Error, decode_utf16, encode_utf16, utf16_len_bytes};
pub use self::wide_str::WideStr;
pub use self::write::WriteCursor;

/// A structure that can be written. Object-safe.
pub trait Encode {
    /// Appends the structure to `dst`: exactly [`Encode::size`] bytes.
    ///
    /// # Errors
    /// When a value does not fit the field that the wire gives it.
    fn encode(&self, dst: &mut WriteCursor<'_>) -> EncodeResult<()>;

    /// The structure's name in its specification, for errors.
    fn name(&self) -> &'static str;

    /// How many bytes [`Encode::encode`] will append.
    fn size(&self) -> usize;
}

/// A structure that can be read, perhaps borrowing from its source.
pub trait Decode<'de>: Sized {
    /// Reads the structure at the cursor and leaves the cursor after it.
    ///
    /// # Errors
    /// When bytes are missing or a field cannot be believed. The cursor's position is then unspecified.
    fn decode(src: &mut ReadCursor<'de>) -> DecodeResult<Self>;
}

/// Writes `value` into a new vector.
///
/// # Errors
/// Those of [`Encode::encode`].
pub fn encode_vec(value: &(impl Encode + ?Sized)) -> EncodeResult<Vec<u8>> {
    let mut bytes = Vec::with_capacity(value.size());
    encode_into(value, &mut bytes)?;
    Ok(bytes)
}

/// Appends `value` to `bytes`.
///
/// # Errors
/// Those of [`Encode::encode`].
pub fn encode_into(value: &(impl Encode + ?Sized), bytes: &mut Vec<u8>) -> EncodeResult<()> {
    let before = bytes.len();
    value.encode(&mut WriteCursor::new(bytes))?;
    debug_assert_eq!(bytes.len() - before, value.size(), "{} keeps its size law", value.name());
    Ok(())
}

/// Reads one `T` from the beginning of `bytes`; what follows it is left alone.
///
/// # Errors
/// Those of [`Decode::decode`].
pub fn decode<'de, T: Decode<'de>>(bytes: &'de [u8]) -> DecodeResult<T> {
    T::decode(&mut ReadCursor::new(bytes))
}

/// Checks that a cursor still has this many bytes, and otherwise returns the error from the calling function.
///
/// `ensure_size!(in: src, name: "STRUCT", size: 8)` for a whole structure; with `field: "name"` for one field.
#[macro_export]
macro_rules! ensure_size {
    (in: $src:ident, name: $name:expr, size: $size:expr) => {
        if $src.len() < $size {
            return ::core::result::Result::Err($crate::DecodeError::not_enough_bytes(
                $name,
                "",
                $src.pos(),
                $src.len(),
                $size,
            ));
        }
    };
    (in: $src:ident, name: $name:expr, field: $field:expr, size: $size:expr) => {
        if $src.len() < $size {
            return ::core::result::Result::Err($crate::DecodeError::not_enough_bytes(
                $name,
                $field,
                $src.pos(),
                $src.len(),
                $size,
            ));
        }
    };
}
