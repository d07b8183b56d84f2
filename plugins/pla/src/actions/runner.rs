//! The tasks of one target: a queue, a few at a time, and what became of them.

use tokio::sync::{mpsc, watch};
use tokio::task::{JoinHandle, JoinSet};

use super::counts::{ActionResult, Key};
use super::process::{self, Ended, Program};

/// A task to be started, and who wants it.
#[derive(Debug)]
pub(super) struct Job {
    pub(super) key: Key,
    /// The name of the task.
    pub(super) task: String,
    /// The name of the target.
    pub(super) target: String,
    pub(super) program: Program,
}

/// Runs tasks beside the collections. Dropping it ends those that run.
#[derive(Debug)]
pub(super) struct Runner {
    jobs: mpsc::Sender<Job>,
    /// Not more of them than jobs were taken since the last collection that succeeded.
    ended: mpsc::UnboundedReceiver<(Key, ActionResult)>,
    stop: watch::Sender<()>,
    work: JoinHandle<()>,
}

impl Runner {
    /// Must be called inside the library's runtime.
    pub(super) fn new() -> Self {
        let (jobs, queue) = mpsc::channel(QUEUE_MAX);
        let (results, ended) = mpsc::unbounded_channel();
        let (stop, stopped) = watch::channel(());
        let work = tokio::spawn(work(queue, results, stopped));
        Self { jobs, ended, stop, work }
    }

    /// Queues a task. Returns whether there was room.
    pub(super) fn start(&self, job: Job) -> bool {
        self.jobs.try_send(job).is_ok()
    }

    /// What became of tasks since the last call.
    pub(super) fn ended(&mut self) -> impl Iterator<Item = (Key, ActionResult)> {
        std::iter::from_fn(|| self.ended.try_recv().ok())
    }

    /// Ends all that runs, and waits for that.
    pub(super) async fn end(self) {
        let Self { jobs, ended: _ended, stop, work } = self;
        drop((jobs, stop));
        // It does not panic; if it did, there would be nothing to wait for.
        let _ = work.await;
    }
}

async fn work(
    mut queue: mpsc::Receiver<Job>,
    results: mpsc::UnboundedSender<(Key, ActionResult)>,
    mut stopped: watch::Receiver<()>,
) {
    let mut running = JoinSet::new();
    loop {
        tokio::select! {
            biased;
            _ = stopped.changed() => break,
            Some(ended) = running.join_next() => {
                if let Ok(ended) = ended {
                    // If nobody listens any more, this ends soon.
                    let _ = results.send(ended);
                }
            }
            Some(job) = queue.recv(), if running.len() < RUNNING_MAX => {
                running.spawn(run(job, stopped.clone()));
            }
            else => break,
        }
    }
    // Each of them sees the end, too.
    while running.join_next().await.is_some() {}
}

async fn run(job: Job, stopped: watch::Receiver<()>) -> (Key, ActionResult) {
    let Job { key, task, target, program } = job;
    let timeout = program.timeout;
    let (set, alert) = (&*key.set, &*key.alert);
    tracing::debug!(target, set, alert, task, "Task started");
    let result = match process::run(&target, program, stopped).await {
        Ok((Ended::Itself(status), output)) if status.success() => {
            let output = text(&output);
            tracing::info!(target, set, alert, task, output, "Task done");
            ActionResult::Done
        }
        Ok((Ended::Itself(status), output)) => {
            let output = text(&output);
            tracing::warn!(target, set, alert, task, %status, output, "Task failed");
            ActionResult::Failed
        }
        Ok((Ended::TimedOut, output)) => {
            let output = text(&output);
            tracing::warn!(target, set, alert, task, ?timeout, output, "Task ran for too long and was ended");
            ActionResult::TimedOut
        }
        Ok((Ended::Stopped, _)) => {
            tracing::info!(target, set, alert, task, "Task was ended with the alerts of its target");
            ActionResult::Failed
        }
        Err(error) => {
            tracing::warn!(target, set, alert, task, %error, "Task cannot be started");
            ActionResult::Failed
        }
    };
    (key, result)
}

/// What a program printed, for people.
fn text(output: &[u8]) -> String {
    String::from_utf8_lossy(output).trim().to_owned()
}

/// Tasks of a target that wait.
pub(super) const QUEUE_MAX: usize = 64;
/// Tasks of a target that run at a time.
pub(super) const RUNNING_MAX: usize = 4;

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::counts::Action;
    use super::*;

    fn job(number: usize, script: &str) -> Job {
        let words = ["/bin/sh", "-c", script].map(str::to_owned).to_vec();
        let timeout = Duration::from_secs(30);
        Job {
            key: Key::new("set", &number.to_string(), Action::Task),
            task: "tell".to_owned(),
            target: "web1".to_owned(),
            program: Program { words, environment: Vec::new(), timeout },
        }
    }

    async fn results(runner: &mut Runner, count: usize) -> Vec<ActionResult> {
        let mut found = Vec::new();
        while found.len() < count {
            found.push(runner.ended.recv().await.expect("it runs").1);
        }
        found
    }

    #[tokio::test(start_paused = true)]
    async fn tasks_that_hang_fill_a_queue_and_end_one_after_the_other() {
        let mut runner = Runner::new();
        let taken = (0..200).filter(|number| runner.start(job(*number, "exec sleep 1000"))).count();
        assert_eq!(taken, QUEUE_MAX, "the runner had no turn yet");
        let began = tokio::time::Instant::now();
        assert_eq!(results(&mut runner, taken).await, vec![ActionResult::TimedOut; QUEUE_MAX]);
        let rounds = u32::try_from(QUEUE_MAX / RUNNING_MAX).expect("it is small");
        assert!(began.elapsed() >= Duration::from_secs(30) * rounds, "four at a time");
        assert!(runner.start(job(0, "exec sleep 1000")), "there is room again");
    }

    #[tokio::test]
    async fn the_results_of_tasks_are_told_apart() {
        let mut runner = Runner::new();
        for (script, result) in [
            ("exit 0", ActionResult::Done),
            ("exit 3", ActionResult::Failed),
            ("kill -TERM $$", ActionResult::Failed),
        ] {
            assert!(runner.start(job(0, script)));
            assert_eq!(results(&mut runner, 1).await, [result], "{script}");
        }
        let program = Program { words: vec!["/nowhere".to_owned()], ..job(0, "").program };
        assert!(runner.start(Job { program, ..job(0, "") }));
        assert_eq!(results(&mut runner, 1).await, [ActionResult::Failed]);
    }

    #[tokio::test]
    async fn its_end_ends_what_runs_and_forgets_what_waits() {
        let runner = Runner::new();
        let taken = (0..10).filter(|number| runner.start(job(*number, "exec sleep 1000"))).count();
        assert_eq!(taken, 10);
        runner.end().await;
    }
}
