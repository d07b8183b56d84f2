//! `scrape:`, when targets are asked, and how much of that there may be.
//!
//! A new key goes also into `perfmon.reference.yaml`, into `SHOWN` of `shown` if it is no secret, into the example of `lib.rs`, and
//! to who uses it: of the schedule, `schedule_limits` in `exporter/src/process/reloadable.rs`.

use std::ops::RangeInclusive;
use std::time::Duration;

use super::item::Item;
use super::node::Value;
use super::section::set;

/// `scrape:` the defaults of every target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scrape {
    /// `interval`: between two collections. Default 30 s.
    pub interval: Duration,
    /// `deadline`: of one collection. Default 10 s, or the interval where that is shorter.
    pub deadline: Option<Duration>,
    /// `max_connecting`: targets that are being connected at a time. Default 64.
    pub max_connecting: u32,
    /// `connect_rate`: connections that are begun in a second. Default 50. Connected targets do not wait for it.
    pub connect_rate: u32,
    /// `max_concurrent`: collections at a time. Default 1024.
    pub max_concurrent: u32,
    /// `max_series`: series of one target, over all its modules; more are left out and counted. Default 200,000.
    pub max_series: u32,
    /// `stale_after`: how long series outlive a collection that fails, in intervals (0 to 3) or as a time. Default 0.
    pub stale_after: StaleAfter,
    /// `drain`: how long collections may go on after the process was asked to end. Default 5 s.
    pub drain: Duration,
}

impl Default for Scrape {
    fn default() -> Self {
        Self {
            interval: Duration::from_secs(30),
            deadline: None,
            max_connecting: 64,
            connect_rate: 50,
            max_concurrent: 1024,
            max_series: 200_000,
            stale_after: StaleAfter::default(),
            drain: Duration::from_secs(5),
        }
    }
}

pub(super) const INTERVALS: RangeInclusive<Duration> =
    Duration::from_secs(1)..=Duration::from_secs(24 * 3600);
pub(super) const DEADLINES: RangeInclusive<Duration> = Duration::from_millis(100)..=Duration::from_secs(3600);
const DRAINS: RangeInclusive<Duration> = Duration::from_millis(100)..=Duration::from_secs(300);
pub const SERIES_MAX: u32 = 1_000_000;
pub(super) const SERIES: RangeInclusive<u32> = 1..=SERIES_MAX;

pub(super) fn scrape(item: &Item<'_>) -> Scrape {
    let mut scrape = Scrape::default();
    let Some(mut section) = item.section(&[]) else { return scrape };
    set(&mut scrape.interval, section.duration("interval", INTERVALS));
    scrape.deadline = section.get("deadline").and_then(|item| deadline(&item, scrape.interval));
    set(&mut scrape.max_connecting, section.count("max_connecting", 1..=65_536));
    set(&mut scrape.connect_rate, section.count("connect_rate", 1..=100_000));
    set(&mut scrape.max_series, section.count("max_series", SERIES));
    set(&mut scrape.max_concurrent, section.count("max_concurrent", 1..=65_536));
    let stale = section.get("stale_after").and_then(|item| stale_after(&item, scrape.interval));
    set(&mut scrape.stale_after, stale);
    set(&mut scrape.drain, section.duration("drain", DRAINS));
    section.finish();
    scrape
}

/// The time that a collection may take, within the interval.
pub(super) fn deadline(item: &Item<'_>, interval: Duration) -> Option<Duration> {
    let deadline = item.duration(DEADLINES)?;
    if deadline <= interval {
        Some(deadline)
    } else {
        let shown = humantime::format_duration(interval);
        let hint = Some("a collection must end before the next begins".to_owned());
        item.problem(format!("is longer than the interval of {shown}"), hint);
        None
    }
}

// `stale_after`: how long series are kept after a failed collection.

/// Maximum intervals for which series are kept.
const INTERVALS_MAX: u32 = 3;

/// For how long the series of a target stay where a collection fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StaleAfter {
    /// For this number of the target's intervals. 0: they vanish with the first failed collection.
    Intervals(u32),
    /// For this time, at most three intervals.
    Time(Duration),
}

impl Default for StaleAfter {
    fn default() -> Self {
        Self::Intervals(0)
    }
}

impl StaleAfter {
    /// The time, for a target with this interval.
    #[must_use]
    pub fn of(self, interval: Duration) -> Duration {
        match self {
            Self::Intervals(count) => interval * count.min(INTERVALS_MAX),
            Self::Time(time) => time.min(interval * INTERVALS_MAX),
        }
    }
}

/// A number of intervals or a time; `interval` is that of the target, or the default.
pub(super) fn stale_after(item: &Item<'_>, interval: Duration) -> Option<StaleAfter> {
    if matches!(item.node.value, Value::Integer(_)) {
        return item.count(0..=INTERVALS_MAX).map(StaleAfter::Intervals);
    }
    let time = item.duration(Duration::ZERO..=Duration::MAX)?;
    if time <= interval * INTERVALS_MAX {
        Some(StaleAfter::Time(time))
    } else {
        let shown = humantime::format_duration(interval);
        let hint =
            "values that old are misleading; write a shorter time, or a number of intervals from 0 to 3"
                .to_owned();
        item.problem(format!("is longer than {INTERVALS_MAX} intervals of {shown}"), Some(hint));
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_time_is_longer_than_three_intervals() {
        let (five, hour) = (Duration::from_secs(5), Duration::from_secs(3600));
        assert_eq!(StaleAfter::Intervals(2).of(five).as_secs(), 10);
        assert_eq!(StaleAfter::Time(hour).of(five).as_secs(), 15);
        assert_eq!(StaleAfter::default().of(hour), Duration::ZERO);
    }
}
