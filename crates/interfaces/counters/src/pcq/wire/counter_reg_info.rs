use core::fmt;

use wire::{Decode, DecodeResult, Encode, EncodeResult, ReadCursor, WriteCursor, ensure_size};

use crate::pcq::types::{AggregateFunc, Attrib, CounterId, CounterType, DetailLevel};

/// [MS-PCQ] 2.2.4.2 `_PERF_COUNTER_REG_INFO`: what a counter is, and which others its value needs.
#[doc(alias = "PERF_COUNTER_REG_INFO")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CounterRegInfo {
    pub counter_id: CounterId,
    /// How to compute with its values.
    pub counter_type: CounterType,
    /// How to show it.
    pub attrib: Attrib,
    pub detail_level: DetailLevel,
    /// A value is shown times ten to this power.
    pub default_scale: i32,
    /// The counter to divide by, or [`CounterId::NONE`].
    pub base_counter_id: CounterId,
    /// The counter that is the clock, or [`CounterId::NONE`].
    pub perf_time_id: CounterId,
    /// The counter that is the clock's frequency, or [`CounterId::NONE`].
    pub perf_freq_id: CounterId,
    /// The counter that says how many things a multi timer covers, or [`CounterId::NONE`].
    pub multi_id: CounterId,
    /// What to make of the instances of an aggregate counterset.
    pub aggregate_func: AggregateFunc,
}

impl CounterRegInfo {
    /// Bytes on the wire.
    pub const FIXED_PART_SIZE: usize = 4 /* CounterId */
        + 4 /* Type */
        + 8 /* Attrib */
        + 4 /* DetailLevel */
        + 4 /* DefaultScale */
        + 4 /* BaseCounterId */
        + 4 /* PerfTimeId */
        + 4 /* PerfFreqId */
        + 4 /* MultiId */
        + 4 /* AggregateFunc */
        + 4 /* Reserved */;
    const NAME: &'static str = "PERF_COUNTER_REG_INFO";

    /// A counter that needs no other one.
    #[must_use]
    pub const fn new(counter_id: CounterId, counter_type: CounterType) -> Self {
        Self {
            counter_id,
            counter_type,
            attrib: Attrib(0),
            detail_level: DetailLevel::NOVICE,
            default_scale: 0,
            base_counter_id: CounterId::NONE,
            perf_time_id: CounterId::NONE,
            perf_freq_id: CounterId::NONE,
            multi_id: CounterId::NONE,
            aggregate_func: AggregateFunc::UNDEFINED,
        }
    }
}

impl Encode for CounterRegInfo {
    fn encode(&self, dst: &mut WriteCursor<'_>) -> EncodeResult<()> {
        dst.write_u32(self.counter_id.0);
        dst.write_u32(self.counter_type.0);
        dst.write_u64(self.attrib.0);
        dst.write_u32(self.detail_level.0);
        dst.write_i32(self.default_scale);
        dst.write_u32(self.base_counter_id.0);
        dst.write_u32(self.perf_time_id.0);
        dst.write_u32(self.perf_freq_id.0);
        dst.write_u32(self.multi_id.0);
        dst.write_u32(self.aggregate_func.0);
        dst.write_u32(0); // Reserved
        Ok(())
    }

    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn size(&self) -> usize {
        Self::FIXED_PART_SIZE
    }
}

impl<'de> Decode<'de> for CounterRegInfo {
    fn decode(src: &mut ReadCursor<'de>) -> DecodeResult<Self> {
        ensure_size!(in: src, name: Self::NAME, size: Self::FIXED_PART_SIZE);
        let info = Self {
            counter_id: CounterId(src.read_u32()),
            counter_type: CounterType(src.read_u32()),
            attrib: Attrib(src.read_u64()),
            detail_level: DetailLevel(src.read_u32()),
            default_scale: src.read_i32(),
            base_counter_id: CounterId(src.read_u32()),
            perf_time_id: CounterId(src.read_u32()),
            perf_freq_id: CounterId(src.read_u32()),
            multi_id: CounterId(src.read_u32()),
            aggregate_func: AggregateFunc(src.read_u32()),
        };
        let _reserved = src.read_u32();
        Ok(info)
    }
}

impl fmt::Display for CounterRegInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "counter {} {}", self.counter_id.0, self.counter_type)
    }
}
