//! Any number of small countersets, for hosts with more than one call can enumerate.

use std::sync::LazyLock;

use counters::pcq::types::{CounterType as T, DetailLevel, InstanceType};
use wire::Guid;

use super::super::population::SECOND;
use super::super::schema::{Counter, Counterset, Sample};
use super::super::{Moment, scale};
use super::SIM_PROVIDER;

/// The maximum of synthetic countersets.
pub const SYNTHETIC_MAX: u32 = 2000;

/// The GUID of `Synthetic 0000`; the others count from there. They are ours.
const FIRST_GUID: u128 = 0x53e7b2a5_5c02_4f6d_9f6c_30ee00000000;

static COUNTERS: [Counter; 2] = [
    Counter::new(1, T::PERF_COUNTER_BULK_COUNT, "Events/sec", "Events since the host was started."),
    Counter::new(2, T::PERF_COUNTER_RAWCOUNT, "Number", "The counterset's number."),
];

/// Made once for the whole process, and only where somebody wants them.
static SETS: LazyLock<Vec<Counterset>> = LazyLock::new(|| {
    let set = |index: u32| Counterset {
        guid: Guid::from_u128(FIRST_GUID + u128::from(index)),
        name: format!("Synthetic {index:04}").leak(),
        explain: "One of many small countersets.",
        german: None,
        german_explain: None,
        provider: &SIM_PROVIDER,
        detail: DetailLevel::NOVICE,
        instances: if index.is_multiple_of(2) { InstanceType::SINGLE } else { InstanceType::MULTIPLE },
        counters: &COUNTERS,
    };
    (0..SYNTHETIC_MAX).map(set).collect()
});

/// The first `count` of them: one instance in those of even number; `a` and `b` in the others.
pub(crate) fn sets(count: u32) -> impl Iterator<Item = &'static Counterset> {
    let sets = if count == 0 { &[] } else { SETS.as_slice() };
    sets.iter().take(usize::try_from(count).unwrap_or(usize::MAX))
}

/// The one with this GUID, among the first `count`.
pub(crate) fn find(guid: Guid, count: u32) -> Option<&'static Counterset> {
    let index = guid.to_u128().checked_sub(FIRST_GUID)?;
    if index < u128::from(count) { SETS.get(usize::try_from(index).ok()?) } else { None }
}

/// With t the uptime in seconds, number i has made (i + 1) · t events; instance `b` twice as many.
pub(crate) fn sample(set: &'static Counterset, at: &Moment) -> Vec<Sample> {
    let number = u64::try_from(set.guid.to_u128() - FIRST_GUID).unwrap_or(0);
    let events = scale(at.uptime_100ns(), number + 1, SECOND);
    if set.has_instances() {
        let instance =
            |(id, name): (u32, &str)| Sample::of_numbers(set, name, id, &[events * u64::from(id), number]);
        [(1, "a"), (2, "b")].into_iter().map(instance).collect()
    } else {
        vec![Sample::of_numbers(set, "", 0, &[events, number])]
    }
}
