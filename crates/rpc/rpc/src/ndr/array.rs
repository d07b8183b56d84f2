use wire::{EncodeError, EncodeResult};

use crate::ndr::write::count;
use crate::ndr::{NdrDecode, NdrEncode, Reader, Result, Writer};

/// A `[size_is]` array: max_count, then as many elements.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Conformant<T>(pub Vec<T>);

/// A `[length_is]` array of fixed size: offset (zero), actual_count, then as many elements.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Varying<T>(pub Vec<T>);

/// A `[size_is, length_is]` array: max_count, offset (zero), actual_count, then as many elements.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct ConformantVarying<T> {
    /// What `size_is` says. INVARIANT: at least the number of elements.
    pub max_count: u32,
    /// The elements that are there.
    pub elements: Vec<T>,
}

impl<'stub, T: NdrDecode<'stub>> NdrDecode<'stub> for Conformant<T> {
    type Inline = Vec<T::Inline>;
    const ALIGNMENT: usize = 4;
    const INLINE_SIZE_MIN: usize = 4 /* max_count */;

    fn decode_inline(src: &mut Reader<'stub>) -> Result<Self::Inline> {
        let max_count = u32::decode_inline(src)?;
        decode_elements::<T>(src, max_count)
    }

    fn decode_deferred(inline: Self::Inline, src: &mut Reader<'stub>) -> Result<Self> {
        decode_referents(inline, src).map(Self)
    }
}

impl<'stub, T: NdrDecode<'stub>> NdrDecode<'stub> for Varying<T> {
    type Inline = Vec<T::Inline>;
    const ALIGNMENT: usize = 4;
    const INLINE_SIZE_MIN: usize = 4 /* offset */ + 4 /* actual_count */;

    fn decode_inline(src: &mut Reader<'stub>) -> Result<Self::Inline> {
        let actual_count = src.variance(src.field(), None)?;
        decode_elements::<T>(src, actual_count)
    }

    fn decode_deferred(inline: Self::Inline, src: &mut Reader<'stub>) -> Result<Self> {
        decode_referents(inline, src).map(Self)
    }
}

impl<'stub, T: NdrDecode<'stub>> NdrDecode<'stub> for ConformantVarying<T> {
    type Inline = (u32, Vec<T::Inline>);
    const ALIGNMENT: usize = 4;
    const INLINE_SIZE_MIN: usize = 4 /* max_count */ + 4 /* offset */ + 4 /* actual_count */;

    fn decode_inline(src: &mut Reader<'stub>) -> Result<Self::Inline> {
        let max_count = u32::decode_inline(src)?;
        let actual_count = src.variance(src.field(), Some(max_count))?;
        Ok((max_count, decode_elements::<T>(src, actual_count)?))
    }

    fn decode_deferred((max_count, inline): Self::Inline, src: &mut Reader<'stub>) -> Result<Self> {
        Ok(Self { max_count, elements: decode_referents(inline, src)? })
    }
}

impl<T: NdrEncode> NdrEncode for Conformant<T> {
    type Deferred = Vec<T::Deferred>;
    const ALIGNMENT: usize = 4;

    fn encode_inline(&self, dst: &mut Writer) -> EncodeResult<Self::Deferred> {
        dst.u32(count("conformant array", self.0.len())?);
        encode_elements(&self.0, dst)
    }

    fn encode_deferred(&self, deferred: Self::Deferred, dst: &mut Writer) -> EncodeResult<()> {
        encode_referents(&self.0, deferred, dst)
    }
}

impl<T: NdrEncode> NdrEncode for Varying<T> {
    type Deferred = Vec<T::Deferred>;
    const ALIGNMENT: usize = 4;

    fn encode_inline(&self, dst: &mut Writer) -> EncodeResult<Self::Deferred> {
        dst.variance(count("varying array", self.0.len())?);
        encode_elements(&self.0, dst)
    }

    fn encode_deferred(&self, deferred: Self::Deferred, dst: &mut Writer) -> EncodeResult<()> {
        encode_referents(&self.0, deferred, dst)
    }
}

impl<T: NdrEncode> NdrEncode for ConformantVarying<T> {
    type Deferred = Vec<T::Deferred>;
    const ALIGNMENT: usize = 4;

    fn encode_inline(&self, dst: &mut Writer) -> EncodeResult<Self::Deferred> {
        let actual_count = count("conformant varying array", self.elements.len())?;
        if actual_count > self.max_count {
            return Err(EncodeError::new("conformant varying array", "actual_count", "is above max_count"));
        }
        dst.u32(self.max_count);
        dst.variance(actual_count);
        encode_elements(&self.elements, dst)
    }

    fn encode_deferred(&self, deferred: Self::Deferred, dst: &mut Writer) -> EncodeResult<()> {
        encode_referents(&self.elements, deferred, dst)
    }
}

/// Elements in line: a `T[N]` that is a member of a structure.
impl<'stub, T: NdrDecode<'stub>, const N: usize> NdrDecode<'stub> for [T; N] {
    type Inline = Vec<T::Inline>;
    const ALIGNMENT: usize = T::ALIGNMENT;
    const INLINE_SIZE_MIN: usize = N * T::INLINE_SIZE_MIN;

    fn decode_inline(src: &mut Reader<'stub>) -> Result<Self::Inline> {
        let field = src.field();
        (0..N).map(|_| src.inline::<T>(field)).collect()
    }

    fn decode_deferred(inline: Self::Inline, src: &mut Reader<'stub>) -> Result<Self> {
        let elements: Vec<T> = decode_referents(inline, src)?;
        elements.try_into().map_err(|_| src.invalid("a fixed array has another number of elements"))
    }
}

impl<T: NdrEncode, const N: usize> NdrEncode for [T; N] {
    type Deferred = Vec<T::Deferred>;
    const ALIGNMENT: usize = T::ALIGNMENT;

    fn encode_inline(&self, dst: &mut Writer) -> EncodeResult<Self::Deferred> {
        encode_elements(self, dst)
    }

    fn encode_deferred(&self, deferred: Self::Deferred, dst: &mut Writer) -> EncodeResult<()> {
        encode_referents(self, deferred, dst)
    }
}

pub(crate) fn decode_elements<'stub, T: NdrDecode<'stub>>(
    src: &mut Reader<'stub>,
    count: u32,
) -> Result<Vec<T::Inline>> {
    src.check_limit(count, src.limits().array_elements_max)?;
    src.check_fits(count, T::INLINE_SIZE_MIN)?;
    let field = src.field();
    (0..count).map(|_| src.inline::<T>(field)).collect()
}

pub(crate) fn decode_referents<'stub, T: NdrDecode<'stub>>(
    inline: Vec<T::Inline>,
    src: &mut Reader<'stub>,
) -> Result<Vec<T>> {
    let field = src.field();
    inline.into_iter().map(|element| src.deferred(field, element)).collect()
}

pub(crate) fn encode_elements<T: NdrEncode>(
    elements: &[T],
    dst: &mut Writer,
) -> EncodeResult<Vec<T::Deferred>> {
    elements.iter().map(|element| dst.inline(element)).collect()
}

pub(crate) fn encode_referents<T: NdrEncode>(
    elements: &[T],
    deferred: Vec<T::Deferred>,
    dst: &mut Writer,
) -> EncodeResult<()> {
    elements.iter().zip(deferred).try_for_each(|(element, deferred)| dst.deferred(element, deferred))
}
