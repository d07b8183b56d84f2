//! What a set does, and when it does something next.

use std::time::Duration;

use jiff::Timestamp;

use super::set_run::{Phase, RunCounts, SetRun};
use super::{Moment, RunState, SetDefinition};

impl SetRun {
    /// The monotonic time at which [`handle_time`](Self::handle_time) is to be called at the latest: at most a minute from now,
    /// because the clock may be set at any time.
    #[must_use]
    pub fn next_wake(&self, now: Moment) -> Duration {
        let (ends, segment_ends) = match &self.phase {
            Phase::Running(running) => (running.ends, running.segment_ends),
            Phase::Stopped | Phase::Compiling { .. } => (None, None),
        };
        let start = self.starts.upcoming().map(|start| {
            now.monotonic
                .saturating_add(Duration::try_from(start.duration_since(now.wall)).unwrap_or_default())
        });
        let latest = now.monotonic.saturating_add(WAKE_MAX);
        [ends, segment_ends, start].into_iter().flatten().fold(latest, Duration::min)
    }

    /// What the set does.
    #[must_use]
    pub const fn state(&self) -> RunState {
        match &self.phase {
            Phase::Stopped => RunState::Stopped,
            Phase::Running(_) => RunState::Running,
            Phase::Compiling { queued: Some(_), .. } => RunState::Queued,
            Phase::Compiling { queued: None, .. } => RunState::Compiling,
        }
    }

    /// The serial number of the newest run or segment, if there was one.
    #[must_use]
    pub fn serial_number(&self) -> Option<u32> {
        Some(self.serial_number).filter(|number| *number > 0)
    }

    /// When it starts next by its schedules. While it runs, that start will change nothing.
    #[must_use]
    pub const fn next_start(&self) -> Option<Timestamp> {
        self.starts.upcoming()
    }

    /// The monotonic time at which the run ends, if it runs and does not go on until it is stopped.
    #[must_use]
    pub const fn ends(&self) -> Option<Duration> {
        match &self.phase {
            Phase::Running(running) => running.ends,
            Phase::Stopped | Phase::Compiling { .. } => None,
        }
    }

    /// What has happened since the process started.
    #[must_use]
    pub const fn counts(&self) -> RunCounts {
        self.counts
    }

    #[must_use]
    pub const fn definition(&self) -> &SetDefinition {
        &self.definition
    }

    /// Another number than before if a snapshot is to be stored.
    #[must_use]
    pub const fn revision(&self) -> u64 {
        self.revision
    }
}

/// The longest time between two calls with the time.
const WAKE_MAX: Duration = Duration::from_secs(60);
