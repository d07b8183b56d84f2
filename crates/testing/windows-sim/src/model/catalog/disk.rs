use counters::pcq::types::{AggregateFunc, CounterType as T, DetailLevel, InstanceType};
use wire::Guid;

use super::super::population::{SECOND, noise_in};
use super::super::schema::{Counter, Counterset, Sample};
use super::super::{Moment, scale};
use super::{Machine, SIM_PROVIDER};

/// The GUID, the ids and the instance type are public; the counters' type is taken from their use.
pub(crate) static FILE_SYSTEM_DISK_ACTIVITY: Counterset = Counterset {
    guid: Guid::from_u128(0xf596750d_b109_4247_a62f_dea47a46e505),
    name: "FileSystem Disk Activity",
    explain: "Bytes that file systems read from disks and write to them.",
    german: Some("Datenträgeraktivität des Dateisystems"),
    provider: &SIM_PROVIDER,
    detail: DetailLevel::ADVANCED,
    instances: InstanceType::MULTIPLE_AGGREGATE,
    counters: &COUNTERS,
};

static COUNTERS: [Counter; 2] = [
    Counter::new(
        0,
        T::PERF_COUNTER_LARGE_RAWCOUNT,
        "FileSystem Bytes Read",
        "Bytes that file systems have read.",
    )
    .aggregate(AggregateFunc::TOTAL)
    .german("Vom Dateisystem gelesene Bytes"),
    Counter::new(
        1,
        T::PERF_COUNTER_LARGE_RAWCOUNT,
        "FileSystem Bytes Written",
        "Bytes that file systems have written.",
    )
    .aggregate(AggregateFunc::TOTAL)
    .german("Vom Dateisystem geschriebene Bytes"),
];

/// Bytes read and written. With t the uptime in seconds: read = 4096 · r · t, written = 4096 · w · t, r and w by the seed.
pub(super) fn bytes(machine: Machine, at: &Moment) -> [u64; 2] {
    let bytes =
        |index, high| scale(at.uptime_100ns(), 4096 * noise_in(machine.seed, index, 20, high), SECOND);
    [bytes(0xd150, 4_000), bytes(0xd151, 1_000)]
}

pub(super) fn sample(machine: Machine, at: &Moment) -> Vec<Sample> {
    let numbers = bytes(machine, at);
    (0..)
        .zip(["default", "_Total"])
        .map(|(id, name)| Sample::of_numbers(&FILE_SYSTEM_DISK_ACTIVITY, name, id, &numbers))
        .collect()
}
