//! NDR 2.0, the transfer syntax of C706 chapter 14, little-endian, both ways.
//!
//! Alignment counts from the beginning of the stub, so there is one [`Reader`] or [`Writer`] per stub (or per
//! pickled blob). Padding is written as zeros and never looked at.
//!
//! Every construct has two halves, as in C706 14.3.12.3: what is *inline*, where the value is declared, and
//! what is *deferred*, the referents of embedded pointers, which follow the outermost construct, left to right
//! and depth first. [`NdrDecode`] and [`NdrEncode`] have a method for each half. A decoder's first half returns
//! a type of its own ([`NdrDecode::Inline`]), so that a pointer whose referent was not read yet can never be
//! mistaken for a whole value.
//!
//! | IDL | here |
//! | --- | --- |
//! | top-level `[ref]` pointer | nothing: it has no representation, read what it points to |
//! | `[unique]` pointer, top-level or embedded | `Option<Box<T>>` |
//! | `[size_is(n)]` array | [`Conformant`]; of bytes, [`ConformantBytes`] |
//! | `[length_is(n)]` array | [`Varying`] |
//! | `[size_is(n), length_is(m)]` array | [`ConformantVarying`]; of bytes, [`ConformantVaryingBytes`] |
//! | `[string] wchar_t*` | [`WideString`], or [`Reader::wide_string`] |
//! | `[string, size_is(n)] char*` | [`NarrowString`] |
//! | `[string] char[N]` | [`FixedString`] |
//! | `[ref]` pointer inside of a structure | [`Ref`] |
//! | `T[N]` | `[T; N]` |
//! | a member that is reserved, zero or NULL | [`Reserved`] |
//! | a value pickled by itself | [`to_pickle`], [`from_pickle`] |
//! | `enum` without `[v1_enum]` | [`Enum`], of 16 bits or, as some write it, 32 |
//! | `[context_handle]` | [`ContextHandle`] |
//! | `[range(a, b)]` | [`Reader::range_u32`], whose error is [`Error::Range`] |
//!
//! Types that an interface declares get both traits by derive:
//!
//! ```
//! use rpc::ndr::{NdrDecode, NdrEncode, Reader, WideString, Writer};
//!
//! // typedef struct { DWORD kind; [unique, string] wchar_t* name; } ITEM;
//! #[doc(alias = "ITEM")]
//! #[derive(Debug, PartialEq, NdrEncode, NdrDecode)]
//! struct Item { kind: u32, name: Option<Box<WideString>> }
//!
//! let item = Item { kind: 7, name: Some(Box::new(WideString("a".to_owned()))) };
//! let mut dst = Writer::new();
//! dst.write(&item).unwrap();
//! let stub = dst.into_stub();
//! assert_eq!(stub, [7, 0, 0, 0, 0, 0, 2, 0, 2, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, b'a', 0, 0, 0]);
//! assert_eq!(Reader::new(&stub, "Example").read::<Item>("item").unwrap(), item);
//! ```
//!
//! The derives compute alignments and least sizes. The first `doc(alias)` of a type or field is its name in errors,
//! else the name that it has in Rust. What else the IDL says is in attributes:
//!
//! | IDL | attribute |
//! | --- | --- |
//! | `[range(a, b)]`, of a `u32` | `#[ndr(range = a..=b)]` |
//! | `[size_is(n)]`, `[length_is(n)]` | `#[ndr(size_is = n)]`, `#[ndr(length_is = n)]`: an expression of other fields; a value whose counts differ is neither read nor written |
//! | a conformant structure | `#[ndr(conformant)]` at its last field, a `Vec` or, of bytes, a `Cow` |
//! | `union`, with its tag | an enum with `#[ndr(switch = u32)]`; variants have `#[ndr(case = 7)]` or, with the tag as their value, `#[ndr(default)]` |
//! | `[switch_is(n)]` | `#[ndr(switch_is = n)]` |
//! | a name | `#[ndr(name = "dwSize")]` |
//! | what no IDL says | `#[ndr(check = path)]` at a type or a field: a function of the value that gives a reason to refuse it |
//! | another form on the wire | `#[ndr(wire = Type)]`, with `TryFrom` both ways |
//!
//! Not here, because no interface so far has them: full (`[ptr]`) pointers with aliases, pipes, `[first_is]` offsets
//! other than zero, arrays with two conformant dimensions in one, NDR64, big-endian peers.

