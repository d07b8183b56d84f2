//! For all blocks: reading gives what was written, no bytes panic, and reading allocates nothing.

use counters::pcq::types::{CounterType, DetailLevel};
use counters::perflib_v1::write::{Counter, Data, Header, Instance, Object, encode};
use counters::perflib_v1::{CounterBlock, DataBlock, Instances, ObjectType, Parent, Value};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use wire::FileTime;

fn counter() -> impl Strategy<Value = Counter> {
    let types = [
        CounterType::PERF_COUNTER_COUNTER,
        CounterType::PERF_COUNTER_BULK_COUNT,
        CounterType::PERF_COUNTER_NODATA,
        CounterType(0xffff_fdff),
    ];
    (any::<u32>(), any::<u32>(), any::<i32>(), prop::sample::select(types.to_vec())).prop_map(
        |(name_index, help_index, default_scale, counter_type)| Counter {
            name_index,
            help_index,
            default_scale,
            detail_level: DetailLevel(400),
            counter_type,
            ..Counter::default()
        },
    )
}

fn instance(values: usize) -> impl Strategy<Value = Instance> {
    let parent = option::of((1..9_u32, 0..9_u32).prop_map(|(object, position)| Parent { object, position }));
    ("[^\0]{0,20}", parent, option::of(0..9_i32), vec(any::<u64>(), values))
        .prop_map(|(name, parent, unique_id, values)| Instance { name, parent, unique_id, values })
}

fn object() -> impl Strategy<Value = Object> {
    let data = |values| {
        prop_oneof![
            vec(any::<u64>(), values).prop_map(Data::Single),
            vec(instance(values), 0..5).prop_map(Data::Instances),
            Just(Data::Unasked),
        ]
    };
    let counters = vec(counter(), 0..6);
    (any::<[u32; 2]>(), any::<[u64; 2]>(), any::<i32>(), counters)
        .prop_flat_map(move |(indexes, clock, default, counters)| {
            (Just((indexes, clock, default, counters.clone())), data(counters.len()))
        })
        .prop_map(|((indexes, [perf_time, perf_freq], default_counter, counters), data)| Object {
            name_index: indexes[0],
            help_index: indexes[1],
            detail_level: DetailLevel::ADVANCED,
            perf_time,
            perf_freq,
            counters,
            default_counter,
            data,
        })
}

fn header() -> impl Strategy<Value = Header> {
    ("[^\0]{0,20}", any::<u64>(), any::<u64>(), 0..1_u64 << 62).prop_map(
        |(system_name, perf_time, perf_freq, time)| Header {
            system_name,
            perf_time,
            perf_freq,
            time: FileTime(time),
        },
    )
}

/// The bits of `values` that a block with these counters can hold.
fn kept(counters: &[Counter], values: &[u64]) -> Vec<Option<u64>> {
    let kept = counters.iter().zip(values).map(|(counter, value)| match counter.counter_type.0 & 0x300 {
        0 => Some(value & u64::from(u32::MAX)),
        0x100 => Some(*value),
        _ => None,
    });
    kept.collect()
}

fn read(object: &ObjectType<'_>, values: &CounterBlock<'_>) -> Vec<Option<u64>> {
    object.counters().map(|counter| values.value(&counter).and_then(Value::number)).collect()
}

fn check(read_object: &ObjectType<'_>, written: &Object) {
    let Object {
        name_index,
        help_index,
        detail_level,
        perf_time,
        perf_freq,
        counters,
        default_counter,
        data,
    } = written;
    assert_eq!(read_object.default_counter, *default_counter);
    assert_eq!((read_object.name_index, read_object.help_index), (*name_index, *help_index));
    assert_eq!(read_object.detail_level, *detail_level);
    assert_eq!((read_object.perf_time, read_object.perf_freq), (*perf_time, *perf_freq));
    let definitions = read_object.counters().map(|counter| {
        (
            counter.name_index,
            counter.help_index,
            counter.default_scale,
            counter.detail_level,
            counter.counter_type,
        )
    });
    let expected = counters.iter().map(|counter| {
        (
            counter.name_index,
            counter.help_index,
            counter.default_scale,
            counter.detail_level,
            counter.counter_type,
        )
    });
    assert!(definitions.eq(expected));
    match (read_object.instances(), data) {
        (Instances::Unasked, Data::Unasked) => {}
        (Instances::Single(block), Data::Single(values)) => {
            assert_eq!(read(read_object, &block), kept(counters, values));
        }
        (Instances::Many(many), Data::Instances(instances)) => {
            assert_eq!(many.len(), instances.len());
            for (one, expected) in many.zip(instances) {
                assert!(one.name().eq(expected.name.chars()));
                assert_eq!((one.parent, one.unique_id), (expected.parent, expected.unique_id));
                assert_eq!(read(read_object, &one.values), kept(counters, &expected.values));
            }
        }
        (read, written) => panic!("{read:?} of {written:?}"),
    }
}

fn walk(bytes: &[u8]) -> usize {
    let Ok(block) = DataBlock::decode(bytes) else { return 0 };
    let mut values = 0;
    for object in block.objects().flatten() {
        let mut count = |block: CounterBlock<'_>| {
            values += object.counters().filter(|counter| block.value(counter).is_some()).count();
        };
        match object.instances() {
            Instances::Single(block) => count(block),
            Instances::Many(many) => many.for_each(|instance| {
                count(instance.values);
                std::hint::black_box(instance.name().count());
            }),
            Instances::Unasked => {}
        }
    }
    values
}

proptest! {
    #[test]
    fn what_is_written_is_read(header in header(), objects in vec(object(), 0..4)) {
        let bytes = encode(&header, &objects).unwrap();
        let block = DataBlock::decode(&bytes).unwrap();
        prop_assert_eq!(block.header.total_size_bytes as usize, bytes.len());
        prop_assert_eq!(block.system_name.to_string(), header.system_name);
        prop_assert_eq!(
            (block.header.perf_time, block.header.perf_freq, block.header.perf_time_100ns),
            (header.perf_time, header.perf_freq, header.time)
        );
        prop_assert_eq!(block.objects().count(), objects.len());
        for (read, written) in block.objects().zip(&objects) {
            check(&read.unwrap(), written);
        }
    }

    #[test]
    fn bytes_that_were_damaged_do_not_panic(
        objects in vec(object(), 1..4),
        damage in vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
        end in any::<prop::sample::Index>(),
    ) {
        let mut bytes = encode(&Header::default(), &objects).unwrap();
        for (at, byte) in damage {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        walk(&bytes);
        walk(&bytes[..end.index(bytes.len())]);
    }
}

#[test]
fn reading_allocates_nothing() {
    let bytes = include_bytes!("data/samba-900-instances.bin");
    let mut values = 0;
    let allocated = allocation_counter::measure(|| values = walk(bytes));
    assert_eq!(allocated.count_total, 0);
    assert!(values > 900, "{values}");
}
