use counters::pcq::types::CounterType;

use super::formula::Formula;
use crate::clocks::RawClocks;
use crate::properties::{Clock, Properties, properties};
use crate::widen::{Width, delta};

/// One sample of a counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Reading {
    pub value: u64,
    /// The counter that `BaseCounterId` names, of the same instance; for a multi timer the one that `MultiId` names.
    pub base: Option<u64>,
    /// The clocks of the reply, and those of the instance.
    pub clocks: RawClocks,
}

/// The result of two samples.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cooked {
    /// The displayed value. It is finite.
    Value(f64),
    /// One sample is not enough for this type.
    NeedsTwo,
    /// The counter, its base or the host's clock was reset between the two, or another host has the name. The next pair gives
    /// a value again.
    Restarted,
    /// The formula has no result: no time has passed, or the base or a clock is missing or stopped.
    Undefined,
    /// The type is not a number.
    NoValue,
}

/// Computes the displayed value of a counter, by the formula of its type ([`Formula`] lists the decisions where the
/// documents disagree). A type without a row in the table shows its newer value.
///
/// What goes wrong between two samples of a real host:
///
/// - 32-bit counters and bases wrap around: differences are computed in 32 bits. If a decrease would mean a
///   difference of 2³¹ or more, it is a reset and not a wrap; a decrease of a 64-bit counter is always a reset.
/// - The host was restarted: its performance clock went back, and all counters were reset. Or another host took over the
///   name: see [`RawClocks::continue_from`].
/// - The time of day was set. `PerfTime100NSec` then jumps; if the intervals of the two clocks differ by more than
///   an eighth and 100 ms (its own steps may be 16 ms), the performance clock is used.
/// - The base did not change: without operations Windows shows and logs an average, and a share, of zero. Only there:
///   where the base is missing the result is [`Cooked::Undefined`].
///
/// ```
/// use counter_types::{Cooked, CounterType, RawClocks, Reading, cook};
///
/// let at = |seconds: u64, value| {
///     let clocks = RawClocks { perf_time: seconds * 10_000_000, perf_freq: 10_000_000, ..RawClocks::default() };
///     Reading { value, base: None, clocks }
/// };
/// // A counter of 32 bits that goes round: 296 events before the turn and 204 after it, in five seconds.
/// let (older, newer) = (at(100, 4_294_967_000), at(105, 204));
/// assert_eq!(cook(CounterType::PERF_COUNTER_COUNTER, Some(&older), &newer), Cooked::Value(100.0));
/// assert_eq!(cook(CounterType::PERF_COUNTER_COUNTER, None, &newer), Cooked::NeedsTwo);
/// ```
#[must_use]
pub fn cook(counter_type: CounterType, older: Option<&Reading>, newer: &Reading) -> Cooked {
    let Some(row) = properties(counter_type) else { return Cooked::Value(real(newer.value)) };
    let cooked = if row.formula.needs_two() {
        match older {
            Some(older) => Pair { row, older, newer }.cook(),
            None => return Cooked::NeedsTwo,
        }
    } else {
        of_one(row.formula, newer)
    };
    match cooked {
        Ok(value) if value.is_finite() => Cooked::Value(value),
        Ok(_infinite) => Cooked::Undefined,
        Err(reason) => reason,
    }
}

fn of_one(formula: Formula, newer: &Reading) -> Result<f64, Cooked> {
    match formula {
        Formula::Double => Ok(f64::from_bits(newer.value)),
        // The documents have 100 · N / B alone, and no value for B = 0. An invented 0 % free would be an alert.
        Formula::Part => quotient(100.0 * real(newer.value), newer.base.map(real)),
        Formula::Elapsed => newer.clocks.elapsed_seconds(newer.value).ok_or(Cooked::Undefined),
        Formula::Nothing => Err(Cooked::NoValue),
        _ => Ok(real(newer.value)),
    }
}

/// Two samples of a counter of a type that needs two.
struct Pair<'a> {
    row: &'a Properties,
    older: &'a Reading,
    newer: &'a Reading,
}

