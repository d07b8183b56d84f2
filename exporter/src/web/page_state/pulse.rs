//! How fast collections end, from what readers saw before.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

/// The approximate window of the rate.
const WINDOW: Duration = Duration::from_secs(60);
/// Looks closer together than this count as one.
const APART: Duration = Duration::from_secs(2);

/// Remembers how many collections there were at the last looks.
#[derive(Debug, Default)]
pub(in crate::web) struct Pulse(Mutex<VecDeque<(Instant, u64)>>);

impl Pulse {
    /// Adds a sample; returns the collections per second since an earlier one, if there was one.
    pub(in crate::web) fn look(&self, now: Instant, collections: u64) -> Option<f64> {
        let mut looks = self.0.lock();
        // Targets that went took their collections with them.
        if looks.back().is_some_and(|&(_, last)| last > collections) {
            looks.clear();
        }
        while looks.len() > 1 && looks.get(1).is_some_and(|&(at, _)| now.duration_since(at) >= WINDOW) {
            looks.pop_front();
        }
        let first = looks.front().copied();
        if looks.back().is_none_or(|&(at, _)| now.duration_since(at) >= APART) {
            looks.push_back((now, collections));
        }
        let (at, then) = first?;
        let seconds = now.duration_since(at).as_secs_f64();
        #[expect(clippy::cast_precision_loss, reason = "a minute has fewer collections than 2⁵³")]
        let gained = (collections - then) as f64;
        (seconds >= APART.as_secs_f64()).then(|| gained / seconds)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_is_that_of_the_last_minute() {
        let (pulse, begin) = (Pulse::default(), Instant::now());
        let look = |second: u64, count| pulse.look(begin + Duration::from_secs(second), count);
        assert_eq!(look(0, 1_000), None);
        assert_eq!(look(1, 1_050), None);
        assert_eq!(look(10, 1_500), Some(50.0));
        for second in 11..200 {
            look(second, 1_500);
        }
        assert_eq!(look(200, 1_500), Some(0.0));
        // After a reload there may be fewer.
        assert_eq!(look(210, 7), None);
    }
}
