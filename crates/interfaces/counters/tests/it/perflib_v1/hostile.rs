//! Wrong lengths, one at a time: which part of a block is refused, and which part is still read.

use counters::pcq::types::CounterType;
use counters::perflib_v1::write::{Counter, Data, Header, Instance, Object, encode};
use counters::perflib_v1::{DataBlock, Instances, Value};

/// Three objects: the second, at `SECOND`, has two counters and two instances.
fn block() -> Vec<u8> {
    let counter = |name_index, counter_type| Counter { name_index, counter_type, ..Counter::default() };
    let counters = vec![
        counter(10, CounterType::PERF_COUNTER_COUNTER),
        counter(12, CounterType::PERF_COUNTER_BULK_COUNT),
    ];
    let single = |name_index| Object {
        name_index,
        counters: counters.clone(),
        data: Data::Single(vec![1, 2]),
        ..Object::default()
    };
    let instance = |name: &str| Instance { name: name.to_owned(), values: vec![3, 4], ..Instance::default() };
    let many = Object { data: Data::Instances(vec![instance("one"), instance("two")]), ..single(4) };
    encode(&Header::default(), &[single(2), many, single(6)]).unwrap()
}

/// Where the second object begins: after a header of 96 bytes and an object of 64, two counters of 40, a block of 16.
const SECOND: usize = 96 + 64 + 2 * 40 + 16;

/// The objects' names or errors.
fn objects(bytes: &[u8]) -> Vec<String> {
    let block = DataBlock::decode(bytes).unwrap();
    let objects = block.objects().take(100);
    objects
        .map(|object| object.map_or_else(|bad| bad.to_string(), |object| object.name_index.to_string()))
        .collect()
}

/// The block with other bytes at `at` of the second object.
fn with(at: usize, value: u32) -> Vec<u8> {
    let mut bytes = block();
    bytes[SECOND + at..SECOND + at + 4].copy_from_slice(&value.to_le_bytes());
    bytes
}

#[test]
fn an_object_whose_lengths_lie_costs_itself() {
    assert_eq!(objects(&block()), ["2", "4", "6"]);
    for (at, value, expected) in [
        (8, 63, "`HeaderLength`: is not between the fixed part and the object's end (offset 264)"),
        (8, u32::MAX, "`HeaderLength`: is not between the fixed part and the object's end (offset 264)"),
        (4, 63, "`DefinitionLength`: is not between the header and the object's end (offset 260)"),
        (4, 1 << 20, "`DefinitionLength`: is not between the header and the object's end (offset 260)"),
        (32, 5_000, "`NumCounters`: 5000 is above the limit of 4096 (offset 288)"),
        (40, 1 << 30, "`NumInstances`: 1073741824 is above the limit of 3 (offset 296)"),
        (40, (-4_i32).cast_unsigned(), "`NumInstances`: is negative and has no meaning (offset 296)"),
    ] {
        let expected = format!("object 4: PERF_OBJECT_TYPE: {expected}");
        assert_eq!(objects(&with(at, value)), ["2", expected.as_str(), "6"], "{at} {value}");
    }
    for (at, value, expected) in [
        (32, 9, "PERF_COUNTER_DEFINITION: 40 bytes needed at offset 400, 0 there"),
        (64, 39, "PERF_COUNTER_DEFINITION: `ByteLength`: is smaller than the structure (offset 320)"),
        (64, 81, "PERF_COUNTER_DEFINITION: `ByteLength`: 81 bytes needed at offset 320, 80 there"),
        (144, 23, "PERF_INSTANCE_DEFINITION: `ByteLength`: is smaller than the structure (offset 400)"),
        (144, 4096, "PERF_INSTANCE_DEFINITION: `ByteLength`: 4096 bytes needed at offset 400, 96 there"),
        (
            160,
            4096,
            "PERF_INSTANCE_DEFINITION: `NameOffset`: with its length exceeds the instance (offset 416)",
        ),
        (
            164,
            u32::MAX,
            "PERF_INSTANCE_DEFINITION: `NameOffset`: with its length exceeds the instance (offset 416)",
        ),
        (176, 3, "PERF_COUNTER_BLOCK: `ByteLength`: is smaller than the structure (offset 432)"),
        (176, 4096, "PERF_COUNTER_BLOCK: `ByteLength`: 4096 bytes needed at offset 432, 64 there"),
    ] {
        let expected = format!("object 4: {expected}");
        assert_eq!(objects(&with(at, value)), ["2", expected.as_str(), "6"], "{at} {value}");
    }
}

