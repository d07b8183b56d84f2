//! Strings of single bytes. Each is a character of ISO 8859-1, so that all that is read can be written again.

use wire::{EncodeError, EncodeResult};

use crate::ndr::read::size_of_count;
use crate::ndr::write::count;
use crate::ndr::{Array, NdrDecode, NdrEncode, Reader, Result, WithRoom, Writer};

/// A `[string, size_is(n)] char*`: a conformant varying array of bytes whose last is NUL.
///
/// max_count, offset (zero) and actual_count come first; both counts include the NUL. Where there is no room for a NUL, or a
/// writer leaves it out, an empty text has no bytes.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct NarrowString {
    /// What `size_is` says: the room that the caller offered. INVARIANT: at least what the text and its NUL take.
    pub max_count: u32,
    pub text: String,
}

/// A `[string] char[N]` in a structure: a varying array of at most `N` bytes whose last is NUL.
///
/// offset (zero) and actual_count, with the NUL, come first. A writer may leave out the NUL of an empty text.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct FixedString<const N: usize>(pub String);

impl<'stub> NdrDecode<'stub> for NarrowString {
    type Inline = Self;
    const ALIGNMENT: usize = 4;
    const INLINE_SIZE_MIN: usize = 4 /* max_count */ + 4 /* offset */ + 4 /* actual_count */;

    fn decode_inline(src: &mut Reader<'stub>) -> Result<Self> {
        let max_count = u32::decode_inline(src)?;
        let actual_count = src.variance(src.field(), Some(max_count))?;
        src.check_limit(actual_count, src.limits().string_units_max)?;
        decode_text(src, actual_count).map(|text| Self { max_count, text })
    }

    fn decode_deferred(inline: Self, _src: &mut Reader<'stub>) -> Result<Self> {
        Ok(inline)
    }
}

impl NdrEncode for NarrowString {
    type Deferred = ();
    const ALIGNMENT: usize = 4;

    fn encode_inline(&self, dst: &mut Writer) -> EncodeResult<()> {
        dst.u32(self.max_count);
        if self.max_count == 0 && self.text.is_empty() {
            dst.variance(0);
            return Ok(());
        }
        encode_text(&self.text, size_of_count(self.max_count), dst)
    }

    fn encode_deferred(&self, (): (), _dst: &mut Writer) -> EncodeResult<()> {
        Ok(())
    }
}

/// Counted with the NUL.
impl Array for NarrowString {
    fn max_count(&self) -> Option<usize> {
        Some(size_of_count(self.max_count))
    }

    fn actual_count(&self) -> Option<usize> {
        Some(if self.max_count == 0 {
            0
        } else {
            self.text.chars().count() + 1 /* NUL */
        })
    }
}

impl WithRoom for NarrowString {
    fn with_room(max_count: u32) -> Self {
        Self { max_count, text: String::new() }
    }
}

impl<'stub, const N: usize> NdrDecode<'stub> for FixedString<N> {
    type Inline = Self;
    const ALIGNMENT: usize = 4;
    const INLINE_SIZE_MIN: usize = 4 /* offset */ + 4 /* actual_count */;

    fn decode_inline(src: &mut Reader<'stub>) -> Result<Self> {
        let actual_count = src.variance(src.field(), None)?;
        src.check_limit(actual_count, u32::try_from(N).unwrap_or(u32::MAX))?;
        decode_text(src, actual_count).map(Self)
    }

    fn decode_deferred(inline: Self, _src: &mut Reader<'stub>) -> Result<Self> {
        Ok(inline)
    }
}

impl<const N: usize> NdrEncode for FixedString<N> {
    type Deferred = ();
    const ALIGNMENT: usize = 4;

    fn encode_inline(&self, dst: &mut Writer) -> EncodeResult<()> {
        encode_text(&self.0, N, dst)
    }

    fn encode_deferred(&self, (): (), _dst: &mut Writer) -> EncodeResult<()> {
        Ok(())
    }
}

/// Reads as many bytes; the last one is NUL.
fn decode_text(src: &mut Reader<'_>, actual_count: u32) -> Result<String> {
    match src.take(src.field(), size_of_count(actual_count))? {
        [] => Ok(String::new()),
        [text @ .., 0] if text.contains(&0) => Err(src.invalid("the string has a NUL before its end")),
        [text @ .., 0] => Ok(text.iter().copied().map(char::from).collect()),
        _ => Err(src.invalid("the string does not end with a NUL")),
    }
}

/// Writes offset, actual_count and the bytes, of which there are at most `max`.
fn encode_text(text: &str, max: usize, dst: &mut Writer) -> EncodeResult<()> {
    let refused = |reason| EncodeError::new("[string] char*", "", reason);
    let bytes = text.chars().map(|letter| match u8::try_from(letter) {
        Ok(0) => Err(refused("the text holds a NUL")),
        Ok(byte) => Ok(byte),
        Err(_) => Err(refused("the text holds a character that is none of ISO 8859-1")),
    });
    let mut bytes = bytes.collect::<EncodeResult<Vec<u8>>>()?;
    bytes.push(0);
    if bytes.len() > max {
        return Err(refused("the text is longer than there is room for"));
    }
    dst.variance(count("[string] char*", bytes.len())?);
    dst.bytes(&bytes);
    Ok(())
}
