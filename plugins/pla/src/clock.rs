//! The time of samples.

use std::time::Duration;

use counter_types::RawClocks;

/// The time since the first sample. It is that of the host's performance counter, so that it is exactly the time between
/// samples, but never goes slower than ours: a host whose counter stands still, or began again, is judged all the same, and
/// without a sample the time goes as ours does.
#[derive(Debug, Default)]
pub(crate) struct SampleClock {
    now: Duration,
    /// When the last sample was taken: by our clock, and by this one.
    last: Option<(Duration, Duration)>,
    /// The host's clocks in the last sample, and the time of that, by the kind of reply. The two need not have the same.
    clocks: [Option<(RawClocks, Duration)>; 2],
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

    /// A sample came with these clocks of the host, `at` this moment of ours. Returns whether the host was restarted since
    /// the last one, or is another one.
    pub(crate) fn advance(&mut self, kind: ReplyKind, clocks: &RawClocks, at: Duration) -> bool {
        self.pass(at);
        let before = self.clocks[kind as usize];
        let is_new_boot = before.is_some_and(|(before, _)| !clocks.continue_from(&before));
        if is_new_boot {
            self.clocks = [None; 2];
        } else if let Some((before, time)) = before {
            let ticks = clocks.perf_time.saturating_sub(before.perf_time);
            let passed = seconds(ticks, clocks.perf_freq).min(STEP_MAX);
            self.now = self.now.max(time.saturating_add(passed));
        }
        self.last = Some((at, self.now));
        if clocks.perf_freq != 0 {
            self.clocks[kind as usize] = Some((*clocks, self.now));
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
        assert!(!clock.advance(Classic, &clocks(1, 10), at(32)), "it was started again once");
    }

    #[test]
    fn another_host_under_the_name_is_a_new_start_and_no_time_that_passed() {
        let at_noon = |perf_s: u64, day_s: u64| RawClocks {
            time_100ns: (13_000_000_000 + day_s) * wire::FileTime::INTERVALS_PER_SECOND,
            ..clocks(perf_s * 1_000, 1_000)
        };
        for (newer, is_new_boot) in [
            (at_noon(5_015, 15), false),
            (at_noon(5_000, 15), false),
            // The time of day was set.
            (at_noon(5_015, 4_000), false),
            (at_noon(100, 15), true),
            // One that runs for longer.
            (at_noon(90_000, 15), true),
            (RawClocks { perf_freq: 10_000, ..at_noon(50_150, 15) }, true),
        ] {
            let mut clock = SampleClock::default();
            clock.advance(Version2, &at_noon(5_000, 0), at(0));
            assert_eq!(clock.advance(Version2, &newer, at(15)), is_new_boot, "{newer:?}");
            assert_eq!(clock.now(), at(15), "{newer:?}");
        }
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
