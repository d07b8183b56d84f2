use wire::{EncodeResult, decode_utf16};

use crate::ndr::read::size_of_count;
use crate::ndr::{NdrDecode, NdrEncode, Reader, Result, Writer};

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
