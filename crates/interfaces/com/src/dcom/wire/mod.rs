//! Bytes that are no NDR, little-endian and without padding.

mod context;
mod dual_string_array;
mod error_info;
mod objref;
mod std_objref;

pub use self::context::Context;
pub use self::dual_string_array::{BINDINGS_MAX, DualStringArray, SecurityBinding, StringBinding};
pub use self::error_info::{ErrorInfo, TEXT_UNITS_MAX};
pub use self::objref::{CustomHeader, Objref, ObjrefBody};
use std::borrow::Cow;

use wire::{
    Decode, DecodeError, DecodeResult, Encode, EncodeError, EncodeResult, Guid, ReadCursor, WriteCursor,
    ensure_size,
};

/// [MS-DCOM] 2.2.18.8 `DATAELEMENT`: a context.
#[doc(alias = "DATAELEMENT")]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataElement<'a> {
    /// What names the context. INVARIANT: not NULL.
    pub id: Guid,
    /// The context, without padding. INVARIANT: not empty.
    pub data: Cow<'a, [u8]>,
}

impl DataElement<'_> {
    const NAME: &'static str = "DATAELEMENT";
    const FIXED_PART_SIZE: usize = Guid::FIXED_PART_SIZE + 4 /* cbSize */ + 4 /* cbRounded */;
}

impl Encode for DataElement<'_> {
    fn encode(&self, dst: &mut WriteCursor<'_>) -> EncodeResult<()> {
        if self.id == Guid::NULL {
            return Err(EncodeError::new(Self::NAME, "dataID", "is NULL"));
        }
        if self.data.is_empty() {
            return Err(EncodeError::new(Self::NAME, "cbSize", "is zero"));
        }
        let too_long = |_| EncodeError::new(Self::NAME, "cbRounded", "is above 32 bits");
        let rounded = self.data.len().next_multiple_of(8);
        self.id.encode(dst)?;
        dst.write_u32(u32::try_from(self.data.len()).map_err(too_long)?);
        dst.write_u32(u32::try_from(rounded).map_err(too_long)?);
        dst.write_slice(&self.data);
        dst.write_zeros(rounded - self.data.len());
        Ok(())
    }

    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn size(&self) -> usize {
        Self::FIXED_PART_SIZE + self.data.len().next_multiple_of(8)
    }
}

impl<'de> Decode<'de> for DataElement<'de> {
    fn decode(src: &mut ReadCursor<'de>) -> DecodeResult<Self> {
        ensure_size!(in: src, name: Self::NAME, size: Self::FIXED_PART_SIZE);
        let begin = src.pos();
        let invalid = |field, offset, reason| {
            Err(DecodeError::invalid_field(Self::NAME, field, begin + offset, reason))
        };
        let id = Guid::decode(src)?;
        let (size, rounded) = (u64::from(src.read_u32()), u64::from(src.read_u32()));
        if id == Guid::NULL {
            return invalid("dataID", 0, "is NULL");
        }
        if size == 0 {
            return invalid("cbSize", 16, "is zero");
        }
        if rounded != size.next_multiple_of(8) {
            return invalid("cbRounded", 20, "is not cbSize up to a multiple of 8");
        }
        let as_size = |count| usize::try_from(count).unwrap_or(usize::MAX);
        let padded = src.take_slice(Self::NAME, "Data", as_size(rounded))?;
        Ok(Self { id, data: Cow::Borrowed(&padded[..as_size(size)]) })
    }
}
