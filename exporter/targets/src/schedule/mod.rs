//! When each target is collected: [`Planner`] decides, [`Driver`] runs, [`Schedule`] adds and removes targets.
//!
//! The planner is pure; the driver is one task that sleeps until the planner, a plugin's completion or the host's
//! deadlines want something. See [`Planner`] for the rules.

mod driver;
mod planner;

pub use self::driver::{
    Collector, Deadlines, Drained, Driver, Figures, METRICS, NewJob, NotStarted, Schedule,
};
pub use self::planner::{Begun, Ending, JobId, JobSpec, Limits, Missed, Planner, ReadyQueue, TargetId};
use std::time::Duration;

use plugin_host::{Host, monotonic_ns};

/// The deadlines of a plugin host.
pub struct HostDeadlines(pub Host);

impl Deadlines for HostDeadlines {
    fn keep(&self) -> Option<Duration> {
        let now_ns = monotonic_ns();
        let next_ns = self.0.poll_deadlines(now_ns)?;
        Some(Duration::from_nanos(next_ns.saturating_sub(now_ns)))
    }
}
