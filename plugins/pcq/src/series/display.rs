//! How pages show the values of a counter.

use counter_types::{Formula, Part, Scale};
use plugin_sdk::{Display, DisplayRule};

/// The rule by which a page computes the value that Windows shows.
///
/// Values are exported in base units, so ticks in the formula are seconds here.
pub(super) fn display_of(family: &counter_types::Family) -> Display<'static> {
    if family.exposition.part == Part::Base {
        return Display::by(DisplayRule::Base);
    }
    let over_base = |rule| Display::over(rule, Part::Base.as_str());
    match family.formula {
        Formula::Value | Formula::Double if family.exposition.scale == Scale::Percent => {
            Display::by(DisplayRule::Percent)
        }
        Formula::Value | Formula::Double => Display::by(DisplayRule::Value),
        Formula::Delta => Display::by(DisplayRule::Delta),
        Formula::Rate => Display::by(DisplayRule::Rate),
        Formula::QueueLength => Display::by(DisplayRule::QueueLength),
        Formula::Busy => Display::by(DisplayRule::PercentOfTime),
        Formula::Idle => Display::by(DisplayRule::PercentNotOfTime),
        Formula::BusyOfMany => over_base(DisplayRule::PercentOfTimeOfMany),
        Formula::IdleOfMany => over_base(DisplayRule::PercentNotOfTimeOfMany),
        Formula::Part => over_base(DisplayRule::PercentOfBase),
        Formula::Share => over_base(DisplayRule::PercentOfBaseDelta),
        Formula::MeanTime | Formula::Mean => over_base(DisplayRule::Average),
        Formula::Elapsed => Display::by(DisplayRule::Elapsed),
        Formula::Nothing => Display::NONE,
    }
}

#[cfg(test)]
mod tests {
    use counter_types::{ALL, CounterType, plan};
    use counters::pcq::types::CounterId;
    use counters::pcq::wire::CounterRegInfo;

    use super::*;

    use CounterType as T;
    use DisplayRule as R;

    /// The values that the Performance Monitor displays for each type by the Win32 pages, in the order of [MS-PCQ]
    /// 2.2.4.2.
    const EXPECTED: &[(DisplayRule, &[CounterType])] = &[
        (R::Rate, &[T::PERF_COUNTER_COUNTER, T::PERF_COUNTER_BULK_COUNT, T::PERF_SAMPLE_COUNTER]),
        (R::Delta, &[T::PERF_COUNTER_DELTA, T::PERF_COUNTER_LARGE_DELTA]),
        (
            R::Value,
            &[
                T::PERF_COUNTER_RAWCOUNT,
                T::PERF_COUNTER_RAWCOUNT_HEX,
                T::PERF_COUNTER_LARGE_RAWCOUNT,
                T::PERF_COUNTER_LARGE_RAWCOUNT_HEX,
                T::PERF_DOUBLE_RAW,
                // Bases that no type names.
                T::PERF_COUNTER_MULTI_BASE,
                T::PERF_SAMPLE_BASE,
                T::PERF_RAW_BASE,
                T::PERF_LARGE_RAW_BASE,
                T::PERF_AVERAGE_BASE,
            ],
        ),
        (R::PercentOfTime, &[T::PERF_COUNTER_TIMER, T::PERF_100NSEC_TIMER, T::PERF_OBJ_TIME_TIMER]),
        (R::PercentNotOfTime, &[T::PERF_COUNTER_TIMER_INV, T::PERF_100NSEC_TIMER_INV]),
        (
            R::PercentOfBaseDelta,
            &[
                T::PERF_PRECISION_SYSTEM_TIMER,
                T::PERF_PRECISION_100NS_TIMER,
                T::PERF_PRECISION_OBJECT_TIMER,
                T::PERF_SAMPLE_FRACTION,
            ],
        ),
        (R::PercentOfTimeOfMany, &[T::PERF_COUNTER_MULTI_TIMER, T::PERF_100NSEC_MULTI_TIMER]),
        (R::PercentNotOfTimeOfMany, &[T::PERF_COUNTER_MULTI_TIMER_INV, T::PERF_100NSEC_MULTI_TIMER_INV]),
        (
            R::QueueLength,
            &[
                T::PERF_COUNTER_QUEUELEN_TYPE,
                T::PERF_COUNTER_LARGE_QUEUELEN_TYPE,
                T::PERF_COUNTER_100NS_QUEUELEN_TYPE,
                T::PERF_COUNTER_OBJ_TIME_QUEUELEN_TYPE,
            ],
        ),
        (R::PercentOfBase, &[T::PERF_RAW_FRACTION, T::PERF_LARGE_RAW_FRACTION]),
        (R::Average, &[T::PERF_AVERAGE_TIMER, T::PERF_AVERAGE_BULK]),
        (R::Elapsed, &[T::PERF_ELAPSED_TIME]),
        (R::None, &[T::PERF_COUNTER_TEXT]),
    ];

    fn expected(counter_type: CounterType) -> Option<DisplayRule> {
        EXPECTED.iter().find(|(_, types)| types.contains(&counter_type)).map(|(rule, _)| *rule)
    }

    #[test]
    fn every_type_is_shown_as_windows_shows_it() {
        let base = CounterRegInfo::new(CounterId(9), T::PERF_COUNTER_LARGE_RAWCOUNT);
        for row in ALL {
            let counter = CounterRegInfo {
                base_counter_id: CounterId(9),
                multi_id: CounterId(9),
                ..CounterRegInfo::new(CounterId(0), row.counter_type)
            };
            let families = plan(&[counter, base], |_| None);
            let of =
                |part| families.iter().find(|one| one.item == CounterId(0) && one.exposition.part == part);
            let shown = families.first().filter(|one| one.item == CounterId(0)).map(display_of);
            let name = row.counter_type;
            assert_eq!(shown.map(|display| display.rule), expected(row.counter_type), "{name}");
            let Some(shown) = shown else { continue };
            assert_eq!(shown.base, if shown.rule.needs_base() { "base" } else { "" }, "{name}");
            assert_eq!(shown.rule.needs_base(), of(Part::Base).is_some(), "{name}");
            assert!(of(Part::Base).is_none_or(|base| display_of(base) == Display::by(R::Base)), "{name}");
        }
    }

    #[test]
    fn a_counter_whose_base_is_not_there_shows_its_value() {
        for lost in [T::PERF_AVERAGE_BULK, T::PERF_RAW_FRACTION, T::PERF_100NSEC_MULTI_TIMER] {
            let families = plan(&[CounterRegInfo::new(CounterId(0), lost)], |_| None);
            assert_eq!(display_of(&families[0]), Display::by(R::Value), "{lost}");
        }
        let unknown = plan(&[CounterRegInfo::new(CounterId(0), CounterType(0x7777_7777))], |_| None);
        assert_eq!(display_of(&unknown[0]), Display::by(R::Value));
    }

    #[test]
    fn a_momentary_value_in_percent_is_shown_in_percent() {
        let families = plan(&[CounterRegInfo::new(CounterId(0), T::PERF_COUNTER_RAWCOUNT)], |_| {
            Some("% Performance Limit")
        });
        assert_eq!(display_of(&families[0]), Display::by(R::Percent));
    }
}
