//! Laws of `counters::perflib_v1`.

use std::collections::BTreeMap;

use counters::pcq::types::CounterType;
use counters::perflib_v1::write::{Counter, Data, Header, Instance, Object, encode, encode_names};
use counters::perflib_v1::{CounterBlock, DataBlock, Instances, NameTable, ObjectType, Parent};

/// A data block: an object that is read has the values at its positions, and an error lies within the block.
pub fn block(bytes: &[u8]) {
    let Ok(block) = DataBlock::decode(bytes) else { return };
    let mut start = block.header.header_size_bytes as usize;
    for object in block.objects() {
        match object {
            Ok(object) => check_object(&object, bytes, start),
            Err(bad) => assert!(bad.error.offset <= bytes.len(), "{bad}"),
        }
        // The iterator ends where this is none.
        start = start.saturating_add(u32_at(bytes, start).unwrap_or(u32::MAX) as usize);
    }
}

/// Follows the positions of the object at `start`, and compares.
fn check_object(object: &ObjectType<'_>, bytes: &[u8], start: usize) {
    let field = |at: usize| u32_at(bytes, start + at).expect("the object was read");
    assert_eq!((object.name_index, object.help_index), (field(12), field(20)));
    assert_eq!(object.counters().len(), field(32) as usize);
    let mut at = start + field(8) as usize;
    let mut places = Vec::new();
    for counter in object.counters() {
        let field = |offset: usize| u32_at(bytes, at + offset).expect("the counter was read");
        assert_eq!((counter.name_index, counter.counter_type.0), (field(4), field(28)));
        places.push((field(28), field(32), field(36) as usize));
        at += field(0) as usize;
    }
    let mut at = start + field(4) as usize;
    match object.instances() {
        Instances::Unasked => assert!(matches!(field(40).cast_signed(), -3 | -2)),
        Instances::Single(values) => check_values(object, &values, bytes, at, &places),
        Instances::Many(many) => {
            assert_eq!(many.len(), field(40) as usize);
            for instance in many {
                let field = |offset: usize| u32_at(bytes, at + offset).expect("the instance was read");
                let name = at + field(16) as usize;
                assert_eq!(Some(instance.name_bytes()), bytes.get(name..name + field(20) as usize));
                at += field(0) as usize;
                check_values(object, &instance.values, bytes, at, &places);
                at += u32_at(bytes, at).expect("the block was read") as usize;
            }
        }
    }
}

fn check_values(
    object: &ObjectType<'_>,
    values: &CounterBlock<'_>,
    bytes: &[u8],
    at: usize,
    places: &[(u32, u32, usize)],
) {
    let size = u32_at(bytes, at).expect("the block was read") as usize;
    for (counter, (counter_type, value_size, offset)) in object.counters().zip(places) {
        let value = values.value(&counter);
        if *counter_type == CounterType::PERF_COUNTER_TEXT.0 {
            continue;
        }
        let is_inside = offset.checked_add(*value_size as usize).is_some_and(|end| end <= size);
        let expected = match value_size {
            4 if is_inside => u32_at(bytes, at + offset).map(u64::from),
            8 if is_inside => {
                bytes.get(at + offset..).and_then(|rest| rest.first_chunk().copied()).map(u64::from_le_bytes)
            }
            _ => None,
        };
        assert_eq!(value.and_then(counters::perflib_v1::Value::number), expected);
    }
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().copied().map(u32::from_le_bytes)
}

/// A table of names: it is read the same after it was written again.
pub fn names(bytes: &[u8]) {
    let sorted = |table: &NameTable| -> BTreeMap<u32, String> {
        table.iter().map(|(index, text)| (index, text.to_owned())).collect()
    };
    let table = NameTable::decode(bytes);
    assert_eq!(table.len(), table.iter().count());
    let again = NameTable::decode(&encode_names(table.iter()));
    assert_eq!(sorted(&again), sorted(&table));
    assert_eq!(again.faults(), counters::perflib_v1::NameTableFaults::default());
}

/// An object without instances, one with two of them and parents, and one that came without data.
pub(crate) fn honest_block() -> Vec<u8> {
    let counter = |name_index, counter_type| Counter { name_index, counter_type, ..Counter::default() };
    let counters = vec![
        counter(10, CounterType::PERF_COUNTER_COUNTER),
        counter(12, CounterType::PERF_COUNTER_BULK_COUNT),
        counter(14, CounterType::PERF_COUNTER_NODATA),
    ];
    let instance = |name: &str, position| Instance {
        name: name.to_owned(),
        parent: Some(Parent { object: 2, position }),
        unique_id: Some(7),
        values: vec![1, 2, 0],
    };
    let object =
        |name_index, data| Object { name_index, counters: counters.clone(), data, ..Object::default() };
    let objects = [
        object(2, Data::Single(vec![u64::from(u32::MAX), u64::MAX, 0])),
        object(4, Data::Instances(vec![instance("one", 0), instance("\u{e4}", 1)])),
        object(6, Data::Unasked),
    ];
    encode(&Header { system_name: "HOST".to_owned(), ..Header::default() }, &objects).unwrap_or_default()
}

/// A table with a text that is no index.
pub(crate) fn honest_names() -> Vec<u8> {
    [encode_names([(2, "System"), (4, "Memory")]), encode_names([(6, "% Processor Time")])].concat()
}
