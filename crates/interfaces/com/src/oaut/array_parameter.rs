//! How many pointers come before an array parameter.

use rpc::ndr::{ConformantBytes, NdrDecode, NdrEncode, Reader, Result, Writer};
use wire::EncodeResult;

use super::Bstr;
use crate::oaut::variant::{Elements, SafeArray};

/// A `SAFEARRAY(T)` that is a parameter of its own, or none.
///
/// [MS-OAUT] 2.2.30.10 makes `SAFEARRAY` a pointer to the array, and specifications that declare such parameters disagree
/// whether they are that pointer or a pointer to it, a `PSAFEARRAY`. Marshalers that are made from the original IDL have the
/// latter (`wirePSAFEARRAY`). Both are read; the writer chooses.
#[derive(Clone, Debug, PartialEq)]
pub enum ArrayParameter<'stub> {
    /// A pointer to the array.
    Single(Option<Box<SafeArray<'stub>>>),
    /// A pointer to a pointer to the array.
    Double(Option<Box<Option<Box<SafeArray<'stub>>>>>),
}

impl<'stub> ArrayParameter<'stub> {
    /// Texts in one dimension, behind two pointers.
    ///
    /// # Errors
    /// When there are more than 32 bits can count.
    pub fn of_bstrs(texts: Vec<Bstr>) -> EncodeResult<Self> {
        SafeArray::of_bstrs(texts).map(Self::double)
    }

    /// Bytes in one dimension, behind two pointers.
    ///
    /// # Errors
    /// When there are more than 32 bits can count.
    pub fn of_bytes(bytes: ConformantBytes<'stub>) -> EncodeResult<Self> {
        SafeArray::of_bytes(bytes).map(Self::double)
    }

    fn double(array: SafeArray<'stub>) -> Self {
        Self::Double(Some(Box::new(Some(Box::new(array)))))
    }

    #[must_use]
    pub fn array(&self) -> Option<&SafeArray<'stub>> {
        match self {
            Self::Single(array) => array.as_deref(),
            Self::Double(array) => array.as_deref()?.as_deref(),
        }
    }

    /// The texts of an array of BSTRs; no array has none. `None` if it is an array of something else.
    #[must_use]
    pub fn bstrs(&self) -> Option<&[Bstr]> {
        match self.array().map(|array| &array.elements) {
            None => Some(&[]),
            Some(Elements::Bstrs(texts)) => Some(&texts.elements.0.0),
            Some(_) => None,
        }
    }

    /// The bytes of an array of them; no array has none. `None` if it is an array of something else.
    #[must_use]
    pub fn bytes(&self) -> Option<&[u8]> {
        match self.array().map(|array| &array.elements) {
            None => Some(&[]),
            Some(Elements::Bytes(bytes)) => Some(bytes.elements.as_deref().map_or(&[], |bytes| &bytes.0)),
            Some(_) => None,
        }
    }
}

/// No array, as a NULL pointer.
impl Default for ArrayParameter<'_> {
    fn default() -> Self {
        Self::Single(None)
    }
}

/// Whether an array begins here, and not a pointer to one: its number of dimensions comes before it and in it, and the kind
/// of its elements 20 bytes after the former. Where a pointer is 1, as some write it, the place of that kind has `cLocks`,
/// which is no kind: its high half is a type, or the whole is the number of locks, and arrays that are sent have none.
fn is_array(bytes: &[u8]) -> bool {
    let word = |at: usize| {
        let word = bytes.get(at..at + 4).and_then(|word| word.try_into().ok());
        word.map_or(0, u32::from_le_bytes)
    };
    let (count, dimensions, kind) = (word(0), word(4) & 0xffff, word(16));
    count != 0
        && count == dimensions
        && matches!(kind, 0x02 | 0x03 | 0x08 | 0x09 | 0x0c | 0x0d | 0x10 | 0x14 | 0x24 | 0x800d)
}

impl<'stub> NdrDecode<'stub> for ArrayParameter<'stub> {
    /// Whether there is a referent.
    type Inline = bool;
    const ALIGNMENT: usize = 4;
    const INLINE_SIZE_MIN: usize = 4;

    fn decode_inline(src: &mut Reader<'stub>) -> Result<bool> {
        Ok(u32::decode_inline(src)? != 0)
    }

    fn decode_deferred(has_referent: bool, src: &mut Reader<'stub>) -> Result<Self> {
        if !has_referent {
            return Ok(Self::default());
        }
        src.align(4)?;
        if is_array(src.remaining()) {
            src.read("SAFEARRAY").map(|array| Self::Single(Some(Box::new(array))))
        } else {
            src.read("PSAFEARRAY").map(|pointer| Self::Double(Some(Box::new(pointer))))
        }
    }
}

impl NdrEncode for ArrayParameter<'_> {
    type Deferred = ();
    const ALIGNMENT: usize = 4;

    fn encode_inline(&self, dst: &mut Writer) -> EncodeResult<()> {
        match self {
            Self::Single(array) => array.encode_inline(dst),
            Self::Double(pointer) => pointer.encode_inline(dst),
        }
    }

    fn encode_deferred(&self, (): (), dst: &mut Writer) -> EncodeResult<()> {
        match self {
            Self::Single(array) => array.encode_deferred((), dst),
            Self::Double(pointer) => pointer.encode_deferred((), dst),
        }
    }
}
