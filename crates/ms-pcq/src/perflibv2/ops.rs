//! The parameters of all methods, as NDR. Padding of the stub and what follows it (such as a verification
//! trailer) is not looked at.

use core::ops::RangeInclusive;

use codec::EncodeResult;
use ms_dtyp::{Guid, Win32Error};
use ndr::{ConformantVarying, ContextHandle, Reader, Writer};

use crate::Method;
use crate::perflibv2::Change;
use crate::types::{QueryHandle, RequestCode};

/// The `[in]` parameters of a method.
pub trait Request: Sized {
    /// The method.
    const METHOD: Method;

    /// Writes the parameters.
    ///
    /// # Errors
    /// When the wire has no room for a value.
    fn encode(&self, dst: &mut Writer) -> EncodeResult<()>;

    /// Reads the parameters.
    ///
    /// # Errors
    /// When the stub is not of this method, or a parameter is out of its range.
    fn decode(src: &mut Reader<'_>) -> ndr::Result<Self>;

    /// Writes the whole stub.
    ///
    /// # Errors
    /// Those of [`Request::encode`].
    fn to_stub(&self) -> EncodeResult<Vec<u8>> {
        let mut dst = Writer::with_capacity(64);
        self.encode(&mut dst)?;
        Ok(dst.into_stub())
    }

    /// Reads the whole stub.
    ///
    /// # Errors
    /// Those of [`Request::decode`].
    fn from_stub(stub: &[u8]) -> ndr::Result<Self> {
        Self::decode(&mut Reader::new(stub, Self::METHOD.name()))
    }
}

/// The `[in]` parameters of a method that fills a buffer of the client's size.
pub trait SizedRequest: Request {
    /// The IDL's range of `dwInSize`.
    const IN_SIZE: RangeInclusive<u32>;

    /// Sets `dwInSize`.
    fn set_in_size(&mut self, in_size: u32);
}

/// Opnum 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EnumerateCounterSetRequest {
    /// The server's name, for providers that want it.
    pub machine: String,
    /// Room for the answer, in GUIDs.
    pub in_size: u32,
}

impl EnumerateCounterSetRequest {
    /// The IDL's range of `dwInSize`: no client can ask for more countersets.
    pub const IN_SIZE: RangeInclusive<u32> = 0..=256;
}

impl Request for EnumerateCounterSetRequest {
    const METHOD: Method = Method::EnumerateCounterSet;

    fn encode(&self, dst: &mut Writer) -> EncodeResult<()> {
        dst.wide_string(&self.machine)?;
        dst.u32(self.in_size);
        Ok(())
    }

    fn decode(src: &mut Reader<'_>) -> ndr::Result<Self> {
        Ok(Self {
            machine: src.wide_string("szMachine")?,
            in_size: src.range_u32("dwInSize", Self::IN_SIZE)?,
        })
    }
}

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

/// Opnum 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueryCounterSetRegistrationInfoRequest {
    /// The server's name, for providers that want it.
    pub machine: String,
    /// The counterset.
    pub counter_set_guid: Guid,
    /// What to tell.
    pub request_code: RequestCode,
    /// A language, a counter id, or 0, as the code says.
    pub request_lcid: u32,
    /// Room for the answer, in bytes.
    pub in_size: u32,
}

impl Request for QueryCounterSetRegistrationInfoRequest {
    const METHOD: Method = Method::QueryCounterSetRegistrationInfo;

    fn encode(&self, dst: &mut Writer) -> EncodeResult<()> {
        dst.wide_string(&self.machine)?;
        dst.write(&self.counter_set_guid)?;
        dst.u32(self.request_code.0);
        dst.u32(self.request_lcid);
        dst.u32(self.in_size);
        Ok(())
    }

    fn decode(src: &mut Reader<'_>) -> ndr::Result<Self> {
        Ok(Self {
            machine: src.wide_string("szMachine")?,
            counter_set_guid: src.read("CounterSetGuid")?,
            request_code: RequestCode(src.u32("RequestCode")?),
            request_lcid: src.u32("RequestLCID")?,
            in_size: src.range_u32("dwInSize", Self::IN_SIZE)?,
        })
    }
}

impl SizedRequest for QueryCounterSetRegistrationInfoRequest {
    const IN_SIZE: RangeInclusive<u32> = 0..=134_217_728;

    fn set_in_size(&mut self, in_size: u32) {
        self.in_size = in_size;
    }
}

/// Opnum 2.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EnumerateCounterSetInstancesRequest {
    /// The server's name, for providers that want it.
    pub machine: String,
    /// The counterset.
    pub counter_set_guid: Guid,
    /// Room for the answer, in bytes.
    pub in_size: u32,
}

impl Request for EnumerateCounterSetInstancesRequest {
    const METHOD: Method = Method::EnumerateCounterSetInstances;

    fn encode(&self, dst: &mut Writer) -> EncodeResult<()> {
        dst.wide_string(&self.machine)?;
        dst.write(&self.counter_set_guid)?;
        dst.u32(self.in_size);
        Ok(())
    }

