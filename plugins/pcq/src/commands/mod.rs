//! The plugin's commands: `discover`, `query` and `selects`.
//!
//! | module | job |
//! | --- | --- |
//! | `discover`, `describe` | lists countersets, and writes a module with them |
//! | `query` | values, live |
//! | `selects` | which instances modules collect |
//! | `paths` | counter paths on the command line |
//! | `formatter`; `table`, `csv`, `json` | how values are shown |
//! | `clock` | times as text |

mod clock;
mod describe;
mod discover;
mod json;
mod metrics;
mod open;
mod paths;
mod query;
mod selects;
mod table;

pub(crate) use self::discover::Discover;
pub(crate) use self::query::Query;
pub(crate) use self::selects::SelectsInstances;
use counter_poll::paths::{PathPlan, Sample};

/// Writes samples as text.
trait Formatter: Send {
    /// The text of one sample.
    fn format(&mut self, plan: &PathPlan, sample: &Sample) -> String;

    /// A note for the user, returned once.
    fn note(&mut self) -> Option<String> {
        None
    }
}
