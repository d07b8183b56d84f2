use counters::perflib_v1::write::Data;

use super::figures::{Figures, number, total};

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
