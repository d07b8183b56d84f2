//! Laws that hold for all values and all bytes.

use counters::pcq::perflibv2::dispatch;
use counters::pcq::perflibv2::methods::{
    EnumerateCountersetsReply, QueryCounterDataReply, ValidateCountersReply,
};
use counters::pcq::types::{CounterId, InstanceId};
use counters::pcq::wire::{
    Block, Body, Clocks, CounterIdentifier, CounterSetRegistration, CounterStrings, InstanceInfo, QueryData,
    QueryDataWriter, RawValue,
};
use proptest::prelude::*;
use rpc::FromStub;
use wire::{FileTime, Guid, Win32Error};

use crate::pcq::fixture::{FakeServer, sealed};

#[derive(Clone, Debug, PartialEq)]
enum Value {
    U32(u32),
    U64(u64),
    Other(Vec<u8>),
}

impl Value {
    fn raw(&self) -> RawValue<'_> {
        match self {
            Self::U32(value) => RawValue::U32(*value),
            Self::U64(value) => RawValue::U64(*value),
            Self::Other(bytes) => RawValue::Other(bytes),
        }
    }
}

fn value() -> impl Strategy<Value = Value> {
    let width = (0_usize..13).prop_filter("has a name", |width| *width != 4 && *width != 8);
    prop_oneof![
        any::<u32>().prop_map(Value::U32),
        any::<u64>().prop_map(Value::U64),
        width.prop_map(|width| Value::Other(vec![7; width])),
    ]
}

/// What a block is made of: ids, and instances with a value for each id.
#[derive(Clone, Debug)]
enum Made {
    Error(u32),
    Single(Value),
    MultiCounters(Vec<(u32, Value)>),
    MultiInstances(Vec<(InstanceInfo, Value)>),
    CounterSet(Vec<u32>, Vec<(InstanceInfo, Vec<Value>)>),
}

fn instance() -> impl Strategy<Value = InstanceInfo> {
    (any::<u32>(), "[^\0]{0,9}").prop_map(|(id, name)| InstanceInfo { instance_id: InstanceId(id), name })
}

fn block() -> impl Strategy<Value = Made> {
    let counter_set = (0_usize..4).prop_flat_map(|count| {
        let values = proptest::collection::vec(value(), count);
        let instances = proptest::collection::vec((instance(), values), 0..4);
        (proptest::collection::vec(any::<u32>(), count), instances)
    });
    prop_oneof![
        any::<u32>().prop_map(Made::Error),
        value().prop_map(Made::Single),
        proptest::collection::vec((any::<u32>(), value()), 0..4).prop_map(Made::MultiCounters),
        proptest::collection::vec((instance(), value()), 0..4).prop_map(Made::MultiInstances),
        counter_set.prop_map(|(ids, instances)| Made::CounterSet(ids, instances)),
    ]
}

fn write(clocks: Clocks, blocks: &[Made]) -> Vec<u8> {
    let mut writer = QueryDataWriter::new(clocks);
    for block in blocks {
        match block {
            Made::Error(status) => writer.error_return(Win32Error(*status)),
            Made::Single(value) => writer.single_counter(value.raw()),
            Made::MultiCounters(values) => {
                let (ids, values): (Vec<_>, Vec<_>) =
                    values.iter().map(|(id, value)| (CounterId(*id), value.raw())).unzip();
                writer.multi_counters(&ids, &values)
            }
            Made::MultiInstances(instances) => {
                writer.multi_instances(instances.iter().map(|(instance, value)| (instance, value.raw())))
            }
            Made::CounterSet(ids, instances) => {
                let ids: Vec<_> = ids.iter().copied().map(CounterId).collect();
                let instances: Vec<_> = instances
                    .iter()
                    .map(|(instance, values)| (instance, values.iter().map(Value::raw).collect::<Vec<_>>()))
                    .collect();
                writer.counter_set(&ids, instances)
            }
        }
        .unwrap();
    }
    writer.finish().unwrap()
}

fn read_back(made: &Made, block: &Block<'_>) {
    let ids: Vec<_> = block.counters().ids().map(|id| id.0).collect();
    let named: Vec<_> = block
        .instances()
        .map(|instance| {
            (instance.instance_id, instance.name.to_string(), instance.values.collect::<Vec<_>>())
        })
        .collect();
    match made {
        Made::Error(status) => assert_eq!((block.status, named.len()), (Win32Error(*status), 0)),
        Made::Single(value) => assert_eq!(named[0].2, [value.raw()]),
        Made::MultiCounters(values) => {
            assert_eq!(ids, values.iter().map(|(id, _)| *id).collect::<Vec<_>>());
            assert_eq!(named[0].2, values.iter().map(|(_, value)| value.raw()).collect::<Vec<_>>());
        }
        Made::MultiInstances(instances) => {
            let expected: Vec<_> = instances
                .iter()
                .map(|(instance, value)| (instance.instance_id, instance.name.clone(), vec![value.raw()]))
                .collect();
            assert_eq!(named, expected);
        }
        Made::CounterSet(counters, instances) => {
            assert_eq!(&ids, counters);
            let expected: Vec<_> = instances
                .iter()
                .map(|(instance, values)| {
                    let values: Vec<_> = values.iter().map(Value::raw).collect();
                    (instance.instance_id, instance.name.clone(), values)
                })
                .collect();
            assert_eq!(named, expected);
        }
    }
}

