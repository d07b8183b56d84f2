//! Reading performance data of the registry beside a memcpy of the same bytes: some 300 KB, as a busy server sends of
//! its processes, disks and network interfaces.
//!
//! `cargo bench -p counters --bench decode_perflib_v1` prints the table. Guarded number: reading every value, from the value's bytes to 64-bit
//! numbers, takes at most five times a memcpy. Nothing is allocated on the way, which a test sees to.
#![allow(clippy::unwrap_used, reason = "a benchmark fails by panicking")]

use std::hint::black_box;
use std::process::ExitCode;

use counters::pcq::types::CounterType as T;
use counters::perflib_v1::write::{Counter, Data, Header, Instance, Object, encode};
use counters::perflib_v1::{DataBlock, Definitions, Instances};
use test_support::race::{Goal, Race};

const ROUNDS: usize = 20;
/// How often the data is read in one round.
const TIMES: u32 = 50;
const READ: &str = "objects, instances and values";
const GOAL: Goal<'static> = Goal { name: READ, yardstick: "memcpy", ratio: 5.0 };

fn main() -> ExitCode {
    let (bytes, values) = data();
    let mut copy = vec![0; bytes.len()];
    let mut definitions: Vec<Definitions> = Vec::new();
    definitions.resize_with(OBJECTS.len(), Definitions::default);
    let results = Race::new("performance data of the registry", "value", values * u64::from(TIMES))
        .contestant("memcpy", || {
            for _ in 0..TIMES {
                black_box(&mut copy).copy_from_slice(black_box(&bytes));
            }
        })
        .contestant("objects, all sizes checked", || {
            for _ in 0..TIMES {
                let block = DataBlock::decode(black_box(&bytes)).unwrap();
                assert_eq!(block.objects().flatten().count(), OBJECTS.len());
            }
        })
        .contestant(READ, || {
            for _ in 0..TIMES {
                assert_eq!(sum(black_box(&bytes), &mut definitions).1, values);
            }
        })
        .run(ROUNDS);
    let holds = results.judge(&[GOAL]);
    println!("  {} bytes", bytes.len());
    if holds { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// All values, added up and counted.
fn sum(bytes: &[u8], definitions: &mut [Definitions]) -> (u64, u64) {
    let (mut sum, mut count) = (0_u64, 0);
    let block = DataBlock::decode(bytes).unwrap();
    for (object, definitions) in block.objects().flatten().zip(definitions) {
        definitions.update(&object);
        let Instances::Many(instances) = object.instances() else { continue };
        for instance in instances {
            for field in definitions.fields() {
                sum = sum.wrapping_add(field.number(&instance.values).unwrap_or(0));
                count += 1;
            }
        }
    }
    (sum, count)
}

/// Index, instances and counters of each object.
const OBJECTS: [(u32, u32, u32); 5] =
    [(230, 700, 28), (234, 24, 31), (236, 48, 34), (510, 60, 34), (238, 65, 15)];

fn data() -> (Vec<u8>, u64) {
    let objects = OBJECTS.map(|(name_index, instances, counters)| Object {
        name_index,
        counters: (0..counters)
            .map(|counter| Counter { counter_type: type_of(counter), ..Counter::default() })
            .collect(),
        data: Data::Instances(
            (0..instances)
                .map(|instance| Instance {
                    name: format!("instance_{instance}"),
                    values: (0..counters).map(|counter| u64::from(instance * 1_000 + counter)).collect(),
                    ..Instance::default()
                })
                .collect(),
        ),
        ..Object::default()
    });
    let values = OBJECTS.iter().map(|(_, instances, counters)| u64::from(instances * counters)).sum();
    (encode(&Header::default(), &objects).unwrap(), values)
}

/// Numbers of both widths, as real objects mix them.
const fn type_of(counter: u32) -> T {
    match counter % 4 {
        0 => T::PERF_COUNTER_RAWCOUNT,
        1 => T::PERF_100NSEC_TIMER,
        2 => T::PERF_COUNTER_BULK_COUNT,
        _ => T::PERF_COUNTER_LARGE_RAWCOUNT,
    }
}
