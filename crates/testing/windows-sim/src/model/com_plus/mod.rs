//! The COM+ applications of a host, as its tracker sees them: processes, instance containers, components.

mod applications;

use wire::Guid;

pub(super) use self::applications::processes;

use super::population::{Load, SECOND, noise_in};

/// A process with instance containers of COM+ applications.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ComProcess {
    pub process_id: u32,
    pub exe_name: &'static str,
    /// Its application takes no new calls.
    pub is_paused: bool,
    /// Another process has taken over, and this one ends when its last call is done.
    pub is_recycling: bool,
    /// It is a Windows service.
    pub is_service: bool,
    /// What runs in it.
    pub containers: Vec<ComContainer>,
}

/// [MS-COMT] 1.1: an instance container: an application in a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ComContainer {
    /// The container legacy identifier: unique on the host.
    pub legacy_id: u32,
    /// The container's own identifier.
    pub container_id: Guid,
    /// The application: its conglomeration identifier.
    pub application_id: Guid,
    /// The partition that the application is in.
    pub partition_id: Guid,
    pub name: &'static str,
    /// Whether the host keeps figures of its components.
    pub is_tracked: bool,
    /// Components that have instances.
    pub components: Vec<ComComponent>,
}

/// A component in a container, with figures of now and calls of the last four whole seconds of the host's uptime.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ComComponent {
    pub clsid: Guid,
    /// Its name, a ProgID.
    pub name: &'static str,
    /// Instances that belong to clients.
    pub activated: u32,
    /// Instances that wait in the pool.
    pub pooled: u32,
    /// References to `activated` instances.
    pub bound_references: u32,
    /// Instances that perform a call. At most `activated`.
    pub in_call: u32,
    pub recent: RecentCalls,
}

/// Calls of the last four seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct RecentCalls {
    pub completed: u32,
    pub failed: u32,
    /// How long one took on average; 0 without calls.
    pub response_time_ms: u32,
}

/// The seconds over which [`RecentCalls`] are counted.
pub const CALL_SECONDS: u32 = 4;

impl ComComponent {
    #[must_use]
    pub const fn instances(&self) -> u32 {
        self.activated + self.pooled
    }
}

/// Something that lasts for a while and comes back.
#[derive(Clone, Copy, Debug)]
struct Cycle {
    /// From one time to the next, in 100 ns.
    period: u64,
    /// How long it lasts, in 100 ns; less than `period`.
    length: u64,
}

impl Cycle {
    /// Whether this is the end of a period.
    const fn is_within_length_at_end(self, elapsed: u64) -> bool {
        elapsed % self.period >= self.period - self.length
    }

    /// Time in the first `elapsed` intervals that is not the end of a period.
    fn time_before_end(self, elapsed: u64) -> u64 {
        let each = self.period - self.length;
        elapsed / self.period * each + (elapsed % self.period).min(each)
    }
}

/// The calls of a component in one container. Like the host's counters, they are functions of its uptime.
struct CallModel {
    load: Load,
    pause: Option<Cycle>,
    /// How long a call takes that waits for no other.
    call_ms: u64,
    /// One of so many calls fails.
    failed_each: u64,
}

impl CallModel {
    fn seeded(seed: u64, index: u64, pause: Option<Cycle>) -> Self {
        Self {
            load: Load::seeded(seed, index),
            pause,
            call_ms: noise_in(seed, index ^ 0x7133, 5, 40),
            failed_each: noise_in(seed, index ^ 0xfa11, 10, 60),
        }
    }

    /// Calls of the last four whole seconds.
    fn recent(&self, elapsed: u64) -> RecentCalls {
        let end = elapsed / SECOND;
        let [from, to] = [end.saturating_sub(u64::from(CALL_SECONDS)), end].map(|second| self.calls(second));
        let failed = to / self.failed_each - from / self.failed_each;
        let calls = to - from;
        let response_time_ms = if calls > 0 { self.call_ms + self.busy_permille(end) / 20 } else { 0 };
        let number = |number| u32::try_from(number).unwrap_or(u32::MAX - 1);
        RecentCalls {
            completed: number(calls - failed),
            failed: number(failed),
            response_time_ms: number(response_time_ms),
        }
    }

    /// How many of so many instances perform a call.
    fn in_call(&self, elapsed: u64, instances: u32) -> u32 {
        let busy = self.busy_permille(elapsed / SECOND) * u64::from(instances);
        u32::try_from(busy.div_ceil(1000)).unwrap_or(instances).min(instances)
    }

    /// Calls since the host was started.
    fn calls(&self, second: u64) -> u64 {
        self.busy_time(second) / (self.call_ms * (SECOND / 1000))
    }

    /// How much of the last second it was busy.
    fn busy_permille(&self, second: u64) -> u64 {
        let busy = self.busy_time(second) - self.busy_time(second.saturating_sub(1));
        busy / (SECOND / 1000)
    }

    fn busy_time(&self, second: u64) -> u64 {
        let elapsed = second * SECOND;
        self.load.busy_time(self.pause.map_or(elapsed, |pause| pause.time_before_end(elapsed)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_counted_over_four_seconds_and_stop_during_a_pause() {
        let pause = Cycle { period: 100 * SECOND, length: 20 * SECOND };
        let load = Load { base_permille: 500, burst_permille: 0, period: 10 * SECOND, burst: SECOND };
        let model = CallModel { load, pause: Some(pause), call_ms: 10, failed_each: 10 };
        let calls = |second: u64| {
            let RecentCalls { completed, failed, response_time_ms } = model.recent(second * SECOND);
            (completed, failed, response_time_ms)
        };
        assert_eq!(calls(50), (180, 20, 35), "50 a second");
        assert_eq!(calls(2), (90, 10, 35), "the host has been up for two");
        assert_eq!(calls(82), (90, 10, 10), "paused for two");
        assert_eq!(calls(84), (0, 0, 0));
        assert_eq!(model.in_call(50 * SECOND, 5), 3);
        assert_eq!(model.in_call(90 * SECOND, 5), 0);
        assert!(pause.is_within_length_at_end(199 * SECOND) && !pause.is_within_length_at_end(200 * SECOND));
    }
}
