//! What a host refused is asked for ever more rarely, whatever becomes of the connection meanwhile: a host is not logged
//! on to again and again for something that it does not give.

use plugin_sdk::{Failure, GeneralReason, Stage};

/// Remembers a refusal.
#[derive(Debug, Default)]
pub(crate) struct Backoff {
    failed: Option<Failed>,
}

#[derive(Debug)]
struct Failed {
    /// Consecutive failures, including this one.
    times: u32,
    /// The first collection that may try again.
    next_poll: u64,
    why: Failure,
}

impl Backoff {
    /// Begins an attempt in the collection `poll`, which counts as failed until [`reset`](Self::reset).
    ///
    /// # Errors
    /// Why the last attempt failed, when it is too early for another one.
    pub(crate) fn begin(&mut self, poll: u64) -> Result<(), Failure> {
        let times = match &self.failed {
            Some(failed) if poll < failed.next_poll => return Err(failed.why.clone()),
            Some(failed) => failed.times.saturating_add(1),
            None => 1,
        };
        // Set before the attempt, because the collection may be aborted during it.
        let next_poll = poll + polls_until_retry(times);
        let why = Failure::new(
            Stage::Bind,
            GeneralReason::Timeout,
            "the collection ended before the host answered",
        );
        self.failed = Some(Failed { times, next_poll, why });
        Ok(())
    }

    /// Forgets the failures: the attempt succeeded, or somebody may have removed their cause.
    pub(crate) fn reset(&mut self) {
        self.failed = None;
    }

    /// The attempt failed. Returns the collection of the next one.
    pub(crate) fn failed(&mut self, why: &Failure) -> u64 {
        self.failed.as_mut().map_or(0, |failed| {
            failed.why = why.clone();
            failed.next_poll
        })
    }
}

/// The number of collections until the next attempt doubles with each failure, up to a limit.
fn polls_until_retry(times: u32) -> u64 {
    POLLS_UNTIL_RETRY << times.saturating_sub(1).min(DOUBLINGS_MAX)
}

/// Collections between the first failure and the second attempt.
const POLLS_UNTIL_RETRY: u64 = 20;
const DOUBLINGS_MAX: u32 = 6;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_host_refuses_is_asked_for_ever_more_rarely() {
        let pauses: Vec<u64> = (1..=9).map(polls_until_retry).collect();
        assert_eq!(pauses, [20, 40, 80, 160, 320, 640, 1280, 1280, 1280]);
    }
}
