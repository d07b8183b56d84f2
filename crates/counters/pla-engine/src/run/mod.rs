//! When a set runs, [MS-PLA] 3.2.4.1.

mod action;
mod definition;
mod resume;
mod set_run;
mod snapshot;
mod starts;
mod transitions;
mod view;

pub use self::action::{Action, RunError, RunState, SegmentCondition, StartCause, StopReason};
pub use self::definition::{Collector, Moment, SetDefinition, Written};
pub use self::set_run::{RunCounts, SetRun};
pub use self::snapshot::{QueuedSnapshot, RunSnapshot, RunningSnapshot};
