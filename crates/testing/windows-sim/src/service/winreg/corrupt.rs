//! Performance data whose lengths lie.

use counters::perflib_v1::{CounterDefinition, ObjectType};

use crate::choices::ObjectCorruption;

/// Larger than anything that is there, and a multiple of 8.
const TOO_MUCH: u32 = 0x7FFF_FFF8;

/// Where `HeaderLength` of `PERF_DATA_BLOCK` is.
const HEADER_LENGTH: usize = 24;
const DEFINITION_LENGTH: usize = 4;
const OBJECT_NAME: usize = 12;
const COUNTER_COUNT: usize = 32;
const INSTANCE_COUNT: usize = 40;
const COUNTER_OFFSET: usize = 36;
const NAME_LENGTH: usize = 20;

/// Makes one length of the object with this index wrong. Does nothing to an object that has not such a length.
pub(super) fn corrupt(block: &mut [u8], name_index: u32, how: ObjectCorruption) {
    let Some(object) = find(block, name_index) else { return };
    let total = read(block, object).unwrap_or(0);
    let definition = read(block, object + DEFINITION_LENGTH).unwrap_or(0);
    let instances = read(block, object + INSTANCE_COUNT).unwrap_or(0).cast_signed();
    let data = object + as_offset(definition);
    let first_block = match instances {
        1.. => data + as_offset(read(block, data).unwrap_or(0)),
        _ => data,
    };
    match how {
        ObjectCorruption::None => {}
        ObjectCorruption::TotalTooLong => patch(block, object, TOO_MUCH),
        ObjectCorruption::TotalTooShort => patch(block, object, total / 16 * 8),
        ObjectCorruption::Definition => patch(block, object + DEFINITION_LENGTH, TOO_MUCH),
        ObjectCorruption::Counters => patch(block, object + COUNTER_COUNT, TOO_MUCH),
        ObjectCorruption::Instances => patch(block, object + INSTANCE_COUNT, TOO_MUCH),
        ObjectCorruption::CounterOffset => {
            let last = as_offset(definition).saturating_sub(CounterDefinition::FIXED_PART_SIZE);
            patch(block, object + last.max(ObjectType::FIXED_PART_SIZE) + COUNTER_OFFSET, TOO_MUCH);
        }
        ObjectCorruption::InstanceName => patch(block, data + NAME_LENGTH, TOO_MUCH),
        ObjectCorruption::Block => patch(block, first_block, TOO_MUCH),
    }
}

/// Where the object is.
fn find(block: &[u8], name_index: u32) -> Option<usize> {
    let mut at = as_offset(read(block, HEADER_LENGTH)?);
    loop {
        if read(block, at + OBJECT_NAME)? == name_index {
            return Some(at);
        }
        at += as_offset(read(block, at)?);
    }
}

fn as_offset(length: u32) -> usize {
    usize::try_from(length).unwrap_or(usize::MAX / 4)
}

fn read(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

fn patch(bytes: &mut [u8], at: usize, value: u32) {
    if let Some(field) = bytes.get_mut(at..at + 4) {
        field.copy_from_slice(&value.to_le_bytes());
    }
}
