use counters::pcq::types::CounterType as T;
use counters::perflib_v1::write::{Data, Instance};

use super::super::super::object::{PerfCounter as C, PerfObject};
use super::super::super::schema::Sample;
use super::figures::{Figures, number};

/// The index is public, as are those of its counters and their types.
pub(crate) static PROCESSOR: PerfObject = PerfObject::new(
    238,
    "Processor",
    "What each logical processor does. The total is called _Total.",
    &COUNTERS,
)
.german("Prozessor");

static COUNTERS: [C; 15] = [
    C::new(
        6,
        T::PERF_100NSEC_TIMER_INV,
        "% Processor Time",
        "Share of time in which the processor was not idle.",
    )
    .german("Prozessorzeit (%)"),
    C::new(142, T::PERF_100NSEC_TIMER, "% User Time", "Share of time spent in user mode.")
        .german("Benutzerzeit (%)")
        .advanced(),
    C::new(144, T::PERF_100NSEC_TIMER, "% Privileged Time", "Share of time spent in privileged mode.")
        .german("Privilegierte Zeit (%)")
        .advanced(),
    C::new(148, T::PERF_COUNTER_COUNTER, "Interrupts/sec", "Hardware interrupts received and served.")
        .german("Interrupts/s")
        .scale(-2),
    C::new(696, T::PERF_100NSEC_TIMER, "% DPC Time", "Share of time spent on deferred procedure calls.")
        .help(339)
        .advanced(),
    C::new(698, T::PERF_100NSEC_TIMER, "% Interrupt Time", "Share of time spent on hardware interrupts.")
        .german("Interruptzeit (%)")
        .help(397)
        .advanced(),
    C::new(1334, T::PERF_COUNTER_COUNTER, "DPCs Queued/sec", "Deferred procedure calls added to the queue.")
        .advanced(),
    C::new(
        1336,
        T::PERF_COUNTER_RAWCOUNT,
        "DPC Rate",
        "Deferred procedure calls queued in the last clock tick.",
    )
    .advanced(),
    C::new(1746, T::PERF_100NSEC_TIMER, "% Idle Time", "Share of time in which the processor was idle.")
        .german("Leerlaufzeit (%)")
        .wizard(),
    C::new(1748, T::PERF_100NSEC_TIMER, "% C1 Time", "Share of time in the C1 low-power state.").wizard(),
    C::new(1750, T::PERF_100NSEC_TIMER, "% C2 Time", "Share of time in the C2 low-power state.").wizard(),
    C::new(1752, T::PERF_100NSEC_TIMER, "% C3 Time", "Share of time in the C3 low-power state.").wizard(),
    C::new(1754, T::PERF_COUNTER_BULK_COUNT, "C1 Transitions/sec", "Entries into the C1 low-power state.")
        .wizard(),
    C::new(1756, T::PERF_COUNTER_BULK_COUNT, "C2 Transitions/sec", "Entries into the C2 low-power state.")
        .wizard(),
    C::new(1758, T::PERF_COUNTER_BULK_COUNT, "C3 Transitions/sec", "Entries into the C3 low-power state.")
        .wizard(),
];

pub(super) fn modelled(figures: &Figures<'_>) -> Data {
    data(figures.processors())
}

/// The first counters of `Processor Information` are those of this object, in the same order. Its instances have a group in
/// front of their number, and those of this object have none.
pub(crate) fn data(samples: &[Sample]) -> Data {
    let instance = |sample: &Sample| {
        let name = match sample.instance.name.split_once(',') {
            // The total of a group. There are no groups here.
            Some((_, "_Total")) => return None,
            Some((_, number)) => number,
            None => &sample.instance.name,
        };
        let values = (0..COUNTERS.len()).map(|position| number(sample, position)).collect();
        Some(Instance { name: name.to_owned(), values, ..Instance::default() })
    };
    Data::Instances(samples.iter().filter_map(instance).collect())
}
