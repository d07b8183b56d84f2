use counters::pcq::types::{CounterType as T, DetailLevel, InstanceType};
use wire::Guid;

use super::super::population::SECOND;
use super::super::schema::{Counter, Counterset, Sample};
use super::super::{Moment, scale};
use super::{Machine, SIM_PROVIDER};

/// The GUID is ours.
const GUID: Guid = Guid::from_u128(0x53e7b2a5_5c02_4f6d_9f6c_30ed2ff2a006);

/// Before its provider is updated.
pub(crate) static UPDATES: Counterset = counterset(COUNTERS.split_at(2).0);
/// After that: two counters more, and the others as before.
pub(crate) static UPDATES_LATER: Counterset = counterset(&COUNTERS);

const fn counterset(counters: &'static [Counter]) -> Counterset {
    Counterset {
        guid: GUID,
        name: "Updates",
        explain: "What a provider registers that may be replaced by a newer one while it is polled.",
        german: None,
        german_explain: None,
        provider: &SIM_PROVIDER,
        detail: DetailLevel::NOVICE,
        instances: InstanceType::SINGLE,
        counters,
    }
}

static COUNTERS: [Counter; 4] = [
    Counter::new(1, T::PERF_COUNTER_BULK_COUNT, "Events/sec", "Events since the host was started."),
    Counter::new(2, T::PERF_COUNTER_RAWCOUNT, "Level", "Always 2."),
    Counter::new(3, T::PERF_COUNTER_LARGE_RAWCOUNT, "Level Peak", "Always 3."),
    Counter::new(4, T::PERF_100NSEC_TIMER, "% Busy Time", "Always half of the time."),
];

/// With t the uptime in 100 ns: ten events a second, and busy for t/2.
pub(super) fn sample(_: Machine, at: &Moment) -> Vec<Sample> {
    vec![Sample::of_numbers(&UPDATES, "", 0, &numbers(at)[..2])]
}

pub(crate) fn sample_later(at: &Moment) -> Vec<Sample> {
    vec![Sample::of_numbers(&UPDATES_LATER, "", 0, &numbers(at))]
}

fn numbers(at: &Moment) -> [u64; 4] {
    [scale(at.uptime_100ns(), 10, SECOND), 2, 3, at.uptime_100ns() / 2]
}
