//! What lies inside of the methods' buffers: [MS-PCQ] 2.2.4, outside of NDR.
//!
//! Readers go from one structure to the next by the size fields, never by what a structure would usually take. A size
//! that is smaller than its structure or larger than what contains it is an error that names the field. Documents and
//! readers do not agree on which sizes count the padding to 8 bytes; [`Layout`] says how that is decided. Padding is
//! written as zeros and never looked at.

mod counter_data;
mod counter_identifier;
mod counter_reg_info;
mod counterset_reg_info;
mod instance_header;
mod query_data;
mod string_buffer;

use core::fmt;

use wire::{
    Decode, DecodeError, DecodeResult, Encode, EncodeError, EncodeResult, FileTime, ReadCursor, SystemTime,
    Win32Error, WriteCursor, ensure_size,
};

pub use self::counter_data::RawValue;
pub use self::counter_identifier::CounterIdentifier;
pub use self::counter_reg_info::CounterRegInfo;
pub use self::counterset_reg_info::{CounterSetRegInfo, CounterSetRegistration};
pub use self::instance_header::{Instance, InstanceInfo};
pub(crate) use self::query_data::Reading;
pub use self::query_data::{
    Block, Blocks, Body, Clocks, InstanceValues, Instances, Layout, QueryData, QueryDataWriter, Values,
};
pub use self::string_buffer::{CounterStrings, OffsetBase, StringBufferHeader, StringCounterHeader};
pub use wire::WideStr;

use super::types::CounterId;
use crate::pcq::types::BlockType;

/// What all structures are aligned to.
const ALIGNMENT: usize = 8;

/// `size` with the padding up to the next structure.
const fn padded(size: usize) -> usize {
    size.next_multiple_of(ALIGNMENT)
}

/// Checks a size field of a structure whose first byte has `available` bytes from itself on.
fn checked_size(
    (context, field): (&'static str, &'static str),
    offset: usize,
    value: u32,
    min: usize,
    available: usize,
) -> DecodeResult<usize> {
    let size = usize::try_from(value).unwrap_or(usize::MAX);
    if size < min {
        Err(DecodeError::invalid_field(context, field, offset, "is smaller than the structure"))
    } else if size > available {
        Err(DecodeError::not_enough_bytes(context, field, offset, available, size))
    } else {
        Ok(size)
    }
}

/// A size that goes into a field.
pub(crate) fn size_field(context: &'static str, field: &'static str, size: usize) -> EncodeResult<u32> {
    u32::try_from(size).map_err(|_| EncodeError::new(context, field, "more than 32 bits can count"))
}

/// Refuses one more element where a list already has as many as its reader accepts.
fn check_count(context: &'static str, offset: usize, count: usize, limit: u32) -> DecodeResult<()> {
    let (count, limit) = (u64::try_from(count).unwrap_or(u64::MAX), u64::from(limit));
    if count < limit {
        Ok(())
    } else {
        Err(DecodeError::limit_exceeded(context, "", offset, count.saturating_add(1), limit))
    }
}

/// What is after a structure that does not end at a multiple of 8.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Padding {
    /// Padding, which the structure's size counts.
    #[default]
    Counted,
    /// Padding, which its size does not count.
    Uncounted,
    None,
}

/// [MS-PCQ] 2.2.4.10 `_PERF_MULTI_INSTANCES`: how many instances follow.
#[doc(alias = "PERF_MULTI_INSTANCES")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MultiInstances {
    /// This header and all instances with their values. INVARIANT (of a decoded one): it is there.
    pub total_size_bytes: u32,
    /// How many there are.
    pub instances: u32,
}

impl MultiInstances {
    /// Bytes on the wire.
    pub const FIXED_PART_SIZE: usize = 4 /* dwTotalSize */ + 4 /* dwInstances */;
    pub(crate) const NAME: &'static str = "PERF_MULTI_INSTANCES";
}

impl Encode for MultiInstances {
    fn encode(&self, dst: &mut WriteCursor<'_>) -> EncodeResult<()> {
        dst.write_u32(self.total_size_bytes);
        dst.write_u32(self.instances);
        Ok(())
    }

    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn size(&self) -> usize {
        Self::FIXED_PART_SIZE
    }
}

impl<'de> Decode<'de> for MultiInstances {
    fn decode(src: &mut ReadCursor<'de>) -> DecodeResult<Self> {
        ensure_size!(in: src, name: Self::NAME, size: Self::FIXED_PART_SIZE);
        let (start, available) = (src.pos(), src.len());
        let total_size_bytes = src.read_u32();
        checked_size((Self::NAME, "dwTotalSize"), start, total_size_bytes, Self::FIXED_PART_SIZE, available)?;
        Ok(Self { total_size_bytes, instances: src.read_u32() })
    }
}

