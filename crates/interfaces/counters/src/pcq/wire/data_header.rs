use core::fmt;

use wire::{
    Decode, DecodeResult, Encode, EncodeResult, FileTime, ReadCursor, SystemTime, WriteCursor, ensure_size,
};

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
    /// The wall clock.
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
