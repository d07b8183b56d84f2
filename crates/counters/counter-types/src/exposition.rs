use core::fmt;

use wire::FileTime;

use crate::Scale;
use crate::clocks::RawClocks;
use crate::properties::{Clock, Measure, Properties};
use crate::unit::Unit;
use crate::widen::Width;

/// How a counter's raw values are exported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exposition {
    /// The kind of the family.
    pub kind: Kind,
    /// The unit of its values.
    pub unit: Unit,
    /// What a raw value is multiplied or divided by.
    pub scale: Scale,
    /// Which part of the counter it is.
    pub part: Part,
    /// Whether values wrap to zero at 2³², so that [`crate::Widen`] must extend them.
    pub wraps: bool,
}

/// The kind of a counter's family.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Goes up, or is reset.
    Counter,
    /// Goes up and down.
    Gauge,
    /// Its value is a text.
    Info,
    Unknown,
}

/// Which part of a counter a family is; the exporter appends it to the counter's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    Whole,
    Base,
    /// The time in which the object was not busy.
    Inactive,
    /// When the object began.
    StartTime,
}

impl Part {
    /// The part as a word; empty for the counter itself.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Whole => "",
            Self::Base => "base",
            Self::Inactive => "inactive",
            Self::StartTime => "start_time",
        }
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// An exported value. Integers stay integers, because counters exceed 2⁵³.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    /// A value without a scale.
    U64(u64),
    /// A value in base units.
    F64(f64),
}

impl Exposition {
    /// For a type without a row.
    pub(crate) const UNKNOWN: Self =
        Self { kind: Kind::Unknown, unit: Unit::None, scale: Scale::One, part: Part::Whole, wraps: false };

    /// The exposition of a counter by its own type; `None` if it has no value.
    pub(crate) fn of(properties: &Properties, unit: Unit) -> Option<Self> {
        let wraps = properties.wraps_at_32_bits();
        let part = if properties.inverse { Part::Inactive } else { Part::Whole };
        let seconds = |kind, scale| Self { kind, unit: Unit::Seconds, scale, part, wraps };
        Some(match properties.measure {
            Measure::Events => {
                Self { kind: Kind::Counter, unit: unit.amount(), scale: Scale::One, part, wraps }
            }
            Measure::Time | Measure::QueueTime => seconds(Kind::Counter, ticks(properties.clock)),
            Measure::Momentary if unit == Unit::Ratio && !properties.needs.base => {
                Self { kind: Kind::Gauge, unit, scale: Scale::Percent, part, wraps }
            }
            Measure::Momentary => {
                Self { kind: Kind::Gauge, unit: unit.amount(), scale: Scale::One, part, wraps }
            }
            Measure::MomentaryDouble => {
                Self { kind: Kind::Gauge, unit: unit.amount(), scale: Scale::Double, part, wraps }
            }
            Measure::Beginning => Self { part: Part::StartTime, ..seconds(Kind::Gauge, Scale::Beginning) },
            Measure::Text => Self { kind: Kind::Info, unit: Unit::None, scale: Scale::One, part, wraps },
            Measure::Nothing => return None,
        })
    }

    /// For the base of `numerator`.
    pub(crate) fn of_base(base: Option<&Properties>, numerator: &Properties) -> Self {
        let wraps = base.is_some_and(Properties::wraps_at_32_bits);
        let part = Part::Base;
        if numerator.needs.base
            && numerator.measure == Measure::Time
            && numerator.counter_type != AVERAGE_TIMER
        {
            // The base of a precision timer is a time stamp of the same clock.
            let scale = ticks(numerator.clock);
            Self { kind: Kind::Counter, unit: Unit::Seconds, scale, part, wraps }
        } else {
            let kind = match base.map(|base| base.measure) {
                Some(Measure::Events) => Kind::Counter,
                Some(_) => Kind::Gauge,
                None => Kind::Unknown,
            };
            Self { kind, unit: Unit::None, scale: Scale::One, part, wraps }
        }
    }

    /// Whether a value of which it is only known when the host or the instance began can be said to count since then. Not
    /// so one that may have wrapped before it was seen, and not a time stamp.
    #[must_use]
    pub const fn counts_since_beginning(&self) -> bool {
        matches!(self.kind, Kind::Counter) && !self.wraps && !self.is_time_stamp()
    }

