//! The time at which a host was started, and how far its wall clock is off.

use std::time::{Duration, SystemTime};

use counter_poll::over_host::CallTimes;
use counter_types::{RawClocks, boot_time};
use wire::FileTime;

/// The start of a host, kept from reply to reply: each shows another one, by the drift between the host's clocks.
#[derive(Debug, Default)]
pub(crate) struct BootTime {
    last: Option<Seen>,
}

#[derive(Clone, Copy, Debug)]
struct Seen {
    boot_ns: i64,
    /// What the last reply showed.
    inferred_ns: i64,
    perf_time: u64,
}

impl BootTime {
    /// The start of the host in seconds since 1970, by a reply's clocks. It is another one if the performance clock began
    /// again, or if the wall clock was set since the last reply.
    #[expect(clippy::cast_precision_loss, reason = "seconds are floating-point by nature")]
    pub(crate) fn observe(&mut self, clocks: RawClocks) -> Option<f64> {
        let inferred_ns = boot_time(clocks.perf_time, clocks.perf_freq, clocks.time_100ns)?;
        let kept = self.last.filter(|last| {
            clocks.perf_time >= last.perf_time && last.inferred_ns.abs_diff(inferred_ns) < STEP_MIN_NS
        });
        let boot_ns = kept.map_or(inferred_ns, |last| last.boot_ns);
        self.last = Some(Seen { boot_ns, inferred_ns, perf_time: clocks.perf_time });
        Some(Duration::from_nanos(u64::try_from(boot_ns).ok()?).as_millis() as f64 / 1e3)
    }
}

/// Clocks that differ by so much from one reply to the next do not drift: one of them was set.
const STEP_MIN_NS: u64 = 30 * 1_000_000_000;

/// The host's wall clock minus ours at the middle of the call that it answered, in seconds.
pub(crate) fn skew(host: FileTime, call: CallTimes) -> Option<f64> {
    let CallTimes { began, ended } = call;
    // It may be that our clock was set during the call.
    let middle = began + ended.duration_since(began).ok()? / 2;
    let ours = middle.duration_since(SystemTime::UNIX_EPOCH).ok()?;
    let skew_ns = host.to_unix_nanos() - i128::try_from(ours.as_nanos()).ok()?;
    #[expect(clippy::cast_precision_loss, reason = "seconds are floating-point by nature")]
    Some(skew_ns as f64 / 1e9)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 10_000_000;
    /// 2026-01-01T12:00:00Z, 1,767,268,800 s after 1970.
    const NOON: u64 = 134_117_424_000_000_000;
    const NOON_UNIX: u64 = 1_767_268_800;

    fn clocks(perf_s: u64, time_100ns: u64) -> RawClocks {
        RawClocks { perf_time: perf_s * 1_000, perf_freq: 1_000, time_100ns, ..RawClocks::default() }
    }

    #[test]
    fn the_start_of_a_host_stays_though_its_clocks_drift_apart() {
        let mut boot = BootTime::default();
        let began = (NOON_UNIX - 100) as f64;
        assert_eq!(boot.observe(clocks(100, NOON)), Some(began));
        let mut now = (100, NOON);
        for _ in 0..100 {
            // A second in a minute.
            now = (now.0 + 60, now.1 + 61 * SECOND);
            assert_eq!(boot.observe(clocks(now.0, now.1)), Some(began));
        }
    }

    #[test]
    fn a_host_that_was_started_again_or_whose_clock_was_set_has_another_start() {
        let mut boot = BootTime::default();
        boot.observe(clocks(10, NOON));
        let again = boot.observe(clocks(5, NOON + 20 * SECOND));
        assert_eq!(again, Some((NOON_UNIX + 15) as f64), "its performance clock began again");
        let set = boot.observe(clocks(6, NOON + 3621 * SECOND));
        assert_eq!(set, Some((NOON_UNIX + 3615) as f64), "its wall clock was set an hour ahead");
        assert_eq!(boot.observe(RawClocks::default()), None, "no clocks");
    }

    #[test]
    fn the_skew_is_against_our_clock_in_the_middle_of_the_call() {
        let began = SystemTime::UNIX_EPOCH + Duration::from_secs(NOON_UNIX);
        let call = CallTimes { began, ended: began + Duration::from_millis(500) };
        assert_eq!(skew(FileTime(NOON), call), Some(-0.25));
        assert_eq!(skew(FileTime(NOON + 5 * SECOND), call), Some(4.75));
        let set_back = CallTimes { began: call.ended, ended: began };
        assert_eq!(skew(FileTime(NOON), set_back), None);
    }
}
