use wire::{EncodeResult, FileTime, Guid, HResult, Win32Error};

use crate::ndr::{NdrDecode, NdrEncode, Reader, Result, Writer};

macro_rules! primitives {
    ($($type:ty),*) => {$(
        impl<'stub> NdrDecode<'stub> for $type {
            type Inline = Self;
            const ALIGNMENT: usize = size_of::<Self>();
            const INLINE_SIZE_MIN: usize = size_of::<Self>();

            fn decode_inline(src: &mut Reader<'stub>) -> Result<Self> {
                src.take_array().map(Self::from_le_bytes)
            }

            fn decode_deferred(inline: Self, _src: &mut Reader<'stub>) -> Result<Self> {
                Ok(inline)
            }
        }

        impl NdrEncode for $type {
            type Deferred = ();
            const ALIGNMENT: usize = size_of::<Self>();

            fn encode_inline(&self, dst: &mut Writer) -> EncodeResult<()> {
                dst.bytes(&self.to_le_bytes());
                Ok(())
            }

            fn encode_deferred(&self, (): (), _dst: &mut Writer) -> EncodeResult<()> {
                Ok(())
            }
        }
    )*};
}

primitives!(u8, i8, u16, i16, u32, i32, u64, i64, f32, f64);

impl<'stub> NdrDecode<'stub> for Guid {
    type Inline = Self;
    const ALIGNMENT: usize = 4;
    const INLINE_SIZE_MIN: usize = Self::FIXED_PART_SIZE;

    fn decode_inline(src: &mut Reader<'stub>) -> Result<Self> {
        src.take_array().map(Self::from_bytes)
    }

    fn decode_deferred(inline: Self, _src: &mut Reader<'stub>) -> Result<Self> {
        Ok(inline)
    }
}

impl NdrEncode for Guid {
    type Deferred = ();
    const ALIGNMENT: usize = 4;

    fn encode_inline(&self, dst: &mut Writer) -> EncodeResult<()> {
        dst.bytes(&self.to_bytes());
        Ok(())
    }

    fn encode_deferred(&self, (): (), _dst: &mut Writer) -> EncodeResult<()> {
        Ok(())
    }
}

macro_rules! newtypes {
    ($($type:ident($inner:ty)),*) => {$(
        impl<'stub> NdrDecode<'stub> for $type {
            type Inline = Self;
            const ALIGNMENT: usize = <$inner as NdrDecode<'stub>>::ALIGNMENT;
            const INLINE_SIZE_MIN: usize = <$inner as NdrDecode<'stub>>::INLINE_SIZE_MIN;

            fn decode_inline(src: &mut Reader<'stub>) -> Result<Self> {
                <$inner>::decode_inline(src).map(Self)
            }

            fn decode_deferred(inline: Self, _src: &mut Reader<'stub>) -> Result<Self> {
                Ok(inline)
            }
        }

        impl NdrEncode for $type {
            type Deferred = ();
            const ALIGNMENT: usize = <$inner as NdrEncode>::ALIGNMENT;

            fn encode_inline(&self, dst: &mut Writer) -> EncodeResult<()> {
                self.0.encode_inline(dst)
            }

            fn encode_deferred(&self, (): (), _dst: &mut Writer) -> EncodeResult<()> {
                Ok(())
            }
        }
    )*};
}

newtypes!(Win32Error(u32), HResult(u32));

/// [MS-DTYP] 2.3.3 `FILETIME`: two halves of 32 bits each, the low one first.
impl<'stub> NdrDecode<'stub> for FileTime {
    type Inline = Self;
    const NAME: &'static str = "FILETIME";
    const ALIGNMENT: usize = 4;
    const INLINE_SIZE_MIN: usize = 4 /* dwLowDateTime */ + 4 /* dwHighDateTime */;

    fn decode_inline(src: &mut Reader<'stub>) -> Result<Self> {
        src.take_array().map(|bytes| Self(u64::from_le_bytes(bytes)))
    }

    fn decode_deferred(inline: Self, _src: &mut Reader<'stub>) -> Result<Self> {
        Ok(inline)
    }
}

impl NdrEncode for FileTime {
    type Deferred = ();
    const ALIGNMENT: usize = 4;

    fn encode_inline(&self, dst: &mut Writer) -> EncodeResult<()> {
        dst.bytes(&self.0.to_le_bytes());
        Ok(())
    }

    fn encode_deferred(&self, (): (), _dst: &mut Writer) -> EncodeResult<()> {
        Ok(())
    }
}
