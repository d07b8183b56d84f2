use wire::{Encode, EncodeError, EncodeResult, FileTime, SystemTime, Win32Error, WriteCursor};

use crate::pcq::types::{BlockType, CounterId};
use crate::pcq::wire::{
    CounterHeader, DataHeader, InstanceInfo, MultiCounters, MultiInstances, Padding, RawValue, padded,
    size_field,
};

/// The clocks of a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Clocks {
    /// Ticks of the performance clock.
    pub perf_time_stamp: u64,
    /// Ticks of the performance clock in a second.
    pub perf_freq: u64,
    pub perf_time_100ns: FileTime,
}

/// Builds the buffer of `PerflibV2QueryCounterData`: blocks in the order of their index, then
/// [`QueryDataWriter::finish`].
#[derive(Debug)]
pub struct QueryDataWriter {
    clocks: Clocks,
    id_lists: Padding,
    block_padding: Padding,
    padding_byte: u8,
    // INVARIANT: a data header with sizes of zero, then whole blocks.
    bytes: Vec<u8>,
    blocks: u32,
}

impl QueryDataWriter {
    /// A reply without blocks.
    #[must_use]
    pub fn new(clocks: Clocks) -> Self {
        let bytes = vec![0; DataHeader::FIXED_PART_SIZE];
        let padding = Padding::Counted;
        Self { clocks, id_lists: padding, block_padding: padding, padding_byte: 0, bytes, blocks: 0 }
    }

    /// The same with other padding after the ids of an odd number of counters, and after blocks.
    #[must_use]
    pub fn with_padding(self, id_lists: Padding, blocks: Padding) -> Self {
        Self { id_lists, block_padding: blocks, ..self }
    }

    /// The same with this byte for that padding: documents call it uninitialized as well as zero.
    #[must_use]
    pub fn with_padding_byte(self, padding_byte: u8) -> Self {
        Self { padding_byte, ..self }
    }

    /// A block without values.
    ///
    /// # Errors
    /// When the reply is longer than 32 bits can count; so with all methods here.
    pub fn error_return(&mut self, status: Win32Error) -> EncodeResult<()> {
        self.block(status, BlockType::PERF_ERROR_RETURN, |_| Ok(()))
    }

    /// One counter of one instance.
    ///
    /// # Errors
    /// As [`QueryDataWriter::error_return`].
    pub fn single_counter(&mut self, value: RawValue<'_>) -> EncodeResult<()> {
        self.block(Win32Error::ERROR_SUCCESS, BlockType::PERF_SINGLE_COUNTER, |dst| value.encode(dst))
    }

    /// Several counters of one instance.
    ///
    /// # Errors
    /// When there is not one value for each counter.
    pub fn multi_counters(&mut self, counters: &[CounterId], values: &[RawValue<'_>]) -> EncodeResult<()> {
        let id_lists = (self.id_lists, self.padding_byte);
        self.block(Win32Error::ERROR_SUCCESS, BlockType::PERF_MULTI_COUNTERS, |dst| {
            MultiCounters::encode_ids(counters, id_lists, dst)?;
            encode_values(counters.len(), values, dst)
        })
    }

    /// One counter of several instances.
    ///
    /// # Errors
    /// As [`QueryDataWriter::error_return`].
    pub fn multi_instances<'v>(
        &mut self,
        instances: impl IntoIterator<Item = (&'v InstanceInfo, RawValue<'v>)>,
    ) -> EncodeResult<()> {
        self.block(Win32Error::ERROR_SUCCESS, BlockType::PERF_MULTI_INSTANCES, |dst| {
            let instances = instances.into_iter().map(|(instance, value)| (instance, [value]));
            encode_instances(1, instances, dst)
        })
    }

