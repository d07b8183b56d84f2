use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::Instant;

use super::planner::{Ending, JobId, Planner};

/// Starts and ends the collections of one job.
pub trait Collector: Send + Sync {
    /// Starts a collection that may take `deadline`. Does not block; its end is told to [`Ends`], perhaps before this
    /// returns, and exactly once.
    ///
    /// # Errors
    /// When it cannot begin; nothing is told to [`Ends`] then.
    fn start(&self, deadline: Duration) -> Result<(), NotStarted>;

    /// Asks for an early end.
    fn cancel(&self);
}

/// A collection that could not begin; whoever answers it has logged and counted it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotStarted {
    /// The next try comes after so long; with the next interval where nothing is said.
    pub retry_after: Option<Duration>,
}

/// Keeps the deadlines of what was started.
pub trait Deadlines: Send + Sync {
    /// Cancels what is over its time. Answers when it wants to be asked again, if anything is under way.
    fn keep(&self) -> Option<Duration>;
}

/// The end of a collection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ended {
    /// Which job.
    pub job: JobId,
    /// How.
    pub ending: Ending,
}

/// Where collections tell their end, from any thread. At most one end per job is under way.
#[derive(Clone, Debug)]
pub struct Ends(UnboundedSender<Ended>);

impl Ends {
    /// The job's collection is over.
    pub fn tell(&self, ended: Ended) {
        // The driver is gone only when the process ends.
        let _ = self.0.send(ended);
    }
}

/// What became of the collections in flight when the driver was stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Drained {
    /// So many were cancelled and did not end even so.
    pub left: usize,
}

struct Job {
    collector: Arc<dyn Collector>,
    deadline: Duration,
    is_running: bool,
}

/// One task that runs every collection of the process.
pub struct Driver {
    planner: Planner,
    jobs: Vec<Job>,
    deadlines: Arc<dyn Deadlines>,
    ends: UnboundedReceiver<Ended>,
    skipped: Arc<AtomicU64>,
}

impl Driver {
    /// Where collections tell their end: made first, since the collectors need it.
    #[must_use]
    pub fn ends() -> (Ends, UnboundedReceiver<Ended>) {
        let (sender, receiver) = unbounded_channel();
        (Ends(sender), receiver)
    }

    /// A driver for the jobs of `planner`, in their order.
    #[must_use]
    pub fn new(
        planner: Planner,
        collectors: Vec<(Arc<dyn Collector>, Duration)>,
        deadlines: Arc<dyn Deadlines>,
        ends: UnboundedReceiver<Ended>,
    ) -> Self {
        let jobs = collectors.into_iter();
        let jobs = jobs.map(|(collector, deadline)| Job { collector, deadline, is_running: false }).collect();
        Self { planner, jobs, deadlines, ends, skipped: Arc::default() }
    }

    /// The planner's count of places passed over, readable while the driver runs.
    #[must_use]
    pub fn skipped_into(mut self, skipped: Arc<AtomicU64>) -> Self {
        self.skipped = skipped;
        self
    }

    /// Runs until `stop` is done; then lets what runs end for `grace`, cancels the rest, and waits a moment more.
    pub async fn run(mut self, stop: impl Future<Output = ()>, grace: Duration) -> Drained {
        tokio::pin!(stop);
        loop {
            self.start_due();
            let wake = self.next_wake();
            tokio::select! {
                () = &mut stop => break,
                Some(ended) = self.ends.recv() => self.finish(ended),
                () = sleep_until(wake) => {}
            }
        }
        self.planner.stop();
        self.drain_until(Instant::now() + grace).await;
        for job in self.jobs.iter().filter(|job| job.is_running) {
            job.collector.cancel();
        }
        self.drain_until(Instant::now() + AFTER_CANCEL).await;
        Drained { left: self.planner.running() }
    }

    fn start_due(&mut self) {
        let now = Instant::now().into_std();
        while let Some(id) = self.planner.poll(now) {
            let job = &mut self.jobs[id.0];
            match job.collector.start(job.deadline) {
                Ok(()) => job.is_running = true,
                Err(NotStarted { retry_after: None }) => {
                    self.planner.finished(id, Ending::Bad, now);
                }
                Err(NotStarted { retry_after }) => {
                    self.planner.finished(id, Ending::Unreachable { retry_after }, now);
                }
            }
        }
    }

    fn finish(&mut self, ended: Ended) {
        let now = Instant::now().into_std();
        let mut next = Some(ended);
        while let Some(Ended { job, ending }) = next {
            // One end per start, per the contract of `Collector`; a second one would unbalance the planner.
            if std::mem::take(&mut self.jobs[job.0].is_running) {
                self.planner.finished(job, ending, now);
            }
            next = self.ends.try_recv().ok();
        }
        self.skipped.store(self.planner.skipped(), Ordering::Relaxed);
    }

    /// The earlier of the planner's and the deadlines' wishes.
    fn next_wake(&self) -> Option<Instant> {
        let planned = self.planner.next_wake().map(Instant::from_std);
        let kept = if self.planner.running() > 0 { self.deadlines.keep() } else { None };
        let kept = kept.map(|after| Instant::now() + after.max(DEADLINE_STEP));
        [planned, kept].into_iter().flatten().min()
    }

    async fn drain_until(&mut self, end: Instant) {
        while self.planner.running() > 0 {
            let wake = self.next_wake().map_or(end, |wake| wake.min(end));
            tokio::select! {
                Some(ended) = self.ends.recv() => self.finish(ended),
                () = tokio::time::sleep_until(wake) => {
                    if Instant::now() >= end {
                        return;
                    }
                }
            }
        }
    }
}

/// What was cancelled may take so long to notice.
const AFTER_CANCEL: Duration = Duration::from_secs(1);
/// Deadlines are looked at no more often than this.
const DEADLINE_STEP: Duration = Duration::from_millis(5);

async fn sleep_until(wake: Option<Instant>) {
    match wake {
        Some(wake) => tokio::time::sleep_until(wake).await,
        None => std::future::pending().await,
    }
}
