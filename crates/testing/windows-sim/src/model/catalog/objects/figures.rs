use std::cell::OnceCell;

use super::super::super::population::{Load, SECOND, noise_in};
use super::super::super::schema::{Sample, Value};
use super::super::{Machine, process, processor};
use crate::model::{Moment, scale};

/// What the formulas of the objects begin with: the machine, the moment, and the samples of the countersets of version 2
/// that say the same.
pub(crate) struct Figures<'a> {
    pub(super) machine: Machine,
    pub(super) at: &'a Moment,
    processors: OnceCell<Vec<Sample>>,
    processes: OnceCell<Vec<Sample>>,
}

impl<'a> Figures<'a> {
    pub(crate) const fn new(machine: Machine, at: &'a Moment) -> Self {
        Self { machine, at, processors: OnceCell::new(), processes: OnceCell::new() }
    }

    pub(super) fn processors(&self) -> &[Sample] {
        self.processors.get_or_init(|| processor::sample(self.machine, self.at))
    }

    pub(super) fn processes(&self) -> &[Sample] {
        self.processes.get_or_init(|| process::sample(self.machine, self.at))
    }

    /// Events since the start of the host: between a half and nearly one and a half of `rate` each second, by the load.
    pub(super) fn events_at(&self, salt: u64, rate: u64) -> u64 {
        let uptime = self.at.uptime_100ns();
        let busy = Load::seeded(self.machine.seed, salt).busy_time(uptime);
        scale(uptime / 2 + busy, rate, SECOND)
    }

    /// The same, whose rate is `low` to `high` by the seed.
    pub(super) fn events(&self, salt: u64, low: u64, high: u64) -> u64 {
        self.events_at(salt, noise_in(self.machine.seed, salt, low, high))
    }

    /// A rare event: one each `low` to `high` seconds.
    pub(super) fn rare(&self, salt: u64, low: u64, high: u64) -> u64 {
        self.at.uptime_100ns() / SECOND / noise_in(self.machine.seed, salt, low, high)
    }

    /// A level that goes from `low` to `high` and back, in some minutes by the seed.
    pub(super) fn level(&self, salt: u64, low: u64, high: u64) -> u64 {
        let period = noise_in(self.machine.seed, salt, 60, 600);
        let phase = self.at.uptime_100ns() / SECOND % (2 * period);
        let rise = if phase < period { phase } else { 2 * period - phase };
        low + scale(high - low, rise, period)
    }
}

/// The number at `position` of a sample.
pub(super) fn number(sample: &Sample, position: usize) -> u64 {
    match sample.values.get(position) {
        Some(Value::Dword(value)) => u64::from(*value),
        Some(Value::Large(value)) => *value,
        _ => 0,
    }
}

/// The sum over `samples` of the numbers at `position`.
pub(super) fn total(samples: &[Sample], position: usize) -> u64 {
    samples.iter().map(|sample| number(sample, position)).sum()
}