#[test]
fn behind_an_object_without_an_end_nothing_is_read() {
    let reason = "object 4: PERF_OBJECT_TYPE: `TotalByteLength`: is not between the object's fixed part and the end of \
                  the data (offset 256)";
    for value in [0, 63, u32::MAX] {
        assert_eq!(objects(&with(0, value)), ["2", reason], "{value}");
    }
}

#[test]
fn more_objects_than_there_are_end_with_an_error() {
    let mut bytes = block();
    bytes[28..32].copy_from_slice(&u32::MAX.to_le_bytes());
    let objects = objects(&bytes);
    assert_eq!(objects.len(), 4);
    assert!(objects[3].starts_with("PERF_OBJECT_TYPE: 64 bytes needed at offset"), "{objects:?}");
}

#[test]
fn a_value_outside_of_its_block_is_none() {
    let value_of = |bytes: &[u8]| {
        let object = DataBlock::decode(bytes).unwrap().objects().nth(1).unwrap().unwrap();
        let Instances::Many(mut instances) = object.instances() else { panic!("it has instances") };
        let values = instances.next().unwrap().values;
        object.counters().next().and_then(|counter| values.value(&counter).map(Value::number))
    };
    assert_eq!(value_of(&block()), Some(Some(3)));
    // `CounterOffset` and `CounterSize` of the first counter.
    for (at, value) in [(64 + 36, 21), (64 + 36, u32::MAX), (64 + 32, 3), (64 + 32, u32::MAX)] {
        assert_eq!(value_of(&with(at, value)), None, "{at} {value}");
    }
}

#[test]
fn a_header_that_is_none_is_refused() {
    let check = |at: usize, value: u32, expected: &str| {
        let mut bytes = block();
        bytes[at..at + 4].copy_from_slice(&value.to_le_bytes());
        assert_eq!(DataBlock::decode(&bytes).unwrap_err().to_string(), expected);
    };
    check(0, 0x50, "PERF_DATA_BLOCK: `Signature`: is not PERF (offset 0)");
    check(8, 0, "PERF_DATA_BLOCK: `LittleEndian`: integers are big-endian (offset 8)");
    let reason = "is not between the fixed part of the header and the end of the data (offset 24)";
    check(24, 87, &format!("PERF_DATA_BLOCK: `HeaderLength`: {reason}"));
    check(24, 1 << 20, &format!("PERF_DATA_BLOCK: `HeaderLength`: {reason}"));
    let short = DataBlock::decode(&block()[..87]).unwrap_err();
    assert_eq!(short.to_string(), "PERF_DATA_BLOCK: 88 bytes needed at offset 0, 87 there");
    // A missing name is empty.
    let mut bytes = block();
    bytes[84..88].copy_from_slice(&u32::MAX.to_le_bytes());
    assert_eq!(DataBlock::decode(&bytes).unwrap().system_name.to_string(), "");
}

#[test]
fn text_values_end_at_their_nul_and_may_fill_their_room() {
    // The second counter becomes a text that is where its number is.
    let mut bytes = with(64 + 40 + 28, CounterType::PERF_COUNTER_TEXT.0);
    let value_at = SECOND + 176 + 8;
    for (text, expected) in [("a\0b\0\0\0\0\0", "ab"), ("a\0b\0c\0d\0", "abcd")] {
        bytes[value_at..value_at + 8].copy_from_slice(text.as_bytes());
        let object = DataBlock::decode(&bytes).unwrap().objects().nth(1).unwrap().unwrap();
        let Instances::Many(mut instances) = object.instances() else { panic!("it has instances") };
        let counter = object.counters().nth(1).unwrap();
        let Some(Value::Text(value)) = instances.next().unwrap().values.value(&counter) else {
            panic!("no text")
        };
        assert_eq!(value.to_string(), expected);
    }
}
