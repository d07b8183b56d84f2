//! PERF_DATA_BLOCK: which of its lengths are believed.

use core::fmt;

use wire::{Decode, DecodeError, DecodeResult, FileTime, ReadCursor, SystemTime, WideStr, ensure_size};

use super::ObjectType;

/// `PERF_DATA_BLOCK` of winperf.h: objects of a host, all of one moment.
#[doc(alias = "PERF_DATA_BLOCK")]
#[derive(Clone, Copy, Debug)]
pub struct DataBlock<'a> {
    pub header: DataHeader,
    /// The name of the host, as it calls itself.
    pub system_name: WideStr<'a>,
    bytes: &'a [u8],
}

/// The fixed part of a [`DataBlock`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct DataHeader {
    /// `TotalByteLength`: the size of the block according to the host. Samba omits the header, so it is not used to
    /// cut the data.
    pub total_size_bytes: u32,
    /// `HeaderLength`: where the first object begins.
    pub header_size_bytes: u32,
    /// `NumObjectTypes`: how many objects follow.
    pub num_objects: u32,
    /// `SystemTime`: the wall clock, in UTC.
    pub system_time: SystemTime,
    /// `PerfTime`: ticks of the performance clock.
    pub perf_time: u64,
    /// `PerfFreq`: ticks of the performance clock in a second.
    pub perf_freq: u64,
    /// `PerfTime100nSec`: the wall clock again.
    pub perf_time_100ns: FileTime,
    system_name_size_bytes: u32,
    system_name_offset: u32,
}

impl DataHeader {
    /// Bytes of its fixed part.
    pub const FIXED_PART_SIZE: usize = 8 /* Signature */
        + 4 /* LittleEndian */
        + 4 /* Version */
        + 4 /* Revision */
        + 4 /* TotalByteLength */
        + 4 /* HeaderLength */
        + 4 /* NumObjectTypes */
        + 4 /* DefaultObject */
        + SystemTime::FIXED_PART_SIZE /* SystemTime */
        + 4 /* padding */
        + 8 /* PerfTime */
        + 8 /* PerfFreq */
        + 8 /* PerfTime100nSec */
        + 4 /* SystemNameLength */
        + 4 /* SystemNameOffset */;
    pub(crate) const NAME: &'static str = "PERF_DATA_BLOCK";
    pub(crate) const SIGNATURE: [u8; 8] = *b"P\0E\0R\0F\0";
}

impl<'de> Decode<'de> for DataHeader {
    fn decode(src: &mut ReadCursor<'de>) -> DecodeResult<Self> {
        ensure_size!(in: src, name: Self::NAME, size: Self::FIXED_PART_SIZE);
        let invalid = |field, offset, reason| DecodeError::invalid_field(Self::NAME, field, offset, reason);
        let offset = src.pos();
        if src.read_array() != Self::SIGNATURE {
            return Err(invalid("Signature", offset, "is not PERF"));
        }
        let offset = src.pos();
        if src.read_u32() == 0 {
            return Err(invalid("LittleEndian", offset, "integers are big-endian"));
        }
        src.read_u32(/* Version */);
        src.read_u32(/* Revision */);
        let (total_size_bytes, header_size_bytes, num_objects) =
            (src.read_u32(), src.read_u32(), src.read_u32());
        src.read_i32(/* DefaultObject */);
        let system_time = SystemTime::decode(src)?;
        src.read_u32(/* padding */);
        Ok(Self {
            total_size_bytes,
            header_size_bytes,
            num_objects,
            system_time,
            perf_time: src.read_u64(),
            perf_freq: src.read_u64(),
            perf_time_100ns: FileTime::decode(src)?,
            system_name_size_bytes: src.read_u32(),
            system_name_offset: src.read_u32(),
        })
    }
}

impl<'a> DataBlock<'a> {
    /// Reads the header. Objects are read by [`DataBlock::objects`].
    ///
    /// # Errors If it is not a block, or its header does not fit.
    pub fn decode(bytes: &'a [u8]) -> DecodeResult<Self> {
        let mut src = ReadCursor::new(bytes);
        let header = DataHeader::decode(&mut src)?;
        let header_size = header.header_size_bytes as usize;
        if header_size < DataHeader::FIXED_PART_SIZE || header_size > bytes.len() {
            let reason = "is not between the fixed part of the header and the end of the data";
            return Err(DecodeError::invalid_field(DataHeader::NAME, "HeaderLength", 24, reason));
        }
        // The values are used even if the name is missing.
        let name = header.system_name_offset as usize;
        let name = bytes.get(name..name.saturating_add(header.system_name_size_bytes as usize));
        let system_name = WideStr::until_nul_or_end(name.unwrap_or_default());
        Ok(Self { header, system_name, bytes })
    }

    /// The objects, in their order.
    #[must_use]
    pub fn objects(&self) -> Objects<'a> {
        let start = self.header.header_size_bytes as usize;
        Objects { bytes: self.bytes, offset: start, left: self.header.num_objects }
    }
}

/// The objects of a [`DataBlock`].
#[derive(Clone, Debug)]
pub struct Objects<'a> {
    bytes: &'a [u8],
    // INVARIANT: offset <= bytes.len().
    offset: usize,
    left: u32,
}

/// An object that cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadObject {
    /// The index of its name, if it could be read.
    pub name_index: Option<u32>,
    /// What is wrong with it.
    pub error: DecodeError,
}

impl fmt::Display for BadObject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name_index {
            Some(index) => write!(f, "object {index}: {}", self.error),
            None => self.error.fmt(f),
        }
    }
}

impl std::error::Error for BadObject {}

impl<'a> Iterator for Objects<'a> {
    type Item = Result<ObjectType<'a>, BadObject>;

    fn next(&mut self) -> Option<Self::Item> {
        self.left = self.left.checked_sub(1)?;
        let rest = &self.bytes[self.offset..];
        let start = self.offset;
        match ObjectType::size_of(rest, start) {
            Ok(size) => self.offset += size,
            // It is unknown where the next one begins.
            Err(_) => (self.left, self.offset) = (0, self.bytes.len()),
        }
        Some(
            ObjectType::decode(&self.bytes[..self.offset], start)
                .map_err(|error| BadObject { name_index: ObjectType::name_index_of(rest), error }),
        )
    }
}
