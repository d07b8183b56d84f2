//! What triggers a reload, and what is said of it.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use config::Report;
use parking_lot::Mutex;
use tokio::signal::unix::Signal;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::{Instant, sleep_until};
use tracing::{error, warn};

use super::blocking::{Blocking, NotDone};
use super::reloadable::{Prepared, ReloadableState};
use super::systemd::{Notifier, status};
use super::watch::Watch;
use web::{NotReloaded, Reloader, Reloading};

/// Maximum requests that wait for a reload.
const WAITING_MAX: usize = 64;
/// A reload that is not prepared by then has failed: a disk hangs, or a plugin that is asked about its settings.
const PREPARE_TIME_MAX: Duration = Duration::from_secs(60);
/// A look at the file that takes longer found nothing.
const LOOK_TIME_MAX: Duration = Duration::from_secs(15);

type Answer = Result<String, NotReloaded>;

pub(super) struct Requests(mpsc::Sender<oneshot::Sender<Answer>>);

/// Receives requests for reloads.
pub(super) struct Asked(mpsc::Receiver<oneshot::Sender<Answer>>);

pub(super) fn requests() -> (Arc<Requests>, Asked) {
    let (sender, receiver) = mpsc::channel(WAITING_MAX);
    (Arc::new(Requests(sender)), Asked(receiver))
}

impl Reloader for Requests {
    fn reload(&self) -> Reloading<'_> {
        Box::pin(async {
            let (answer, answered) = oneshot::channel();
            self.0.try_send(answer).map_err(|error| match error {
                mpsc::error::TrySendError::Full(_) => NotReloaded::Busy,
                mpsc::error::TrySendError::Closed(_) => NotReloaded::Unavailable,
            })?;
            answered.await.unwrap_or(Err(NotReloaded::Unavailable))
        })
    }
}

/// Reloads the configuration on request: by HTTP, by SIGHUP, or by a change of the file.
///
/// One reload at a time, for all requests before its start. Requests during a reload wait for the next one, because
/// the file may have changed after it was read.
pub(super) struct Reloads {
    pub(super) state: ReloadableState,
    pub(super) asked: Asked,
    pub(super) hangup: Signal,
    pub(super) notifier: Notifier,
    /// Worked on by one at a time, where waiting for a disk is allowed.
    pub(super) watch: Arc<Mutex<Watch>>,
    pub(super) looking: Blocking,
    pub(super) preparing: Blocking,
}

impl Reloads {
    /// Runs until `stop`; returns the state that it worked on.
    pub(super) async fn run(mut self, mut stop: watch::Receiver<bool>) -> ReloadableState {
        let mut looked = Instant::now();
        loop {
            let interval = self.state.in_use.get().watch;
            let look = interval.map(|interval| looked + self.wait(interval));
            let mut waiting = Vec::new();
            let cause = tokio::select! {
                () = ended(&mut stop) => return self.state,
                Some(waiter) = self.asked.0.recv() => {
                    waiting.push(waiter);
                    "HTTP"
                }
                Some(()) = self.hangup.recv() => "SIGHUP",
                () = sleep_until(look.unwrap_or(looked)), if look.is_some() => {
                    looked = Instant::now();
                    if self.watched(Watch::look).await != Some(true) {
                        continue;
                    }
                    "file changed"
                }
            };
            while let Ok(waiter) = self.asked.0.try_recv() {
                waiting.push(waiter);
            }
            // A file, or a plugin that is asked about it, may hang: that must not keep the program from its end.
            let prepared = tokio::select! {
                () = ended(&mut stop) => return self.state,
                prepared = self.prepare() => prepared,
            };
            let answer = self.reload(cause, prepared).await;
            for waiter in waiting {
                // The requester may be gone.
                let _ = waiter.send(answer.clone());
            }
            looked = Instant::now();
        }
    }

    fn wait(&self, interval: Duration) -> Duration {
        // While it is locked, a look at it hangs.
        self.watch.try_lock().map_or(interval, |watch| watch.wait(interval))
    }

    async fn prepare(&mut self) -> Result<Prepared, Report> {
        self.notifier.reloading();
        self.watched(Watch::reading).await;
        let prepared = self.preparing.run(PREPARE_TIME_MAX, self.state.preparation()).await;
        prepared.unwrap_or_else(|not_done| {
            let seconds = PREPARE_TIME_MAX.as_secs();
            let message = match not_done {
                NotDone::TooLong => format!("was not read and checked within {seconds} s"),
                NotDone::StillRunning => "is still being read for the previous reload".to_owned(),
                NotDone::Panicked => "was not checked completely".to_owned(),
            };
            let hint = "check its disk and its plugins; then reload again".to_owned();
            Err(Report::of_file(&self.state.file.display().to_string(), message, Some(hint)))
        })
    }

    async fn reload(&mut self, cause: &str, prepared: Result<Prepared, Report>) -> Answer {
        let answer = match self.state.reload(prepared).await {
            Ok(applied) => {
                applied.log(cause);
                Ok(applied.to_string())
            }
            Err(report) => {
                let report = report.to_string();
                for problem in report.lines() {
                    error!(cause, problem, "Configuration refused; the previous one stays in use");
                }
                Err(NotReloaded::Refused(report))
            }
        };
        self.notifier.ready(&status(&self.state.target_registry, &self.state.reloads));
        answer
    }

    /// Works on the watch where waiting for a disk is allowed.
    async fn watched<T: Send + 'static>(
        &mut self,
        work: impl FnOnce(&mut Watch, SystemTime) -> T + Send + 'static,
    ) -> Option<T> {
        let watch = Arc::clone(&self.watch);
        let work = move || work(&mut watch.lock(), SystemTime::now());
        let done = self.looking.run(LOOK_TIME_MAX, work).await;
        if let Err(NotDone::TooLong | NotDone::Panicked) = done {
            warn!(file = %self.state.file.display(), "Configuration file not checked: its disk does not respond");
        }
        done.ok()
    }
}

/// Waits until the program should end, or until the sender is gone.
async fn ended(stop: &mut watch::Receiver<bool>) {
    drop(stop.wait_for(|stop| *stop).await);
}
