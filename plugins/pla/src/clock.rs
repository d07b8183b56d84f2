//! The time of samples.

use std::time::Duration;

use counter_types::RawClocks;

/// The time since the first sample. It is that of the host's performance counter, so that it is exactly the time between
/// samples, but never goes slower than ours: a host whose counter stands still, or began anew, is judged all the same, and
/// without a sample the time goes as ours does.
#[derive(Debug, Default)]
pub(crate) struct SampleClock {
    now: Duration,
    /// When the last sample was taken: by our clock, and by this one.
    last: Option<(Duration, Duration)>,
    /// The host's counter in the last sample, by the kind of reply. The two need not have the same.
    counters: [Option<PerfCounter>; 2],
}

/// A performance counter that goes.
#[derive(Clone, Copy, Debug)]
struct PerfCounter {
    time: u64,
    freq: u64,
    /// The time of that sample.
    at: Duration,
}

/// Whose performance counter it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReplyKind {
    Version2,
    Classic,
}

impl SampleClock {
    /// The time of the last sample, or of the last time that passed without one.
    pub(crate) const fn now(&self) -> Duration {
        self.now
    }

    /// It is `at` this moment of our clock.
    pub(crate) fn pass(&mut self, at: Duration) {
        let (ours, now) = *self.last.get_or_insert((at, self.now));
        self.now = self.now.max(now.saturating_add(at.saturating_sub(ours)));
    }

    /// A sample came with these clocks of the host, `at` this moment of ours. Returns whether the host was started anew since
    /// the last one.
    pub(crate) fn advance(&mut self, kind: ReplyKind, clocks: &RawClocks, at: Duration) -> bool {
        self.pass(at);
        let RawClocks { perf_time: time, perf_freq: freq, .. } = *clocks;
        let before = self.counters[kind as usize];
        let is_new_boot = before.is_some_and(|before| time < before.time || freq != before.freq);
        if is_new_boot {
            self.counters = [None; 2];
        } else if let Some(before) = before {
            let passed = seconds(time - before.time, freq).min(STEP_MAX);
            self.now = self.now.max(before.at.saturating_add(passed));
        }
        self.last = Some((at, self.now));
        if freq != 0 {
            self.counters[kind as usize] = Some(PerfCounter { time, freq, at: self.now });
        }
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
    use super::ReplyKind::{Classic, Version2};
    use super::*;

    fn clocks(perf_time: u64, perf_freq: u64) -> RawClocks {
        RawClocks { perf_time, perf_freq, ..RawClocks::default() }
    }

    const fn at(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn time_goes_as_at_the_host_and_never_slower_than_here() {
        let mut clock = SampleClock::default();
        clock.advance(Version2, &clocks(5_000, 1_000), at(1_000));
        assert_eq!(clock.now(), Duration::ZERO);
        clock.advance(Version2, &clocks(20_000, 1_000), at(1_014));
        assert_eq!(clock.now(), at(15));
        // The counter stands still.
        clock.advance(Version2, &clocks(20_000, 1_000), at(1_024));
        assert_eq!(clock.now(), at(25));
        // The host was started again.
        assert!(clock.advance(Version2, &clocks(100, 1_000), at(1_034)));
        assert_eq!(clock.now(), at(35));
        assert!(!clock.advance(Version2, &clocks(200, 1_000), at(1_035)));
    }

    #[test]
    fn time_that_passes_without_a_sample_is_not_counted_again_with_the_next_one() {
        let mut clock = SampleClock::default();
        clock.advance(Version2, &clocks(0, 1_000), at(0));
        clock.pass(at(15));
        assert_eq!(clock.now(), at(15));
        clock.pass(at(30));
        assert_eq!(clock.now(), at(30));
        clock.advance(Version2, &clocks(60_500, 1_000), at(60));
        assert_eq!(clock.now(), Duration::from_millis(60_500));
    }

    #[test]
    fn the_counters_of_both_kinds_of_replies_are_compared_each_with_itself() {
        let mut clock = SampleClock::default();
        clock.advance(Version2, &clocks(50_000, 1_000), at(0));
        assert!(!clock.advance(Classic, &clocks(7, 10), at(15)), "another frequency");
        assert!(!clock.advance(Version2, &clocks(80_000, 1_000), at(30)));
        assert_eq!(clock.now(), at(30));
        assert!(clock.advance(Version2, &clocks(1, 1_000), at(31)));
        assert!(!clock.advance(Classic, &clocks(1, 10), at(32)), "it was started anew once");
    }

    #[test]
    fn a_counter_that_jumps_or_says_nothing_does_no_harm() {
        let mut clock = SampleClock::default();
        for (time, freq) in [(1, 0), (2, 0), (u64::MAX, 1), (1, 1), (u64::MAX, 1)] {
            clock.advance(Version2, &clocks(time, freq), at(7));
        }
        assert!(clock.now() <= STEP_MAX * 2);
    }
}
