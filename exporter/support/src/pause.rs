//! Pauses after failures in a row.

use std::time::Duration;

/// The pause after so many failures since the first one, which doubles with each.
#[must_use]
pub fn doubled(first: Duration, failures: u32, longest: Duration) -> Duration {
    first.saturating_mul(1 << failures.min(16)).min(longest)
}

/// How long to wait before the next attempt: each time twice as long, and never exactly as long as others do.
#[derive(Debug)]
pub struct Backoff {
    attempts: u32,
    seed: u64,
}

const FIRST: Duration = Duration::from_secs(1);
const LONGEST: Duration = Duration::from_secs(60);
/// What a server may ask for.
const ASKED_FOR_MAX: Duration = Duration::from_secs(900);

impl Backoff {
    /// No failure yet. Clients with different seeds come at different times.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self { attempts: 0, seed }
    }

    pub fn reset(&mut self) {
        self.attempts = 0;
    }

    /// An attempt failed: waits at least for what the server asks for, if it does.
    pub fn next(&mut self, asked_for: Option<Duration>) -> Duration {
        let longest = doubled(FIRST, self.attempts, LONGEST);
        self.attempts = self.attempts.saturating_add(1);
        let half = longest / 2;
        let own = half + half.mul_f64(self.fraction());
        match asked_for {
            // Some of the own time on top, or all who were sent away come back at once.
            Some(asked_for) => asked_for.min(ASKED_FOR_MAX) + own.min(asked_for / 10),
            None => own,
        }
    }

    /// From 0 to 1, by SplitMix64.
    fn fraction(&mut self) -> f64 {
        self.seed = self.seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.seed;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        f64::from(u32::try_from(mixed >> 33).unwrap_or(0)) / f64::from(1_u32 << 31)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_up_to_a_minute_and_differ_between_clients() {
        let waits = |seed| {
            let mut backoff = Backoff::new(seed);
            (0..12).map(|_| backoff.next(None)).collect::<Vec<_>>()
        };
        let (ours, theirs) = (waits(1), waits(2));
        assert_ne!(ours, theirs);
        for (attempt, wait) in ours.iter().enumerate() {
            let longest = Duration::from_secs(1 << attempt.min(6)).min(LONGEST);
            assert!((longest / 2..=longest).contains(wait), "{attempt}: {wait:?}");
        }
    }

    #[test]
    fn what_the_server_asks_for_is_waited_and_little_more() {
        let mut backoff = Backoff::new(1);
        let wait = backoff.next(Some(Duration::from_secs(20)));
        assert!((Duration::from_secs(20)..=Duration::from_secs(22)).contains(&wait), "{wait:?}");
        assert!(backoff.next(Some(Duration::MAX)) < Duration::from_secs(1_000));
    }
}
