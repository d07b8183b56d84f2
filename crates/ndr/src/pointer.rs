use codec::EncodeResult;

use crate::{NdrDecode, NdrEncode, Reader, Result, Writer};

/// A `[unique]` pointer: a referent id inline (zero for NULL, anything else for a referent), the referent
/// deferred. A top-level one is the same with nothing in between.
impl<T: NdrDecode> NdrDecode for Option<Box<T>> {
    /// Whether there is a referent.
    type Inline = bool;
    const ALIGNMENT: usize = 4;
    const INLINE_SIZE_MIN: usize = 4;

    fn decode_inline(src: &mut Reader<'_>) -> Result<bool> {
        Ok(u32::decode_inline(src)? != 0)
    }

    fn decode_deferred(has_referent: bool, src: &mut Reader<'_>) -> Result<Self> {
        if has_referent {
            let field = src.field();
            src.nested(|src| src.read::<T>(field)).map(|referent| Some(Box::new(referent)))
        } else {
            Ok(None)
        }
    }
}

impl<T: NdrEncode> NdrEncode for Option<Box<T>> {
    const ALIGNMENT: usize = 4;

    fn encode_inline(&self, dst: &mut Writer) -> EncodeResult<()> {
        let id = if self.is_some() { dst.referent_id() } else { 0 };
        dst.u32(id);
        Ok(())
    }

    fn encode_deferred(&self, dst: &mut Writer) -> EncodeResult<()> {
        match self {
            Some(referent) => dst.write(referent.as_ref()),
            None => Ok(()),
        }
    }
}
