use wire::{EncodeError, EncodeResult};

use crate::ndr::read::size_of_count;
use crate::ndr::{NdrDecode, NdrEncode, Reader, Result, Writer};

/// Sizes of both headers of [MS-RPCE] 2.2.6.
const COMMON_HEADER_SIZE: u16 = 1 /* Version */ + 1 /* Endianness */ + 2 /* CommonHeaderLength */ + 4 /* Filler */;
const PRIVATE_HEADER_SIZE: usize = 4 /* ObjectBufferLength */ + 4 /* Filler */;
const VERSION_1: u8 = 1;
const LITTLE_ENDIAN: u8 = 0x10;
const FILLER: u32 = 0xcccc_cccc;

/// Writes a value by itself, as [MS-RPCE] 2.2.6 type serialization version 1 has it: two headers, the value, and zeros
/// up to a multiple of 8.
///
/// # Errors
/// Those of the type, and when the value takes more bytes than 32 bits can count.
pub fn to_pickle<T: NdrEncode>(value: &T) -> EncodeResult<Vec<u8>> {
    let mut body = Writer::new();
    body.write(value)?;
    body.align(8);
    let body = body.into_stub();
    let length = u32::try_from(body.len())
        .map_err(|_| EncodeError::new("type serialization", "ObjectBufferLength", "is above 32 bits"))?;
    let mut dst = Writer::with_capacity(usize::from(COMMON_HEADER_SIZE) + PRIVATE_HEADER_SIZE + body.len());
    dst.bytes(&[VERSION_1, LITTLE_ENDIAN]);
    dst.bytes(&COMMON_HEADER_SIZE.to_le_bytes());
    dst.u32(FILLER);
    dst.u32(length);
    dst.u32(0 /* Filler */);
    dst.bytes(&body);
    Ok(dst.into_stub())
}

/// Reads a value that [`to_pickle`] or another peer wrote; `context` begins its errors. What follows the value's
/// ObjectBufferLength bytes is not looked at.
///
/// # Errors
/// Those of the type, and when the headers are not those of version 1, little-endian.
pub fn from_pickle<'stub, T: NdrDecode<'stub>>(bytes: &'stub [u8], context: &'static str) -> Result<T> {
    let src = &mut Reader::new(bytes, context);
    if src.read::<u8>("Version")? != VERSION_1 {
        return Err(src.invalid("is not 1"));
    }
    if src.read::<u8>("Endianness")? != LITTLE_ENDIAN {
        return Err(src.invalid("is not little-endian"));
    }
    if src.read::<u16>("CommonHeaderLength")? != COMMON_HEADER_SIZE {
        return Err(src.invalid("is not 8"));
    }
    src.u32("Filler")?;
    let length = src.u32("ObjectBufferLength")?;
    src.u32("Filler")?;
    let body = src.take("value", size_of_count(length))?;
    Reader::new(body, context).read("value")
}