/// Walks everything and sees to it that what is borrowed lies in the buffer.
fn walk(bytes: &[u8]) {
    let inside = |slice: &[u8]| slice.is_empty() || bytes.as_ptr_range().contains(&slice.as_ptr());
    let Ok(data) = QueryData::parse(bytes) else { return };
    for block in data.blocks().flatten() {
        let count = block.counters().len();
        for instance in block.instances() {
            assert!(inside(instance.name.as_bytes()));
            assert!(instance.name.as_bytes().len() <= bytes.len());
            // Per the promise of `Block` each instance has all of its values.
            let expected = match block.body {
                Body::SingleCounter(_) | Body::MultiInstances(_) => 1,
                _ => count,
            };
            assert_eq!(instance.values.len(), expected);
            let values: Vec<_> = instance.values.collect();
            assert_eq!(values.len(), expected);
            assert!(values.iter().all(|value| match value {
                RawValue::Other(slice) => inside(slice),
                _ => true,
            }));
        }
    }
}

fn read_all(bytes: &[u8]) {
    walk(bytes);
    let _ = CounterSetRegistration::decode(bytes, 100);
    let _ = CounterStrings::decode(bytes, 100);
    let _ = InstanceInfo::decode_list(bytes, 100);
    let _ = CounterIdentifier::decode_list(bytes, 100);
    let _ = QueryCounterDataReply::from_stub(bytes);
    let _ = EnumerateCountersetsReply::from_stub(bytes);
    let _ = ValidateCountersReply::from_stub(bytes);
}

proptest! {
    #[test]
    fn what_is_written_is_read_back(
        ticks in any::<u64>(),
        blocks in proptest::collection::vec(block(), 0..5),
    ) {
        let clocks = Clocks { perf_time_stamp: ticks, perf_freq: 3, perf_time_100ns: FileTime(ticks / 2) };
        let bytes = write(clocks, &blocks);
        let data = QueryData::parse(&bytes).unwrap();
        prop_assert_eq!(data.header().perf_time_stamp, ticks);
        prop_assert_eq!(data.header().perf_time_100ns, FileTime(ticks / 2));
        let read: Vec<_> = data.blocks().map(Result::unwrap).collect();
        prop_assert_eq!(read.len(), blocks.len());
        for ((made, block), index) in blocks.iter().zip(&read).zip(0..) {
            prop_assert_eq!(block.index, index);
            read_back(made, block);
        }
    }

    #[test]
    fn no_bytes_make_a_reader_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        read_all(&bytes);
        for opnum in 0..8 {
            let _ = dispatch(&mut FakeServer::default(), sealed(), opnum, &bytes);
        }
    }

    #[test]
    fn a_reply_with_bytes_changed_is_read_within_its_buffer(
        blocks in proptest::collection::vec(block(), 1..4),
        changes in proptest::collection::vec((any::<proptest::sample::Index>(), any::<u8>()), 1..4),
        cut in any::<proptest::sample::Index>(),
    ) {
        let mut bytes = write(Clocks::default(), &blocks);
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        read_all(&bytes);
        read_all(&bytes[..cut.index(bytes.len())]);
    }

    #[test]
    fn identifiers_and_instances_survive(
        set in any::<u128>(),
        parts in proptest::collection::vec((any::<[u32; 4]>(), proptest::option::of("[^\0]{0,9}")), 0..5),
    ) {
        let identifiers: Vec<_> = parts.iter().map(|([status, counter, instance, index], name)| CounterIdentifier {
            counter_set_guid: Guid::from_u128(set),
            status: Win32Error(*status),
            counter_id: CounterId(*counter),
            instance_id: InstanceId(*instance),
            index: *index,
            instance_name: name.clone(),
        }).collect();
        let bytes = CounterIdentifier::encode_list(&identifiers).unwrap();
        prop_assert_eq!(CounterIdentifier::decode_list(&bytes, 5).unwrap(), identifiers);
        let instances: Vec<_> = parts.into_iter().map(|([id, ..], name)| InstanceInfo {
            instance_id: InstanceId(id),
            name: name.unwrap_or_default(),
        }).collect();
        let bytes = InstanceInfo::encode_list(&instances).unwrap();
        prop_assert_eq!(InstanceInfo::decode_list(&bytes, 5).unwrap(), instances);
    }

    #[test]
    fn counter_strings_survive(
        entries in proptest::collection::vec((any::<u32>(), proptest::option::of("[^\0]{0,9}")), 0..5),
    ) {
        let entries = entries.into_iter().map(|(id, text)| (CounterId(id), text)).collect();
        let strings = CounterStrings { entries };
        let bytes = wire::encode_vec(&strings).unwrap();
        prop_assert_eq!(bytes.len() % 8, 0);
        prop_assert_eq!(CounterStrings::decode(&bytes, 5).unwrap(), strings);
    }
}
