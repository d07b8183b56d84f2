//! When which target is asked: [`Planner`] decides, [`Driver`] does.
//!
//! The planner is pure; the driver is one task that sleeps until the planner, a plugin's completion or the host's
//! deadlines want something. See [`Planner`] for the rules.

mod driver;
mod planner;
mod plugin;

pub use self::driver::{Collector, Deadlines, Drained, Driver, Ended, Ends, NotStarted};
pub use self::planner::{Ending, JobId, JobSpec, Limits, Planner};
pub use self::plugin::{HostDeadlines, PluginCollector};
