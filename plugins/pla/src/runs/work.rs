//! What is done beside the collections: limits before a run, and the data manager after it.

use cap_std::fs::Dir;
use data_manager::{DataManager, Managed, ManagerSettings, Request};
use jiff::Timestamp;
use ms_pla::xml;
use tokio::sync::mpsc::UnboundedSender;
use tokio::task::{JoinHandle, spawn_blocking};

use super::folder::SetFolder;
use super::open_log::ClosedLog;
use super::report::{self, About};

/// What came of it.
#[derive(Debug)]
pub(super) enum Event {
    /// Whether the limits permit a run.
    Checked { serial_number: u32, result: Result<(), String> },
    /// The data manager is done.
    Compiled { serial_number: u32, compiled: Compiled },
}

/// What a data manager did.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Compiled {
    /// Runs of it.
    pub(crate) runs: u64,
    /// Folders that were removed, by the limit that did not hold.
    pub(crate) removed: Vec<(&'static str, u64)>,
    /// What could not be done.
    pub(crate) failures: u64,
    /// How long the last run of it took.
    pub(crate) took_s: f64,
    /// When that ended.
    pub(crate) ended: Option<Timestamp>,
}

/// A segment that is compiled.
#[derive(Debug)]
pub(super) struct Job {
    pub(super) serial_number: u32,
    pub(super) folder: Option<SetFolder>,
    /// The folder of the segment that is written, which is not touched.
    pub(super) current: Option<String>,
    pub(super) manager: xml::DataManager,
    /// The folder of the segment that ended, and what its report says of it; nothing if that was before this process.
    pub(super) ended: Option<(String, About)>,
    pub(super) now: Timestamp,
}

/// Checks whether the limits permit a run.
pub(super) fn check(
    folder: SetFolder,
    manager: &xml::DataManager,
    serial_number: u32,
    events: UnboundedSender<Event>,
) {
    let manager = DataManager::new(ManagerSettings::from(manager));
    spawn_blocking(move || {
        let root = folder.open().map_err(|error| error.to_string());
        let checked = |root: Dir| manager.check_before_running(&root).map_err(|error| error.to_string());
        let result = root.and_then(checked);
        // If nobody listens any more, the set is gone.
        let _ = events.send(Event::Checked { serial_number, result });
    });
}

/// Runs the data manager on a segment when its logs have ended.
pub(super) fn compile(job: Job, closing: Option<JoinHandle<Vec<ClosedLog>>>, events: UnboundedSender<Event>) {
    tokio::spawn(async move {
        let closed = match closing {
            Some(closing) => closing.await.unwrap_or_default(),
            None => Vec::new(),
        };
        let serial_number = job.serial_number;
        let compiled = spawn_blocking(move || run(&job, &closed)).await.unwrap_or_default();
        // If nobody listens any more, the set is gone.
        let _ = events.send(Event::Compiled { serial_number, compiled });
    });
}

fn run(job: &Job, closed: &[ClosedLog]) -> Compiled {
    let began = std::time::Instant::now();
    let mut compiled = Compiled { runs: 1, ..Compiled::default() };
    match job.folder.as_ref().map(SetFolder::open) {
        Some(Ok(root)) => {
            compiled.report(job, closed);
            let manager = DataManager::new(report::settings(&job.manager));
            let request = Request { current: job.current.as_deref(), ..Request::new(&root, job.now) };
            compiled.take(&manager.run(&request));
        }
        Some(Err(error)) => {
            tracing::warn!(%error, "The folder of a set cannot be opened for its data manager");
            compiled.failures += 1;
        }
        None => {}
    }
    compiled.took_s = began.elapsed().as_secs_f64();
    compiled.ended = Timestamp::try_from(std::time::SystemTime::now()).ok();
    compiled
}

impl Compiled {
    /// Writes the report of the segment.
    fn report(&mut self, job: &Job, closed: &[ClosedLog]) {
        let Some((folder, about)) = job.ended.as_ref().filter(|_| !closed.is_empty()) else { return };
        let opened = job.folder.as_ref().map(|set| set.run(folder));
        let failures = match opened {
            Some(Ok(folder)) => report::write(&folder, about, &job.manager, closed),
            Some(Err(error)) => vec![error.to_string()],
            None => Vec::new(),
        };
        for reason in &failures {
            tracing::warn!(set = about.set, folder, reason, "A report is not complete");
        }
        self.failures += u64::try_from(failures.len()).unwrap_or(u64::MAX);
    }

    fn take(&mut self, managed: &Managed) {
        for removed in &managed.removed {
            self.count(removed.by.as_str(), 1);
        }
        for failure in &managed.failures {
            let error = &failure.error;
            tracing::warn!(folder = failure.folder, %error, "The data manager of a set could not do all");
        }
        self.failures +=
            u64::try_from(managed.failures.len()).unwrap_or(u64::MAX) + managed.failures_left_out;
    }

    fn count(&mut self, by: &'static str, folders: u64) {
        match self.removed.iter_mut().find(|(known, _)| *known == by) {
            Some((_, known)) => *known += folders,
            None => self.removed.push((by, folders)),
        }
    }

    /// Adds what a later run did.
    pub(super) fn add(&mut self, later: Self) {
        let Self { runs, removed, failures, took_s, ended } = later;
        removed.into_iter().for_each(|(by, folders)| self.count(by, folders));
        (self.runs, self.failures) = (self.runs + runs, self.failures + failures);
        (self.took_s, self.ended) = (took_s, ended);
    }
}
