//! Which instances and counters a log means.

use counter_poll::paths::{Instance, PathMatch};
use counter_types::{CounterPath, CounterType, Measure, properties};

/// The counter paths of a log with their places among those that are asked for.
pub(super) type Paths = [(usize, CounterPath)];

/// Whether a path means an instance; the only one of a counterset always.
pub(super) fn wants(path: &PathMatch, instance: Option<&Instance>) -> bool {
    path.wants(instance)
}

/// What an instance is known by from reply to reply.
pub(super) fn key(instance: &Instance) -> (String, u32) {
    (instance.name.to_lowercase(), instance.index)
}

pub(super) fn is_text(counter_type: CounterType) -> bool {
    properties(counter_type).is_some_and(|row| matches!(row.measure, Measure::Text | Measure::Nothing))
}
