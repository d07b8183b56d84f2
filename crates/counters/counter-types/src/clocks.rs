//! What tells that a host was started again, or that another one has its name.

/// The clocks of one reply, unconverted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct RawClocks {
    /// `PerfTimeStamp` of the data header.
    pub perf_time: u64,
    /// `PerfFreq` of the data header.
    pub perf_freq: u64,
    /// `PerfTime100NSec` of the data header: 100 ns since 1601.
    pub time_100ns: u64,
    /// The value of the counter that `PerfTimeId` names, of the same instance; of a classic object its `PerfTime`.
    pub object_time: Option<u64>,
    /// The value of the counter that `PerfFreqId` names, of the same instance; of a classic object its `PerfFreq`.
    pub object_freq: Option<u64>,
}

impl RawClocks {
    /// The same with the object's clock that an instance shows, as far as it shows one.
    #[must_use]
    pub fn with_object(self, time: Option<u64>, freq: Option<u64>) -> Self {
        Self { object_time: time.or(self.object_time), object_freq: freq.or(self.object_freq), ..self }
    }

    /// Whether these are later clocks of the host of `older`, which was not restarted since. On another host that took
    /// over the name, the performance clock has another frequency, is behind, or gained more than the time of day did; a
    /// time of day that was set back is no other host.
    #[must_use]
    pub fn continue_from(&self, older: &Self) -> bool {
        if self.perf_time < older.perf_time {
            return false;
        }
        // There may be no clock at all.
        if self.perf_freq == 0 || older.perf_freq == 0 {
            return true;
        }
        let by_perf = seconds(self.perf_time - older.perf_time, self.perf_freq);
        let by_day = self.time_100ns.checked_sub(older.time_100ns).filter(|_| older.time_100ns > UNIX_EPOCH);
        let is_ahead = by_day.is_some_and(|by_day| {
            let by_day = seconds(by_day, INTERVALS_PER_SECOND);
            by_perf - by_day > by_day / 8.0 + CLOCKS_APART_S
        });
        self.perf_freq == older.perf_freq && !is_ahead
    }

    /// The object's clock; the performance clock if it has none.
    #[must_use]
    pub(crate) fn object(&self) -> (u64, u64) {
        (self.object_time.unwrap_or(self.perf_time), self.object_freq.unwrap_or(self.perf_freq))
    }

    /// Whether the object's clock shows the time of day: a FILETIME, which is 10 MHz since 1601.
    fn shows_time_of_day(&self) -> bool {
        let (now, freq) = self.object();
        freq == INTERVALS_PER_SECOND && now > UNIX_EPOCH
    }

    /// How many seconds ago a moment on the object's clock was, or `None` if that is unknown. A moment after the
    /// reply gives zero.
    ///
    /// On a clock of the time of day, moments before 1970 are invalid: zero means that the object never began.
    #[must_use]
    pub(crate) fn elapsed_seconds(&self, moment: u64) -> Option<f64> {
        let (now, freq) = self.object();
        let began = moment > UNIX_EPOCH || !self.shows_time_of_day();
        (freq > 0 && began).then(|| seconds(now.saturating_sub(moment), freq))
    }

    /// A moment on the object's clock in seconds since 1970, or `None` if that is unknown.
    ///
    /// If that clock shows the time of day, the result is exact and the same for each reply. Else it is the time of
    /// the reply minus the elapsed time, so it varies with the drift between the two clocks.
    #[must_use]
    pub(crate) fn unix_seconds(&self, moment: u64) -> Option<f64> {
        let elapsed = self.elapsed_seconds(moment)?;
        if self.shows_time_of_day() {
            return Some(seconds(moment - UNIX_EPOCH, INTERVALS_PER_SECOND));
        }
        let unix_now = self.time_100ns.checked_sub(UNIX_EPOCH)?;
        Some(seconds(unix_now, INTERVALS_PER_SECOND) - elapsed)
    }
}

