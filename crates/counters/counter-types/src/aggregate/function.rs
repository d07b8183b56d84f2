use counters::pcq::types::{AggregateFunc, CounterType};
use counters::pcq::wire::CounterRegInfo;

use crate::exposition::{Exposition, Part};
use crate::properties::properties;

/// How the values of all instances are combined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Function {
    Total,
    Mean,
    Least,
    Greatest,
}

impl Function {
    /// The function for this family that has the effect of the counter's own function on displayed values.
    pub(super) fn of(counter: &CounterRegInfo, exposition: &Exposition) -> Option<Self> {
        let row = properties(counter.counter_type)?;
        let function = match counter.aggregate_func {
            AggregateFunc::TOTAL => Self::Total,
            AggregateFunc::AVERAGE => Self::Mean,
            AggregateFunc::MINIMUM => Self::Least,
            AggregateFunc::MAXIMUM => Self::Greatest,
            _ => return None,
        };
        let is_extreme = matches!(function, Self::Least | Self::Greatest);
        let has_base = row.needs.base || row.needs.multi;
        match exposition.part {
            _ if has_base && is_extreme => None,
            Part::Base if is_precision_timer(counter.counter_type) => Some(Self::Mean),
            Part::Inactive => Some(function.opposite()),
            Part::StartTime if function == Self::Total => None,
            Part::StartTime => Some(function.opposite()),
            Part::Whole | Part::Base => Some(function),
        }
    }

    const fn opposite(self) -> Self {
        match self {
            Self::Least => Self::Greatest,
            Self::Greatest => Self::Least,
            same => same,
        }
    }
}

const fn is_precision_timer(counter_type: CounterType) -> bool {
    matches!(
        counter_type,
        CounterType::PERF_PRECISION_100NS_TIMER
            | CounterType::PERF_PRECISION_SYSTEM_TIMER
            | CounterType::PERF_PRECISION_OBJECT_TIMER
    )
}