    /// Whether values are those of a clock, whose zero is no start: the base of a precision timer.
    #[must_use]
    pub const fn is_time_stamp(&self) -> bool {
        matches!((self.part, self.unit), (Part::Base, Unit::Seconds))
    }

    /// Whether values are integers.
    #[must_use]
    pub const fn is_integer(&self) -> bool {
        matches!(self.scale, Scale::One | Scale::Megahertz | Scale::Megabytes)
    }

    /// The width of the values, for [`crate::Widen::update`].
    #[must_use]
    pub const fn width(&self) -> Width {
        if self.wraps { Width::Bits32 } else { Width::Bits64 }
    }

    /// Converts a raw value to the exported one; `None` if the clock that it needs stands still.
    ///
    /// A counter without an object clock uses the performance clock.
    #[must_use]
    pub fn export(&self, raw: u64, clocks: &RawClocks) -> Option<Value> {
        match self.scale {
            Scale::One => Some(Value::U64(raw)),
            Scale::Double => Some(Value::F64(f64::from_bits(raw))),
            Scale::Percent => divided(raw, 100),
            Scale::HundredNanoseconds => divided(raw, FileTime::INTERVALS_PER_SECOND),
            Scale::Microseconds => divided(raw, MICROSECONDS_PER_SECOND),
            Scale::PerfFreq => divided(raw, clocks.perf_freq),
            Scale::ObjectFreq => divided(raw, clocks.object().1),
            Scale::Megahertz => Some(Value::U64(raw.saturating_mul(HERTZ_PER_MEGAHERTZ))),
            Scale::Megabytes => Some(Value::U64(raw.saturating_mul(BYTES_PER_MEGABYTE))),
            Scale::Kelvin => Some(celsius(raw, 1.0)),
            Scale::Decikelvin => Some(celsius(raw, 10.0)),
            Scale::Beginning => clocks.unix_seconds(raw).map(Value::F64),
        }
    }

    /// The same for the mean of `count` values of a gauge, whose sum is `sum`.
    #[expect(clippy::cast_precision_loss, reason = "means are floating-point by nature")]
    pub(crate) fn export_mean(&self, sum: u128, count: u64, clocks: &RawClocks) -> Option<Value> {
        let mean = || sum as f64 / count as f64;
        match self.scale {
            Scale::One => Some(Value::F64(mean())),
            Scale::Percent => Some(Value::F64(mean() / 100.0)),
            // Fractions of a tick are below the resolution of the clock.
            _ => self.export(u64::try_from(sum.checked_div(count.into())?).ok()?, clocks),
        }
    }
}

const MICROSECONDS_PER_SECOND: u64 = 1_000_000;
const HERTZ_PER_MEGAHERTZ: u64 = 1_000_000;
const BYTES_PER_MEGABYTE: u64 = 1 << 20;
const AVERAGE_TIMER: counters::pcq::types::CounterType =
    counters::pcq::types::CounterType::PERF_AVERAGE_TIMER;

/// The scale from ticks to seconds.
const fn ticks(clock: Clock) -> Scale {
    match clock {
        Clock::None => Scale::One,
        Clock::PerfTime => Scale::PerfFreq,
        Clock::HundredNanoseconds => Scale::HundredNanoseconds,
        Clock::Object => Scale::ObjectFreq,
    }
}

/// Parts of a kelvin in degrees Celsius; rounded, so that the subtraction adds no digits.
#[expect(clippy::cast_precision_loss, reason = "scaled values are floating-point by nature")]
fn celsius(raw: u64, parts: f64) -> Value {
    const ZERO_CELSIUS_KELVIN: f64 = 273.15;
    Value::F64(((raw as f64 / parts - ZERO_CELSIUS_KELVIN) * 100.0).round() / 100.0)
}

#[expect(clippy::cast_precision_loss, reason = "scaled values are floating-point by nature")]
fn divided(raw: u64, by: u64) -> Option<Value> {
    (by != 0).then(|| Value::F64(raw as f64 / by as f64))
}