    /// Several counters of several instances.
    ///
    /// # Errors
    /// When an instance has not one value for each counter.
    pub fn counter_set<'v, V: AsRef<[RawValue<'v>]>>(
        &mut self,
        counters: &[CounterId],
        instances: impl IntoIterator<Item = (&'v InstanceInfo, V)>,
    ) -> EncodeResult<()> {
        let id_lists = (self.id_lists, self.padding_byte);
        self.block(Win32Error::ERROR_SUCCESS, BlockType::PERF_COUNTERSET, |dst| {
            MultiCounters::encode_ids(counters, id_lists, dst)?;
            encode_instances(counters.len(), instances, dst)
        })
    }

    /// The whole buffer.
    ///
    /// # Errors
    /// When it is longer than 32 bits can count.
    pub fn finish(self) -> EncodeResult<Vec<u8>> {
        let Self { clocks, mut bytes, blocks, .. } = self;
        let header = DataHeader {
            total_size_bytes: size_field(DataHeader::NAME, "dwTotalSize", bytes.len())?,
            num_counters: blocks,
            perf_time_stamp: clocks.perf_time_stamp,
            perf_time_100ns: clocks.perf_time_100ns,
            perf_freq: clocks.perf_freq,
            system_time: SystemTime::from(clocks.perf_time_100ns),
        };
        bytes[..DataHeader::FIXED_PART_SIZE].copy_from_slice(&wire::encode_vec(&header)?);
        Ok(bytes)
    }

    /// Appends a block; an error leaves the data as it was.
    fn block(
        &mut self,
        status: Win32Error,
        block_type: BlockType,
        body: impl FnOnce(&mut WriteCursor<'_>) -> EncodeResult<()>,
    ) -> EncodeResult<()> {
        let start = self.bytes.len();
        let header = CounterHeader { status, block_type, size_bytes: 0 };
        let result = encode_block(&mut self.bytes, header, (self.block_padding, self.padding_byte), body);
        match &result {
            Ok(()) => self.blocks += 1,
            Err(_) => self.bytes.truncate(start),
        }
        result
    }
}

fn encode_block(
    bytes: &mut Vec<u8>,
    header: CounterHeader,
    (padding, padding_byte): (Padding, u8),
    body: impl FnOnce(&mut WriteCursor<'_>) -> EncodeResult<()>,
) -> EncodeResult<()> {
    let dst = &mut WriteCursor::new(bytes);
    header.encode(dst)?;
    body(dst)?;
    let exact = dst.pos();
    if padding != Padding::None {
        (exact..padded(exact)).for_each(|_| dst.write_u8(padding_byte));
    }
    let size = if padding == Padding::Counted { dst.pos() } else { exact };
    dst.patch_u32(CounterHeader::SIZE_OFFSET, size_field(CounterHeader::NAME, "dwSize", size)?);
    Ok(())
}

fn encode_instances<'v, V: AsRef<[RawValue<'v>]>>(
    values_each: usize,
    instances: impl IntoIterator<Item = (&'v InstanceInfo, V)>,
    dst: &mut WriteCursor<'_>,
) -> EncodeResult<()> {
    let start = dst.pos();
    MultiInstances { total_size_bytes: 0, instances: 0 }.encode(dst)?;
    let mut count = 0_usize;
    for (instance, values) in instances {
        instance.encode(dst)?;
        encode_values(values_each, values.as_ref(), dst)?;
        count += 1;
    }
    let total_size = size_field(MultiInstances::NAME, "dwTotalSize", dst.pos() - start)?;
    dst.patch_u32(start, total_size);
    dst.patch_u32(start + 4 /* dwTotalSize */, size_field(MultiInstances::NAME, "dwInstances", count)?);
    Ok(())
}

fn encode_values(count: usize, values: &[RawValue<'_>], dst: &mut WriteCursor<'_>) -> EncodeResult<()> {
    if values.len() == count {
        values.iter().try_for_each(|value| value.encode(dst))
    } else {
        Err(EncodeError::new(MultiCounters::NAME, "dwCounters", "is not the number of values"))
    }
}
