use core::ops::RangeInclusive;

use codec::EncodeResult;
use ms_dtyp::Guid;
use ndr::{Reader, Writer};

use crate::Method;
use crate::perflibv2::Change;
use crate::perflibv2::ops::{Request, SizedRequest};
use crate::types::{QueryHandle, RequestCode};
use crate::wire::size_field;

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
        dst.u32(size_field(Self::METHOD.name(), "dwInSize", self.data.len())?);
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
