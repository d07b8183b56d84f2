use counters::pcq::types::{CounterType as T, DetailLevel, InstanceType};
use wire::Guid;

use super::super::population::{SECOND, noise_in};
use super::super::schema::{Counter, Counterset, Sample};
use super::super::{Moment, scale};
use super::{Machine, SIM_PROVIDER};

/// The GUID is ours: none is public. One instance, without a name.
pub(crate) static HTTP_SERVICE: Counterset = Counterset {
    guid: Guid::from_u128(0xe7d3d6eb_f994_4e5b_bbe6_6d398360d663),
    name: "HTTP Service",
    explain: "The URI cache of the kernel's HTTP service.",
    german: Some("HTTP-Dienst"),
    provider: &SIM_PROVIDER,
    detail: DetailLevel::NOVICE,
    instances: InstanceType::SINGLE,
    counters: &COUNTERS,
};

static COUNTERS: [Counter; 6] = [
    Counter::new(1, T::PERF_COUNTER_RAWCOUNT, "CurrentUrisCached", "URIs in the cache now."),
    Counter::new(
        2,
        T::PERF_COUNTER_RAWCOUNT,
        "TotalUrisCached",
        "URIs added to the cache since the service started.",
    ),
    Counter::new(3, T::PERF_COUNTER_RAWCOUNT, "UriCacheHits", "Look-ups in the cache that found their URI."),
    Counter::new(
        4,
        T::PERF_COUNTER_RAWCOUNT,
        "UriCacheMisses",
        "Look-ups in the cache that did not find their URI.",
    ),
    Counter::new(5, T::PERF_COUNTER_RAWCOUNT, "UriCacheFlushes", "Times that the cache was emptied."),
    Counter::new(
        6,
        T::PERF_COUNTER_RAWCOUNT,
        "TotalFlushedUris",
        "URIs removed from the cache since the service started.",
    ),
];

/// With h = r · t hits after t seconds: misses = h/20, cached = misses/2, a flush each 10 minutes, and what was
/// cached but is not now (all but 64 at most) was flushed.
pub(super) fn sample(machine: Machine, at: &Moment) -> Vec<Sample> {
    let hits = scale(at.uptime_100ns(), noise_in(machine.seed, 0x4777, 5, 500), SECOND);
    let cached = hits / 40;
    let current = cached.min(64);
    let flushes = at.uptime_100ns() / (600 * SECOND);
    let numbers = [current, cached, hits, hits / 20, flushes, cached - current];
    vec![Sample::of_numbers(&HTTP_SERVICE, "", 0, &numbers)]
}
