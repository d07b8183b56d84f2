//! The table of counter types, [`ALL`].
//!
//! A new type: its number in [`CounterType`], a row here, its arithmetic in `tests/it/cooking.rs`, and `EXPECTED` in
//! `series/display.rs` of `plugin-pcq`. Three lists name single types: `base_width` in `cook` (a base has 32 bits otherwise),
//! `is_precision_timer` in `aggregate`, and `AVERAGE_TIMER` in `exposition`. A new [`Formula`] goes into `cook`, whose last arms take
//! any formula, into `Formula::needs_two`, and into `base` in `series/help.rs` of `plugin-pcq`. For a proof by programs of others:
//! `model/catalog/counter_types.rs` of `windows-sim`, and `conformance/counter_types.rs` of `xtask`.

use counters::pcq::types::CounterType;

use super::formula::Formula;
use crate::widen::Width;

/// The properties of a counter type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Properties {
    pub counter_type: CounterType,
    /// The nominal width of a value. The width on the wire decides.
    pub size: Size,
    /// The clock that the type's formula divides by.
    pub clock: Clock,
    /// What a value counts.
    pub measure: Measure,
    /// The formula for two samples.
    pub formula: Formula,
    /// Which other counters the formula needs.
    pub needs: Needs,
    /// Whether the value is the time in which the object was *not* busy.
    pub inverse: bool,
    /// Whether it is only the base of another counter.
    pub is_base: bool,
}

impl Properties {
    /// The width of the value.
    #[must_use]
    pub const fn width(&self) -> Width {
        if matches!(self.size, Size::Dword) { Width::Bits32 } else { Width::Bits64 }
    }

    /// Whether the type's formula takes the object's clock where there is no base. [MS-PCQ] gives
    /// `PERF_PRECISION_OBJECT_TIMER` that clock, and winperf.h a base.
    pub(crate) const fn can_lack_base(&self) -> bool {
        self.needs.base && self.needs.object_clock
    }

    /// Whether the value goes up and wraps to zero at 2³².
    #[must_use]
    pub const fn wraps_at_32_bits(&self) -> bool {
        matches!(self.size, Size::Dword)
            && matches!(self.measure, Measure::Events | Measure::Time | Measure::QueueTime)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// It has 32 bits.
    Dword,
    /// It has 64 bits.
    Large,
    Zero,
    Variable,
}

/// The clock that a formula divides by, and in whose ticks a time is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clock {
    None,
    /// `PerfTimeStamp`, whose frequency is `PerfFreq`.
    PerfTime,
    /// What documents call `PerfTime100NSec`.
    HundredNanoseconds,
    /// The counters that `PerfTimeId` and `PerfFreqId` name.
    Object,
}

/// What a value counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// Events or amounts: goes up.
    Events,
    /// Ticks of the clock during which a condition held: goes up.
    Time,
    /// Ticks of the clock, times the length of a queue: goes up.
    QueueTime,
    Momentary,
    /// The current state, in IEEE 754.
    MomentaryDouble,
    Beginning,
    Text,
    Nothing,
}

/// Which ids of the registration a formula needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Needs {
    /// What documents call `BaseCounterId`.
    pub base: bool,
    pub object_clock: bool,
    /// What documents call `MultiId`.
    pub multi: bool,
}

/// The row of a type, or `None` for an undocumented type, whose values are exposed raw.
#[must_use]
pub fn properties(counter_type: CounterType) -> Option<&'static Properties> {
    ALL.iter().find(|row| row.counter_type == counter_type)
}

