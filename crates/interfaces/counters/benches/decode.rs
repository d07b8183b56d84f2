//! Reading replies of `PerflibV2QueryCounterData` beside a memcpy of the same bytes: one counterset of 64 instances ×
//! 32 counters, which stays in the processor's cache, and 200 countersets × 64 instances × 8 counters.
//!
//! `cargo bench -p counters --bench decode` prints the tables. Guarded number: reading every value of the smaller one, from the stub
//! to 64-bit numbers, takes at most ten times a memcpy; of the larger one, too. Nothing is allocated on the way, which
//! a test sees to.
#![allow(clippy::unwrap_used, reason = "a benchmark fails by panicking")]

use std::hint::black_box;
use std::process::ExitCode;

use counters::pcq::perflibv2::methods::QueryCounterDataReply;
use counters::pcq::types::{CounterId, InstanceId};
use counters::pcq::wire::{Clocks, InstanceInfo, QueryData, QueryDataWriter, RawValue};
use rpc::ndr::{ConformantVarying, ConformantVaryingBytes, Reader, Writer};
use rpc::{FromStub, Message};
use test_support::race::{Goal, Race};
use wire::{FileTime, Win32Error};

const INSTANCES: u32 = 64;
const ROUNDS: usize = 20;
/// How often a reply that takes microseconds is read in one round.
const TIMES: u32 = 500;

const READ: &str = "blocks, instances and values";
const GOAL: Goal<'static> = Goal { name: READ, yardstick: "memcpy", ratio: 10.0 };

fn main() -> ExitCode {
    let holds = one_counter_set() & many_counter_sets();
    integers();
    if holds { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn reply_stub(data: &[u8]) -> Vec<u8> {
    let size = u32::try_from(data.len()).unwrap();
    let data = ConformantVaryingBytes { max_count: size, bytes: data.into() };
    let status = Win32Error::ERROR_SUCCESS;
    QueryCounterDataReply { out_size: size, rtn_size: size, data, status }.to_stub().unwrap()
}

fn one_counter_set() -> bool {
    const COUNTERS: u32 = 32;
    let data = counter_data(1, COUNTERS);
    let stub = reply_stub(&data);
    let mut copy = vec![0; stub.len()];
    let values = u64::from(INSTANCES * COUNTERS);
    let workload = "QueryCounterData of 64 instances × 32 counters";
    let results = Race::new(workload, "value", values * u64::from(TIMES))
        .contestant("memcpy", || {
            for _ in 0..TIMES {
                black_box(&mut copy).copy_from_slice(black_box(&stub));
            }
        })
        .contestant("blocks, all sizes checked", || {
            for _ in 0..TIMES {
                assert_eq!(QueryData::parse(black_box(&data)).unwrap().blocks().flatten().count(), 1);
            }
        })
        .contestant(READ, || {
            for _ in 0..TIMES {
                let stub = black_box(&stub);
                let reply = QueryCounterDataReply::from_stub(stub).unwrap();
                assert_eq!(sum(&reply.data.bytes, None).1, values);
            }
        })
        .run(ROUNDS);
    let holds = results.judge(&[GOAL]);
    println!("  {} bytes\n", data.len());
    holds
}

fn many_counter_sets() -> bool {
    const COUNTERSETS: u32 = 200;
    const COUNTERS: u32 = 8;
    let data = counter_data(COUNTERSETS, COUNTERS);
    let stub = reply_stub(&data);
    let mut copy = vec![0; stub.len()];
    let values = u64::from(COUNTERSETS * INSTANCES * COUNTERS);
    let workload = "QueryCounterData of 200 countersets × 64 instances × 8 counters";
    let mut names = Vec::with_capacity(data.len());
    let results = Race::new(workload, "value", values)
        .contestant("memcpy", || black_box(&mut copy).copy_from_slice(black_box(&stub)))
        .contestant("NDR: stub to buffer", || {
            black_box(QueryCounterDataReply::from_stub(black_box(&stub)).unwrap());
        })
        .contestant("blocks, all sizes checked", || {
            assert_eq!(QueryData::parse(black_box(&data)).unwrap().blocks().flatten().count(), 200);
        })
        .contestant(READ, || assert_eq!(sum(black_box(&data), None).1, values))
        .contestant("the same, with names collected", || {
            names.clear();
            assert_eq!(sum(black_box(&data), Some(&mut names)).1, values);
        })
        .run(ROUNDS);
    let holds = results.judge(&[GOAL]);
    println!("  {} bytes\n", data.len());
    holds
}

fn integers() {
    let guids = ConformantVarying { max_count: 1 << 20, elements: vec![0x1234_5678_u32; 1 << 18] };
    let mut dst = Writer::new();
    dst.write(&guids).unwrap();
    let stub = dst.into_stub();
    let mut copy = vec![0; stub.len()];
    let results = Race::new("NDR: conformant varying array of 32-bit integers", "element", 1 << 18)
        .contestant("memcpy", || black_box(&mut copy).copy_from_slice(black_box(&stub)))
        .contestant("read element by element", || {
            let array: ConformantVarying<u32> = Reader::new(black_box(&stub), "Call").read("p").unwrap();
            black_box(array);
        })
        .run(ROUNDS);
    println!("{results}");
}

fn counter_data(counter_sets: u32, counters: u32) -> Vec<u8> {
    let instances: Vec<_> = (0..INSTANCES)
        .map(|id| InstanceInfo { instance_id: InstanceId(id), name: format!("0,{id}") })
        .collect();
    let ids: Vec<_> = (0..counters).map(CounterId).collect();
    // Half of the counters have 32 bits.
    let values: Vec<_> = (0..counters)
        .map(|id| if id % 2 == 0 { RawValue::U64(id.into()) } else { RawValue::U32(id) })
        .collect();
    let clocks = Clocks { perf_time_stamp: 1, perf_freq: 10_000_000, perf_time_100ns: FileTime(1) };
    let mut writer = QueryDataWriter::new(clocks);
    for _ in 0..counter_sets {
        let with_values = instances.iter().map(|instance| (instance, &values));
        writer.counter_set(&ids, with_values).unwrap();
    }
    writer.finish().unwrap()
}

/// Sum and number of all values.
fn sum(data: &[u8], mut names: Option<&mut Vec<u8>>) -> (u64, u64) {
    let (mut sum, mut count) = (0_u64, 0);
    for block in QueryData::parse(data).unwrap().blocks() {
        for instance in block.unwrap().instances() {
            if let Some(names) = &mut names {
                names.extend_from_slice(instance.name.as_bytes());
            }
            instance.values.map(RawValue::to_u64).for_each(|value| {
                sum = sum.wrapping_add(value.unwrap());
                count += 1;
            });
        }
    }
    (sum, count)
}
