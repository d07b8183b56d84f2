use counters::pcq::types::CounterType as T;
use counters::perflib_v1::write::Data;

use super::super::super::object::{PerfCounter as C, PerfObject};
use super::figures::Figures;
use super::system::{processes, threads};

/// The index is public, as are those of its counters and their types.
pub(crate) static OBJECTS: PerfObject =
    PerfObject::new(260, "Objects", "What the kernel keeps for processes.", &COUNTERS).german("Objekte");

static COUNTERS: [C; 6] = [
    C::new(248, T::PERF_COUNTER_RAWCOUNT, "Processes", "Processes that run now.").german("Prozesse"),
    C::new(250, T::PERF_COUNTER_RAWCOUNT, "Threads", "Threads of all processes.").german("Threads"),
    C::new(252, T::PERF_COUNTER_RAWCOUNT, "Events", "Events that exist now.").scale(-1),
    C::new(254, T::PERF_COUNTER_RAWCOUNT, "Semaphores", "Semaphores that exist now.").scale(-1),
    C::new(256, T::PERF_COUNTER_RAWCOUNT, "Mutexes", "Mutexes that exist now."),
    C::new(258, T::PERF_COUNTER_RAWCOUNT, "Sections", "Sections of shared memory that exist now.").scale(-1),
];

/// Each thread has some events, and each process some of the others.
pub(super) fn data(figures: &Figures<'_>) -> Data {
    let (processes, threads) = (processes(figures), threads(figures));
    let events = threads * 9 + figures.level(0x0b01, 0, 200);
    Data::Single(vec![processes, threads, events, threads * 3, processes * 12, processes * 34])
}
