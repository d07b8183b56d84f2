use counters::pcq::types::CounterType as T;
use counters::perflib_v1::write::Data;

use super::super::super::PAGE_FILE_BYTES;
use super::super::super::clock::scale;
use super::super::super::object::{PerfCounter as C, PerfObject};
use super::figures::{Figures, total};

/// The index is public, as are those of its counters below 1848 and their types.
pub(crate) static MEMORY: PerfObject =
    PerfObject::new(4, "Memory", "Physical and virtual memory of the host, and how it is paged.", &COUNTERS)
        .german("Arbeitsspeicher")
        .default_counter(8);

static COUNTERS: [C; 37] = [
    C::new(28, T::PERF_COUNTER_COUNTER, "Page Faults/sec", "Page faults of all kinds.")
        .german("Seitenfehler/s")
        .scale(-1),
    C::new(
        24,
        T::PERF_COUNTER_LARGE_RAWCOUNT,
        "Available Bytes",
        "Memory that can be given to processes at once.",
    )
    .german("Verf\u{fc}gbare Bytes")
    .expert()
    .scale(-6),
    C::new(
        26,
        T::PERF_COUNTER_LARGE_RAWCOUNT,
        "Committed Bytes",
        "Virtual memory that is promised to somebody.",
    )
    .german("Zugesicherte Bytes")
    .expert()
    .scale(-6),
    C::new(
        30,
        T::PERF_COUNTER_LARGE_RAWCOUNT,
        "Commit Limit",
        "Virtual memory that can be promised without a larger page file.",
    )
    .german("Zusagegrenze")
    .wizard()
    .scale(-6),
    C::new(
        32,
        T::PERF_COUNTER_COUNTER,
        "Write Copies/sec",
        "Page faults that copied a page at its first write.",
    )
    .wizard(),
    C::new(
        34,
        T::PERF_COUNTER_COUNTER,
        "Transition Faults/sec",
        "Page faults that found their page still in memory.",
    )
    .wizard()
    .scale(-1),
    C::new(36, T::PERF_COUNTER_COUNTER, "Cache Faults/sec", "Pages that the file system cache did not find.")
        .wizard()
        .scale(-1),
    C::new(38, T::PERF_COUNTER_COUNTER, "Demand Zero Faults/sec", "Page faults that needed an empty page.")
        .wizard()
        .scale(-1),
    C::new(40, T::PERF_COUNTER_COUNTER, "Pages/sec", "Pages read from disk and written to it.")
        .german("Seiten/s"),
    C::new(822, T::PERF_COUNTER_COUNTER, "Pages Input/sec", "Pages read from disk."),
    C::new(42, T::PERF_COUNTER_COUNTER, "Page Reads/sec", "Reads of pages from disk.").expert(),
    C::new(48, T::PERF_COUNTER_COUNTER, "Pages Output/sec", "Pages written to disk to free memory.")
        .advanced(),
    C::new(
        56,
        T::PERF_COUNTER_LARGE_RAWCOUNT,
        "Pool Paged Bytes",
        "Memory of the system that may go to disk.",
    )
    .german("Auslagerungsseiten (Bytes)")
    .advanced()
    .scale(-5),
    C::new(
        58,
        T::PERF_COUNTER_LARGE_RAWCOUNT,
        "Pool Nonpaged Bytes",
        "Memory of the system that always stays in memory.",
    )
    .german("Nicht-Auslagerungsseiten (Bytes)")
    .advanced()
    .scale(-5),
    C::new(50, T::PERF_COUNTER_COUNTER, "Page Writes/sec", "Writes of pages to disk.").expert(),
    C::new(60, T::PERF_COUNTER_RAWCOUNT, "Pool Paged Allocs", "Allocations of the paged pool.")
        .wizard()
        .scale(-2),
    C::new(64, T::PERF_COUNTER_RAWCOUNT, "Pool Nonpaged Allocs", "Allocations of the nonpaged pool.")
        .wizard()
        .scale(-2),
    C::new(
        678,
        T::PERF_COUNTER_RAWCOUNT,
        "Free System Page Table Entries",
        "Page table entries that the system does not use.",
    )
    .wizard()
    .scale(-2),
    C::new(
        818,
        T::PERF_COUNTER_LARGE_RAWCOUNT,
        "Cache Bytes",
        "The part of the file system cache that is in memory.",
    )
    .advanced()
    .scale(-5),
    C::new(
        820,
        T::PERF_COUNTER_LARGE_RAWCOUNT,
        "Cache Bytes Peak",
        "The most Cache Bytes since the start of the host.",
    )
    .advanced()
    .scale(-5),
    C::new(
        66,
        T::PERF_COUNTER_LARGE_RAWCOUNT,
        "Pool Paged Resident Bytes",
        "The part of the paged pool that is in memory.",
    )
    .help(63)
    .advanced()
    .scale(-5),
    C::new(
        68,
        T::PERF_COUNTER_LARGE_RAWCOUNT,
        "System Code Total Bytes",
        "Code of the system that may go to disk.",
    )
    .advanced()
    .scale(-5),
    C::new(
        70,
        T::PERF_COUNTER_LARGE_RAWCOUNT,
        "System Code Resident Bytes",
        "The part of the system's code that is in memory.",
    )
    .advanced()
    .scale(-5),
    C::new(
        72,
        T::PERF_COUNTER_LARGE_RAWCOUNT,
        "System Driver Total Bytes",
        "Memory of drivers that may go to disk.",
    )
    .advanced()
    .scale(-5),
    C::new(
        74,
        T::PERF_COUNTER_LARGE_RAWCOUNT,
        "System Driver Resident Bytes",
        "The part of the drivers' memory that is in memory.",
    )
    .advanced()
    .scale(-5),
    C::new(
        76,
        T::PERF_COUNTER_LARGE_RAWCOUNT,
        "System Cache Resident Bytes",
        "Pages of the file system cache that are in memory.",
    )
    .advanced()
    .scale(-5),
    C::new(
        1406,
        T::PERF_RAW_FRACTION,
        "% Committed Bytes In Use",
        "Committed Bytes as a share of Commit Limit.",
    )
    .german("Zugesicherte verwendete Bytes (%)")
    .expert(),
    C::base(1406, T::PERF_RAW_BASE).expert(),
    C::new(1380, T::PERF_COUNTER_LARGE_RAWCOUNT, "Available KBytes", "Available Bytes in kibibytes.")
        .expert(),
    C::new(1382, T::PERF_COUNTER_LARGE_RAWCOUNT, "Available MBytes", "Available Bytes in mebibytes.")
        .german("Verf\u{fc}gbare MB")
        .expert(),
    C::new(
        824,
        T::PERF_COUNTER_COUNTER,
        "Transition Pages RePurposed/sec",
        "Cached pages that were taken for another use.",
    )
    .wizard()
    .scale(-1),
    C::new(1676, T::PERF_COUNTER_LARGE_RAWCOUNT, "Free & Zero Page List Bytes", "Memory that holds nothing.")
        .wizard(),
    C::new(
        1678,
        T::PERF_COUNTER_LARGE_RAWCOUNT,
        "Modified Page List Bytes",
        "Cached memory that has to be written before it is free.",
    )
    .wizard(),
    C::new(
        1680,
        T::PERF_COUNTER_LARGE_RAWCOUNT,
        "Standby Cache Reserve Bytes",
        "Cached memory of low priority.",
    )
    .wizard(),
    C::new(
        1682,
        T::PERF_COUNTER_LARGE_RAWCOUNT,
        "Standby Cache Normal Priority Bytes",
        "Cached memory of normal priority.",
    )
    .wizard(),
    C::new(
        1684,
        T::PERF_COUNTER_LARGE_RAWCOUNT,
        "Standby Cache Core Bytes",
        "Cached memory of the core set.",
    )
    .wizard(),
    C::new(
        1848,
        T::PERF_COUNTER_RAWCOUNT,
        "Long-Term Average Standby Cache Lifetime (s)",
        "How long data stayed in the standby cache, in seconds.",
    )
    .scale(-3),
];