mod array;
mod bytes;
mod count;
mod enumeration;
#[doc(hidden)]
pub mod layout;
mod pointer;
mod primitive;
mod read;
mod reserved;
mod strings;
mod tail;
mod write;

use std::borrow::Cow;

use wire::{DecodeError, Guid, decode_utf16};

pub use self::array::{Conformant, ConformantVarying, Varying};
pub use self::bytes::{ConformantBytes, ConformantVaryingBytes};
pub use self::count::{Array, WithRoom, count_is};
pub use self::enumeration::Enum;
pub use self::pointer::Ref;
pub use self::read::{Limits, Reader};
pub use self::reserved::Reserved;
pub use self::strings::{FixedString, NarrowString};
pub use self::tail::{DecodeTail, EncodeTail};
pub use self::write::Writer;
pub use rpc_macros::{NdrDecode, NdrEncode};
pub use wire::{EncodeError, EncodeResult};

use self::read::size_of_count;

/// A type that can be read from a stub in two halves.
pub trait NdrDecode<'stub>: Sized {
    /// What the inline half gives: the value itself where nothing is deferred.
    type Inline;

    /// The structure's name for errors; empty for types whose errors name the structure around them.
    const NAME: &'static str = "";

    /// C706 14.3.2: 1, 2, 4 or 8. A structure has the largest of its members.
    ///
    /// A conformant structure (its last member is a conformant array) has 4, because its max_count comes before
    /// it; after the count its decoder aligns itself ([`Reader::align`]).
    const ALIGNMENT: usize;

    /// The fewest bytes that the inline half can take; what bounds the number of elements in an array.
    ///
    /// INVARIANT: not zero.
    const INLINE_SIZE_MIN: usize;

    /// Reads the inline half; the reader is aligned.
    ///
    /// # Errors
    /// When bytes are missing or cannot be believed.
    fn decode_inline(src: &mut Reader<'stub>) -> Result<Self::Inline>;

    /// Reads the referents of the embedded pointers that `inline` holds, in the order of declaration.
    ///
    /// # Errors
    /// When bytes are missing or cannot be believed.
    fn decode_deferred(inline: Self::Inline, src: &mut Reader<'stub>) -> Result<Self>;
}

/// A type that can be written to a stub in two halves.
pub trait NdrEncode {
    /// What the inline half hands to the deferred one: `()` but where the value has another form on the wire, which is
    /// made once.
    type Deferred;

    const ALIGNMENT: usize;

    /// Writes the inline half; the writer is aligned.
    ///
    /// # Errors
    /// When the wire has no room for a value.
    fn encode_inline(&self, dst: &mut Writer) -> EncodeResult<Self::Deferred>;

    /// Writes the referents of the embedded pointers, in the order of declaration.
    ///
    /// # Errors
    /// When the wire has no room for a value.
    fn encode_deferred(&self, deferred: Self::Deferred, dst: &mut Writer) -> EncodeResult<()>;
}

/// How an [`Enum`] is in a stub: [`Reader::with_enums`](crate::ndr::Reader::with_enums),
/// [`Writer::with_enums`](crate::ndr::Writer::with_enums).
///
/// C706 14.2.5 gives it 16 bits. The marshaler of type libraries, which dual interfaces of objects may have, gives it 32.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum EnumForm {
    /// Written so that readers of both forms can read it, and read whichever form it has.
    #[default]
    Either,
    /// It has 16 bits.
    Short,
    /// 32 bits, of which the high half means nothing.
    Long,
}

/// What reading a stub answers.
pub type Result<T> = core::result::Result<T, Error>;

