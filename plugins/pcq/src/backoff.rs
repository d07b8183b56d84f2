//! What a host refused is asked for ever more rarely, whatever becomes of the connection meanwhile: a host is not logged
//! on to again and again for something that it does not give.

use std::time::Duration;

use counter_poll::Pause;
use plugin_sdk::{Failure, GeneralReason, Stage};

/// Remembers a refusal.
#[derive(Debug, Default)]
pub(crate) struct Backoff {
    failed: Option<(Pause, Failure)>,
    /// Whether the host gave it before.
    was_given: bool,
}

impl Backoff {
    /// Begins an attempt, which counts as failed until [`succeeded`](Self::succeeded) or [`forget`](Self::forget).
    ///
    /// # Errors
    /// Why the last attempt failed, when it is too early for another one.
    pub(crate) fn begin(&mut self, now: Duration) -> Result<(), Failure> {
        if let Some((_, why)) = self.failed.as_ref().filter(|(pause, _)| !pause.is_over(now)) {
            return Err(why.clone());
        }
        // Set before the attempt, because the collection may be aborted during it.
        let shortest = if self.was_given { Pause::AFTER_LOSS } else { Pause::NEVER_THERE };
        let message = "the collection ended before the host answered";
        let why = Failure::new(Stage::Bind, GeneralReason::Timeout, message);
        let mut pause = self.failed.take().map(|(pause, _)| pause).unwrap_or_default();
        pause.extend(now, shortest);
        self.failed = Some((pause, why));
        Ok(())
    }

    /// The host gave it.
    pub(crate) fn succeeded(&mut self) {
        (self.failed, self.was_given) = (None, true);
    }

    /// Forgets the failures: somebody may have removed their cause.
    pub(crate) fn forget(&mut self) {
        self.failed = None;
    }

    /// The attempt failed.
    pub(crate) fn failed(&mut self, why: &Failure) {
        if let Some((_, last)) = &mut self.failed {
            *last = why.clone();
        }
    }

    /// Until the next attempt.
    pub(crate) fn left(&self, now: Duration) -> Duration {
        self.failed.as_ref().map_or(Duration::ZERO, |(pause, _)| pause.left(now))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The seconds at which an attempt is made that fails.
    fn attempts(backoff: &mut Backoff) -> Vec<u64> {
        let attempt = |second: &u64| backoff.begin(Duration::from_secs(*second)).is_ok();
        (0..300).filter(attempt).collect()
    }

    #[test]
    fn what_a_host_refuses_is_asked_for_ever_more_rarely() {
        let mut backoff = Backoff::default();
        assert_eq!(attempts(&mut backoff), [0, 60, 120, 180, 270]);
        backoff.forget();
        assert!(backoff.begin(Duration::ZERO).is_ok());
    }

    #[test]
    fn what_a_host_gave_a_moment_ago_is_asked_for_at_once() {
        let mut backoff = Backoff::default();
        backoff.succeeded();
        assert_eq!(attempts(&mut backoff)[..6], [0, 1, 2, 3, 5, 8]);
        let why = Failure::new(Stage::Bind, GeneralReason::AccessDenied, "no");
        backoff.failed(&why);
        let said = backoff.begin(Duration::ZERO).unwrap_err();
        assert_eq!(said.message, "no", "the reason of the last attempt is kept");
        assert!(backoff.left(Duration::ZERO) > Duration::ZERO);
    }
}