impl fmt::Display for MultiInstances {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} instances in {} bytes", self.instances, self.total_size_bytes)
    }
}

/// [MS-PCQ] 2.2.4.8 `_PERF_COUNTER_HEADER`: the beginning of a block.
#[doc(alias = "PERF_COUNTER_HEADER")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CounterHeader {
    /// How the query of this block went.
    pub status: Win32Error,
    pub block_type: BlockType,
    /// This header and what follows. INVARIANT (of a decoded one): it is there.
    pub size_bytes: u32,
}

impl CounterHeader {
    /// Bytes on the wire.
    pub const FIXED_PART_SIZE: usize = 4 /* dwStatus */ + 4 /* dwType */ + 4 /* dwSize */ + 4 /* Reserved */;
    pub(crate) const NAME: &'static str = "PERF_COUNTER_HEADER";
    pub(crate) const SIZE_OFFSET: usize = 4 /* dwStatus */ + 4 /* dwType */;

    /// Bytes of the whole block; per the invariant of a decoded header they are there.
    pub(crate) fn block_size(self) -> usize {
        usize::try_from(self.size_bytes).unwrap_or(usize::MAX)
    }
}

impl Encode for CounterHeader {
    fn encode(&self, dst: &mut WriteCursor<'_>) -> EncodeResult<()> {
        dst.write_u32(self.status.0);
        dst.write_u32(self.block_type.0);
        dst.write_u32(self.size_bytes);
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

impl<'de> Decode<'de> for CounterHeader {
    fn decode(src: &mut ReadCursor<'de>) -> DecodeResult<Self> {
        ensure_size!(in: src, name: Self::NAME, size: Self::FIXED_PART_SIZE);
        let available = src.len();
        let status = Win32Error(src.read_u32());
        let block_type = BlockType(src.read_u32());
        let (size_at, size_bytes) = (src.pos(), src.read_u32());
        checked_size((Self::NAME, "dwSize"), size_at, size_bytes, Self::FIXED_PART_SIZE, available)?;
        let _reserved = src.read_u32();
        Ok(Self { status, block_type, size_bytes })
    }
}

impl fmt::Display for CounterHeader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {} bytes, {}", self.block_type, self.size_bytes, self.status)
    }
}

/// [MS-PCQ] 2.2.4.7 `_PERF_DATA_HEADER`: the clocks at the moment of the query.
#[doc(alias = "PERF_DATA_HEADER")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct DataHeader {
    /// This header and all blocks.
    pub total_size_bytes: u32,
    /// How many blocks follow.
    pub num_counters: u32,
    /// Ticks of the performance clock.
    pub perf_time_stamp: u64,
    pub perf_time_100ns: FileTime,
    /// Ticks of the performance clock in a second.
    pub perf_freq: u64,
    /// The wall clock again, in UTC. 16 bytes: the document draws twice as many.
    pub system_time: SystemTime,
}

impl DataHeader {
    /// Bytes on the wire.
    pub const FIXED_PART_SIZE: usize = 4 /* dwTotalSize */
        + 4 /* dwNumCounter */
        + 8 /* PerfTimeStamp */
        + 8 /* PerfTime100NSec */
        + 8 /* PerfFreq */
        + SystemTime::FIXED_PART_SIZE /* SystemTime */;
    pub(crate) const NAME: &'static str = "PERF_DATA_HEADER";
}

impl Encode for DataHeader {
    fn encode(&self, dst: &mut WriteCursor<'_>) -> EncodeResult<()> {
        dst.write_u32(self.total_size_bytes);
        dst.write_u32(self.num_counters);
        dst.write_u64(self.perf_time_stamp);
        self.perf_time_100ns.encode(dst)?;
        dst.write_u64(self.perf_freq);
        self.system_time.encode(dst)
    }

    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn size(&self) -> usize {
        Self::FIXED_PART_SIZE
    }
}

impl<'de> Decode<'de> for DataHeader {
    fn decode(src: &mut ReadCursor<'de>) -> DecodeResult<Self> {
        ensure_size!(in: src, name: Self::NAME, size: Self::FIXED_PART_SIZE);
        Ok(Self {
            total_size_bytes: src.read_u32(),
            num_counters: src.read_u32(),
            perf_time_stamp: src.read_u64(),
            perf_time_100ns: FileTime::decode(src)?,
            perf_freq: src.read_u64(),
            system_time: SystemTime::decode(src)?,
        })
    }
}

