use counters::pcq::types::{CounterType as T, DetailLevel, InstanceType};
use wire::Guid;

use super::super::clock::{Moment, scale};
use super::super::population::SECOND;
use super::super::schema::{Counter, Counterset, Sample};
use super::{Machine, SIM_PROVIDER};

/// The GUID is ours. Instances share names, which Windows does not prevent ([MS-PCQ] <3>).
pub(crate) static DUPLICATES: Counterset = Counterset {
    guid: Guid::from_u128(0x53e7b2a5_5c02_4f6d_9f6c_30ed2ff2a004),
    name: "Duplicates",
    explain: "Instances that share names: some differ by their number, some by case, two by nothing.",
    german: Some("Doppelte"),
    provider: &SIM_PROVIDER,
    detail: DetailLevel::NOVICE,
    instances: InstanceType::MULTIPLE,
    counters: &COUNTERS,
};

static COUNTERS: [Counter; 2] = [
    Counter::new(1, T::PERF_COUNTER_BULK_COUNT, "Events/sec", "Events of the instance."),
    Counter::new(2, T::PERF_COUNTER_RAWCOUNT, "Place", "The instance's place among all, from 1."),
];

const INSTANCES: [(&str, u32); 7] = [
    ("worker", 1),
    ("worker", 2),
    ("Worker", 3),
    ("worker", 4),
    ("idle", 1),
    // Nothing tells these two apart.
    ("twin", 7),
    ("twin", 7),
];

/// With t the uptime in seconds, the instance in place j has made 100 · j · t events.
pub(super) fn sample(_: Machine, at: &Moment) -> Vec<Sample> {
    (1..)
        .zip(INSTANCES)
        .map(|(place, (name, id))| {
            let numbers = [scale(at.uptime_100ns(), 100 * place, SECOND), place];
            Sample::of_numbers(&DUPLICATES, name, id, &numbers)
        })
        .collect()
}
