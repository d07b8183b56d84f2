use counters::pcq::types::CounterType as T;
use counters::perflib_v1::write::Data;

use super::super::super::object::{PerfCounter as C, PerfObject};
use super::figures::Figures;

/// The index is public, as are those of its counters and their types.
pub(crate) static CACHE: PerfObject = PerfObject::new(86, "Cache", "The file system cache.", &COUNTERS)
    .german("Cache")
    .advanced()
    .default_counter(14);

static COUNTERS: [C; 33] = [
    C::new(88, T::PERF_COUNTER_COUNTER, "Data Maps/sec", "Mappings of file pages into the cache."),
    C::new(90, T::PERF_COUNTER_COUNTER, "Sync Data Maps/sec", "Such mappings whose caller waited.")
        .advanced(),
    C::new(92, T::PERF_COUNTER_COUNTER, "Async Data Maps/sec", "Such mappings whose caller did not wait.")
        .advanced(),
    C::new(94, T::PERF_SAMPLE_FRACTION, "Data Map Hits %", "Share of data maps that needed no read.")
        .advanced(),
    C::base(94, T::PERF_SAMPLE_BASE),
    C::new(96, T::PERF_COUNTER_COUNTER, "Data Map Pins/sec", "Data maps that pinned a page in memory.")
        .advanced(),
    C::new(98, T::PERF_COUNTER_COUNTER, "Pin Reads/sec", "Reads that pinned data in the cache.").advanced(),
    C::new(100, T::PERF_COUNTER_COUNTER, "Sync Pin Reads/sec", "Pin reads whose caller waited.").advanced(),
    C::new(102, T::PERF_COUNTER_COUNTER, "Async Pin Reads/sec", "Pin reads whose caller did not wait.")
        .advanced(),
    C::new(104, T::PERF_SAMPLE_FRACTION, "Pin Read Hits %", "Share of pin reads that needed no read.")
        .advanced(),
    C::base(104, T::PERF_SAMPLE_BASE),
    C::new(106, T::PERF_COUNTER_COUNTER, "Copy Reads/sec", "Reads that copied from the cache."),
    C::new(108, T::PERF_COUNTER_COUNTER, "Sync Copy Reads/sec", "Copy reads whose caller waited.").advanced(),
    C::new(110, T::PERF_COUNTER_COUNTER, "Async Copy Reads/sec", "Copy reads whose caller did not wait.")
        .advanced(),
    C::new(112, T::PERF_SAMPLE_FRACTION, "Copy Read Hits %", "Share of copy reads that needed no read."),
    C::base(112, T::PERF_SAMPLE_BASE),
    C::new(114, T::PERF_COUNTER_COUNTER, "MDL Reads/sec", "Reads through a memory descriptor list.")
        .advanced(),
    C::new(116, T::PERF_COUNTER_COUNTER, "Sync MDL Reads/sec", "MDL reads whose caller waited.").advanced(),
    C::new(118, T::PERF_COUNTER_COUNTER, "Async MDL Reads/sec", "MDL reads whose caller did not wait.")
        .advanced(),
    C::new(120, T::PERF_SAMPLE_FRACTION, "MDL Read Hits %", "Share of MDL reads that needed no read.")
        .advanced(),
    C::base(120, T::PERF_SAMPLE_BASE),
    C::new(122, T::PERF_COUNTER_COUNTER, "Read Aheads/sec", "Reads of what is likely to be wanted next."),
    C::new(124, T::PERF_COUNTER_COUNTER, "Fast Reads/sec", "Reads that went to the cache directly.")
        .advanced(),
    C::new(126, T::PERF_COUNTER_COUNTER, "Sync Fast Reads/sec", "Fast reads whose caller waited.").advanced(),
    C::new(128, T::PERF_COUNTER_COUNTER, "Async Fast Reads/sec", "Fast reads whose caller did not wait.")
        .advanced(),
    C::new(
        130,
        T::PERF_COUNTER_COUNTER,
        "Fast Read Resource Misses/sec",
        "Fast reads that failed for lack of a resource.",
    )
    .advanced(),
    C::new(132, T::PERF_COUNTER_COUNTER, "Fast Read Not Possibles/sec", "Fast reads that were not possible.")
        .advanced(),
    C::new(134, T::PERF_COUNTER_COUNTER, "Lazy Write Flushes/sec", "Writes of the lazy writer.").advanced(),
    C::new(136, T::PERF_COUNTER_COUNTER, "Lazy Write Pages/sec", "Pages that the lazy writer wrote.")
        .advanced(),
    C::new(138, T::PERF_COUNTER_COUNTER, "Data Flushes/sec", "Flushes of the cache to disk.").advanced(),
    C::new(140, T::PERF_COUNTER_COUNTER, "Data Flush Pages/sec", "Pages of those flushes.").advanced(),
    C::new(
        1888,
        T::PERF_COUNTER_LARGE_RAWCOUNT,
        "Dirty Pages",
        "Pages of the cache that have to be written.",
    )
    .advanced(),
    C::new(
        1890,
        T::PERF_COUNTER_LARGE_RAWCOUNT,
        "Dirty Page Threshold",
        "Dirty pages from which on writers wait.",
    )
    .advanced(),
];

/// Of the reads of a kind three quarters wait, and some of each hundred hit.
struct Reads {
    all: u64,
    hits: u64,
}

impl Reads {
    fn of(figures: &Figures<'_>, salt: u64, rate: u64, hit_percent: u64) -> Self {
        let all = figures.events_at(salt, rate);
        Self { all, hits: all / 100 * hit_percent }
    }

    /// All of them, those that waited, and those that did not.
    const fn split(&self) -> [u64; 3] {
        let sync = self.all / 4 * 3;
        [self.all, sync, self.all - sync]
    }
}

pub(super) fn data(figures: &Figures<'_>) -> Data {
    let maps = Reads::of(figures, 0xca01, 60, 99);
    let pins = Reads::of(figures, 0xca02, 8, 97);
    let copies = Reads::of(figures, 0xca03, 300, 96);
    let mdl = Reads::of(figures, 0xca04, 12, 94);
    let fast = Reads::of(figures, 0xca05, 250, 100);
    let lazy = figures.events_at(0xca06, 3);
    let mut values = Vec::with_capacity(COUNTERS.len());
    for (reads, is_map) in [(&maps, true), (&pins, false), (&copies, false), (&mdl, false)] {
        values.extend(reads.split());
        values.extend([reads.hits, reads.all]);
        if is_map {
            values.push(reads.all / 5);
        }
    }
    values.push(figures.events_at(0xca07, 15));
    values.extend(fast.split());
    values.extend([0, fast.all / 200, lazy, lazy * 9, lazy + lazy / 2, lazy * 12]);
    values.extend([figures.level(0xca08, 20, 4_000), 1 << 20]);
    Data::Single(values)
}