/// Why a stub was refused. A server answers each kind with a fault of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The stub is no NDR of the type expected (`RPC_X_BAD_STUB_DATA`, 1783).
    #[error(transparent)]
    Decode(#[from] DecodeError),
    /// The stub is well formed and a `[range]` is violated (`RPC_X_INVALID_BOUND`, 1734).
    #[error(transparent)]
    Range(#[from] RangeError),
}

/// A parameter outside its IDL `[range]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{context}: `{field}`: {value} is outside of the range {min} to {max} (offset {offset})")]
pub struct RangeError {
    /// The method or structure.
    pub context: &'static str,
    pub field: &'static str,
    /// Bytes from the beginning of the stub.
    pub offset: usize,
    /// What the peer says.
    pub value: u32,
    /// The smallest value allowed.
    pub min: u32,
    /// The largest value allowed.
    pub max: u32,
}

/// [MS-DCOM] 2.2.14 `MInterfacePointer`: an OBJREF, which names an object on another host, as opaque bytes.
///
/// What is decoded borrows the bytes from the stub.
#[doc(alias = "MInterfacePointer")]
#[derive(Clone, Debug, PartialEq, Eq, NdrDecode, NdrEncode)]
pub struct InterfacePointer<'stub> {
    /// Bytes of the OBJREF.
    #[ndr(name = "ulCntData")]
    pub size: u32,
    /// The OBJREF, [MS-DCOM] 2.2.18.
    #[ndr(name = "abData", conformant, size_is = size)]
    pub data: Cow<'stub, [u8]>,
}

/// What can come after `switch_is`: a union, or a pointer to one. Implemented by the derive of `NdrEncode`.
pub trait Union {
    /// The tag, which comes before the arm on the wire; nothing behind a NULL pointer.
    fn tag(&self) -> Option<i64>;
}

impl<T: Union> Union for Option<Box<T>> {
    fn tag(&self) -> Option<i64> {
        self.as_ref()?.tag()
    }
}

impl<T: Union> Union for Ref<T> {
    fn tag(&self) -> Option<i64> {
        self.0.tag()
    }
}

/// C706 14.4 `ndr_context_handle`: what a server's state is called on the wire.
///
/// A client treats it as opaque. It is valid on the association group that it came from, and ends with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[doc(alias = "ndr_context_handle")]
pub struct ContextHandle {
    /// Reserved; zero on all handles seen.
    pub attributes: u32,
    /// The server's name for its state.
    pub uuid: Guid,
}

impl ContextHandle {
    /// No state: returned if nothing was opened, and after closing.
    pub const NULL: Self = Self { attributes: 0, uuid: Guid::NULL };
    /// Bytes on the wire.
    pub const FIXED_PART_SIZE: usize = 4 /* context_handle_attributes */ + Guid::FIXED_PART_SIZE;

    /// Whether this is [`ContextHandle::NULL`].
    #[must_use]
    pub fn is_null(self) -> bool {
        self == Self::NULL
    }
}

impl<'stub> NdrDecode<'stub> for ContextHandle {
    type Inline = Self;
    const ALIGNMENT: usize = 4;
    const INLINE_SIZE_MIN: usize = Self::FIXED_PART_SIZE;

    fn decode_inline(src: &mut Reader<'stub>) -> Result<Self> {
        Ok(Self { attributes: u32::decode_inline(src)?, uuid: Guid::decode_inline(src)? })
    }

    fn decode_deferred(inline: Self, _src: &mut Reader<'stub>) -> Result<Self> {
        Ok(inline)
    }
}

impl NdrEncode for ContextHandle {
    type Deferred = ();
    const ALIGNMENT: usize = 4;

    fn encode_inline(&self, dst: &mut Writer) -> EncodeResult<()> {
        dst.u32(self.attributes);
        dst.inline(&self.uuid)
    }

    fn encode_deferred(&self, (): (), _dst: &mut Writer) -> EncodeResult<()> {
        Ok(())
    }
}

/// Sizes of both headers of [MS-RPCE] 2.2.6.
const COMMON_HEADER_SIZE: u16 = 1 /* Version */ + 1 /* Endianness */ + 2 /* CommonHeaderLength */ + 4 /* Filler */;
const PRIVATE_HEADER_SIZE: usize = 4 /* ObjectBufferLength */ + 4 /* Filler */;
const VERSION_1: u8 = 1;
const LITTLE_ENDIAN: u8 = 0x10;
const FILLER: u32 = 0xcccc_cccc;