/// When the host was started, in nanoseconds since 1970: the reply's time of day minus its performance clock.
/// `None` if a clock is missing or they contradict each other.
///
/// This is inferred: the performance clock of a virtual machine may begin earlier than its system, results of two
/// replies differ by some milliseconds, and setting the time of day moves the result. Compute it once per boot.
#[must_use]
pub fn boot_time(perf_time: u64, perf_freq: u64, time_100ns: u64) -> Option<i64> {
    let uptime_ns = (u128::from(perf_time) * NANOS_PER_SECOND).checked_div(perf_freq.into())?;
    let unix_ns = u128::from(time_100ns.checked_sub(UNIX_EPOCH)?) * NANOS_PER_INTERVAL;
    i64::try_from(unix_ns.checked_sub(uptime_ns)?).ok()
}

#[expect(clippy::cast_precision_loss, reason = "seconds are floating-point by nature")]
fn seconds(ticks: u64, freq: u64) -> f64 {
    ticks as f64 / freq as f64
}

const INTERVALS_PER_SECOND: u64 = wire::FileTime::INTERVALS_PER_SECOND;
const NANOS_PER_SECOND: u128 = 1_000_000_000;
const NANOS_PER_INTERVAL: u128 = 100;
/// By so much the time of day may be set back between two samples.
const CLOCKS_APART_S: f64 = 5.0;
/// 1970 in 100 ns since 1601.
pub(crate) const UNIX_EPOCH: u64 = 116_444_736_000_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    // 2020-01-01T00:00:00Z is 1,577,836,800 s after 1970: 132,223,104,000,000,000 in 100 ns since 1601.
    const NEW_YEAR: u64 = 132_223_104_000_000_000;
    const NEW_YEAR_NS: i64 = 1_577_836_800_000_000_000;

    #[test]
    fn a_host_was_started_as_long_ago_as_its_performance_clock_says() {
        // 30,000,000 ticks at 3 MHz are 10 s.
        assert_eq!(boot_time(30_000_000, 3_000_000, NEW_YEAR), Some(NEW_YEAR_NS - 10_000_000_000));
        assert_eq!(boot_time(0, 10_000_000, NEW_YEAR), Some(NEW_YEAR_NS));
    }

    #[test]
    fn another_host_is_told_by_its_clocks_and_a_time_of_day_that_was_set_is_none() {
        let at = |perf_s: u64, day_s: u64| RawClocks {
            perf_time: perf_s * 3_000_000,
            perf_freq: 3_000_000,
            time_100ns: NEW_YEAR + day_s * INTERVALS_PER_SECOND,
            ..RawClocks::default()
        };
        let older = at(5_000, 5_000);
        let check = |newer: RawClocks, expected| {
            assert_eq!(newer.continue_from(&older), expected, "{newer:?}");
        };
        check(at(5_015, 5_015), true);
        check(at(5_000, 5_000), true);
        check(at(90_000, 88_000), true);
        check(at(4_999, 5_015), false);
        check(at(5_100, 5_015), false);
        check(at(90_000, 5_015), false);
        check(RawClocks { perf_freq: 10_000_000, ..at(5_015, 5_015) }, false);
        // The time of day was set: forward, back, and back by less than has passed.
        check(at(5_015, 9_000), true);
        check(at(5_015, 1_000), true);
        check(at(5_015, 5_011), true);
        // Without a clock nothing is known.
        check(RawClocks { perf_freq: 0, ..at(90_000, 5_015) }, true);
        let dayless = RawClocks { time_100ns: 0, ..older };
        assert!(RawClocks { time_100ns: 0, ..at(90_000, 0) }.continue_from(&dayless));
    }

    #[test]
    fn clocks_that_do_not_fit_tell_no_start() {
        assert_eq!(boot_time(1, 0, NEW_YEAR), None, "without a frequency");
        assert_eq!(boot_time(u64::MAX, 1, NEW_YEAR), None, "before 1970");
        assert_eq!(boot_time(1, 1, 0), None, "without a time of day");
        assert_eq!(boot_time(0, 1, u64::MAX), None, "beyond 64 bits");
    }
}
