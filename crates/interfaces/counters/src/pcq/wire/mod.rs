//! What lies inside of the methods' buffers: [MS-PCQ] 2.2.4, outside of NDR.
//!
//! Readers go from one structure to the next by the size fields, never by what a structure would usually take. A size
//! that is smaller than its structure or larger than what contains it is an error that names the field. Documents and
//! readers do not agree on which sizes count the padding to 8 bytes; [`Layout`] says how that is decided. Padding is
//! written as zeros and never looked at.

mod counter_data;
mod counter_header;
mod counter_identifier;
mod counter_reg_info;
mod counterset_reg_info;
mod data_header;
mod instance_header;
mod multi_counters;
mod multi_instances;
mod padding;
mod query_data;
mod string_buffer;

pub use wire::WideStr;

pub use self::counter_data::RawValue;
pub use self::counter_header::CounterHeader;
pub use self::counter_identifier::CounterIdentifier;
pub use self::counter_reg_info::CounterRegInfo;
pub use self::counterset_reg_info::{CounterSetRegInfo, CounterSetRegistration};
pub use self::data_header::DataHeader;
pub use self::instance_header::{Instance, InstanceInfo};
pub use self::multi_counters::MultiCounters;
pub use self::multi_instances::MultiInstances;
pub use self::padding::Padding;
pub(crate) use self::query_data::Reading;
pub use self::query_data::{
    Block, Blocks, Body, Clocks, InstanceValues, Instances, Layout, QueryData, QueryDataWriter, Values,
};
pub use self::string_buffer::{CounterStrings, OffsetBase, StringBufferHeader, StringCounterHeader};

use wire::{DecodeError, DecodeResult, EncodeError, EncodeResult};

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
