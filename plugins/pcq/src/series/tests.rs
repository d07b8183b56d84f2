use std::time::Duration;

use counter_poll::registration::Counter;
use counter_poll::{Counterset, CountersetPoller, Provider, Wanted, clocks_of};
use counter_types::CounterType;
use counters::pcq::types::{CounterId, InstanceId, InstanceType};
use counters::pcq::wire::{Clocks, CounterRegInfo, InstanceInfo, QueryData, QueryDataWriter, RawValue};
use parking_lot::Mutex;
use plugin_sdk::testing::{FakeInstance, FakeOutcome};
use plugin_sdk::{Collection, Coverage, Failure, Problem, Setup, Source, Target};
use serde_json::json;
use test_support::future::now;
use wire::{FileTime, Guid};

use super::ExporterIds;
use crate::config::{self, Settings};

const INSTANCES: u32 = 64;
const COUNTERS: u32 = 8;

/// Decodes and emits one invented reply in each collection, and records allocations.
struct Replay {
    wanted: Vec<Wanted>,
    polled: Option<CountersetPoller<ExporterIds>>,
    round: u64,
}

static ALLOCATIONS: Mutex<Vec<u64>> = Mutex::new(Vec::new());
/// Memory kept between replies, recorded when the source is dropped.
static KEPT_BYTES: Mutex<Option<i64>> = Mutex::new(None);

impl Drop for Replay {
    fn drop(&mut self) {
        let polled = self.polled.take();
        let freed = allocation_counter::measure(|| drop(polled));
        *KEPT_BYTES.lock() = Some(-freed.bytes_current);
    }
}

impl Source for Replay {
    const NAME: &'static str = "replay";
    const HELP: &'static str = "Emits made-up replies";
    type Settings = Settings;

    fn create(setup: Setup<Settings>) -> Result<Self, Vec<Problem>> {
        Ok(Self { wanted: config::compile(&setup.settings)?, polled: None, round: 0 })
    }

    fn reconfigure(&mut self, _settings: Settings) {}

    async fn collect(&mut self, collection: &mut Collection) -> Result<Coverage, Failure> {
        self.round += 1;
        let reply = reply(self.round);
        let wanted = &self.wanted[0];
        let polled = self
            .polled
            .get_or_insert_with(|| CountersetPoller::new(&counterset(), wanted, collection.output()));
        let output = collection.output();
        let allocated = allocation_counter::measure(|| {
            let data = QueryData::parse(&reply).expect("our own reply");
            for block in data.blocks() {
                let (block, clocks) = (block.expect("our own block"), clocks_of(data.header()));
                now(polled.emit(&block.into(), clocks, wanted, output));
            }
        });
        ALLOCATIONS.lock().push(allocated.count_total);
        Ok(Coverage::Full)
    }
}

fn counterset() -> Counterset {
    let kinds = [
        CounterType::PERF_COUNTER_COUNTER,
        CounterType::PERF_COUNTER_BULK_COUNT,
        CounterType::PERF_100NSEC_TIMER,
        CounterType::PERF_COUNTER_LARGE_RAWCOUNT,
    ];
    let counters = (0..COUNTERS).zip(kinds.iter().cycle()).map(|(id, kind)| Counter {
        info: CounterRegInfo::new(CounterId(id), *kind),
        name: format!("Counter {id}"),
        local_name: None,
        help: String::new(),
    });
    Counterset {
        provider: Provider::V2(Guid::from_u128(1)),
        name: "Things".to_owned(),
        local_name: None,
        instance_type: InstanceType::MULTIPLE,
        is_type_inferred: false,
        counters: counters.collect(),
    }
}

fn reply(round: u64) -> Vec<u8> {
    let mut writer = QueryDataWriter::new(Clocks {
        perf_time_stamp: round * 10_000_000,
        perf_freq: 10_000_000,
        perf_time_100ns: FileTime(round * 10_000_000),
    });
    let ids: Vec<CounterId> = (0..COUNTERS).map(CounterId).collect();
    let things: Vec<InstanceInfo> = (0..INSTANCES)
        .map(|id| InstanceInfo { instance_id: InstanceId(id), name: format!("thing {id}") })
        .collect();
    let value = |id: u32| match id % 4 {
        0 => RawValue::U32(u32::try_from(round).expect("few rounds")),
        _ => RawValue::U64(round),
    };
    let values: Vec<RawValue<'_>> = (0..COUNTERS).map(value).collect();
    let instances = things.iter().map(|thing| (thing, values.as_slice()));
    writer.counter_set(&ids, instances).expect("a reply that fits");
    writer.finish().expect("a reply that fits")
}

/// All memory of a source except its buffers of 12 bytes per value, at most 8,192 values.
const KEPT_BYTES_A_SERIES_MAX: i64 = 80;

// 64 instances × 8 counters.
#[test]
fn a_steady_reply_is_emitted_without_an_allocation_from_at_most_80_bytes_a_series() {
    let settings = json!({"countersets": [{"name": "Things", "instances": {"exclude": ["thing 7"]}}]});
    let fake = FakeInstance::create::<Replay>(Target::default(), &settings).expect("settings that are right");
    for _ in 0..4 {
        let done = fake.collect(Duration::from_secs(60)).expect("the collection ends");
        assert_eq!(done.outcome, FakeOutcome::Full);
    }
    let seen = fake.seen();
    assert_eq!(seen.series.len(), ((INSTANCES - 1) * COUNTERS) as usize);
    assert!(seen.series.iter().all(|series| series.value.is_some()));
    let allocations = ALLOCATIONS.lock().clone();
    assert!(allocations[0] > 0, "the first one registers");
    // Two buffers alternate, so the second one has its size after the second reply.
    assert!(allocations[1] < 10, "{allocations:?}");
    assert_eq!(allocations[2..], [0, 0]);
    assert!(fake.destroy(), "it says that it is destroyed");
    let kept = KEPT_BYTES.lock().expect("the source was dropped");
    let series = i64::from((INSTANCES - 1) * COUNTERS);
    assert!((1..=KEPT_BYTES_A_SERIES_MAX).contains(&(kept / series)), "{kept} bytes of {series} series");
}