/// [MS-PCQ] 2.2.4.2, with the corrections that winperf.h makes: the queue length by object time has 64 bits, the
/// plain counter uses the performance clock, and elapsed time is the object's time minus the value.
pub static ALL: &[Properties] = &[
    // Counts.
    row(T::PERF_COUNTER_COUNTER, Size::Dword, Clock::PerfTime, Measure::Events, F::Rate),
    row(T::PERF_COUNTER_BULK_COUNT, Size::Large, Clock::PerfTime, Measure::Events, F::Rate),
    row(T::PERF_SAMPLE_COUNTER, Size::Dword, Clock::PerfTime, Measure::Events, F::Rate),
    row(T::PERF_COUNTER_DELTA, Size::Dword, Clock::None, Measure::Events, F::Delta),
    row(T::PERF_COUNTER_LARGE_DELTA, Size::Large, Clock::None, Measure::Events, F::Delta),
    // Momentary values.
    row(T::PERF_COUNTER_RAWCOUNT, Size::Dword, Clock::None, Measure::Momentary, F::Value),
    row(T::PERF_COUNTER_RAWCOUNT_HEX, Size::Dword, Clock::None, Measure::Momentary, F::Value),
    row(T::PERF_COUNTER_LARGE_RAWCOUNT, Size::Large, Clock::None, Measure::Momentary, F::Value),
    row(T::PERF_COUNTER_LARGE_RAWCOUNT_HEX, Size::Large, Clock::None, Measure::Momentary, F::Value),
    row(T::PERF_DOUBLE_RAW, Size::Large, Clock::None, Measure::MomentaryDouble, F::Double),
    // Timers.
    row(T::PERF_COUNTER_TIMER, Size::Large, Clock::PerfTime, Measure::Time, F::Busy),
    row(T::PERF_COUNTER_TIMER_INV, Size::Large, Clock::PerfTime, Measure::Time, F::Idle).inverse(),
    row(T::PERF_100NSEC_TIMER, Size::Large, Clock::HundredNanoseconds, Measure::Time, F::Busy),
    row(T::PERF_100NSEC_TIMER_INV, Size::Large, Clock::HundredNanoseconds, Measure::Time, F::Idle).inverse(),
    row(T::PERF_OBJ_TIME_TIMER, Size::Large, Clock::Object, Measure::Time, F::Busy).by_object_clock(),
    row(T::PERF_PRECISION_SYSTEM_TIMER, Size::Large, Clock::PerfTime, Measure::Time, F::Share).over_base(),
    row(T::PERF_PRECISION_100NS_TIMER, Size::Large, Clock::HundredNanoseconds, Measure::Time, F::Share)
        .over_base(),
    row(T::PERF_PRECISION_OBJECT_TIMER, Size::Large, Clock::Object, Measure::Time, F::Share)
        .over_base()
        .by_object_clock(),
    // Multi timers.
    row(T::PERF_COUNTER_MULTI_TIMER, Size::Large, Clock::PerfTime, Measure::Time, F::BusyOfMany).multi(),
    row(T::PERF_COUNTER_MULTI_TIMER_INV, Size::Large, Clock::PerfTime, Measure::Time, F::IdleOfMany)
        .multi()
        .inverse(),
    row(T::PERF_100NSEC_MULTI_TIMER, Size::Large, Clock::HundredNanoseconds, Measure::Time, F::BusyOfMany)
        .multi(),
    row(
        T::PERF_100NSEC_MULTI_TIMER_INV,
        Size::Large,
        Clock::HundredNanoseconds,
        Measure::Time,
        F::IdleOfMany,
    )
    .multi()
    .inverse(),
    row(T::PERF_COUNTER_MULTI_BASE, Size::Large, Clock::None, Measure::Momentary, F::Value).base(),
    // Lengths of queues.
    row(T::PERF_COUNTER_QUEUELEN_TYPE, Size::Dword, Clock::PerfTime, Measure::QueueTime, F::QueueLength),
    row(
        T::PERF_COUNTER_LARGE_QUEUELEN_TYPE,
        Size::Large,
        Clock::PerfTime,
        Measure::QueueTime,
        F::QueueLength,
    ),
    row(
        T::PERF_COUNTER_100NS_QUEUELEN_TYPE,
        Size::Large,
        Clock::HundredNanoseconds,
        Measure::QueueTime,
        F::QueueLength,
    ),
    row(
        T::PERF_COUNTER_OBJ_TIME_QUEUELEN_TYPE,
        Size::Large,
        Clock::Object,
        Measure::QueueTime,
        F::QueueLength,
    )
    .by_object_clock(),
    // Fractions.
    row(T::PERF_SAMPLE_FRACTION, Size::Dword, Clock::None, Measure::Events, F::Share).over_base(),
    row(T::PERF_SAMPLE_BASE, Size::Dword, Clock::None, Measure::Events, F::Value).base(),
    row(T::PERF_RAW_FRACTION, Size::Dword, Clock::None, Measure::Momentary, F::Part).over_base(),
    row(T::PERF_RAW_BASE, Size::Dword, Clock::None, Measure::Momentary, F::Value).base(),
    row(T::PERF_LARGE_RAW_FRACTION, Size::Large, Clock::None, Measure::Momentary, F::Part).over_base(),
    row(T::PERF_LARGE_RAW_BASE, Size::Large, Clock::None, Measure::Momentary, F::Value).base(),
    // Averages.
    row(T::PERF_AVERAGE_TIMER, Size::Dword, Clock::PerfTime, Measure::Time, F::MeanTime).over_base(),
    row(T::PERF_AVERAGE_BULK, Size::Large, Clock::None, Measure::Events, F::Mean).over_base(),
    row(T::PERF_AVERAGE_BASE, Size::Dword, Clock::None, Measure::Events, F::Value).base(),
    // The rest.
    row(T::PERF_ELAPSED_TIME, Size::Large, Clock::Object, Measure::Beginning, F::Elapsed).by_object_clock(),
    row(T::PERF_COUNTER_TEXT, Size::Variable, Clock::None, Measure::Text, F::Nothing),
    row(T::PERF_COUNTER_NODATA, Size::Zero, Clock::None, Measure::Nothing, F::Nothing),
];

