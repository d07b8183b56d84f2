//! Three countersets whose instances a client adds up: one of each aggregate type, with the same counters.
//!
//! Each worker is a process with an instance of its own. Two workers stay; three more come and go. The formulas say
//! what each instance sends, and [`aggregated`] what a client makes of them by each counter's function.
//!
//! What a host sends for the types without the bit "multiple" (4 and 0xC) is not documented and was not seen, so
//! both plausible forms are offered ([`AggregateForm`]). The assumption, and the default: the provider's
//! documentation says that each process adds an instance and that the *consumer* adds them up, so one identifier
//! without a name is answered with every instance: a block MULTI_INSTANCES for one counter, COUNTERSET for all.

use counters::pcq::types::{AggregateFunc as F, CounterType as T, DetailLevel, InstanceType};
use wire::Guid;

use super::super::population::SECOND;
use super::super::schema::{Counter, Counterset, Sample};
use super::super::{Moment, scale};
use super::{Machine, SIM_PROVIDER};

/// What a host sends of a counterset of type 4 or 0xC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum AggregateForm {
    /// Every instance, for the client to add up.
    #[default]
    Instances,
    /// One instance, which the host has added up: blocks SINGLE_COUNTER and MULTI_COUNTERS.
    Single,
}

macro_rules! counterset {
    ($name:ident, $guid:literal, $title:literal, $german:literal, $explain:literal, $instances:ident) => {
        /// The GUID is ours.
        pub static $name: Counterset = Counterset {
            guid: Guid::from_u128($guid),
            name: $title,
            explain: $explain,
            german: Some($german),
            german_explain: None,
            provider: &SIM_PROVIDER,
            detail: DetailLevel::NOVICE,
            instances: InstanceType::$instances,
            counters: &COUNTERS,
        };
    };
}

counterset!(
    GLOBAL_AGGREGATE,
    0x53e7b2a5_5c02_4f6d_9f6c_30ed2ff2a001,
    "Workers Together",
    "Arbeiter zusammen",
    "What all worker processes do together. The client adds up those that run.",
    GLOBAL_AGGREGATE
);
counterset!(
    MULTIPLE_AGGREGATE,
    0x53e7b2a5_5c02_4f6d_9f6c_30ed2ff2a002,
    "Workers",
    "Arbeiter",
    "What each worker process does. The client may add up those that it chooses.",
    MULTIPLE_AGGREGATE
);
counterset!(
    GLOBAL_AGGREGATE_HISTORY,
    0x53e7b2a5_5c02_4f6d_9f6c_30ed2ff2a003,
    "Workers Ever",
    "Arbeiter seit Beginn",
    "What all worker processes have done. The client keeps the last values of those that have ended.",
    GLOBAL_AGGREGATE_HISTORY
);

const COUNTER_COUNT: usize = 10;

static COUNTERS: [Counter; COUNTER_COUNT] = [
    Counter::new(1, T::PERF_COUNTER_BULK_COUNT, "Requests/sec", "Requests served.").aggregate(F::TOTAL),
    Counter::new(2, T::PERF_COUNTER_COUNTER, "Errors/sec", "Requests that failed.").aggregate(F::TOTAL),
    Counter::new(3, T::PERF_COUNTER_RAWCOUNT, "Queue Length", "Requests that wait.").aggregate(F::TOTAL),
    Counter::new(4, T::PERF_100NSEC_TIMER, "% Busy Time", "Share of time spent on requests.")
        .aggregate(F::AVERAGE),
    Counter::new(5, T::PERF_COUNTER_LARGE_RAWCOUNT, "Memory", "Bytes in use.").aggregate(F::AVERAGE),
    Counter::new(6, T::PERF_COUNTER_RAWCOUNT, "Smallest Buffer", "Bytes of the smallest buffer.")
        .aggregate(F::MINIMUM),
    Counter::new(7, T::PERF_COUNTER_RAWCOUNT, "Largest Buffer", "Bytes of the largest buffer.")
        .aggregate(F::MAXIMUM),
    Counter::new(8, T::PERF_COUNTER_RAWCOUNT, "Version", "Version of the program."),
    Counter::new(9, T::PERF_AVERAGE_BULK, "Request Size", "Mean bytes of a request.")
        .base(10)
        .aggregate(F::TOTAL),
    Counter::new(10, T::PERF_AVERAGE_BASE, "Request Size Base", "Base of Request Size.")
        .aggregate(F::TOTAL)
        .hidden(),
];

/// Slots 0 and 1 hold one worker each, since the host was started.
const STAYING_SLOTS: u64 = 2;
const SLOTS: u64 = 5;

/// A worker that runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Worker {
    pub slot: u64,
    /// Which one it is in its slot, counted from the start of the host.
    pub number: u64,
    /// How long it has run, in 100 ns.
    pub age: u64,
}

