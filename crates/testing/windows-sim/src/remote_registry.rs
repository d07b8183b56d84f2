use std::time::Duration;

use wire::FileTime;

/// The remote registry service: it starts when somebody opens its pipe, and stops when nobody uses it.
#[derive(Debug, Default)]
pub(crate) struct RemoteRegistry {
    /// By the host's clock.
    last_used: Option<FileTime>,
    /// Opens that are refused before it runs again.
    refusals: u32,
    run: Run,
}

/// Which run of a service a pipe belongs to: what belongs to an earlier one is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) struct Run(u64);

impl Run {
    /// That of a service which runs as long as its host.
    pub(crate) const ENDLESS: Self = Self(0);
}

impl RemoteRegistry {
    /// Stops it; the next `refusals` opens are refused while it starts again.
    pub(crate) const fn stop(&mut self, refusals: u32) {
        self.run.0 += 1;
        self.refusals = refusals;
    }

    /// Stops it if it was not used for `idle_stop`. Counts as use.
    pub(crate) fn stop_if_idle(&mut self, now: FileTime, idle_stop: Option<Duration>, refusals: u32) {
        let idle = self.last_used.map(|last_used| now.0.saturating_sub(last_used.0));
        let idle_stop = idle_stop.map(|limit| limit.as_nanos() / 100);
        if idle.zip(idle_stop).is_some_and(|(idle, limit)| u128::from(idle) >= limit) {
            self.stop(refusals);
        }
        self.last_used = Some(now);
    }

    /// Opens its pipe. Returns the run that the pipe belongs to, or nothing while the service starts.
    pub(crate) const fn open(&mut self) -> Option<Run> {
        if self.refusals > 0 {
            self.refusals -= 1;
            return None;
        }
        Some(self.run)
    }

    pub(crate) const fn run(&self) -> Run {
        self.run
    }
}