impl fmt::Display for DataHeader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { total_size_bytes, num_counters, perf_time_stamp, perf_freq, .. } = self;
        write!(f, "{num_counters} blocks in {total_size_bytes} bytes at {perf_time_stamp}/{perf_freq} s")
    }
}

/// [MS-PCQ] 2.2.4.11 `_PERF_MULTI_COUNTERS` and the ids that follow it: which counters the values are of, in
/// their order.
///
/// The document and perflib.h leave open whether an odd number of ids is padded to 8 and whether `dwSize` counts the
/// padding. What follows begins where `dwSize` says, or after padding that it does not count:
/// [`Layout`] decides. What is written here counts the padding.
#[doc(alias = "PERF_MULTI_COUNTERS")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct MultiCounters<'a> {
    // INVARIANT: a whole number of ids.
    ids: &'a [u8],
}

impl<'a> MultiCounters<'a> {
    /// Bytes on the wire before the ids.
    pub const FIXED_PART_SIZE: usize = 4 /* dwSize */ + 4 /* dwCounters */;
    pub(crate) const NAME: &'static str = "PERF_MULTI_COUNTERS";
    const ID_SIZE: usize = 4;

    /// How many counters there are.
    #[must_use]
    pub const fn len(self) -> usize {
        self.ids.len() / Self::ID_SIZE
    }

    /// Whether there are none.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.ids.is_empty()
    }

    /// The ids, in the order of the values.
    pub fn ids(self) -> impl ExactSizeIterator<Item = CounterId> + Clone + 'a {
        let id = |bytes: &[u8]| CounterId(u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]));
        self.ids.chunks_exact(Self::ID_SIZE).map(id)
    }

    /// Writes the structure for `ids` with as much of the padding as `padding` says, and of which bytes.
    pub(crate) fn encode_ids(
        ids: &[CounterId],
        (padding, padding_byte): (Padding, u8),
        dst: &mut WriteCursor<'_>,
    ) -> EncodeResult<()> {
        let exact = Self::FIXED_PART_SIZE + ids.len() * Self::ID_SIZE;
        let size = if padding == Padding::Counted { padded(exact) } else { exact };
        dst.write_u32(size_field(Self::NAME, "dwSize", size)?);
        dst.write_u32(size_field(Self::NAME, "dwCounters", ids.len())?);
        ids.iter().for_each(|id| dst.write_u32(id.0));
        if padding != Padding::None {
            (exact..padded(exact)).for_each(|_| dst.write_u8(padding_byte));
        }
        Ok(())
    }
}

impl Encode for MultiCounters<'_> {
    fn encode(&self, dst: &mut WriteCursor<'_>) -> EncodeResult<()> {
        dst.write_u32(size_field(Self::NAME, "dwSize", self.size())?);
        dst.write_u32(size_field(Self::NAME, "dwCounters", self.len())?);
        dst.write_slice(self.ids);
        dst.write_zeros(self.size() - Self::FIXED_PART_SIZE - self.ids.len());
        Ok(())
    }

    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn size(&self) -> usize {
        padded(Self::FIXED_PART_SIZE + self.ids.len())
    }
}

impl<'de> Decode<'de> for MultiCounters<'de> {
    fn decode(src: &mut ReadCursor<'de>) -> DecodeResult<Self> {
        ensure_size!(in: src, name: Self::NAME, size: Self::FIXED_PART_SIZE);
        let (start, available) = (src.pos(), src.len());
        let size = usize::try_from(src.read_u32()).unwrap_or(usize::MAX);
        let count = usize::try_from(src.read_u32()).unwrap_or(usize::MAX);
        if size < Self::FIXED_PART_SIZE {
            let reason = "is smaller than the structure";
            return Err(DecodeError::invalid_field(Self::NAME, "dwSize", start, reason));
        }
        if size > available {
            return Err(DecodeError::not_enough_bytes(Self::NAME, "dwSize", start, available, size));
        }
        let ids_size = count.saturating_mul(Self::ID_SIZE);
        let room = size - Self::FIXED_PART_SIZE;
        if ids_size > room {
            return Err(DecodeError::not_enough_bytes(Self::NAME, "dwCounters", start + 4, room, ids_size));
        }
        let ids = &src.read_slice(room)[..ids_size];
        Ok(Self { ids })
    }
}

impl fmt::Display for MultiCounters<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} counters", self.len())
    }
}
