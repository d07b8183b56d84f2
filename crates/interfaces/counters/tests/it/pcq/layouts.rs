//! Where structures begin that come after others whose size is no multiple of 8: each way that a host may go gives
//! the same values, and where both ways are possible, none.

use counters::pcq::types::{CounterId, InstanceId};
use counters::pcq::wire::{Block, InstanceInfo, Layout, Padding, QueryData, QueryDataWriter, RawValue};

use crate::pcq::fixture::CLOCKS;

const PADDINGS: [Padding; 3] = [Padding::Counted, Padding::Uncounted, Padding::None];

fn ids(count: u32) -> Vec<CounterId> {
    (1..=count).map(CounterId).collect()
}

/// Instance, counter and number of each value of a block, or why there are none.
type Values = Result<Vec<(String, u32, Option<u64>)>, String>;

/// The values of all blocks.
fn values(bytes: &[u8], layout: &mut Layout) -> Vec<Values> {
    let data = QueryData::parse_with(bytes, layout).unwrap();
    let of = |block: Block<'_>| {
        let ids: Vec<u32> = block.counters().ids().map(|id| id.0).collect();
        let rows = block.instances().flat_map(|instance| {
            let name = instance.name.to_string();
            let values: Vec<_> = instance.values.map(RawValue::to_u64).collect();
            assert_eq!(values.len(), ids.len());
            ids.iter().zip(values).map(move |(id, value)| (name.clone(), *id, value)).collect::<Vec<_>>()
        });
        rows.collect()
    };
    data.blocks().map(|block| block.map(of).map_err(|error| error.to_string())).collect()
}

/// Five counters of three instances, three of the only instance, four of two instances, and one of the only one.
fn reply(id_lists: Padding, blocks: Padding) -> Vec<u8> {
    let mut writer = QueryDataWriter::new(CLOCKS).with_padding(id_lists, blocks);
    let named = |id, name: &str| InstanceInfo { instance_id: InstanceId(id), name: name.to_owned() };
    let fruits = [named(0, "apple"), named(1, "banana"), named(2, "cherry")];
    let numbers =
        |count: u64| (0..count).map(|n| if n % 2 == 0 { RawValue::U64(n) } else { RawValue::U32(7) });
    let rows = fruits.iter().map(|fruit| (fruit, numbers(5).collect::<Vec<_>>()));
    writer.counter_set(&ids(5), rows).unwrap();
    writer.multi_counters(&ids(3), &numbers(3).collect::<Vec<_>>()).unwrap();
    let rows = fruits[1..].iter().map(|fruit| (fruit, numbers(4).collect::<Vec<_>>()));
    writer.counter_set(&ids(4), rows).unwrap();
    writer.multi_counters(&ids(1), &[RawValue::U32(9)]).unwrap();
    writer.finish().unwrap()
}

#[test]
fn an_odd_id_list_and_its_block_are_read_with_and_without_padding() {
    let expected = values(&reply(Padding::Counted, Padding::Counted), &mut Layout::default());
    assert!(expected.iter().all(Result::is_ok), "{expected:?}");
    assert_eq!(expected.iter().flatten().map(Vec::len).collect::<Vec<_>>(), [15, 3, 8, 1]);
    for id_lists in PADDINGS {
        for blocks in PADDINGS {
            let bytes = reply(id_lists, blocks);
            let mut layout = Layout::default();
            assert_eq!(values(&bytes, &mut layout), expected, "{id_lists:?} {blocks:?}");
            // What was proven is of use, and no more than that.
            assert_eq!(values(&bytes, &mut layout), expected, "{id_lists:?} {blocks:?} again");
            let is_odd = id_lists != Padding::Counted;
            assert_eq!(layout != Layout::default(), is_odd, "{id_lists:?} {blocks:?}: {layout:?}");
        }
    }
}

#[test]
fn what_an_earlier_reply_proved_does_not_spoil_one_of_another_layout() {
    let expected = values(&reply(Padding::Counted, Padding::Counted), &mut Layout::default());
    for before in PADDINGS {
        for after in PADDINGS {
            let mut layout = Layout::default();
            values(&reply(before, before), &mut layout);
            assert_eq!(values(&reply(after, after), &mut layout), expected, "{before:?}, then {after:?}");
        }
    }
}

/// A text and two numbers that look like three other values when they are read four bytes too early: of 8, 16 and 24
/// bytes.
fn deceptive(id_lists: Padding) -> QueryDataWriter {
    let text = [1_u32, 0, 16, 0].map(u32::to_le_bytes).concat();
    let mut writer = QueryDataWriter::new(CLOCKS).with_padding(id_lists, Padding::Counted);
    writer.multi_counters(&ids(3), &[RawValue::Other(&text), RawValue::U64(24), RawValue::U64(5)]).unwrap();
    writer
}