const PAGE: u64 = 4096;
/// What `% Committed Bytes In Use` is divided by on all hosts since Windows 8, whatever their memory.
const COMMIT_BASE: u64 = 0xffff_ffff;
const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;
/// The places of counters in `Process V2`.
const WORKING_SET: usize = 7;
const PRIVATE: usize = 10;
const POOL_PAGED: usize = 16;
const POOL_NONPAGED: usize = 17;

/// Where the host's memory is. The parts of `available` add up to it.
pub(super) struct Memory {
    pub(super) physical: u64,
    pub(super) available: u64,
    pub(super) committed: u64,
    pub(super) commit_limit: u64,
    pool_paged: u64,
    pool_nonpaged: u64,
    cache: u64,
    modified: u64,
    pub(super) free: u64,
    standby_reserve: u64,
    standby_core: u64,
    standby_normal: u64,
}

impl Memory {
    /// Available is what the processes' working sets, the pools, the cache and modified pages leave.
    pub(super) fn of(figures: &Figures<'_>) -> Self {
        let processes = figures.processes();
        let physical = figures.machine.memory_bytes;
        let pool_paged = 96 * MIB + total(processes, POOL_PAGED);
        let pool_nonpaged = 64 * MIB + total(processes, POOL_NONPAGED);
        let cache = figures.level(0x3e01, 80, 180) * MIB;
        let modified = figures.level(0x3e02, 8, 96) * MIB;
        let used = total(processes, WORKING_SET) + pool_paged + pool_nonpaged + cache + modified;
        let available = physical.saturating_sub(used) / PAGE * PAGE;
        let free = available / 8 / PAGE * PAGE;
        let standby_reserve = available / 4 / PAGE * PAGE;
        let standby_core = available / 16 / PAGE * PAGE;
        Self {
            physical,
            available,
            committed: 512 * MIB + total(processes, PRIVATE) + pool_paged + pool_nonpaged,
            commit_limit: physical + PAGE_FILE_BYTES,
            pool_paged,
            pool_nonpaged,
            cache,
            modified,
            free,
            standby_reserve,
            standby_core,
            standby_normal: available - free - standby_reserve - standby_core,
        }
    }
}

