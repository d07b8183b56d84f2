use wire::EncodeResult;

use crate::ndr::{NdrDecode, NdrEncode, Reader, Result, Writer};

/// A `[unique]` pointer: a referent id inline (zero for NULL, anything else for a referent), the referent
/// deferred. A top-level one is the same with nothing in between.
impl<'stub, T: NdrDecode<'stub>> NdrDecode<'stub> for Option<Box<T>> {
    /// Whether there is a referent.
    type Inline = bool;
    const ALIGNMENT: usize = 4;
    const INLINE_SIZE_MIN: usize = 4;

    fn decode_inline(src: &mut Reader<'stub>) -> Result<bool> {
        Ok(u32::decode_inline(src)? != 0)
    }

    fn decode_deferred(has_referent: bool, src: &mut Reader<'stub>) -> Result<Self> {
        if has_referent {
            let field = src.field();
            src.nested(|src| src.read::<T>(field)).map(|referent| Some(Box::new(referent)))
        } else {
            Ok(None)
        }
    }
}

impl<T: NdrEncode> NdrEncode for Option<Box<T>> {
    type Deferred = ();
    const ALIGNMENT: usize = 4;

    fn encode_inline(&self, dst: &mut Writer) -> EncodeResult<()> {
        let id = if self.is_some() { dst.referent_id() } else { 0 };
        dst.u32(id);
        Ok(())
    }

    fn encode_deferred(&self, (): (), dst: &mut Writer) -> EncodeResult<()> {
        match self {
            Some(referent) => dst.write(referent.as_ref()),
            None => Ok(()),
        }
    }
}

/// A `[ref]` pointer inside of a structure: a referent id that is never NULL, the referent deferred.
///
/// A top-level `[ref]` pointer has no representation; declare what it points to.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Ref<T>(pub Box<T>);

impl<T> Ref<T> {
    /// A pointer to `referent`.
    pub fn new(referent: T) -> Self {
        Self(Box::new(referent))
    }
}

/// C706 14.3.12.2 gives the four bytes of an embedded `[ref]` pointer no meaning, so that zero is no error.
impl<'stub, T: NdrDecode<'stub>> NdrDecode<'stub> for Ref<T> {
    type Inline = ();
    const ALIGNMENT: usize = 4;
    const INLINE_SIZE_MIN: usize = 4;

    fn decode_inline(src: &mut Reader<'stub>) -> Result<()> {
        u32::decode_inline(src).map(|_any| ())
    }

    fn decode_deferred((): (), src: &mut Reader<'stub>) -> Result<Self> {
        let field = src.field();
        src.nested(|src| src.read::<T>(field)).map(Self::new)
    }
}

impl<T: NdrEncode> NdrEncode for Ref<T> {
    type Deferred = ();
    const ALIGNMENT: usize = 4;

    fn encode_inline(&self, dst: &mut Writer) -> EncodeResult<()> {
        let id = dst.referent_id();
        dst.u32(id);
        Ok(())
    }

    fn encode_deferred(&self, (): (), dst: &mut Writer) -> EncodeResult<()> {
        dst.write(self.0.as_ref())
    }
}
