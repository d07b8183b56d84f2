use codec::EncodeResult;
use ms_dtyp::{Guid, Win32Error};
use ndr::{ConformantVarying, ContextHandle, Reader, Writer};

use crate::Method;
use crate::types::QueryHandle;

/// Opnum 0: the answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EnumerateCounterSetReply {
    /// The request's `dwInSize`.
    pub in_size: u32,
    /// How many countersets there are.
    pub rtn_size: u32,
    /// The countersets, or none where there is not room for all.
    pub guids: Vec<Guid>,
    /// How it went.
    pub status: Win32Error,
}

impl EnumerateCounterSetReply {
    /// Writes the stub.
    ///
    /// # Errors
    /// When there are more GUIDs than `in_size`.
    pub fn to_stub(&self) -> EncodeResult<Vec<u8>> {
        let mut dst = Writer::with_capacity(24 + self.guids.len() * Guid::FIXED_PART_SIZE);
        let array = ConformantVarying { max_count: self.in_size, elements: self.guids.clone() };
        dst.u32(u32::try_from(array.elements.len()).unwrap_or(u32::MAX));
        dst.u32(self.rtn_size);
        dst.write(&array)?;
        dst.u32(self.status.0);
        Ok(dst.into_stub())
    }

    /// Reads the stub of the answer to a request with `in_size`.
    ///
    /// # Errors
    /// When it is no such answer, or returns more than was asked for.
    pub fn from_stub(stub: &[u8], in_size: u32) -> ndr::Result<Self> {
        let src = &mut Reader::new(stub, Method::EnumerateCounterSet.name());
        let out_size = src.range_u32("pdwOutSize", 0..=in_size)?;
        let rtn_size = src.u32("pdwRtnSize")?;
        let array: ConformantVarying<Guid> = src.read("lpData")?;
        if usize::try_from(out_size) != Ok(array.elements.len()) {
            return Err(src.invalid("actual_count is not pdwOutSize"));
        }
        let status = Win32Error(src.u32("return value")?);
        Ok(Self { in_size: array.max_count, rtn_size, guids: array.elements, status })
    }
}

/// Opnums 3 and 4: the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HandleReply {
    /// The query that was opened; NULL after one was closed.
    pub handle: QueryHandle,
    /// How it went.
    pub status: Win32Error,
}

impl HandleReply {
    /// Writes the stub.
    ///
    /// # Errors
    /// None that could happen.
    pub fn to_stub(&self) -> EncodeResult<Vec<u8>> {
        let mut dst = Writer::with_capacity(ContextHandle::FIXED_PART_SIZE + 4);
        dst.write(&self.handle)?;
        dst.u32(self.status.0);
        Ok(dst.into_stub())
    }

    /// Reads the stub of `method`'s answer.
    ///
    /// # Errors
    /// When it is no such answer.
    pub fn from_stub(stub: &[u8], method: Method) -> ndr::Result<Self> {
        let src = &mut Reader::new(stub, method.name());
        Ok(Self { handle: src.read("phQuery")?, status: Win32Error(src.u32("return value")?) })
    }
}

/// Opnums 1, 2, 5 and 6: the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BufferReply<'a> {
    /// The request's `dwInSize`.
    pub in_size: u32,
    /// How many bytes all of the answer takes.
    pub rtn_size: u32,
    /// The answer, or nothing where there is not room for all of it.
    pub data: &'a [u8],
    /// How it went.
    pub status: Win32Error,
}

impl<'a> BufferReply<'a> {
    /// Where the answer begins in the stub.
    pub const DATA_OFFSET: usize = 4 /* pdwOutSize */
        + 4 /* pdwRtnSize */
        + 4 /* max_count */
        + 4 /* offset */
        + 4 /* actual_count */;

    /// Writes the stub.
    ///
    /// # Errors
    /// When there is more data than `in_size`.
    pub fn to_stub(&self) -> EncodeResult<Vec<u8>> {
        let mut dst = Writer::with_capacity(Self::DATA_OFFSET + self.data.len() + 8);
        dst.u32(u32::try_from(self.data.len()).unwrap_or(u32::MAX));
        dst.u32(self.rtn_size);
        dst.conformant_varying_bytes(self.in_size, self.data)?;
        dst.u32(self.status.0);
        Ok(dst.into_stub())
    }

    /// Reads the stub of `method`'s answer to a request with `in_size`.
    ///
    /// # Errors
    /// When it is no such answer, or returns more than was asked for.
    pub fn from_stub(stub: &'a [u8], method: Method, in_size: u32) -> ndr::Result<Self> {
        let src = &mut Reader::new(stub, method.name());
        let out_size = src.range_u32("pdwOutSize", 0..=in_size)?;
        let rtn_size = src.u32("pdwRtnSize")?;
        let array = src.conformant_varying_bytes("lpData")?;
        if usize::try_from(out_size) != Ok(array.bytes.len()) {
            return Err(src.invalid("actual_count is not pdwOutSize"));
        }
        let status = Win32Error(src.u32("return value")?);
        Ok(Self { in_size: array.max_count, rtn_size, data: array.bytes, status })
    }
}

/// Opnum 7: the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ValidateCountersReply<'a> {
    /// The request's identifiers, with status and index filled in.
    pub data: &'a [u8],
    /// How it went.
    pub status: Win32Error,
}

impl<'a> ValidateCountersReply<'a> {
    /// Writes the stub.
    ///
    /// # Errors
    /// When there is more data than 32 bits can count.
    pub fn to_stub(&self) -> EncodeResult<Vec<u8>> {
        let mut dst = Writer::with_capacity(self.data.len() + 16);
        dst.conformant_bytes(self.data)?;
        dst.u32(self.status.0);
        Ok(dst.into_stub())
    }

    /// Reads the stub.
    ///
    /// # Errors
    /// When it is no such answer.
    pub fn from_stub(stub: &'a [u8]) -> ndr::Result<Self> {
        let src = &mut Reader::new(stub, Method::ValidateCounters.name());
        Ok(Self { data: src.conformant_bytes("lpData")?, status: Win32Error(src.u32("return value")?) })
    }
}
