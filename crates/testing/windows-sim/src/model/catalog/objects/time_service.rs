use counters::pcq::types::CounterType as T;
use counters::perflib_v1::write::Data;

use super::super::super::object::{PerfCounter as C, PerfObject};
use super::figures::Figures;

/// Its index and those of its counters are ours: they differ between hosts. "Windows Time service tools and settings"
/// has the names; the times are in microseconds.
pub(crate) static TIME_SERVICE: PerfObject =
    PerfObject::new(1870, "Windows Time Service", "The clock of the host and its time servers.", &COUNTERS)
        .german("Windows-Zeitdienst");

static COUNTERS: [C; 7] = [
    C::new(
        1872,
        T::PERF_COUNTER_LARGE_RAWCOUNT,
        "Computed Time Offset",
        "How far the clock is from the time of its server, in microseconds.",
    ),
    C::new(
        1874,
        T::PERF_COUNTER_RAWCOUNT,
        "Clock Frequency Adjustment",
        "How much the clock gains at each tick, in 100 ns.",
    ),
    C::new(
        1876,
        T::PERF_COUNTER_RAWCOUNT,
        "Clock Frequency Adjustment (ppb)",
        "How much faster than it would by itself the clock runs, in parts of a billion.",
    ),
    C::new(
        1878,
        T::PERF_COUNTER_RAWCOUNT,
        "NTP Roundtrip Delay",
        "How long the last answer of a time server took, in microseconds.",
    ),
    C::new(1880, T::PERF_COUNTER_RAWCOUNT, "NTP Client Time Source Count", "Time servers in use."),
    C::new(1882, T::PERF_COUNTER_BULK_COUNT, "NTP Server Incoming Requests", "Questions from NTP clients."),
    C::new(1884, T::PERF_COUNTER_BULK_COUNT, "NTP Server Outgoing Responses", "Answers to NTP clients."),
];

/// A host that asks one time server, and is none itself.
pub(super) fn data(figures: &Figures<'_>) -> Data {
    Data::Single(vec![
        figures.level(0x71e0, 20, 900),
        156_250,
        figures.level(0x71e1, 100, 400),
        figures.level(0x71e2, 300, 2_500),
        1,
        0,
        0,
    ])
}
