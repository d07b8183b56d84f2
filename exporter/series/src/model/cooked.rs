//! The shown value of a series: the value that the Performance Monitor of Windows computes from the counter.
//!
//! Values are exported as counters in base units, for a query language. A page has no query language: it keeps the
//! last two samples of each series that it shows, and calls [`cooked`].
//!
//! ```
//! use std::time::Duration;
//! use series::model::{DisplayRule, Sample, Shown, ShownUnit, Value, cooked};
//!
//! // A processor was idle for 7.4 of 10 seconds: it was busy for 26 % of them.
//! let at = |second, idle_s| Sample { at: Duration::from_secs(second), ..Sample::of(Value::F64(idle_s)) };
//! let shown = cooked(Some(&at(100, 50.0)), &at(110, 57.4), DisplayRule::PercentNotOfTime).unwrap();
//! assert_eq!((shown.value.round(), shown.unit), (26.0, ShownUnit::Percent));
//! ```
//!
//! Which rule a family has is in [`super::Family::display_rule`]; the family of the base, which some rules need,
//! is [`super::Snapshot::base_of`] and the value in it [`super::FamilyPoints::value_beside`]. A family whose rule
//! is [`DisplayRule::Base`] is best not shown at all, since another one shows what it is for.

use std::time::Duration;

use super::{DisplayRule, Value};

/// One value of a series, with the other inputs of its rule.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    pub value: Value,
    /// The value that the same instance has in the base's family.
    pub base: Option<Value>,
    /// When it was collected, on any clock that is not set.
    pub at: Duration,
    /// When it was collected, in seconds since 1970.
    pub unix_s: f64,
    /// When the series began to count, where that is known.
    pub start_time_unix_nanos: Option<i64>,
}

impl Sample {
    #[must_use]
    pub const fn of(value: Value) -> Self {
        Self { value, base: None, at: Duration::ZERO, unix_s: 0.0, start_time_unix_nanos: None }
    }
}

/// A number for a person.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shown {
    /// The number. It is finite.
    pub value: f64,
    /// What it is in.
    pub unit: ShownUnit,
}

/// The unit of a shown number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ShownUnit {
    None,
    /// The family's own unit, which may be none: [`super::Family::unit`].
    Family,
    /// The same, for each second.
    FamilyPerSecond,
    /// Percent: 26 is 26 %.
    Percent,
}

/// Computes the shown value of a series by the rule of its family; `previous` is its sample in an earlier
/// collection.
///
/// `None` where there is nothing to show: the rule needs an earlier sample or a base that is not there, the counter began
/// again between the two, or no time has passed. Where nothing happened that could be averaged, Windows shows 0.
#[must_use]
pub fn cooked(previous: Option<&Sample>, sample: &Sample, rule: DisplayRule) -> Option<Shown> {
    let previous = previous.filter(|previous| previous.start_time_unix_nanos == sample.start_time_unix_nanos);
    let now = sample.value.as_f64();
    let base = || sample.base.map(Value::as_f64);
    let gained = || previous.and_then(|previous| gained(previous.value, sample.value));
    let per_base = || {
        let (gained, base) = (gained()?, gained_of_base(previous?, sample)?);
        Some(if base == 0.0 { 0.0 } else { gained / base })
    };
    let per_second = || Some(gained()? / elapsed_s(previous?, sample)?);
    let (value, unit) = match rule {
        DisplayRule::None | DisplayRule::Value | DisplayRule::Base => (now, ShownUnit::Family),
        DisplayRule::Percent => (100.0 * now, ShownUnit::Percent),
        DisplayRule::Delta => (gained()?, ShownUnit::Family),
        DisplayRule::Rate => (per_second()?, ShownUnit::FamilyPerSecond),
        DisplayRule::QueueLength => (per_second()?, ShownUnit::None),
        DisplayRule::PercentOfTime => (100.0 * per_second()?, ShownUnit::Percent),
        // The time in which a processor was idle is read some moments after the clock.
        DisplayRule::PercentNotOfTime => (100.0 * (1.0 - per_second()?).max(0.0), ShownUnit::Percent),
        DisplayRule::PercentOfTimeOfMany => (100.0 * per_second()? / base()?, ShownUnit::Percent),
        DisplayRule::PercentNotOfTimeOfMany => {
            (100.0 * (base()? - per_second()?).max(0.0), ShownUnit::Percent)
        }
        DisplayRule::PercentOfBase => (100.0 * now / base()?, ShownUnit::Percent),
        DisplayRule::PercentOfBaseDelta => (100.0 * per_base()?, ShownUnit::Percent),
        DisplayRule::Average => (per_base()?, ShownUnit::Family),
        DisplayRule::Elapsed => ((sample.unix_s - now).max(0.0), ShownUnit::Family),
    };
    value.is_finite().then_some(Shown { value, unit })
}

