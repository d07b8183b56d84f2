//! PERF_OBJECT_TYPE.

use crate::pcq::types::DetailLevel;
use wire::{DecodeError, DecodeResult, ReadCursor};

use crate::perflib_v1::counter::Counters;
use crate::perflib_v1::instance::{Instances, Many};

/// `PERF_OBJECT_TYPE` of winperf.h: an object with its counters, instances and values.
///
/// INVARIANT: all structures in it were checked once, so reading them cannot fail.
#[doc(alias = "PERF_OBJECT_TYPE")]
#[derive(Clone, Copy, Debug)]
pub struct ObjectType<'a> {
    /// `ObjectNameTitleIndex`: its name in the table of names.
    pub name_index: u32,
    /// `ObjectHelpTitleIndex`: its explanation in the table of explanations.
    pub help_index: u32,
    /// `DetailLevel`: the audience, from novice to expert.
    pub detail_level: DetailLevel,
    /// `DefaultCounter`: the place of the counter that displays show first, or -1.
    pub default_counter: i32,
    /// `PerfTime`: its own clock; zero if it has none.
    pub perf_time: u64,
    /// `PerfFreq`: ticks of that clock in a second.
    pub perf_freq: u64,
    /// `CodePage`: zero if names of instances are UTF-16.
    pub code_page: u32,
    counters: Counters<'a>,
    instances: Instances<'a>,
}

/// Maximum counters of an object: those of Windows have some hundred at most.
const COUNTERS_MAX: u32 = 4_096;
/// `NumInstances` of an object that has none, and never has.
pub(crate) const NO_INSTANCES: i32 = -1;
/// `NumInstances` of an object without data, because only its definition was requested.
pub(crate) const METADATA_MULTIPLE_INSTANCES: i32 = -2;
/// The same of an object that never has instances.
pub(crate) const METADATA_NO_INSTANCES: i32 = -3;

impl<'a> ObjectType<'a> {
    /// Bytes of its fixed part.
    pub const FIXED_PART_SIZE: usize = 4 /* TotalByteLength */
        + 4 /* DefinitionLength */
        + 4 /* HeaderLength */
        + 4 /* ObjectNameTitleIndex */
        + 4 /* ObjectNameTitle */
        + 4 /* ObjectHelpTitleIndex */
        + 4 /* ObjectHelpTitle */
        + 4 /* DetailLevel */
        + 4 /* NumCounters */
        + 4 /* DefaultCounter */
        + 4 /* NumInstances */
        + 4 /* CodePage */
        + 8 /* PerfTime */
        + 8 /* PerfFreq */;
    const NAME: &'static str = "PERF_OBJECT_TYPE";

    /// Its counters, in the order of their definitions.
    #[must_use]
    pub fn counters(&self) -> Counters<'a> {
        self.counters
    }

    /// Its instances with their values.
    #[must_use]
    pub fn instances(&self) -> Instances<'a> {
        self.instances
    }

    /// The size in bytes of the object at the beginning of `rest`, which is at `offset` of the data.
    pub(crate) fn size_of(rest: &[u8], offset: usize) -> DecodeResult<usize> {
        let needed = Self::FIXED_PART_SIZE;
        if rest.len() < needed {
            return Err(DecodeError::not_enough_bytes(Self::NAME, "", offset, rest.len(), needed));
        }
        let size = u32::from_le_bytes([rest[0], rest[1], rest[2], rest[3]]) as usize;
        if (needed..=rest.len()).contains(&size) {
            Ok(size)
        } else {
            let reason = "is not between the object's fixed part and the end of the data";
            Err(DecodeError::invalid_field(Self::NAME, "TotalByteLength", offset, reason))
        }
    }

    /// The index of its name, if there are enough bytes.
    pub(crate) fn name_index_of(rest: &[u8]) -> Option<u32> {
        rest.get(12..)?.first_chunk().copied().map(u32::from_le_bytes)
    }

    /// Reads the object at `start` of `bytes`, which end where it ends.
    pub(crate) fn decode(bytes: &'a [u8], start: usize) -> DecodeResult<Self> {
        let size = Self::size_of(&bytes[start..], start)?;
        let invalid = |field, at, reason| DecodeError::invalid_field(Self::NAME, field, start + at, reason);
        let mut src = ReadCursor::new(bytes);
        src.read_slice(start + 4);
        let definition_size = src.read_u32() as usize;
        let header_size = src.read_u32() as usize;
        let name_index = src.read_u32();
        src.read_u32(/* ObjectNameTitle */);
        let help_index = src.read_u32();
        src.read_u32(/* ObjectHelpTitle */);
        let detail_level = DetailLevel(src.read_u32());
        let num_counters = src.read_u32();
        let default_counter = src.read_i32();
        let num_instances = src.read_i32();
        let code_page = src.read_u32();
        let (perf_time, perf_freq) = (src.read_u64(), src.read_u64());
        if !(Self::FIXED_PART_SIZE..=size).contains(&header_size) {
            return Err(invalid("HeaderLength", 8, "is not between the fixed part and the object's end"));
        }
        if !(header_size..=size).contains(&definition_size) {
            return Err(invalid("DefinitionLength", 4, "is not between the header and the object's end"));
        }
        if num_counters > COUNTERS_MAX {
            let (count, limit) = (u64::from(num_counters), u64::from(COUNTERS_MAX));
            return Err(DecodeError::limit_exceeded(Self::NAME, "NumCounters", start + 32, count, limit));
        }
        let definitions = &bytes[..start + definition_size];
        let counters = Counters::decode(definitions, start + header_size, num_counters)?;
        let data = start + definition_size;
        let instances = match num_instances {
            NO_INSTANCES => Instances::single(bytes, data)?,
            METADATA_MULTIPLE_INSTANCES | METADATA_NO_INSTANCES => Instances::Unasked,
            count => match u32::try_from(count) {
                Ok(count) => Instances::Many(Many::decode(bytes, data, (count, start + 40), code_page)?),
                Err(_) => return Err(invalid("NumInstances", 40, "is negative and has no meaning")),
            },
        };
        Ok(Self {
            name_index,
            help_index,
            detail_level,
            default_counter,
            perf_time,
            perf_freq,
            code_page,
            counters,
            instances,
        })
    }
}
