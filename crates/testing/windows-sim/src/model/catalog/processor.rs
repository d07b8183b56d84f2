use counters::pcq::types::{CounterType as T, DetailLevel, InstanceType};
use wire::Guid;

use super::super::Moment;
use super::super::population::{Load, noise_in};
use super::super::schema::{Counter, Counterset, Sample};
use super::{COUNTERS_PROVIDER, Machine};

/// Ids, names, widths and types are public. Id 29 is not known and is left out.
pub(crate) static PROCESSOR_INFORMATION: Counterset = Counterset {
    guid: Guid::from_u128(0xb4fc721a_0378_476f_89ba_a5a79f810b36),
    name: "Processor Information",
    explain: "What each logical processor does and how fast it runs. Instances are named by group and number; the \
              totals end in _Total.",
    german: Some("Prozessorinformationen"),
    provider: &COUNTERS_PROVIDER,
    detail: DetailLevel::NOVICE,
    instances: InstanceType::MULTIPLE,
    counters: &COUNTERS,
};

const COUNTER_COUNT: usize = 31;

static COUNTERS: [Counter; COUNTER_COUNT] = [
    Counter::new(
        0,
        T::PERF_100NSEC_TIMER_INV,
        "% Processor Time",
        "Share of time in which the processor was not idle.",
    )
    .german("Prozessorzeit (%)"),
    Counter::new(1, T::PERF_100NSEC_TIMER, "% User Time", "Share of time spent in user mode.")
        .german("Benutzerzeit (%)"),
    Counter::new(2, T::PERF_100NSEC_TIMER, "% Privileged Time", "Share of time spent in privileged mode.")
        .german("Privilegierte Zeit (%)"),
    Counter::new(3, T::PERF_COUNTER_COUNTER, "Interrupts/sec", "Hardware interrupts received and served.")
        .german("Interrupts/s"),
    Counter::new(4, T::PERF_100NSEC_TIMER, "% DPC Time", "Share of time spent on deferred procedure calls."),
    Counter::new(5, T::PERF_100NSEC_TIMER, "% Interrupt Time", "Share of time spent on hardware interrupts."),
    Counter::new(
        6,
        T::PERF_COUNTER_COUNTER,
        "DPCs Queued/sec",
        "Deferred procedure calls added to the queue.",
    ),
    Counter::new(
        7,
        T::PERF_COUNTER_RAWCOUNT,
        "DPC Rate",
        "Deferred procedure calls queued in the last clock tick.",
    ),
    Counter::new(8, T::PERF_100NSEC_TIMER, "% Idle Time", "Share of time in which the processor was idle.")
        .german("Leerlaufzeit (%)"),
    Counter::new(9, T::PERF_100NSEC_TIMER, "% C1 Time", "Share of time in the C1 low-power state."),
    Counter::new(10, T::PERF_100NSEC_TIMER, "% C2 Time", "Share of time in the C2 low-power state."),
    Counter::new(11, T::PERF_100NSEC_TIMER, "% C3 Time", "Share of time in the C3 low-power state."),
    Counter::new(
        12,
        T::PERF_COUNTER_BULK_COUNT,
        "C1 Transitions/sec",
        "Entries into the C1 low-power state.",
    ),
    Counter::new(
        13,
        T::PERF_COUNTER_BULK_COUNT,
        "C2 Transitions/sec",
        "Entries into the C2 low-power state.",
    ),
    Counter::new(
        14,
        T::PERF_COUNTER_BULK_COUNT,
        "C3 Transitions/sec",
        "Entries into the C3 low-power state.",
    ),
    Counter::new(
        15,
        T::PERF_100NSEC_TIMER_INV,
        "% Priority Time",
        "Share of time spent on threads that are not of low priority.",
    ),
    Counter::new(16, T::PERF_COUNTER_RAWCOUNT, "Parking Status", "Whether the processor is parked."),
    Counter::new(
        17,
        T::PERF_COUNTER_RAWCOUNT,
        "Processor Frequency",
        "Frequency of the processor in megahertz.",
    )
    .german("Prozessorfrequenz"),
    Counter::new(
        18,
        T::PERF_COUNTER_RAWCOUNT,
        "% of Maximum Frequency",
        "Frequency as a share of the highest one.",
    ),
    Counter::new(19, T::PERF_COUNTER_RAWCOUNT, "Processor State Flags", "Flags of the processor's state."),
    Counter::new(
        20,
        T::PERF_COUNTER_COUNTER,
        "Clock Interrupts/sec",
        "Ticks of the clock received and served.",
    ),
    Counter::new(
        21,
        T::PERF_PRECISION_100NS_TIMER,
        "Average Idle Time",
        "Mean length of an idle period, in 100 ns.",
    )
    .base(22),
    // `PERF_PRECISION_TIMESTAMP` is another name of this type.
    Counter::new(22, T::PERF_LARGE_RAW_BASE, "Average Idle Time Base", "Base of Average Idle Time.").hidden(),
    Counter::new(
        23,
        T::PERF_COUNTER_BULK_COUNT,
        "Idle Break Events/sec",
        "Times that the processor woke up from idle.",
    ),
    Counter::new(
        24,
        T::PERF_AVERAGE_BULK,
        "% Processor Performance",
        "Mean performance while executing, as a share of the nominal one.",
    )
    .base(25)
    .german("Prozessorleistung (%)"),
    Counter::new(
        25,
        T::PERF_AVERAGE_BASE,
        "% Processor Performance Base",
        "Base of % Processor Performance.",
    )
    .hidden(),
    Counter::new(
        26,
        T::PERF_AVERAGE_BULK,
        "% Processor Utility",
        "Work done, as a share of what the processor does at nominal performance.",
    )
    .base(27)
    .german("Prozessorauslastung (%)"),
    Counter::new(27, T::PERF_AVERAGE_BASE, "% Processor Utility Base", "Base of % Processor Utility.")
        .hidden(),
    Counter::new(
        28,
        T::PERF_AVERAGE_BULK,
        "% Privileged Utility",
        "Work done in privileged mode, as a share of what the processor does at nominal performance.",
    )
    .base(27),
    Counter::new(
        30,
        T::PERF_COUNTER_RAWCOUNT,
        "% Performance Limit",
        "Highest performance allowed now, as a share of the nominal one.",
    ),
    Counter::new(
        31,
        T::PERF_COUNTER_RAWCOUNT,
        "Performance Limit Flags",
        "Reasons why performance is limited.",
    )
    .hexadecimal(),
];