impl Pair<'_> {
    fn cook(&self) -> Result<f64, Cooked> {
        // Counters of another start of the host may have increased, too.
        if !self.newer.clocks.continue_from(&self.older.clocks) {
            return Err(Cooked::Restarted);
        }
        let n = restarted(delta(self.older.value, self.newer.value, self.row.width()))?;
        match self.row.formula {
            Formula::Rate => quotient(n * self.freq()?, Some(self.ticks()?)),
            Formula::QueueLength => quotient(n, Some(self.ticks()?)),
            Formula::Busy => quotient(100.0 * n, Some(self.ticks()?)),
            Formula::Idle => Ok(100.0 * (1.0 - quotient(n, Some(self.ticks()?))?).max(0.0)),
            Formula::BusyOfMany => quotient(100.0 * n, Some(self.ticks()? * self.things()?)),
            Formula::IdleOfMany => Ok(100.0 * (self.things()? - quotient(n, Some(self.ticks()?))?).max(0.0)),
            Formula::Share if self.row.can_lack_base() && self.newer.base.is_none() => {
                quotient(100.0 * n, Some(self.ticks()?))
            }
            Formula::Share => self.over_base(100.0 * n, 1.0),
            Formula::MeanTime => self.over_base(n, self.freq()?),
            Formula::Mean => self.over_base(n, 1.0),
            _ => Ok(n),
        }
    }

    /// A mean over the operations between the two samples, in parts of `unit`.
    fn over_base(&self, sum: f64, unit: f64) -> Result<f64, Cooked> {
        let base = self.base()?;
        Ok(if base > 0.0 { sum / (unit * base) } else { 0.0 })
    }

    /// F of the performance clock.
    fn freq(&self) -> Result<f64, Cooked> {
        let freq = self.newer.clocks.perf_freq;
        if freq > 0 { Ok(real(freq)) } else { Err(Cooked::Undefined) }
    }

    fn ticks(&self) -> Result<f64, Cooked> {
        let (older, newer) = (&self.older.clocks, &self.newer.clocks);
        match self.row.clock {
            Clock::HundredNanoseconds => self.hundred_nanoseconds(),
            Clock::Object => restarted(newer.object().0.checked_sub(older.object().0)),
            Clock::PerfTime | Clock::None => restarted(newer.perf_time.checked_sub(older.perf_time)),
        }
    }

    /// The interval by the time of day, unless the clock was set meanwhile.
    fn hundred_nanoseconds(&self) -> Result<f64, Cooked> {
        let (older, newer) = (&self.older.clocks, &self.newer.clocks);
        let by_day = newer.time_100ns.checked_sub(older.time_100ns).map(real);
        let by_perf = real(newer.perf_time.saturating_sub(older.perf_time)) * INTERVALS_PER_SECOND
            / real(newer.perf_freq);
        let can_tell = by_perf.is_finite() && by_perf > 0.0;
        match by_day {
            Some(by_day) if !can_tell || (by_day - by_perf).abs() <= by_perf / 8.0 + CLOCK_JITTER => {
                Ok(by_day)
            }
            _ if can_tell => Ok(by_perf),
            // The clock went back, so the interval is unknown.
            _ => Err(Cooked::Undefined),
        }
    }

    /// B1 − B0, in the bits of the base.
    fn base(&self) -> Result<f64, Cooked> {
        let (Some(older), Some(newer)) = (self.older.base, self.newer.base) else {
            return Err(Cooked::Undefined);
        };
        restarted(delta(older, newer, self.row.base_width()))
    }

    /// B1 of a multi timer.
    fn things(&self) -> Result<f64, Cooked> {
        self.newer.base.filter(|things| *things != 0).map(real).ok_or(Cooked::Undefined)
    }
}

fn restarted(delta: Option<u64>) -> Result<f64, Cooked> {
    delta.map(real).ok_or(Cooked::Restarted)
}

/// Undefined if the denominator is missing or zero.
fn quotient(numerator: f64, denominator: Option<f64>) -> Result<f64, Cooked> {
    let denominator = denominator.filter(|denominator| *denominator > 0.0).ok_or(Cooked::Undefined)?;
    Ok(numerator / denominator)
}

#[expect(clippy::cast_precision_loss, reason = "what is displayed has the precision of a double")]
const fn real(value: u64) -> f64 {
    value as f64
}

impl Properties {
    /// The width of this type's base: winperf.h has only one base of 64 bits.
    const fn base_width(&self) -> Width {
        match self.counter_type {
            CounterType::PERF_PRECISION_100NS_TIMER
            | CounterType::PERF_PRECISION_SYSTEM_TIMER
            | CounterType::PERF_PRECISION_OBJECT_TIMER => Width::Bits64,
            _ => Width::Bits32,
        }
    }
}

const INTERVALS_PER_SECOND: f64 = 10_000_000.0;
/// 100 ms: the maximum lag of the time of day, which moves in steps.
const CLOCK_JITTER: f64 = 1_000_000.0;
