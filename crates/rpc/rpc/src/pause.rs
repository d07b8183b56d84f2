use std::time::Duration;

/// When a host is asked again for what it refused, did not answer or did not have.
///
/// A pause is half as long as the failure has lasted, so that what comes back is found after half the time again that it was
/// away. The shortest pause says how likely that is. All times are since one fixed moment.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pause {
    since: Option<Duration>,
    until: Option<Duration>,
}

impl Pause {
    /// The shortest pause for what was there a moment ago: the next collection tries again.
    pub const AFTER_LOSS: Duration = Duration::from_millis(500);
    /// The shortest pause for what never was there.
    pub const NEVER_THERE: Duration = Duration::from_secs(60);
    /// No pause is longer.
    pub const LONGEST: Duration = Duration::from_secs(600);

    /// Whether an attempt is due.
    #[must_use]
    pub fn is_over(&self, now: Duration) -> bool {
        self.until.is_none_or(|until| now >= until)
    }

    /// Until the next attempt.
    #[must_use]
    pub fn left(&self, now: Duration) -> Duration {
        self.until.map_or(Duration::ZERO, |until| until.saturating_sub(now))
    }

    /// An attempt failed, or begins and counts as failed until it succeeds. Returns the pause that follows.
    pub fn extend(&mut self, now: Duration, shortest: Duration) -> Duration {
        let since = *self.since.get_or_insert(now);
        let pause = (now.saturating_sub(since) / 2).max(shortest).min(Self::LONGEST);
        self.until = Some(now + pause);
        pause
    }

    /// The next attempt is due at once. If it fails, the pause after it is as long as it would have been.
    pub const fn cut_short(&mut self) {
        self.until = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attempts(shortest: Duration, seconds: u64) -> Vec<u64> {
        let mut pause = Pause::default();
        let mut attempts = Vec::new();
        for second in 0..seconds {
            let now = Duration::from_secs(second);
            if pause.is_over(now) {
                attempts.push(second);
                let pause = pause.extend(now, shortest);
                assert!(pause >= shortest && pause <= Pause::LONGEST, "{pause:?}");
            }
        }
        attempts
    }

    #[test]
    fn what_was_there_is_tried_at_once_and_what_never_was_more_rarely() {
        assert_eq!(attempts(Pause::AFTER_LOSS, 60), [0, 1, 2, 3, 5, 8, 12, 18, 27, 41]);
        assert_eq!(attempts(Pause::NEVER_THERE, 900), [0, 60, 120, 180, 270, 405, 608]);
    }

    #[test]
    fn a_pause_that_was_cut_short_does_not_begin_anew() {
        let (mut pause, at) = (Pause::default(), Duration::from_secs);
        pause.extend(at(0), Pause::NEVER_THERE);
        pause.cut_short();
        assert!(pause.is_over(at(1)));
        assert_eq!(pause.extend(at(200), Pause::NEVER_THERE), at(100));
    }

    #[test]
    fn no_pause_is_longer_than_ten_minutes() {
        for shortest in [Pause::AFTER_LOSS, Pause::NEVER_THERE, Pause::LONGEST] {
            let attempts = attempts(shortest, 20_000);
            let longest = attempts.windows(2).map(|pair| pair[1] - pair[0]).max();
            assert_eq!(longest, Some(600), "{attempts:?}");
        }
    }
}
