//! `stale_after`: how long series are kept after a failed collection.

use std::time::Duration;

use super::item::Item;
use super::node::Value;

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