    fn decode(src: &mut Reader<'_>) -> ndr::Result<Self> {
        Ok(Self {
            machine: src.wide_string("szMachine")?,
            counter_set_guid: src.read("CounterSetGuid")?,
            in_size: src.range_u32("dwInSize", Self::IN_SIZE)?,
        })
    }
}

impl SizedRequest for EnumerateCounterSetInstancesRequest {
    const IN_SIZE: RangeInclusive<u32> = 0..=67_108_864;

    fn set_in_size(&mut self, in_size: u32) {
        self.in_size = in_size;
    }
}

/// Opnum 3.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenQueryHandleRequest {
    /// The server's name, for providers that want it.
    pub machine: String,
}

impl Request for OpenQueryHandleRequest {
    const METHOD: Method = Method::OpenQueryHandle;

    fn encode(&self, dst: &mut Writer) -> EncodeResult<()> {
        dst.wide_string(&self.machine)
    }

    fn decode(src: &mut Reader<'_>) -> ndr::Result<Self> {
        Ok(Self { machine: src.wide_string("szMachine")? })
    }
}

/// Opnum 4.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CloseQueryHandleRequest {
    /// The query.
    pub handle: QueryHandle,
}

impl Request for CloseQueryHandleRequest {
    const METHOD: Method = Method::CloseQueryHandle;

    fn encode(&self, dst: &mut Writer) -> EncodeResult<()> {
        dst.write(&self.handle)
    }

    fn decode(src: &mut Reader<'_>) -> ndr::Result<Self> {
        Ok(Self { handle: src.read("phQuery")? })
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

/// Opnum 5.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueryCounterInfoRequest {
    /// The query.
    pub handle: QueryHandle,
    /// Room for the answer, in bytes.
    pub in_size: u32,
}

impl Request for QueryCounterInfoRequest {
    const METHOD: Method = Method::QueryCounterInfo;

    fn encode(&self, dst: &mut Writer) -> EncodeResult<()> {
        dst.write(&self.handle)?;
        dst.u32(self.in_size);
        Ok(())
    }

    fn decode(src: &mut Reader<'_>) -> ndr::Result<Self> {
        Ok(Self { handle: src.read("hQuery")?, in_size: src.range_u32("dwInSize", Self::IN_SIZE)? })
    }
}

impl SizedRequest for QueryCounterInfoRequest {
    const IN_SIZE: RangeInclusive<u32> = 0..=67_108_864;

    fn set_in_size(&mut self, in_size: u32) {
        self.in_size = in_size;
    }
}

/// Opnum 6.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueryCounterDataRequest {
    /// The query.
    pub handle: QueryHandle,
    /// Room for the answer, in bytes.
    pub in_size: u32,
}

impl Request for QueryCounterDataRequest {
    const METHOD: Method = Method::QueryCounterData;

    fn encode(&self, dst: &mut Writer) -> EncodeResult<()> {
        dst.write(&self.handle)?;
        dst.u32(self.in_size);
        Ok(())
    }

    fn decode(src: &mut Reader<'_>) -> ndr::Result<Self> {
        Ok(Self { handle: src.read("hQuery")?, in_size: src.range_u32("dwInSize", Self::IN_SIZE)? })
    }
}

impl SizedRequest for QueryCounterDataRequest {
    const IN_SIZE: RangeInclusive<u32> = 0..=1_073_741_824;

    fn set_in_size(&mut self, in_size: u32) {
        self.in_size = in_size;
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

/// Opnum 7.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValidateCountersRequest {
    /// The query.
    pub handle: QueryHandle,
    /// `PERF_COUNTER_IDENTIFIER`s, one behind the other.
    pub data: Vec<u8>,
    /// What to do with them.
    pub change: Change,
}

impl ValidateCountersRequest {
    /// The IDL's range of `dwInSize`.
    pub const IN_SIZE: RangeInclusive<u32> = 0..=67_108_864;
}

impl Request for ValidateCountersRequest {
    const METHOD: Method = Method::ValidateCounters;

    fn encode(&self, dst: &mut Writer) -> EncodeResult<()> {
        dst.write(&self.handle)?;
        dst.u32(crate::wire::size_field(Self::METHOD.name(), "dwInSize", self.data.len())?);
        dst.conformant_bytes(&self.data)?;
        dst.u32(u32::from(self.change == Change::Add));
        Ok(())
    }

    fn decode(src: &mut Reader<'_>) -> ndr::Result<Self> {
        let handle = src.read("hQuery")?;
        let in_size = src.range_u32("dwInSize", Self::IN_SIZE)?;
        let data = src.conformant_bytes("lpData")?;
        if usize::try_from(in_size) != Ok(data.len()) {
            return Err(src.invalid("max_count is not dwInSize"));
        }
        let change = if src.u32("dwAdd")? == 0 { Change::Remove } else { Change::Add };
        Ok(Self { handle, data: data.to_vec(), change })
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
