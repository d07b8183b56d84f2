//! [MS-OAUT] 2.2.23: BSTR.

use rpc::ndr::{NdrDecode, NdrEncode};
use wire::{EncodeError, EncodeResult, Utf16Error};

/// [MS-OAUT] 2.2.23 `BSTR`: a text, or bytes, or nothing.
///
/// Nothing has two forms: a NULL pointer, and a blob of [`Bstr::NULL_BYTES`] bytes. Both are read; [`Bstr::null`] is the
/// second one, which 2.2.23.2 asks for.
#[derive(Clone, Debug, PartialEq, Eq, NdrEncode, NdrDecode)]
#[doc(alias = "BSTR")]
pub struct Bstr(pub Option<Box<FlaggedWordBlob>>);

/// `FLAGGED_WORD_BLOB` of [MS-OAUT] 2.2.23.1.
#[derive(Clone, Debug, PartialEq, Eq, NdrEncode, NdrDecode)]
#[doc(alias = "FLAGGED_WORD_BLOB")]
pub struct FlaggedWordBlob {
    /// Bytes of the text or data, or [`Bstr::NULL_BYTES`].
    #[ndr(name = "cBytes")]
    pub bytes: u32,
    #[ndr(name = "clSize")]
    pub count: u32,
    /// UTF-16 code units of a text, without a NUL after it; data have a last byte too many if their number is odd.
    #[ndr(name = "asData", conformant, size_is = elements(bytes, count))]
    pub units: Vec<u16>,
}

/// [MS-OAUT] 2.2.23.1: how many units there are: clSize, if that is half of cBytes, rounded up. Otherwise a number that no
/// array has.
const fn elements(bytes: u32, count: u32) -> u64 {
    let expected = if bytes == Bstr::NULL_BYTES { 0 } else { bytes.div_ceil(2) };
    if count == expected { count as u64 } else { u64::MAX }
}

impl Bstr {
    /// The size of nothing.
    pub const NULL_BYTES: u32 = u32::MAX;

    /// A text.
    ///
    /// # Errors
    /// When it is longer than 32 bits can count in bytes.
    pub fn new(text: &str) -> EncodeResult<Self> {
        let units: Vec<u16> = text.encode_utf16().collect();
        let bytes = units.len().checked_mul(2).and_then(|bytes| u32::try_from(bytes).ok());
        let bytes = bytes.filter(|&bytes| bytes != Self::NULL_BYTES).ok_or(EncodeError::new(
            "FLAGGED_WORD_BLOB",
            "cBytes",
            "is above 32 bits",
        ))?;
        Ok(Self(Some(Box::new(FlaggedWordBlob { bytes, count: bytes / 2, units }))))
    }

    #[must_use]
    pub fn null() -> Self {
        Self(Some(Box::new(FlaggedWordBlob { bytes: Self::NULL_BYTES, count: 0, units: Vec::new() })))
    }

    /// Whether this is nothing, in either form.
    #[must_use]
    pub fn is_null(&self) -> bool {
        self.0.as_ref().is_none_or(|blob| blob.bytes == Self::NULL_BYTES)
    }

    /// The text; `None` if this is nothing. Some writers end it with a NUL, which is no part of it.
    ///
    /// # Errors
    /// When it is data and no text.
    pub fn text(&self) -> Result<Option<String>, Utf16Error> {
        let Some(blob) = self.0.as_ref().filter(|blob| blob.bytes != Self::NULL_BYTES) else {
            return Ok(None);
        };
        if blob.bytes % 2 != 0 {
            return Err(Utf16Error::OddLength);
        }
        let end = blob.units.iter().rposition(|&unit| unit != 0).map_or(0, |last| last + 1);
        String::from_utf16(&blob.units[..end]).map(Some).map_err(|_| Utf16Error::LoneSurrogate)
    }
}

impl Default for Bstr {
    fn default() -> Self {
        Self::null()
    }
}
