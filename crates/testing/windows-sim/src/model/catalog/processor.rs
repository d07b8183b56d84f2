use std::sync::LazyLock;

use counters::pcq::types::CounterType as T;

use super::super::Moment;
use super::super::population::{Load, noise_in};
use super::super::schema::{Counterset, Sample};
use super::Machine;
use super::countersets::counterset;

pub(crate) static PROCESSOR_INFORMATION: LazyLock<&'static Counterset> =
    LazyLock::new(|| counterset("Processor Information"));

const COUNTER_COUNT: usize = 31;

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
    for (index, (sum, counter)) in total.iter_mut().zip(PROCESSOR_INFORMATION.counters).enumerate() {
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