/// A worker comes to slot k ≥ 2 every 60 · k seconds and ends after 40 · k seconds.
const fn period_and_life(slot: u64) -> (u64, u64) {
    (60 * slot * SECOND, 40 * slot * SECOND)
}

/// The workers that run, by slot.
#[must_use]
pub fn workers(at: &Moment) -> Vec<Worker> {
    let uptime = at.uptime_100ns();
    let in_slot = |slot| {
        if slot < STAYING_SLOTS {
            return Some(Worker { slot, number: 0, age: uptime });
        }
        let (period, life) = period_and_life(slot);
        let age = uptime % period;
        (age < life).then_some(Worker { slot, number: uptime / period, age })
    };
    (0..SLOTS).filter_map(in_slot).collect()
}

impl Worker {
    /// 1000 · (k + 1) + number mod 1000: no two workers of one host within days have the same.
    #[must_use]
    pub fn id(&self) -> u32 {
        u32::try_from(1000 * (self.slot + 1) + self.number % 1000).unwrap_or(0)
    }

    /// With a the age in seconds: requests = 10 · (k + 1) · a, errors = (k + 1) · a, queue = k + 1, busy for
    /// (k + 1) tenths of the time, k + 1 mebibytes, both buffers 100 · (k + 1), and 512 · (k + 1) bytes a request.
    fn numbers(&self) -> [u64; COUNTER_COUNT] {
        let n = self.slot + 1;
        let requests = scale(self.age, 10 * n, SECOND);
        [
            requests,
            scale(self.age, n, SECOND),
            n,
            scale(self.age, n, 10),
            n << 20,
            100 * n,
            100 * n,
            7,
            512 * n * requests,
            requests,
        ]
    }
}

/// What a client makes of counter `id`, from the workers that run and, where `history` is kept from the start of the
/// host on, the last values of those that have ended. The whole sum or mean of the raw numbers, rounded down; of
/// `UNDEFINED`, the first slot's.
#[must_use]
pub fn aggregated(id: u32, at: &Moment, history: bool) -> Option<u64> {
    let index = COUNTERS.iter().position(|counter| counter.id == id)?;
    let here = workers(at).into_iter().map(|worker| (worker.numbers()[index], 1));
    let gone = (STAYING_SLOTS..SLOTS).filter(|_| history).filter_map(|slot| {
        let (period, life) = period_and_life(slot);
        let uptime = at.uptime_100ns();
        let ended = uptime / period + u64::from(uptime % period >= life);
        (ended > 0).then(|| (Worker { slot, number: 0, age: life }.numbers()[index], ended))
    });
    let values: Vec<(u64, u64)> = here.chain(gone).collect();
    let total = || values.iter().map(|(value, times)| value * times).sum::<u64>();
    let each = values.iter().map(|(value, _)| *value);
    match COUNTERS[index].aggregate {
        F::TOTAL => Some(total()),
        F::AVERAGE => Some(total() / values.iter().map(|(_, times)| times).sum::<u64>().max(1)),
        F::MINIMUM => each.min(),
        F::MAXIMUM => each.max(),
        _ => each.take(1).next(),
    }
}

/// The workers under names of their own: `worker 1000`.
pub(super) fn sample_named(_: Machine, at: &Moment) -> Vec<Sample> {
    let sample = |worker: Worker| {
        Sample::of_numbers(
            &MULTIPLE_AGGREGATE,
            format!("worker {}", worker.id()),
            worker.id(),
            &worker.numbers(),
        )
    };
    workers(at).into_iter().map(sample).collect()
}

pub(super) fn sample_global(machine: Machine, at: &Moment) -> Vec<Sample> {
    sample_together(&GLOBAL_AGGREGATE, machine, at)
}

pub(super) fn sample_history(machine: Machine, at: &Moment) -> Vec<Sample> {
    sample_together(&GLOBAL_AGGREGATE_HISTORY, machine, at)
}

/// All instances are called `worker`: where nobody asks for a name, nobody sees to it that names differ.
fn sample_together(set: &Counterset, machine: Machine, at: &Moment) -> Vec<Sample> {
    match machine.aggregates {
        AggregateForm::Instances => workers(at)
            .into_iter()
            .map(|worker| Sample::of_numbers(set, "worker", worker.id(), &worker.numbers()))
            .collect(),
        AggregateForm::Single => {
            let history = set.instances.has_history();
            let number = |counter: &Counter| aggregated(counter.id, at, history).unwrap_or(0);
            let numbers: Vec<u64> = COUNTERS.iter().map(number).collect();
            vec![Sample::of_numbers(set, "", 0, &numbers)]
        }
    }
}
