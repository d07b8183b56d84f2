use std::borrow::Cow;

use wire::EncodeResult;

use crate::ndr::array::{decode_elements, decode_referents, encode_elements, encode_referents};
use crate::ndr::read::size_of_count;
use crate::ndr::write::count;
use crate::ndr::{NdrDecode, NdrEncode, Reader, Result, Writer};

/// The conformant array at the end of a conformant structure, whose max_count comes before the structure
/// (C706 14.3.7.2).
pub trait DecodeTail<'stub>: Sized {
    /// As [`NdrDecode::Inline`], of all elements.
    type Inline;
    /// That of an element.
    const ALIGNMENT: usize;

    /// Reads `max_count` elements; the members before them have been read.
    ///
    /// # Errors
    /// When bytes are missing or cannot be believed.
    fn decode_inline(src: &mut Reader<'stub>, max_count: u32) -> Result<Self::Inline>;

    /// As [`NdrDecode::decode_deferred`].
    ///
    /// # Errors
    /// When bytes are missing or cannot be believed.
    fn decode_deferred(inline: Self::Inline, src: &mut Reader<'stub>) -> Result<Self>;
}

/// The writing half of [`DecodeTail`].
pub trait EncodeTail {
    /// As [`NdrEncode::Deferred`], of all elements.
    type Deferred;
    /// That of an element.
    const ALIGNMENT: usize;

    /// How many elements there are.
    ///
    /// # Errors
    /// When there are more than 32 bits can count.
    fn max_count(&self) -> EncodeResult<u32>;

    /// Writes the elements.
    ///
    /// # Errors
    /// Those of an element.
    fn encode_inline(&self, dst: &mut Writer) -> EncodeResult<Self::Deferred>;

    /// As [`NdrEncode::encode_deferred`].
    ///
    /// # Errors
    /// Those of an element.
    fn encode_deferred(&self, deferred: Self::Deferred, dst: &mut Writer) -> EncodeResult<()>;
}

impl<'stub, T: NdrDecode<'stub>> DecodeTail<'stub> for Vec<T> {
    type Inline = Vec<T::Inline>;
    const ALIGNMENT: usize = T::ALIGNMENT;

    fn decode_inline(src: &mut Reader<'stub>, max_count: u32) -> Result<Self::Inline> {
        decode_elements::<T>(src, max_count)
    }

    fn decode_deferred(inline: Self::Inline, src: &mut Reader<'stub>) -> Result<Self> {
        decode_referents(inline, src)
    }
}

impl<T: NdrEncode> EncodeTail for Vec<T> {
    type Deferred = Vec<T::Deferred>;
    const ALIGNMENT: usize = T::ALIGNMENT;

    fn max_count(&self) -> EncodeResult<u32> {
        count("conformant structure", self.len())
    }

    fn encode_inline(&self, dst: &mut Writer) -> EncodeResult<Self::Deferred> {
        encode_elements(self, dst)
    }

    fn encode_deferred(&self, deferred: Self::Deferred, dst: &mut Writer) -> EncodeResult<()> {
        encode_referents(self, deferred, dst)
    }
}

/// Bytes are borrowed from the stub.
impl<'stub> DecodeTail<'stub> for Cow<'stub, [u8]> {
    type Inline = Self;
    const ALIGNMENT: usize = 1;

    fn decode_inline(src: &mut Reader<'stub>, max_count: u32) -> Result<Self> {
        src.take(src.field(), size_of_count(max_count)).map(Self::Borrowed)
    }

    fn decode_deferred(inline: Self, _src: &mut Reader<'stub>) -> Result<Self> {
        Ok(inline)
    }
}

impl EncodeTail for Cow<'_, [u8]> {
    type Deferred = ();
    const ALIGNMENT: usize = 1;

    fn max_count(&self) -> EncodeResult<u32> {
        count("conformant structure", self.len())
    }

    fn encode_inline(&self, dst: &mut Writer) -> EncodeResult<()> {
        dst.bytes(self);
        Ok(())
    }

    fn encode_deferred(&self, (): (), _dst: &mut Writer) -> EncodeResult<()> {
        Ok(())
    }
}

impl<'a> Reader<'a> {
    /// Reads the inline half of the conformant array at the end of a structure.
    ///
    /// # Errors
    /// Those of an element.
    pub fn tail<T: DecodeTail<'a>>(&mut self, field: &'static str, max_count: u32) -> Result<T::Inline> {
        self.set_field(field);
        T::decode_inline(self, max_count)
    }

    /// Reads the deferred half of the conformant array at the end of a structure.
    ///
    /// # Errors
    /// Those of an element.
    pub fn tail_deferred<T: DecodeTail<'a>>(&mut self, field: &'static str, inline: T::Inline) -> Result<T> {
        self.set_field(field);
        T::decode_deferred(inline, self)
    }
}