/// The host runs a fifth faster than nominal while it executes.
const PERFORMANCE_PERCENT: u64 = 120;
/// The clock of the bases 25 and 27 runs at 625 kHz, as on Windows: 16 intervals of 100 ns a tick.
const INTERVALS_PER_BASE_TICK: u64 = 16;

/// With t the uptime in 100 ns, k the processor's number, and busy(t) its load's integral:
/// user = busy · 6/10, privileged = busy − user, DPC = privileged/10, interrupt = privileged/20, idle = t − busy,
/// C1 = idle/2, C2 = idle/4, C3 = idle/8, interrupts = (1000 + 100·k) · t/10⁷, performance = 120 · t/16.
fn modelled_row(machine: Machine, processor: u32, at: &Moment) -> [u64; COUNTER_COUNT] {
    let t = at.uptime_100ns();
    let k = u64::from(processor);
    let busy = Load::seeded(machine.seed, k).busy_time(t);
    let user = busy * 6 / 10;
    row(&Times {
        elapsed: t,
        idle: t - busy,
        user,
        privileged: busy - user,
        interrupts: (1000 + 100 * k) * (t / 10_000) / 1000,
    })
}

/// What a processor is known by; the other counters follow from it.
pub(crate) struct Times {
    /// Time passed, in 100 ns.
    pub(crate) elapsed: u64,
    /// Of that, time in the idle thread.
    pub(crate) idle: u64,
    /// Time in user mode.
    pub(crate) user: u64,
    /// Time in privileged mode.
    pub(crate) privileged: u64,
    pub(crate) interrupts: u64,
}

/// The numbers of one processor, in the order of the counters.
pub(crate) fn row(times: &Times) -> [u64; COUNTER_COUNT] {
    let &Times { elapsed, idle, user, privileged, interrupts } = times;
    let base = elapsed / INTERVALS_PER_BASE_TICK;
    let utility = |busy: u64| busy * PERFORMANCE_PERCENT / INTERVALS_PER_BASE_TICK;
    [
        idle,
        user,
        privileged,
        interrupts,
        privileged / 10,
        privileged / 20,
        interrupts / 5,
        interrupts % 7,
        idle,
        idle / 2,
        idle / 4,
        idle / 8,
        interrupts / 2,
        interrupts / 4,
        interrupts / 8,
        elapsed.saturating_sub((user + privileged) / 10 * 9),
        0,
        3000,
        100,
        0,
        elapsed / 156_250,
        idle,
        elapsed,
        interrupts / 2,
        base * PERFORMANCE_PERCENT,
        base,
        utility(user + privileged),
        base,
        utility(privileged),
        100,
        0,
    ]
}

pub(super) fn sample(machine: Machine, at: &Moment) -> Vec<Sample> {
    let rows: Vec<_> = (0..machine.processors).map(|k| modelled_row(machine, k, at)).collect();
    with_totals(&rows)
}

/// One instance for each row, and the totals of their group and of the host.
pub(crate) fn with_totals(rows: &[[u64; COUNTER_COUNT]]) -> Vec<Sample> {
    let total = total(rows);
    let names = (0..rows.len()).map(|k| format!("0,{k}"));
    let named = names.zip(rows).chain([("0,_Total".to_owned(), &total), ("_Total".to_owned(), &total)]);
    (0..)
        .zip(named)
        .map(|(id, (name, row))| Sample::of_numbers(&PROCESSOR_INFORMATION, name, id, row))
        .collect()
}

/// Events are summed up, everything else is averaged, so that a total's share of time stays below 100 %.
fn total(rows: &[[u64; COUNTER_COUNT]]) -> [u64; COUNTER_COUNT] {
    let count = rows.len().max(1) as u64;
    let mut total = [0; COUNTER_COUNT];
    for (index, (sum, counter)) in total.iter_mut().zip(&COUNTERS).enumerate() {
        *sum = rows.iter().map(|row| row[index]).sum();
        if !matches!(counter.kind, T::PERF_COUNTER_COUNTER | T::PERF_COUNTER_BULK_COUNT) {
            *sum /= count;
        }
    }
    total
}

/// How warm the processors are, in tenths of a kelvin: 318 K, and up to 8 K more by load. For the thermal zone.
pub(super) fn temperature_decikelvin(machine: Machine, zone: u64, at: &Moment) -> u64 {
    let phase = at.uptime_100ns() / 10_000_000 % 120;
    let swing = if phase < 60 { phase } else { 120 - phase };
    noise_in(machine.seed, 0x7e00 + zone, 3_100, 3_180) + swing * 80 / 60
}
