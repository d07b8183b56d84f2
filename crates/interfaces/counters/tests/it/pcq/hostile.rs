//! Replies of `PerflibV2QueryCounterData` whose sizes and counts lie: one test for each field.

use counters::pcq::types::{BlockType, CounterId, InstanceId};
use counters::pcq::wire::{Body, InstanceInfo, QueryData, QueryDataWriter, RawValue};

use crate::pcq::fixture::CLOCKS;

/// One block of two counters and two instances, and one of a single value after it. Offsets:
/// header 0, block 48, `PERF_MULTI_COUNTERS` 64, `PERF_MULTI_INSTANCES` 80, first instance 88, its values 104 and
/// 120, second instance 136, its values 152 and 168; the second block 184, its value 200; the end 216.
fn reply() -> Vec<u8> {
    let instance = |id, name: &str| InstanceInfo { instance_id: InstanceId(id), name: name.to_owned() };
    let (a, b) = (instance(1, "C:"), instance(2, "D:"));
    let values = [RawValue::U32(3), RawValue::U64(4)];
    let mut writer = QueryDataWriter::new(CLOCKS);
    writer.counter_set(&[CounterId(5), CounterId(6)], [(&a, values), (&b, values)]).unwrap();
    writer.single_counter(RawValue::U32(7)).unwrap();
    let bytes = writer.finish().unwrap();
    assert_eq!(bytes.len(), 216);
    bytes
}

const MULTI_COUNTERS: usize = 64;
const MULTI_INSTANCES: usize = 80;
const INSTANCE: usize = 88;
const VALUE: usize = 104;
const SECOND_BLOCK: usize = 184;

/// What the blocks say when the field at `at` has `value`: an error, or `ok`.
fn blocks(at: usize, value: u32) -> Vec<String> {
    let mut bytes = reply();
    bytes[at..at + 4].copy_from_slice(&value.to_le_bytes());
    let say =
        |block: wire::DecodeResult<_>| block.map_or_else(|error| error.to_string(), |_| "ok".to_owned());
    QueryData::parse(&bytes).unwrap().blocks().map(say).collect()
}

fn refused(at: usize, value: u32, expected: &str) {
    assert_eq!(blocks(at, value), [expected, "ok"], "the other block is not touched");
}

#[test]
fn total_size() {
    let error = |value: u32| {
        let mut bytes = reply();
        bytes[..4].copy_from_slice(&value.to_le_bytes());
        QueryData::parse(&bytes).unwrap_err().to_string()
    };
    assert_eq!(error(224), "PERF_DATA_HEADER: `dwTotalSize`: 224 bytes needed at offset 0, 216 there");
    assert_eq!(error(40), "PERF_DATA_HEADER: `dwTotalSize`: is smaller than the structure (offset 0)");
    assert_eq!(
        QueryData::parse(&reply()[..47]).unwrap_err().to_string(),
        "PERF_DATA_HEADER: 48 bytes needed at offset 0, 47 there"
    );
}

#[test]
fn total_size_that_cuts_a_block() {
    let cut = blocks(0, 208);
    assert_eq!(cut, ["ok", "PERF_COUNTER_HEADER: `dwSize`: 32 bytes needed at offset 192, 24 there"]);
}

#[test]
fn bytes_behind_the_total_size_are_not_looked_at() {
    let mut bytes = reply();
    bytes.extend_from_slice(&[0xff; 8]);
    assert_eq!(QueryData::parse(&bytes).unwrap().blocks().filter(Result::is_ok).count(), 2);
}

#[test]
fn number_of_blocks() {
    assert_eq!(blocks(4, 1), ["ok"]);
    assert_eq!(blocks(4, 3), ["ok", "ok", "PERF_COUNTER_HEADER: 16 bytes needed at offset 216, 0 there"]);
    assert_eq!(blocks(4, u32::MAX).len(), 3, "the first block that is not there is the last item");
}

#[test]
fn size_of_a_block() {
    let last = |value| blocks(SECOND_BLOCK + 8, value).pop().unwrap();
    assert_eq!(last(40), "PERF_COUNTER_HEADER: `dwSize`: 40 bytes needed at offset 192, 32 there");
    assert_eq!(last(8), "PERF_COUNTER_HEADER: `dwSize`: is smaller than the structure (offset 192)");
    assert_eq!(last(31), "PERF_COUNTER_DATA: `dwSize`: 16 bytes needed at offset 204, 15 there");
    assert_eq!(last(16), "PERF_COUNTER_DATA: 8 bytes needed at offset 200, 0 there");
    // Without a size that can be believed nothing after it can be found.
    assert_eq!(
        blocks(48 + 8, 0),
        ["PERF_COUNTER_HEADER: `dwSize`: is smaller than the structure (offset 56)"]
    );
}

#[test]
fn size_of_the_counter_ids() {
    refused(MULTI_COUNTERS, 4, "PERF_MULTI_COUNTERS: `dwSize`: is smaller than the structure (offset 64)");
    refused(MULTI_COUNTERS, 160, "PERF_MULTI_COUNTERS: `dwSize`: 160 bytes needed at offset 64, 120 there");
    refused(MULTI_COUNTERS, 12, "PERF_MULTI_COUNTERS: `dwCounters`: 8 bytes needed at offset 68, 4 there");
}

#[test]
fn number_of_counter_ids() {
    refused(
        MULTI_COUNTERS + 4,
        3,
        "PERF_MULTI_COUNTERS: `dwCounters`: 12 bytes needed at offset 68, 8 there",
    );
    let all = format!(
        "PERF_MULTI_COUNTERS: `dwCounters`: {} bytes needed at offset 68, 8 there",
        0xffff_ffff_u64 * 4
    );
    refused(MULTI_COUNTERS + 4, u32::MAX, &all);
    // One id less: the second value is then taken for an instance, whose `Size` of 8 leaves its name empty, and
    // so on until something does not fit.
    assert_ne!(blocks(MULTI_COUNTERS + 4, 1)[0], "ok");
}

