use core::fmt;

use wire::{
    Decode, DecodeError, DecodeResult, Encode, EncodeError, EncodeResult, Guid, ReadCursor, WriteCursor,
    ensure_size,
};

use crate::pcq::types::{DetailLevel, InstanceType};
use crate::pcq::wire::CounterRegInfo;

/// [MS-PCQ] 2.2.4.1 `_PERF_COUNTERSET_REG_INFO`: what a counterset is.
#[doc(alias = "PERF_COUNTERSET_REG_INFO")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CounterSetRegInfo {
    pub counter_set_guid: Guid,
    pub detail_level: DetailLevel,
    /// How many counters it has.
    pub num_counters: u32,
    /// How many instances it has.
    pub instance_type: InstanceType,
}

impl CounterSetRegInfo {
    /// Bytes on the wire.
    pub const FIXED_PART_SIZE: usize = Guid::FIXED_PART_SIZE /* CounterSetGuid */
        + 4 /* CounterSetType */
        + 4 /* DetailLevel */
        + 4 /* NumCounters */
        + 4 /* InstanceType */;
    const NAME: &'static str = "PERF_COUNTERSET_REG_INFO";
}

impl Encode for CounterSetRegInfo {
    fn encode(&self, dst: &mut WriteCursor<'_>) -> EncodeResult<()> {
        self.counter_set_guid.encode(dst)?;
        dst.write_u32(0); // CounterSetType
        dst.write_u32(self.detail_level.0);
        dst.write_u32(self.num_counters);
        dst.write_u32(self.instance_type.0);
        Ok(())
    }

    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn size(&self) -> usize {
        Self::FIXED_PART_SIZE
    }
}

impl<'de> Decode<'de> for CounterSetRegInfo {
    fn decode(src: &mut ReadCursor<'de>) -> DecodeResult<Self> {
        ensure_size!(in: src, name: Self::NAME, size: Self::FIXED_PART_SIZE);
        let counter_set_guid = Guid::decode(src)?;
        let _counter_set_type = src.read_u32();
        Ok(Self {
            counter_set_guid,
            detail_level: DetailLevel(src.read_u32()),
            num_counters: src.read_u32(),
            instance_type: InstanceType(src.read_u32()),
        })
    }
}

impl fmt::Display for CounterSetRegInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { counter_set_guid, num_counters, instance_type, .. } = self;
        write!(f, "counterset {counter_set_guid}, {instance_type}, {num_counters} counters")
    }
}

/// [MS-PCQ] 3.1.4.1.2, request code 1: a counterset and its counters.
///
/// Ids may occur twice; they do on real hosts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CounterSetRegistration {
    /// The counterset. INVARIANT: `num_counters` is the length of `counters`.
    pub info: CounterSetRegInfo,
    /// Its counters, in the order of registration.
    pub counters: Vec<CounterRegInfo>,
}

impl CounterSetRegistration {
    /// Reads the reply's buffer, at most `counters_max` counters.
    ///
    /// # Errors
    /// When `NumCounters` is above the limit or does not fit in the buffer.
    pub fn decode(bytes: &[u8], counters_max: u32) -> DecodeResult<Self> {
        let src = &mut ReadCursor::new(bytes);
        let info = CounterSetRegInfo::decode(src)?;
        let num_counters_at = CounterSetRegInfo::FIXED_PART_SIZE - 8;
        if info.num_counters > counters_max {
            return Err(DecodeError::limit_exceeded(
                CounterSetRegInfo::NAME,
                "NumCounters",
                num_counters_at,
                info.num_counters.into(),
                counters_max.into(),
            ));
        }
        let count = usize::try_from(info.num_counters).unwrap_or(usize::MAX);
        let expected = count.saturating_mul(CounterRegInfo::FIXED_PART_SIZE);
        ensure_size!(in: src, name: CounterSetRegInfo::NAME, field: "NumCounters", size: expected);
        let counters = (0..count).map(|_| CounterRegInfo::decode(src)).collect::<Result<_, _>>()?;
        Ok(Self { info, counters })
    }
}

impl Encode for CounterSetRegistration {
    fn encode(&self, dst: &mut WriteCursor<'_>) -> EncodeResult<()> {
        if usize::try_from(self.info.num_counters) != Ok(self.counters.len()) {
            return Err(EncodeError::new(self.name(), "NumCounters", "is not the number of counters"));
        }
        self.info.encode(dst)?;
        self.counters.iter().try_for_each(|counter| counter.encode(dst))
    }

    fn name(&self) -> &'static str {
        CounterSetRegInfo::NAME
    }

    fn size(&self) -> usize {
        CounterSetRegInfo::FIXED_PART_SIZE + self.counters.len() * CounterRegInfo::FIXED_PART_SIZE
    }
}