/// What is in memory follows from [`Memory`]; events come by the load, and faults of all kinds add up.
pub(super) fn data(figures: &Figures<'_>) -> Data {
    let memory = Memory::of(figures);
    let (copies, zeros) = (figures.events(0x3e10, 5, 80), figures.events(0x3e11, 200, 2_000));
    let (transitions, cache_faults) = (figures.events(0x3e12, 50, 900), figures.events(0x3e13, 20, 300));
    let (page_reads, page_writes) = (figures.events(0x3e14, 1, 20), figures.rare(0x3e15, 2, 30));
    let (input, output) = (page_reads * 6, page_writes * 16);
    Data::Single(vec![
        copies + zeros + transitions + cache_faults + page_reads,
        memory.available,
        memory.committed,
        memory.commit_limit,
        copies,
        transitions,
        cache_faults,
        zeros,
        input + output,
        input,
        page_reads,
        output,
        memory.pool_paged,
        memory.pool_nonpaged,
        page_writes,
        figures.events(0x3e18, 50, 900),
        figures.events(0x3e19, 50, 900),
        12_500_000,
        memory.cache,
        180 * MIB,
        memory.pool_paged * 3 / 4 / PAGE * PAGE,
        8 * MIB,
        6 * MIB,
        24 * MIB,
        18 * MIB,
        memory.cache,
        scale(memory.committed, COMMIT_BASE, memory.commit_limit),
        COMMIT_BASE,
        memory.available / KIB,
        memory.available / MIB,
        figures.events(0x3e16, 1, 60),
        memory.free,
        memory.modified,
        memory.standby_reserve,
        memory.standby_normal,
        memory.standby_core,
        figures.level(0x3e17, 3_600, 14_400),
    ])
}
