use super::{CALL_SECONDS, RecentCalls};
use crate::model::population::{Load, SECOND, noise_in};

/// Something that lasts for a while and comes back.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cycle {
    /// From one time to the next, in 100 ns.
    pub(super) period: u64,
    /// How long it lasts, in 100 ns; less than `period`.
    pub(super) length: u64,
}

impl Cycle {
    /// Whether this is the end of a period.
    pub(super) const fn is_within_length_at_end(self, elapsed: u64) -> bool {
        elapsed % self.period >= self.period - self.length
    }

    /// Time in the first `elapsed` intervals that is not the end of a period.
    fn time_before_end(self, elapsed: u64) -> u64 {
        let each = self.period - self.length;
        elapsed / self.period * each + (elapsed % self.period).min(each)
    }
}

/// The calls of a component in one container. Like the host's counters, they are functions of its uptime.
pub(super) struct CallModel {
    load: Load,
    pause: Option<Cycle>,
    /// How long a call takes that waits for no other.
    call_ms: u64,
    /// One of so many calls fails.
    failed_each: u64,
}

impl CallModel {
    pub(super) fn seeded(seed: u64, index: u64, pause: Option<Cycle>) -> Self {
        Self {
            load: Load::seeded(seed, index),
            pause,
            call_ms: noise_in(seed, index ^ 0x7133, 5, 40),
            failed_each: noise_in(seed, index ^ 0xfa11, 10, 60),
        }
    }

    /// Calls of the last four whole seconds.
    pub(super) fn recent(&self, elapsed: u64) -> RecentCalls {
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
    pub(super) fn in_call(&self, elapsed: u64, instances: u32) -> u32 {
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