/// Writes a value by itself, as [MS-RPCE] 2.2.6 type serialization version 1 has it: two headers, the value, and zeros
/// up to a multiple of 8.
///
/// # Errors
/// Those of the type, and when the value takes more bytes than 32 bits can count.
pub fn to_pickle<T: NdrEncode>(value: &T) -> EncodeResult<Vec<u8>> {
    let mut body = Writer::new();
    body.write(value)?;
    body.align(8);
    let body = body.into_stub();
    let length = u32::try_from(body.len())
        .map_err(|_| EncodeError::new("type serialization", "ObjectBufferLength", "is above 32 bits"))?;
    let mut dst = Writer::with_capacity(usize::from(COMMON_HEADER_SIZE) + PRIVATE_HEADER_SIZE + body.len());
    dst.bytes(&[VERSION_1, LITTLE_ENDIAN]);
    dst.bytes(&COMMON_HEADER_SIZE.to_le_bytes());
    dst.u32(FILLER);
    dst.u32(length);
    dst.u32(0 /* Filler */);
    dst.bytes(&body);
    Ok(dst.into_stub())
}

/// Reads a value that [`to_pickle`] or another peer wrote; `context` begins its errors. What follows the value's
/// ObjectBufferLength bytes is not looked at.
///
/// # Errors
/// Those of the type, and when the headers are not those of version 1, little-endian.
pub fn from_pickle<'stub, T: NdrDecode<'stub>>(bytes: &'stub [u8], context: &'static str) -> Result<T> {
    let src = &mut Reader::new(bytes, context);
    if src.read::<u8>("Version")? != VERSION_1 {
        return Err(src.invalid("is not 1"));
    }
    if src.read::<u8>("Endianness")? != LITTLE_ENDIAN {
        return Err(src.invalid("is not little-endian"));
    }
    if src.read::<u16>("CommonHeaderLength")? != COMMON_HEADER_SIZE {
        return Err(src.invalid("is not 8"));
    }
    src.u32("Filler")?;
    let length = src.u32("ObjectBufferLength")?;
    src.u32("Filler")?;
    let body = src.take("value", size_of_count(length))?;
    Reader::new(body, context).read("value")
}

/// What a `[string] wchar_t*` points to: a conformant varying array of UTF-16LE code units whose last is NUL.
///
/// max_count, offset (zero) and actual_count come first; both counts include the NUL.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct WideString(pub String);

impl<'stub> NdrDecode<'stub> for WideString {
    type Inline = Self;
    const ALIGNMENT: usize = 4;
    const INLINE_SIZE_MIN: usize = 4 /* max_count */ + 4 /* offset */ + 4 /* actual_count */;

    fn decode_inline(src: &mut Reader<'stub>) -> Result<Self> {
        let field = src.field();
        let max_count = u32::decode_inline(src)?;
        let actual_count = src.variance(field, Some(max_count))?;
        src.check_limit(actual_count, src.limits().string_units_max)?;
        src.check_fits(actual_count, 2)?;
        let bytes = src.take(field, size_of_count(actual_count).saturating_mul(2))?;
        let Some((text, [0, 0])) = bytes.split_last_chunk::<2>() else {
            return Err(src.invalid("the string does not end with a NUL"));
        };
        if text.chunks_exact(2).any(|unit| unit == [0, 0]) {
            return Err(src.invalid("the string has a NUL before its end"));
        }
        decode_utf16(text).map(Self).map_err(|_| src.invalid("the string is no UTF-16"))
    }

    fn decode_deferred(inline: Self, _src: &mut Reader<'stub>) -> Result<Self> {
        Ok(inline)
    }
}

impl NdrEncode for WideString {
    type Deferred = ();
    const ALIGNMENT: usize = 4;

    fn encode_inline(&self, dst: &mut Writer) -> EncodeResult<()> {
        dst.wide_string(&self.0)
    }

    fn encode_deferred(&self, (): (), _dst: &mut Writer) -> EncodeResult<()> {
        Ok(())
    }
}

impl<'a> Reader<'a> {
    /// Reads what a top-level `[string] wchar_t*` points to.
    ///
    /// # Errors
    /// As [`WideString`].
    pub fn wide_string(&mut self, field: &'static str) -> Result<String> {
        self.read::<WideString>(field).map(|string| string.0)
    }
}
