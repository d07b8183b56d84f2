//! The time of samples.

use std::time::Duration;

use counter_types::RawClocks;
use tokio::time::Instant;

/// The time since the first sample. It is that of the host's performance counter, so that it is exactly the time between
/// samples, but never goes slower than ours: a host whose counter stands still, or began anew, is judged all the same.
#[derive(Debug, Default)]
pub(crate) struct SampleClock {
    now: Duration,
    last: Option<Last>,
}

#[derive(Clone, Copy, Debug)]
struct Last {
    perf_time: u64,
    perf_freq: u64,
    at: Instant,
}

impl SampleClock {
    /// The time of the last sample.
    pub(crate) const fn now(&self) -> Duration {
        self.now
    }

    /// A round without samples was `at` this moment.
    pub(crate) fn pass(&mut self, at: Instant) {
        if let Some(last) = &mut self.last {
            self.now = self.now.saturating_add(at.saturating_duration_since(last.at));
            last.at = at;
        } else {
            self.last = Some(Last { perf_time: 0, perf_freq: 0, at });
        }
    }

    /// A sample came `at` this moment, with these clocks of the host. Returns whether the host was started anew since the
    /// last one.
    pub(crate) fn advance(&mut self, clocks: &RawClocks, at: Instant) -> bool {
        let RawClocks { perf_time, perf_freq, .. } = *clocks;
        let mut is_new_boot = false;
        if let Some(last) = self.last {
            let ours = at.saturating_duration_since(last.at);
            let is_known = last.perf_freq != 0;
            is_new_boot = is_known && (perf_time < last.perf_time || perf_freq != last.perf_freq);
            let theirs = match is_known && !is_new_boot {
                true => seconds(perf_time - last.perf_time, perf_freq),
                false => Duration::ZERO,
            };
            self.now = self.now.saturating_add(ours.max(theirs.min(STEP_MAX)));
        }
        self.last = Some(Last { perf_time, perf_freq, at });
        is_new_boot
    }
}

#[expect(clippy::cast_precision_loss, reason = "ticks of many years have less than 53 bits that matter")]
fn seconds(ticks: u64, freq: u64) -> Duration {
    Duration::try_from_secs_f64(ticks as f64 / freq as f64).unwrap_or_default()
}

/// What a host's counter may say at most: what is above is no time between two samples.
const STEP_MAX: Duration = Duration::from_secs(7 * 24 * 3600);

#[cfg(test)]
mod tests {
    use super::*;

    fn clocks(perf_time: u64, perf_freq: u64) -> RawClocks {
        RawClocks { perf_time, perf_freq, ..RawClocks::default() }
    }

    #[test]
    fn time_goes_as_at_the_host_and_never_slower_than_here() {
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        let mut clock = SampleClock::default();
        clock.advance(&clocks(5_000, 1_000), at(0));
        assert_eq!(clock.now(), Duration::ZERO);
        clock.advance(&clocks(20_000, 1_000), at(14));
        assert_eq!(clock.now(), Duration::from_secs(15));
        // The counter stands still.
        clock.advance(&clocks(20_000, 1_000), at(24));
        assert_eq!(clock.now(), Duration::from_secs(25));
        // The host was started again.
        assert!(clock.advance(&clocks(100, 1_000), at(34)));
        assert_eq!(clock.now(), Duration::from_secs(35));
    }

    #[test]
    fn a_counter_that_jumps_or_says_nothing_does_no_harm() {
        let start = Instant::now();
        let mut clock = SampleClock::default();
        clock.advance(&clocks(1, 0), start);
        clock.advance(&clocks(2, 0), start);
        clock.advance(&clocks(u64::MAX, 1), start);
        clock.advance(&clocks(1, 1), start);
        clock.advance(&clocks(u64::MAX, 1), start);
        assert!(clock.now() <= STEP_MAX * 2);
    }
}
