use core::fmt;
use core::marker::PhantomData;

use wire::EncodeResult;

use crate::ndr::{NdrDecode, NdrEncode, Reader, Result, Writer};

/// A member that means nothing: written as the default of `T`, read as any `T` and dropped.
pub struct Reserved<T>(PhantomData<fn() -> T>);

impl<T> Reserved<T> {
    pub const NEW: Self = Self(PhantomData);
}

impl<'stub, T: NdrDecode<'stub>> NdrDecode<'stub> for Reserved<T> {
    type Inline = T::Inline;
    const NAME: &'static str = T::NAME;
    const ALIGNMENT: usize = T::ALIGNMENT;
    const INLINE_SIZE_MIN: usize = T::INLINE_SIZE_MIN;

    fn decode_inline(src: &mut Reader<'stub>) -> Result<Self::Inline> {
        T::decode_inline(src)
    }

    fn decode_deferred(inline: Self::Inline, src: &mut Reader<'stub>) -> Result<Self> {
        T::decode_deferred(inline, src).map(|_any| Self::NEW)
    }
}

impl<T: NdrEncode + Default> NdrEncode for Reserved<T> {
    type Deferred = (T, T::Deferred);
    const ALIGNMENT: usize = T::ALIGNMENT;

    fn encode_inline(&self, dst: &mut Writer) -> EncodeResult<Self::Deferred> {
        let value = T::default();
        let deferred = value.encode_inline(dst)?;
        Ok((value, deferred))
    }

    fn encode_deferred(&self, (value, deferred): Self::Deferred, dst: &mut Writer) -> EncodeResult<()> {
        value.encode_deferred(deferred, dst)
    }
}

impl<T> Clone for Reserved<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Reserved<T> {}

impl<T> Default for Reserved<T> {
    fn default() -> Self {
        Self::NEW
    }
}

impl<T> PartialEq for Reserved<T> {
    fn eq(&self, _other: &Self) -> bool {
        true
    }
}

impl<T> Eq for Reserved<T> {}

impl<T> fmt::Debug for Reserved<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Reserved")
    }
}
