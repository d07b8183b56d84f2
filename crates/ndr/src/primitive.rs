use codec::EncodeResult;
use ms_dtyp::Guid;

use crate::{NdrDecode, NdrEncode, Reader, Result, Writer};

macro_rules! primitives {
    ($($type:ty),*) => {$(
        impl NdrDecode for $type {
            type Inline = Self;
            const ALIGNMENT: usize = size_of::<Self>();
            const INLINE_SIZE_MIN: usize = size_of::<Self>();

            fn decode_inline(src: &mut Reader<'_>) -> Result<Self> {
                src.take_array().map(Self::from_le_bytes)
            }

            fn decode_deferred(inline: Self, _src: &mut Reader<'_>) -> Result<Self> {
                Ok(inline)
            }
        }

        impl NdrEncode for $type {
            const ALIGNMENT: usize = size_of::<Self>();

            fn encode_inline(&self, dst: &mut Writer) -> EncodeResult<()> {
                dst.bytes(&self.to_le_bytes());
                Ok(())
            }
        }
    )*};
}

primitives!(u8, i8, u16, i16, u32, i32, u64, i64);

impl NdrDecode for Guid {
    type Inline = Self;
    const ALIGNMENT: usize = 4;
    const INLINE_SIZE_MIN: usize = Self::FIXED_PART_SIZE;

    fn decode_inline(src: &mut Reader<'_>) -> Result<Self> {
        src.take_array().map(Self::from_bytes)
    }

    fn decode_deferred(inline: Self, _src: &mut Reader<'_>) -> Result<Self> {
        Ok(inline)
    }
}

impl NdrEncode for Guid {
    const ALIGNMENT: usize = 4;

    fn encode_inline(&self, dst: &mut Writer) -> EncodeResult<()> {
        dst.bytes(&self.to_bytes());
        Ok(())
    }
}
