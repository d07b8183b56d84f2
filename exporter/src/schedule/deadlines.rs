use std::time::Duration;

use plugin_host::{Host, monotonic_ns};

use super::driver::Deadlines;

/// The deadlines of a plugin host.
pub struct HostDeadlines(pub Host);

impl Deadlines for HostDeadlines {
    fn keep(&self) -> Option<Duration> {
        let now_ns = monotonic_ns();
        let next_ns = self.0.poll_deadlines(now_ns)?;
        Some(Duration::from_nanos(next_ns.saturating_sub(now_ns)))
    }
}
