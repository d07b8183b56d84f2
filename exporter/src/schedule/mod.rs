//! When which target is asked: [`Planner`] decides, [`Driver`] does, [`Schedule`] tells it what comes and goes.
//!
//! The planner is pure; the driver is one task that sleeps until the planner, a plugin's completion or the host's
//! deadlines want something. See [`Planner`] for the rules.

mod driver;
mod figures;
mod planner;
mod plugin;

use crate::config::Scrape;

pub use self::driver::{Collector, Deadlines, Drained, Driver, NewJob, NotStarted, Schedule};
pub use self::figures::Figures;
pub(crate) use self::figures::METRICS;
pub use self::planner::{Begun, Ending, JobId, JobSpec, Lane, Limits, Missed, Planner, TargetId};
pub use self::plugin::{HostDeadlines, PluginCollector};
pub(crate) use self::plugin::{begin, failure_of};

impl From<&Scrape> for Limits {
    fn from(scrape: &Scrape) -> Self {
        Self {
            running_max: scrape.max_concurrent as usize,
            connecting_max: scrape.max_connecting as usize,
            connect_rate: scrape.connect_rate,
        }
    }
}
