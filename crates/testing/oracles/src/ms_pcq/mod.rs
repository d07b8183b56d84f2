//! Laws of `counters::pcq`.

mod blocks;
mod calls;
mod conversation;
mod lists;
mod plain;
mod service;

use counters::pcq::types::{CounterId, InstanceId};
use counters::pcq::wire::{Block, Body, Clocks, InstanceInfo, Layout, QueryData, QueryDataWriter, RawValue};
use wire::Win32Error;

pub use self::blocks::blocks;
pub use self::calls::{requests, responses};
pub(crate) use self::conversation::honest_conversation;
pub use self::conversation::{conversation, registration};
pub use self::lists::lists;
pub(crate) use self::service::{HANDLE, SET, Service};

use super::input::Input;
use super::law::is_inside;

/// The buffer of `PerflibV2QueryCounterData`: everything in it lies in it, each instance has all of its values, and
/// what is written from it reads the same.
pub fn query_data(bytes: &[u8]) {
    let bytes = Input::new(bytes).rest();
    let Ok(data) = QueryData::parse(bytes) else { return };
    assert!(data.blocks().count() <= usize::try_from(data.header().num_counters).unwrap_or(0));
    let blocks: Vec<Block<'_>> = data.blocks().flatten().collect();
    assert!(blocks.is_sorted_by(|one, next| one.index < next.index));
    let mut read_until = bytes.as_ptr();
    blocks.iter().for_each(|block| read_until = check_inside(bytes, block, read_until));
    let again = QueryData::parse(bytes).expect("it was read");
    assert!(
        again.blocks().flatten().map(|block| content(&block)).eq(blocks.iter().map(content)),
        "the same again"
    );
    // What this reply proves does not change what is read in it.
    let mut layout = Layout::default();
    for _ in 0..2 {
        let again = QueryData::parse_with(bytes, &mut layout).expect("it was read");
        assert!(again.blocks().flatten().map(|block| content(&block)).eq(blocks.iter().map(content)));
    }
    let rewritten = rewrite(&data, &blocks);
    let again = QueryData::parse(&rewritten).expect("what was written can be read");
    assert_eq!(again.header().perf_time_100ns, data.header().perf_time_100ns);
    let mut read = 0;
    for (block, original) in again.blocks().zip(&blocks) {
        let block = block.expect("what was written can be read");
        assert_eq!(content(&block), content(original));
        read += 1;
    }
    assert_eq!(read, blocks.len());
}

/// Looks at a block whose bytes begin at `read_until` or after it, and answers where the last of them was: no byte is
/// part of two names or values.
fn check_inside(bytes: &[u8], block: &Block<'_>, mut read_until: *const u8) -> *const u8 {
    let mut take = |slice: &[u8]| {
        assert!(is_inside(bytes, slice));
        if !slice.is_empty() {
            assert!(slice.as_ptr() >= read_until, "it overlaps what was read before");
            read_until = slice.as_ptr_range().end;
        }
    };
    let counters = block.counters().len();
    assert_eq!(block.counters().ids().count(), counters);
    let expected = match block.body {
        Body::SingleCounter(_) | Body::MultiInstances(_) => 1,
        _ => counters,
    };
    let announced = block.instances().len();
    let mut instances = 0;
    for instance in block.instances() {
        take(instance.name.as_bytes());
        assert_eq!(instance.values.len(), expected);
        let mut values = 0;
        for value in instance.values {
            if let RawValue::Other(slice) = value {
                take(slice);
            }
            values += 1;
        }
        assert_eq!(values, expected, "each instance has all of its values");
        instances += 1;
    }
    assert_eq!(instances, announced, "no instance is lost on the way");
    read_until
}

/// What a reader takes from a block.
type Content<'a> = (Vec<CounterId>, Vec<(InstanceId, String, Vec<RawValue<'a>>)>);

fn content<'a>(block: &Block<'a>) -> Content<'a> {
    let instances = block.instances();
    let instances = instances.map(|one| (one.instance_id, one.name.to_string(), one.values.collect()));
    (block.counters().ids().collect(), instances.collect())
}

fn rewrite(data: &QueryData<'_>, blocks: &[Block<'_>]) -> Vec<u8> {
    let header = data.header();
    let mut writer = QueryDataWriter::new(Clocks {
        perf_time_stamp: header.perf_time_stamp,
        perf_freq: header.perf_freq,
        perf_time_100ns: header.perf_time_100ns,
    });
    for block in blocks {
        let (counters, instances) = content(block);
        let named: Vec<(InstanceInfo, Vec<RawValue<'_>>)> = instances
            .into_iter()
            .map(|(instance_id, name, values)| (InstanceInfo { instance_id, name }, values))
            .collect();
        let named = named.iter().map(|(instance, values)| (instance, values));
        match &block.body {
            Body::ErrorReturn | Body::Unknown(_) => writer.error_return(Win32Error::ERROR_NO_DATA),
            Body::SingleCounter(value) => writer.single_counter(*value),
            Body::MultiCounters { values, .. } => {
                writer.multi_counters(&counters, &values.clone().collect::<Vec<_>>())
            }
            Body::MultiInstances(_) => {
                writer.multi_instances(named.map(|(instance, values)| (instance, values[0])))
            }
            Body::CounterSet { .. } => writer.counter_set(&counters, named),
        }
        .expect("what was read can be written");
    }
    writer.finish().expect("it is no longer than what was read, but for padding")
}
