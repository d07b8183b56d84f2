use std::borrow::Cow;

use wire::EncodeResult;

use crate::ndr::read::size_of_count;
use crate::ndr::{NdrDecode, NdrEncode, Reader, Result, Writer};

/// A `[size_is]` array of bytes: max_count and as many bytes, which what is decoded borrows from the stub.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct ConformantBytes<'stub>(pub Cow<'stub, [u8]>);

/// A `[size_is, length_is]` array of bytes: max_count, offset (zero), actual_count, then as many bytes, which what is
/// decoded borrows from the stub.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct ConformantVaryingBytes<'stub> {
    /// What `size_is` says: the room that the caller offered. INVARIANT: at least the number of bytes.
    pub max_count: u32,
    /// The bytes that are there.
    pub bytes: Cow<'stub, [u8]>,
}

impl<'stub> NdrDecode<'stub> for ConformantBytes<'stub> {
    type Inline = Self;
    const ALIGNMENT: usize = 4;
    const INLINE_SIZE_MIN: usize = 4 /* max_count */;

    fn decode_inline(src: &mut Reader<'stub>) -> Result<Self> {
        src.conformant_bytes(src.field()).map(|bytes| Self(Cow::Borrowed(bytes)))
    }

    fn decode_deferred(inline: Self, _src: &mut Reader<'stub>) -> Result<Self> {
        Ok(inline)
    }
}

impl NdrEncode for ConformantBytes<'_> {
    type Deferred = ();
    const ALIGNMENT: usize = 4;

    fn encode_inline(&self, dst: &mut Writer) -> EncodeResult<()> {
        dst.conformant_bytes(&self.0)
    }

    fn encode_deferred(&self, (): (), _dst: &mut Writer) -> EncodeResult<()> {
        Ok(())
    }
}

impl<'stub> NdrDecode<'stub> for ConformantVaryingBytes<'stub> {
    type Inline = Self;
    const ALIGNMENT: usize = 4;
    const INLINE_SIZE_MIN: usize = 4 /* max_count */ + 4 /* offset */ + 4 /* actual_count */;

    fn decode_inline(src: &mut Reader<'stub>) -> Result<Self> {
        src.conformant_varying_bytes(src.field())
    }

    fn decode_deferred(inline: Self, _src: &mut Reader<'stub>) -> Result<Self> {
        Ok(inline)
    }
}

impl NdrEncode for ConformantVaryingBytes<'_> {
    type Deferred = ();
    const ALIGNMENT: usize = 4;

    fn encode_inline(&self, dst: &mut Writer) -> EncodeResult<()> {
        dst.conformant_varying_bytes(self.max_count, &self.bytes)
    }

    fn encode_deferred(&self, (): (), _dst: &mut Writer) -> EncodeResult<()> {
        Ok(())
    }
}

impl<'a> Reader<'a> {
    /// Reads a `[size_is]` array of bytes: max_count and the bytes.
    ///
    /// # Errors
    /// When the stub ends before max_count bytes.
    pub fn conformant_bytes(&mut self, field: &'static str) -> Result<&'a [u8]> {
        let max_count = self.u32(field)?;
        self.take(field, size_of_count(max_count))
    }

    /// Reads a `[size_is, length_is]` array of bytes: max_count, offset, actual_count and the bytes.
    ///
    /// # Errors
    /// When the offset is not zero, actual_count is above max_count, or the stub ends before the bytes do.
    pub fn conformant_varying_bytes(&mut self, field: &'static str) -> Result<ConformantVaryingBytes<'a>> {
        let max_count = self.u32(field)?;
        let actual_count = self.variance(field, Some(max_count))?;
        let bytes = self.take(field, size_of_count(actual_count))?;
        Ok(ConformantVaryingBytes { max_count, bytes: bytes.into() })
    }
}