type F = Formula;
type T = CounterType;

const fn row(
    counter_type: CounterType,
    size: Size,
    clock: Clock,
    measure: Measure,
    formula: Formula,
) -> Properties {
    let needs = Needs { base: false, object_clock: false, multi: false };
    Properties { counter_type, size, clock, measure, formula, needs, inverse: false, is_base: false }
}

impl Properties {
    const fn inverse(mut self) -> Self {
        self.inverse = true;
        self
    }

    const fn base(mut self) -> Self {
        self.is_base = true;
        self
    }

    const fn over_base(mut self) -> Self {
        self.needs.base = true;
        self
    }

    const fn by_object_clock(mut self) -> Self {
        self.needs.object_clock = true;
        self
    }

    const fn multi(mut self) -> Self {
        self.needs.multi = true;
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // winperf.h: what the bits of a type mean.
    const SIZE: u32 = 0x0000_0300;
    const TYPE: u32 = 0x0000_0C00;
    const COUNTER: u32 = 0x0000_0400;
    const SUBTYPE: u32 = 0x000F_0000;
    const TIMER_CLOCK: u32 = 0x0030_0000;
    const DELTA: u32 = 0x0040_0000;
    const INVERSE: u32 = 0x0100_0000;
    const MULTI: u32 = 0x0200_0000;
    const BASE_SUBTYPE: u32 = 0x0003_0000;

    #[test]
    fn the_table_says_what_the_bits_of_winperf_say() {
        for row in ALL {
            let bits = row.counter_type.0;
            let name = row.counter_type;
            let size = match bits & SIZE {
                0 => Size::Dword,
                0x100 => Size::Large,
                0x200 => Size::Zero,
                _ => Size::Variable,
            };
            // Types of bases have a number in the bits of the size.
            let numbered = bits & 0xFF != 0;
            // The bits of the size are those of 32 bits, and the value has 64.
            let is_double = row.measure == Measure::MomentaryDouble;
            assert!(row.size == size || numbered || is_double, "{name}");
            assert_eq!(row.inverse, bits & INVERSE != 0, "{name}");
            assert_eq!(
                row.needs.multi || row.counter_type == T::PERF_COUNTER_MULTI_BASE,
                bits & MULTI != 0,
                "{name}"
            );
            let is_counter = bits & TYPE == COUNTER;
            assert_eq!(row.is_base, is_counter && bits & SUBTYPE == BASE_SUBTYPE, "{name}");
            if matches!(row.measure, Measure::Time | Measure::QueueTime) {
                let clock = match bits & TIMER_CLOCK {
                    0x0010_0000 => Clock::HundredNanoseconds,
                    0x0020_0000 => Clock::Object,
                    _ => Clock::PerfTime,
                };
                assert_eq!(row.clock, clock, "{name}");
            }
            if bits & DELTA != 0 {
                assert!(
                    matches!(row.measure, Measure::Events | Measure::Time | Measure::QueueTime),
                    "{name}"
                );
            }
        }
    }

    #[test]
    fn every_type_with_a_name_has_one_row() {
        let mut types: Vec<u32> = ALL.iter().map(|row| row.counter_type.0).collect();
        types.sort_unstable();
        types.dedup();
        assert_eq!(types.len(), ALL.len());
        // 34 types of [MS-PCQ] 2.2.4.2, and five of winperf.h.
        assert_eq!(ALL.len(), 39);
        assert!(ALL.iter().all(|row| row.counter_type.name().is_some()));
        assert_eq!(properties(CounterType(0x1234_5678)), None);
    }

    #[test]
    fn counters_that_wrap_are_those_of_32_bits_that_go_up() {
        let wrapping: Vec<_> =
            ALL.iter().filter(|row| row.wraps_at_32_bits()).map(|row| row.counter_type).collect();
        let expected = [
            T::PERF_COUNTER_COUNTER,
            T::PERF_SAMPLE_COUNTER,
            T::PERF_COUNTER_DELTA,
            T::PERF_COUNTER_QUEUELEN_TYPE,
            T::PERF_SAMPLE_FRACTION,
            T::PERF_SAMPLE_BASE,
            T::PERF_AVERAGE_TIMER,
            T::PERF_AVERAGE_BASE,
        ];
        assert_eq!(wrapping, expected);
    }
}
