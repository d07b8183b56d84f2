//! NDR 2.0, the transfer syntax of C706 chapter 14, little-endian, both ways.
//!
//! Alignment counts from the beginning of the stub, so there is one [`Reader`] or [`Writer`] per stub (or per
//! pickled blob). Padding is written as zeros and never looked at.
//!
//! Every construct has two halves, as in C706 14.3.12.3: what stands *inline*, where the value is declared, and
//! what is *deferred*, the referents of embedded pointers, which follow the outermost construct, left to right
//! and depth first. [`NdrDecode`] and [`NdrEncode`] have a method for each half. A decoder's first half answers
//! a type of its own ([`NdrDecode::Inline`]), so that a pointer whose referent was not read yet can never be
//! mistaken for a whole value.
//!
//! | IDL | here |
//! | --- | --- |
//! | top-level `[ref]` pointer | nothing: it has no representation, read what it points to |
//! | `[unique]` pointer, top-level or embedded | `Option<Box<T>>` |
//! | `[size_is(n)]` array | [`Conformant`], or [`Reader::conformant_bytes`] |
//! | `[length_is(n)]` array | [`Varying`] |
//! | `[size_is(n), length_is(m)]` array | [`ConformantVarying`], or [`Reader::conformant_varying_bytes`] |
//! | `[string] wchar_t*` | [`WideString`], or [`Reader::wide_string`] |
//! | `[context_handle]` | [`ContextHandle`] |
//! | `[range(a, b)]` | [`Reader::range_u32`], whose error is [`Error::Range`] |
//!
//! Not here, because no interface so far has them: full (`[ptr]`) pointers with aliases, embedded `[ref]`
//! pointers, pipes, `[first_is]` offsets other than zero, NDR64, big-endian peers.
//!
//! ```
//! use ndr::{NdrDecode, NdrEncode, Reader, WideString, Writer};
//!
//! // typedef struct { DWORD kind; [unique, string] wchar_t* name; } ITEM;
//! #[derive(Debug, PartialEq)]
//! struct Item { kind: u32, name: Option<Box<WideString>> }
//!
//! impl NdrEncode for Item {
//!     const ALIGNMENT: usize = 4;
//!     fn encode_inline(&self, dst: &mut Writer) -> ndr::EncodeResult<()> {
//!         dst.inline(&self.kind)?;
//!         dst.inline(&self.name)
//!     }
//!     fn encode_deferred(&self, dst: &mut Writer) -> ndr::EncodeResult<()> {
//!         dst.deferred(&self.name)
//!     }
//! }
//!
//! impl NdrDecode for Item {
//!     type Inline = (u32, <Option<Box<WideString>> as NdrDecode>::Inline);
//!     const NAME: &'static str = "ITEM";
//!     const ALIGNMENT: usize = 4;
//!     const INLINE_SIZE_MIN: usize = 8;
//!     fn decode_inline(src: &mut Reader<'_>) -> ndr::Result<Self::Inline> {
//!         Ok((src.inline::<u32>("kind")?, src.inline::<Option<Box<WideString>>>("name")?))
//!     }
//!     fn decode_deferred((kind, name): Self::Inline, src: &mut Reader<'_>) -> ndr::Result<Self> {
//!         Ok(Self { kind, name: src.deferred("name", name)? })
//!     }
//! }
//!
//! let item = Item { kind: 7, name: Some(Box::new(WideString("a".to_owned()))) };
//! let mut dst = Writer::new();
//! dst.write(&item).unwrap();
//! let stub = dst.into_stub();
//! assert_eq!(stub, [7, 0, 0, 0, 0, 0, 2, 0, 2, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, b'a', 0, 0, 0]);
//! assert_eq!(Reader::new(&stub, "Example").read::<Item>("item").unwrap(), item);
//! ```
#![deny(clippy::disallowed_methods, clippy::disallowed_types)]

mod array;
mod context_handle;
mod error;
mod pointer;
mod primitive;
mod read;
mod string;
mod write;

pub use codec::{EncodeError, EncodeResult};

pub use self::array::{ByteArray, Conformant, ConformantVarying, Varying};
pub use self::context_handle::ContextHandle;
pub use self::error::{Error, RangeError, Result};
pub use self::read::{Limits, Reader};
pub use self::string::WideString;
pub use self::write::Writer;

/// A type that can be read from a stub in two halves.
pub trait NdrDecode: Sized {
    /// What the inline half gives: the value itself where nothing is deferred.
    type Inline;

    /// The structure's name for errors; empty for types that speak in the name of what contains them.
    const NAME: &'static str = "";

    /// C706 14.3.2: 1, 2, 4 or 8. A structure has the largest of its members.
    ///
    /// A conformant structure (its last member is a conformant array) has 4, because its max_count comes before
    /// it; behind the count its decoder aligns itself ([`Reader::align`]).
    const ALIGNMENT: usize;

    /// The fewest bytes that the inline half can take; what bounds the number of elements in an array.
    ///
    /// INVARIANT: not zero.
    const INLINE_SIZE_MIN: usize;

    /// Reads the inline half; the reader is aligned.
    ///
    /// # Errors
    /// When bytes are missing or cannot be believed.
    fn decode_inline(src: &mut Reader<'_>) -> Result<Self::Inline>;

    /// Reads the referents of the embedded pointers that `inline` holds, in the order of declaration.
    ///
    /// # Errors
    /// When bytes are missing or cannot be believed.
    fn decode_deferred(inline: Self::Inline, src: &mut Reader<'_>) -> Result<Self>;
}

/// A type that can be written to a stub in two halves.
pub trait NdrEncode {
    /// As [`NdrDecode::ALIGNMENT`].
    const ALIGNMENT: usize;

    /// Writes the inline half; the writer is aligned.
    ///
    /// # Errors
    /// When the wire has no room for a value.
    fn encode_inline(&self, dst: &mut Writer) -> EncodeResult<()>;

    /// Writes the referents of the embedded pointers, in the order of declaration.
    ///
    /// # Errors
    /// When the wire has no room for a value.
    fn encode_deferred(&self, _dst: &mut Writer) -> EncodeResult<()> {
        Ok(())
    }
}
