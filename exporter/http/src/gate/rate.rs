use std::time::{Duration, Instant};

use config::web_file::RateLimit;
use parking_lot::Mutex;

/// A bucket of tokens, full at the beginning. A request takes one; one comes back each interval.
pub(super) struct Bucket {
    limit: RateLimit,
    /// When the bucket will be full. What lies ahead of now is what was taken, an interval for each token.
    full_at: Mutex<Option<Instant>>,
}

impl Bucket {
    pub(super) fn new(limit: RateLimit) -> Self {
        Self { limit, full_at: Mutex::new(None) }
    }

    pub(super) fn limit(&self) -> RateLimit {
        self.limit
    }

    /// Takes a token.
    ///
    /// # Errors
    /// How long it takes until there is one.
    pub(super) fn take(&self, now: Instant) -> Result<(), Duration> {
        let RateLimit { interval, burst } = self.limit;
        let mut full_at = self.full_at.lock();
        let full_after = full_at.map_or(now, |full_at| full_at.max(now)) + interval;
        let taken = full_after.duration_since(now);
        match taken.checked_sub(interval.saturating_mul(burst)) {
            None | Some(Duration::ZERO) => {
                *full_at = Some(full_after);
                Ok(())
            }
            Some(wait) => Err(wait),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_is_answered_and_then_one_request_an_interval() {
        let second = Duration::from_secs(1);
        let bucket = Bucket::new(RateLimit { interval: second, burst: 3 });
        let began = Instant::now();
        for _ in 0..3 {
            assert_eq!(bucket.take(began), Ok(()));
        }
        assert_eq!(bucket.take(began), Err(second));
        assert_eq!(bucket.take(began + second / 4), Err(second * 3 / 4));
        // What was refused took nothing.
        assert_eq!(bucket.take(began + second), Ok(()));
        assert_eq!(bucket.take(began + second), Err(second));
        // Not more than the burst, however long there was no request.
        let later = began + second * 3600;
        assert_eq!((0..10).filter(|_| bucket.take(later).is_ok()).count(), 3);
    }
}