/// Whether a rule needs an earlier sample.
#[must_use]
pub const fn needs_earlier(rule: DisplayRule) -> bool {
    use DisplayRule as R;
    !matches!(rule, R::None | R::Value | R::Base | R::Percent | R::PercentOfBase | R::Elapsed)
}

/// Seconds between two samples; `None` where there are none.
fn elapsed_s(previous: &Sample, sample: &Sample) -> Option<f64> {
    let elapsed = sample.at.checked_sub(previous.at)?;
    (!elapsed.is_zero()).then_some(elapsed.as_secs_f64())
}

fn gained_of_base(previous: &Sample, sample: &Sample) -> Option<f64> {
    gained(previous.base?, sample.base?)
}

/// The increase of a counter, exact beyond 2⁵³; `None` if it was reset.
fn gained(before: Value, now: Value) -> Option<f64> {
    let gained = match (before, now) {
        (Value::U64(before), Value::U64(now)) => Value::U64(now.checked_sub(before)?).as_f64(),
        (before, now) => now.as_f64() - before.as_f64(),
    };
    (gained >= 0.0).then_some(gained)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two samples of a series, two seconds apart, the newer at 1,600,000,000 s after 1970.
    fn samples(values: [Value; 2], bases: [Option<Value>; 2]) -> [Sample; 2] {
        let sample = |index: usize, second: u8| Sample {
            value: values[index],
            base: bases[index],
            at: Duration::from_secs(second.into()),
            unix_s: 1_599_999_990.0 + f64::from(second),
            start_time_unix_nanos: Some(7),
        };
        [sample(0, 8), sample(1, 10)]
    }

    /// One rule: a series and its base in two samples, in base units as they are exported, and what Windows shows.
    fn check(rule: DisplayRule, n: [f64; 2], b: Option<[f64; 2]>, expected: f64, unit: ShownUnit) {
        let bases = [b.map(|b| Value::F64(b[0])), b.map(|b| Value::F64(b[1]))];
        let [older, newer] = samples(n.map(Value::F64), bases);
        assert_eq!(cooked(Some(&older), &newer, rule), Some(Shown { value: expected, unit }), "{rule:?}");
    }

    // The formulas are those of the Win32 pages on counter types: N is the counter, D its clock, F the clock's
    // frequency, B the base. The counters here are in seconds where the type counts ticks: N / F.
    #[test]
    fn every_rule_shows_what_the_performance_monitor_shows() {
        use DisplayRule as R;
        use ShownUnit as U;
        // PERF_COUNTER_RAWCOUNT: N1. A name with a percent sign: percent as Windows has it, a ratio as we export it.
        check(R::None, [9.0, 7.0], None, 7.0, U::Family);
        check(R::Value, [9.0, 7.0], None, 7.0, U::Family);
        check(R::Base, [9.0, 7.0], None, 7.0, U::Family);
        check(R::Percent, [0.5, 0.75], None, 75.0, U::Percent);
        // PERF_COUNTER_DELTA: N1 - N0. PERF_COUNTER_COUNTER: (N1 - N0) / ((D1 - D0) / F), 300 events in 2 s.
        check(R::Delta, [500.0, 800.0], None, 300.0, U::Family);
        check(R::Rate, [500.0, 800.0], None, 150.0, U::FamilyPerSecond);
        // PERF_COUNTER_LARGE_QUEUELEN_TYPE: (N1 - N0) / (D1 - D0), 6 s of waiting in 2 s.
        check(R::QueueLength, [1.0, 7.0], None, 3.0, U::None);
        // PERF_100NSEC_TIMER: 100 * (N1 - N0) / (D1 - D0), half a second of two; PERF_100NSEC_TIMER_INV: 100 * (1 - …).
        check(R::PercentOfTime, [1.0, 1.5], None, 25.0, U::Percent);
        check(R::PercentNotOfTime, [1.0, 1.5], None, 75.0, U::Percent);
        // PERF_100NSEC_MULTI_TIMER: 100 * ((N1 - N0) / (D1 - D0)) / B1, four disks were busy for 2 s together, and there
        // were five before; PERF_100NSEC_MULTI_TIMER_INV: 100 * (B1 - (N1 - N0) / (D1 - D0)).
        check(R::PercentOfTimeOfMany, [1.0, 3.0], Some([5.0, 4.0]), 25.0, U::Percent);
        check(R::PercentNotOfTimeOfMany, [1.0, 3.0], Some([5.0, 4.0]), 300.0, U::Percent);
        // PERF_RAW_FRACTION: 100 * N1 / B1. PERF_SAMPLE_FRACTION: 100 * (N1 - N0) / (B1 - B0), 30 hits in 120 tries.
        check(R::PercentOfBase, [1.0, 3.0], Some([4.0, 8.0]), 37.5, U::Percent);
        check(R::PercentOfBaseDelta, [10.0, 40.0], Some([100.0, 220.0]), 25.0, U::Percent);
        // PERF_AVERAGE_TIMER: ((N1 - N0) / F) / (B1 - B0), 3 s in 6 operations.
        check(R::Average, [1.0, 4.0], Some([10.0, 16.0]), 0.5, U::Family);
        // PERF_ELAPSED_TIME: (D1 - N1) / F, begun 10 s before the newer sample.
        check(R::Elapsed, [1_599_999_990.0, 1_599_999_990.0], None, 10.0, U::Family);
        assert_eq!(R::ALL.len(), 15, "a rule is not proved here");
    }

    #[test]
    fn one_sample_is_enough_only_where_nothing_is_subtracted() {
        let [_, newer] = samples([1.0, 3.0].map(Value::F64), [Some(Value::F64(4.0)); 2]);
        for rule in DisplayRule::ALL {
            assert_eq!(cooked(None, &newer, rule).is_none(), needs_earlier(rule), "{rule:?}");
        }
    }

    #[test]
    fn a_rule_without_its_base_shows_nothing() {
        let [older, newer] = samples([1.0, 3.0].map(Value::F64), [None; 2]);
        for rule in DisplayRule::ALL {
            assert_eq!(cooked(Some(&older), &newer, rule).is_none(), rule.needs_base(), "{rule:?}");
        }
        // A base that does not move: no operation, for which Windows shows 0.
        for base in [4.0, 0.0] {
            let [older, newer] = samples([1.0, 3.0].map(Value::F64), [Some(Value::F64(base)); 2]);
            for rule in [DisplayRule::Average, DisplayRule::PercentOfBaseDelta] {
                let shown = cooked(Some(&older), &newer, rule);
                assert_eq!(shown.map(|shown| shown.value), Some(0.0), "{rule:?} {base}");
            }
        }
        let [older, newer] = samples([1.0, 3.0].map(Value::F64), [Some(Value::F64(0.0)); 2]);
        assert_eq!(cooked(Some(&older), &newer, DisplayRule::PercentOfBase), None);
        assert_eq!(cooked(Some(&older), &newer, DisplayRule::PercentOfTimeOfMany), None);
    }

    #[test]
    fn a_counter_that_began_anew_and_a_moment_without_length_show_nothing() {
        let bases = [10.0, 20.0].map(|base| Some(Value::F64(base)));
        for values in [[9.0, 3.0].map(Value::F64), [Value::U64(9), Value::U64(3)]] {
            let [older, newer] = samples(values, bases);
            for rule in DisplayRule::ALL {
                assert_eq!(cooked(Some(&older), &newer, rule).is_none(), needs_earlier(rule), "{rule:?}");
            }
        }
        let [older, newer] = samples([1.0, 3.0].map(Value::F64), bases);
        // A host that was restarted, or another one of the name, may have counted more.
        let restarted = Sample { start_time_unix_nanos: Some(8), ..newer };
        for rule in DisplayRule::ALL {
            assert_eq!(cooked(Some(&older), &restarted, rule).is_none(), needs_earlier(rule), "{rule:?}");
        }
        let newer = Sample { at: older.at, ..newer };
        for rule in [DisplayRule::Rate, DisplayRule::PercentOfTime, DisplayRule::PercentNotOfTime] {
            assert_eq!(cooked(Some(&older), &newer, rule), None, "{rule:?}");
        }
        let [older, newer] =
            samples([1.0, 3.0].map(Value::F64), [Some(Value::F64(9.0)), Some(Value::F64(3.0))]);
        assert_eq!(cooked(Some(&older), &newer, DisplayRule::Average), None, "the base began again");
    }

    #[test]
    fn what_begins_by_the_clock_of_a_host_that_is_ahead_has_lasted_for_no_time() {
        let [_, newer] = samples([1_600_000_005.0; 2].map(Value::F64), [None; 2]);
        let expected = Some(Shown { value: 0.0, unit: ShownUnit::Family });
        assert_eq!(cooked(None, &newer, DisplayRule::Elapsed), expected);
    }

    #[test]
    fn idle_time_that_is_read_late_is_not_less_than_nothing_and_rates_are_exact_beyond_a_double() {
        let [older, newer] = samples([1.0, 3.01].map(Value::F64), [Some(Value::F64(1.0)); 2]);
        for rule in [DisplayRule::PercentNotOfTime, DisplayRule::PercentNotOfTimeOfMany] {
            assert_eq!(cooked(Some(&older), &newer, rule).map(|shown| shown.value), Some(0.0), "{rule:?}");
        }
        let [older, newer] = samples([Value::U64(u64::MAX - 100), Value::U64(u64::MAX - 70)], [None; 2]);
        assert_eq!(cooked(Some(&older), &newer, DisplayRule::Rate).map(|shown| shown.value), Some(15.0));
        let [_, broken] = samples([Value::F64(f64::NAN); 2], [None; 2]);
        assert_eq!(cooked(None, &broken, DisplayRule::Value), None);
    }
}
