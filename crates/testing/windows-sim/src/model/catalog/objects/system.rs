use counters::pcq::types::CounterType as T;
use counters::perflib_v1::write::Data;

use super::super::super::object::{PerfCounter as C, PerfObject};
use super::figures::{Figures, number, total};

/// The index is public, as are those of its counters and their types.
pub(crate) static SYSTEM: PerfObject =
    PerfObject::new(2, "System", "What concerns all processors of the host together.", &COUNTERS)
        .german("System")
        .time_of_day()
        .default_counter(8);

static COUNTERS: [C; 18] = [
    C::new(10, T::PERF_COUNTER_COUNTER, "File Read Operations/sec", "Reads of files.")
        .german("Dateilesevorg\u{e4}nge/s"),
    C::new(12, T::PERF_COUNTER_COUNTER, "File Write Operations/sec", "Writes of files.")
        .german("Dateischreibvorg\u{e4}nge/s"),
    C::new(
        14,
        T::PERF_COUNTER_COUNTER,
        "File Control Operations/sec",
        "Operations on files that move no data.",
    )
    .advanced(),
    C::new(16, T::PERF_COUNTER_BULK_COUNT, "File Read Bytes/sec", "Bytes read from files.")
        .expert()
        .scale(-4),
    C::new(18, T::PERF_COUNTER_BULK_COUNT, "File Write Bytes/sec", "Bytes written to files.")
        .expert()
        .scale(-4),
    C::new(
        20,
        T::PERF_COUNTER_BULK_COUNT,
        "File Control Bytes/sec",
        "Bytes of operations that move no file data.",
    )
    .wizard()
    .scale(-3),
    C::new(
        146,
        T::PERF_COUNTER_COUNTER,
        "Context Switches/sec",
        "Changes of a processor from one thread to another.",
    )
    .german("Kontextwechsel/s")
    .advanced()
    .scale(-2),
    C::new(150, T::PERF_COUNTER_COUNTER, "System Calls/sec", "Calls of services of the system.")
        .german("Systemaufrufe/s")
        .advanced()
        .scale(-1),
    C::new(406, T::PERF_COUNTER_COUNTER, "File Data Operations/sec", "Reads and writes of files."),
    C::new(674, T::PERF_ELAPSED_TIME, "System Up Time", "Seconds since the host was started.")
        .german("Systembetriebszeit")
        .scale(-5),
    C::new(44, T::PERF_COUNTER_RAWCOUNT, "Processor Queue Length", "Threads that wait for a processor.")
        .german("Prozessor-Warteschlangenl\u{e4}nge")
        .wizard()
        .scale(1),
    C::new(248, T::PERF_COUNTER_RAWCOUNT, "Processes", "Processes that run now.")
        .german("Prozesse")
        .wizard()
        .scale(1),
    C::new(250, T::PERF_COUNTER_RAWCOUNT, "Threads", "Threads of all processes.")
        .german("Threads")
        .wizard()
        .scale(1),
    C::new(686, T::PERF_COUNTER_COUNTER, "Alignment Fixups/sec", "Alignment faults that the system mended.")
        .wizard(),
    C::new(
        688,
        T::PERF_COUNTER_COUNTER,
        "Exception Dispatches/sec",
        "Exceptions that the system dispatched.",
    )
    .wizard(),
    C::new(
        690,
        T::PERF_COUNTER_COUNTER,
        "Floating Emulations/sec",
        "Floating-point operations that were emulated.",
    )
    .wizard(),
    C::new(
        1350,
        T::PERF_RAW_FRACTION,
        "% Registry Quota In Use",
        "Share of the registry's quota that is in use.",
    )
    .advanced(),
    C::base(1350, T::PERF_RAW_BASE).advanced(),
];

/// With t the uptime and n the threads: calls and switches by the load, a switch for each two interrupts at least.
pub(super) fn data(figures: &Figures<'_>) -> Data {
    let (reads, writes, other) =
        (figures.events(0x5201, 50, 400), figures.events(0x5202, 20, 200), figures.events(0x5203, 100, 900));
    Data::Single(vec![
        reads,
        writes,
        other,
        reads * 6_144,
        writes * 5_120,
        other * 120,
        context_switches(figures),
        figures.events(0x5204, 8_000, 40_000),
        reads + writes,
        figures.at.boot.0,
        figures.level(0x5205, 0, 4),
        processes(figures),
        threads(figures),
        0,
        figures.events(0x5206, 1, 40),
        0,
        0x02a0_0000,
        0x4000_0000,
    ])
}

/// The place of `Interrupts/sec` in `Processor Information`.
const INTERRUPTS: usize = 3;
/// The place of `Thread Count` in `Process V2`.
const THREAD_COUNT: usize = 11;

/// One for each interrupt, and more by the load.
fn context_switches(figures: &Figures<'_>) -> u64 {
    figures.processors().last().map_or(0, |total| number(total, INTERRUPTS))
        + figures.events(0x5207, 500, 9_000)
}

/// The idle process counts, too.
pub(super) fn processes(figures: &Figures<'_>) -> u64 {
    figures.processes().len() as u64 + 1
}

/// The idle process has a thread for each processor.
pub(super) fn threads(figures: &Figures<'_>) -> u64 {
    total(figures.processes(), THREAD_COUNT) + u64::from(figures.machine.processors)
}
