//! Records of counters: the columns of a log, and its samples.
//!
//! | module | job |
//! | --- | --- |
//! | `columns` | which counters and instances a log has, fixed when it begins |
//! | `bound` | where their values are in the replies |
//! | `recorder` | when a collector is due, and what a record has |
//! | `raw` | the numbers that PDH keeps of a sample |

mod bound;
mod columns;
mod raw;
mod recorder;

pub(crate) use self::recorder::{HeaderContext, Recorder};
use counter_poll::paths::{Instance, PathMatch};
use counter_types::{CounterPath, CounterType, Measure, properties};

/// The counter paths of a log with their places among those that are asked for.
type Paths = [(usize, CounterPath)];

/// Whether a path means an instance; the only one of a counterset always.
fn wants(path: &PathMatch, instance: Option<&Instance>) -> bool {
    path.wants(instance)
}

/// What an instance is known by from reply to reply.
fn key(instance: &Instance) -> (String, u32) {
    (instance.name.to_lowercase(), instance.index)
}

fn is_text(counter_type: CounterType) -> bool {
    properties(counter_type).is_some_and(|row| matches!(row.measure, Measure::Text | Measure::Nothing))
}