#[test]
fn a_block_that_can_be_read_in_two_ways_gives_no_values_unless_the_host_proved_its_way() {
    let numbers = |at: u64| {
        Ok(vec![(String::new(), 1, None), (String::new(), 2, Some(24)), (String::new(), 3, Some(at))])
    };
    let alone = deceptive(Padding::Uncounted).finish().unwrap();
    let mut layout = Layout::default();
    let error = "PERF_MULTI_COUNTERS: `dwSize`: the values may begin here or behind padding, and nothing of this host \
                 says which (offset 64)";
    assert_eq!(values(&alone, &mut layout), [Err(error.to_owned())]);
    assert_eq!(layout, Layout::default(), "it proves nothing");

    // A block after it that can be read in one way only says how it is meant, from then on.
    let mut proving = deceptive(Padding::Uncounted);
    proving.multi_counters(&ids(1), &[RawValue::U64(1)]).unwrap();
    assert_eq!(values(&proving.finish().unwrap(), &mut layout)[0], numbers(5));
    assert_eq!(values(&alone, &mut layout), [numbers(5)]);

    // A host that goes the other way.
    let mut layout = Layout::default();
    values(&reply(Padding::None, Padding::Counted), &mut layout);
    assert_ne!(values(&alone, &mut layout), [numbers(5)]);
}

#[test]
fn a_host_that_goes_both_ways_proves_neither() {
    let mut layout = Layout::default();
    let (one, other) = (reply(Padding::None, Padding::Counted), reply(Padding::Uncounted, Padding::Counted));
    // The blocks of both in one reply.
    let mut bytes = [&one[..], &other[48..]].concat();
    let size = u32::try_from(bytes.len()).unwrap();
    bytes[..4].copy_from_slice(&size.to_le_bytes());
    bytes[4] = 8;
    let read = values(&bytes, &mut layout);
    assert_eq!(read[..4], read[4..], "each block says how it is meant");
    assert!(read.iter().all(Result::is_ok), "{read:?}");
    let alone = deceptive(Padding::Uncounted).finish().unwrap();
    assert!(values(&alone, &mut layout)[0].is_err());
}

#[test]
fn a_list_of_which_neither_way_ends_with_the_block_is_refused() {
    let mut writer = QueryDataWriter::new(CLOCKS).with_padding(Padding::None, Padding::Counted);
    writer.multi_counters(&ids(1), &[RawValue::U64(1)]).unwrap();
    writer.single_counter(RawValue::U32(2)).unwrap();
    let mut bytes = writer.finish().unwrap();
    // The first block swallows the second one.
    bytes[48 + 8] += 32;
    bytes[4] = 1;
    let error = "PERF_MULTI_COUNTERS: `dwSize`: the block ends elsewhere than what follows, with padding and without \
                 (offset 64)";
    assert_eq!(values(&bytes, &mut Layout::default()), [Err(error.to_owned())]);
}

#[test]
fn where_the_next_block_may_begin_in_two_places_nothing_behind_is_read() {
    let words = |words: &[u32]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
    let mut bytes = QueryDataWriter::new(CLOCKS).finish().unwrap();
    bytes[..8].copy_from_slice(&words(&[48 + 48, 2]));
    // An error of 20 bytes; after it one of 28 bytes, or after four more bytes one of 24.
    bytes.extend(words(&[5, 0, 20, 0, 0]));
    bytes.extend(words(&[0, 0, 28, 24, 0, 0, 0]));
    let read = values(&bytes, &mut Layout::default());
    let error = "PERF_COUNTER_HEADER: `dwSize`: the next block may begin here or behind padding, and nothing says which \
                 (offset 56)";
    assert_eq!(read, [Ok(vec![]), Err(error.to_owned())]);
}

#[test]
fn the_steady_state_of_an_unpadded_host_allocates_nothing() {
    let bytes = reply(Padding::None, Padding::None);
    let mut layout = Layout::default();
    let mut sum = 0;
    let taken = allocation_counter::measure(|| {
        for _ in 0..2 {
            let data = QueryData::parse_with(&bytes, &mut layout).unwrap();
            for value in
                data.blocks().flatten().flat_map(|block| block.instances()).flat_map(|one| one.values)
            {
                sum += value.to_u64().unwrap_or(0);
            }
        }
    });
    assert!(sum > 0);
    assert_eq!(taken.count_total, 0);
}