#[test]
fn total_size_of_the_instances() {
    let at = MULTI_INSTANCES;
    refused(at, 112, "PERF_MULTI_INSTANCES: `dwTotalSize`: 112 bytes needed at offset 80, 104 there");
    refused(at, 0, "PERF_MULTI_INSTANCES: `dwTotalSize`: is smaller than the structure (offset 80)");
    refused(at, 96, "PERF_COUNTER_DATA: `dwSize`: 16 bytes needed at offset 172, 8 there");
}

#[test]
fn number_of_instances() {
    refused(MULTI_INSTANCES + 4, 3, "PERF_INSTANCE_HEADER: 8 bytes needed at offset 184, 0 there");
    refused(MULTI_INSTANCES + 4, u32::MAX, "PERF_INSTANCE_HEADER: 8 bytes needed at offset 184, 0 there");
}

#[test]
fn size_of_an_instance() {
    refused(INSTANCE, 7, "PERF_INSTANCE_HEADER: `Size`: is smaller than the structure (offset 88)");
    let unterminated = "PERF_INSTANCE_HEADER: `Size`: the instance name does not end with a NUL (offset 88)";
    refused(INSTANCE, 12, unterminated);
    refused(INSTANCE, 104, "PERF_INSTANCE_HEADER: `Size`: 104 bytes needed at offset 88, 96 there");
}

#[test]
fn size_of_a_value() {
    refused(VALUE + 4, 0, "PERF_COUNTER_DATA: `dwSize`: is smaller than the structure (offset 108)");
    // Four bytes less than the document says: the next value is then looked for in the padding of this one.
    assert_ne!(blocks(VALUE + 4, 12)[0], "ok");
    refused(VALUE + 4, 88, "PERF_COUNTER_DATA: `dwSize`: 88 bytes needed at offset 108, 80 there");
}

/// Values without the padding of perflib.h must end where the block ends.
#[test]
fn values_without_their_padding_are_read_where_they_fill_the_block() {
    let mut writer = QueryDataWriter::new(CLOCKS);
    writer.multi_counters(&[CounterId(1), CounterId(2)], &[RawValue::U32(3), RawValue::U32(4)]).unwrap();
    let mut bytes = writer.finish().unwrap();
    let (first, second) = (48 + 16 + 16, 48 + 16 + 16 + 12);
    bytes.copy_within(first + 16..first + 28, second);
    bytes.truncate(second + 12);
    bytes[first + 4] = 12;
    bytes[second + 4] = 12;
    let mut read = |unread: u8| {
        bytes[48 + 8] = 16 + 16 + 24 + unread;
        bytes.resize(second + 12 + usize::from(unread), 0);
        bytes[0] = u8::try_from(bytes.len()).unwrap();
        let block = QueryData::parse(&bytes).unwrap().blocks().next().unwrap();
        block.map(|block| block.instances().next().unwrap().values.map(RawValue::to_u64).collect::<Vec<_>>())
    };
    assert_eq!(read(0).unwrap(), [Some(3), Some(4)]);
    let error =
        "PERF_COUNTER_DATA: `dwSize`: sizes that are no multiple of 8 do not add up to the block (offset 64)";
    assert_eq!(read(8).unwrap_err().to_string(), error);
}

#[test]
fn size_of_the_data_of_a_value() {
    refused(VALUE, 9, "PERF_COUNTER_DATA: `dwDataSize`: 9 bytes needed at offset 104, 8 there");
}

#[test]
fn a_value_of_an_unknown_width_is_its_bytes() {
    let mut bytes = reply();
    bytes[SECOND_BLOCK + 16] = 3;
    let block = QueryData::parse(&bytes).unwrap().blocks().last().unwrap().unwrap();
    assert!(matches!(block.body, Body::SingleCounter(RawValue::Other(&[7, 0, 0]))));
    let value = block.instances().next().unwrap().values.next().unwrap();
    assert_eq!(value.to_u64(), None);
}

#[test]
fn a_block_of_an_unknown_type_is_passed_over_by_its_size() {
    let mut bytes = reply();
    bytes[48 + 4] = 9;
    let blocks: Vec<_> = QueryData::parse(&bytes).unwrap().blocks().map(Result::unwrap).collect();
    assert!(matches!(blocks[0].body, Body::Unknown(BlockType(9))));
    assert_eq!(blocks[0].instances().count(), 0);
    assert!(matches!(blocks[1].body, Body::SingleCounter(RawValue::U32(7))));
}

/// An odd number of ids is padded; a peer may count the padding in `dwSize` or not.
#[test]
fn an_odd_number_of_counter_ids_is_padded_to_eight() {
    let mut writer = QueryDataWriter::new(CLOCKS);
    writer.multi_counters(&[CounterId(1)], &[RawValue::U32(2)]).unwrap();
    let mut bytes = writer.finish().unwrap();
    assert_eq!(bytes.len(), 48 + 16 + 16 + 16);
    for size in [16, 12] {
        bytes[MULTI_COUNTERS] = size;
        let block = QueryData::parse(&bytes).unwrap().blocks().next().unwrap().unwrap();
        assert_eq!(block.counters().ids().collect::<Vec<_>>(), [CounterId(1)]);
        let values: Vec<_> = block.instances().next().unwrap().values.collect();
        assert_eq!(values, [RawValue::U32(2)]);
    }
}
