use std::time::Duration;

use tokio::sync::oneshot;
use tokio::task::JoinHandle;

/// Runs work that blocks and may hang: a file on a dead server, a plugin that does not answer. Callers wait up to a
/// limit, and hanging work is not started a second time meanwhile.
#[derive(Debug, Default)]
pub(super) struct Blocking {
    /// Work that took too long.
    hung: Option<JoinHandle<()>>,
}

/// Why there is no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NotDone {
    /// It took longer, and still runs.
    TooLong,
    /// It was not begun, since the one before still runs.
    StillRunning,
    Panicked,
}

impl Blocking {
    /// The result of `work`, if it comes within `time_max`.
    pub(super) async fn run<T: Send + 'static>(
        &mut self,
        time_max: Duration,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, NotDone> {
        if self.hung.take_if(|hung| hung.is_finished()).is_none() && self.hung.is_some() {
            return Err(NotDone::StillRunning);
        }
        let (done, result) = oneshot::channel();
        let running = tokio::task::spawn_blocking(move || {
            // The caller may have given up.
            drop(done.send(work()));
        });
        match tokio::time::timeout(time_max, result).await {
            Ok(result) => result.map_err(|_gone| NotDone::Panicked),
            Err(_passed) => {
                self.hung = Some(running);
                Err(NotDone::TooLong)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    const SHORT: Duration = Duration::from_millis(20);
    const LONG: Duration = Duration::from_secs(60);

    #[tokio::test]
    async fn work_that_hangs_is_given_up_and_not_begun_again_before_it_ends() {
        let mut blocking = Blocking::default();
        let (end, ended) = mpsc::channel::<()>();
        let hangs = move || ended.recv().unwrap_or_default();
        assert_eq!(blocking.run(SHORT, hangs).await, Err(NotDone::TooLong));
        assert_eq!(blocking.run(LONG, || 7).await, Err(NotDone::StillRunning));
        drop(end);
        while !blocking.hung.as_ref().is_some_and(JoinHandle::is_finished) {
            tokio::task::yield_now().await;
        }
        assert_eq!(blocking.run(LONG, || 7).await, Ok(7));
    }

    #[tokio::test]
    async fn work_that_panics_is_no_reason_not_to_try_again() {
        let mut blocking = Blocking::default();
        let panics = || -> u8 { std::panic::resume_unwind(Box::new(())) };
        assert_eq!(blocking.run(LONG, panics).await, Err(NotDone::Panicked));
        assert_eq!(blocking.run(LONG, || 7).await, Ok(7));
    }
}
