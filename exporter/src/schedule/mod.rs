//! When each target is collected: [`Planner`] decides, [`Driver`] runs, [`Schedule`] adds and removes targets.
//!
//! The planner is pure; the driver is one task that sleeps until the planner, a plugin's completion or the host's
//! deadlines want something. See [`Planner`] for the rules.

mod deadlines;
mod driver;
mod figures;
mod planner;

pub use self::deadlines::HostDeadlines;
pub use self::driver::{Collector, Deadlines, Drained, Driver, NewJob, NotStarted, Schedule};
pub use self::figures::Figures;
pub(crate) use self::figures::METRICS;
pub use self::planner::{Begun, Ending, JobId, JobSpec, Limits, Missed, Planner, ReadyQueue, TargetId};
