use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use wire::FileTime;

/// Where the simulated hosts take their time from. Clones share one clock.
///
/// The wall clock is the default of the binary. A clock that begins at a given instant stands still unless it is
/// given a speed, so that two clients that ask one after the other see the same values.
#[derive(Clone, Debug)]
pub struct Clock(Source);

#[derive(Clone, Debug)]
enum Source {
    Wall,
    Running { origin: FileTime, started: Instant, speed: f64 },
    Manual(Arc<AtomicU64>),
}

impl Clock {
    /// The machine's own time.
    #[must_use]
    pub const fn wall() -> Self {
        Self(Source::Wall)
    }

    /// Begins at `origin` now and runs `speed` times as fast as real time; 0 stands still.
    #[must_use]
    pub fn starting_at(origin: FileTime, speed: f64) -> Self {
        Self(Source::Running { origin, started: Instant::now(), speed: speed.max(0.0) })
    }

    /// Stands at `origin` until [`Clock::advance`] is called.
    #[must_use]
    pub fn manual(origin: FileTime) -> Self {
        Self(Source::Manual(Arc::new(AtomicU64::new(origin.0))))
    }

    /// Moves a manual clock forward; the others go by themselves.
    pub fn advance(&self, by: std::time::Duration) {
        if let Source::Manual(intervals) = &self.0 {
            intervals.fetch_add(intervals_of(by), Ordering::Relaxed);
        }
    }

    #[must_use]
    pub fn now(&self) -> FileTime {
        match &self.0 {
            Source::Wall => {
                let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
                FileTime(FileTime::UNIX_EPOCH.0 + intervals_of(since_1970))
            }
            Source::Running { origin, started, speed } => {
                FileTime(origin.0 + intervals_of(started.elapsed().mul_f64(*speed)))
            }
            Source::Manual(intervals) => FileTime(intervals.load(Ordering::Relaxed)),
        }
    }
}

pub(super) fn intervals_of(duration: std::time::Duration) -> u64 {
    u64::try_from(duration.as_nanos() / 100).unwrap_or(u64::MAX / 2)
}

/// One instant of one host, as its clocks show it. All values of a reply are computed for one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    /// The time of day.
    pub time: FileTime,
    /// When the host was started.
    pub boot: FileTime,
    /// Ticks a second of the host's performance clock.
    pub perf_freq: u64,
}

impl Moment {
    /// 100-nanosecond intervals since the host was started.
    #[must_use]
    pub const fn uptime_100ns(&self) -> u64 {
        self.time.0.saturating_sub(self.boot.0)
    }

    /// The performance clock. It counts from the start of the host, as on Windows.
    #[must_use]
    pub fn perf_time(&self) -> u64 {
        scale(self.uptime_100ns(), self.perf_freq, FileTime::INTERVALS_PER_SECOND)
    }
}

/// `value * numerator / denominator` without overflow in between, rounded down.
#[must_use]
pub fn scale(value: u64, numerator: u64, denominator: u64) -> u64 {
    let wide = u128::from(value) * u128::from(numerator) / u128::from(denominator.max(1));
    u64::try_from(wide).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_clock_without_speed_stands_still_and_a_manual_one_moves_when_told() {
        let standing = Clock::starting_at(FileTime(42), 0.0);
        assert_eq!((standing.now(), standing.now()), (FileTime(42), FileTime(42)));
        let manual = Clock::manual(FileTime(42));
        manual.clone().advance(Duration::from_micros(1));
        assert_eq!(manual.now(), FileTime(52));
    }

    #[test]
    fn the_performance_clock_counts_from_the_start_of_the_host() {
        let moment =
            Moment { time: FileTime(1_000 + 25_000_000), boot: FileTime(1_000), perf_freq: 3_579_545 };
        assert_eq!(moment.perf_time(), 8_948_862);
    }
}
