//! What is done beside the collections: limits before a run, and the data manager after it.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use cap_std::fs::Dir;
use counter_log::data_manager::{DataManager, Managed, ManagerSettings, Request};
use jiff::Timestamp;
use ms_pla::{FolderActionSteps, xml};
use parking_lot::{Mutex, MutexGuard};
use tokio::sync::mpsc::UnboundedSender;
use tokio::task::JoinHandle;

use super::folder::SetFolder;
use super::open_log::ClosedLog;
use super::report::{self, SegmentInfo};
use crate::actions::RunEnded;
use crate::threads::{CHECKS, DATA_MANAGERS, LAST_REPORTS, Place};

/// What came of it.
#[derive(Debug)]
pub(super) enum Event {
    /// The logs of a segment are at their end, and the task of the set follows.
    Closed(RunEnded),
    /// Whether the limits permit a run.
    Checked { serial_number: u32, result: Result<(), String> },
    /// The data manager is done.
    Compiled { serial_number: u32, compiled: Compiled },
}

/// What a data manager did.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Compiled {
    /// Folders that were removed, by the limit that did not hold.
    pub(crate) removed: Vec<(&'static str, u64)>,
    /// What could not be done.
    pub(crate) failures: u64,
    /// How long the last run of it took.
    pub(crate) took_s: f64,
    pub(crate) ended: Option<Timestamp>,
}

/// A segment that is compiled.
#[derive(Debug)]
pub(super) struct Job {
    pub(super) target: String,
    pub(super) set: Arc<str>,
    pub(super) serial_number: u32,
    pub(super) folder: Option<SetFolder>,
    /// Where cabinet files are sent.
    pub(super) cabinets: Option<SetFolder>,
    pub(super) manager: xml::DataManager,
    /// The folder of the segment that ended, and what its report says of it; nothing if that was before this process.
    pub(super) ended: Option<(String, SegmentInfo)>,
    /// The same for a segment that an earlier process left behind.
    pub(super) cut_off: Option<(String, SegmentInfo)>,
    pub(super) now: Timestamp,
    pub(super) upkeep: Arc<Upkeep>,
}

impl Job {
    /// Where cabinet files are sent, if some are.
    fn cabinets(&self) -> Option<&SetFolder> {
        let sends = |action: &xml::FolderAction| {
            action.actions.is_some_and(|steps| steps.contains(FolderActionSteps::SEND_CAB))
        };
        self.cabinets.as_ref().filter(|_| self.manager.folder_actions.iter().any(sends))
    }

    /// What the data manager may wait for.
    fn places(&self) -> Vec<Place> {
        let cabinets = self.cabinets().and_then(SetFolder::above);
        let cabinets = cabinets.map(|above| Place::Cabinets(above.to_owned()));
        self.folder.iter().flat_map(SetFolder::places).chain(cabinets).collect()
    }
}

/// What the works on the folder of one set know of each other.
#[derive(Debug, Default)]
pub(super) struct Upkeep {
    /// Held by the data manager that works: another one would change the same files.
    turn: tokio::sync::Mutex<()>,
    /// The segments whose logs are not at their end, with the names of their folders.
    written: Mutex<Vec<(u32, String)>>,
    /// Whether the instance ends: the next one does what is left.
    stop: AtomicBool,
    said: Mutex<Said>,
}

/// Why not all could be done, of this run of the data manager and of the one before. Each reason is said once until it is over.
#[derive(Debug, Default)]
struct Said {
    before: HashSet<String>,
    now: HashSet<String>,
    /// Failures of this run whose reasons are not said, because there are too many.
    more: u64,
    had_more: bool,
}

impl Upkeep {
    /// A segment is written in this folder.
    pub(super) fn begin(&self, serial_number: u32, folder: &str) {
        self.written().push((serial_number, folder.to_owned()));
    }

    /// All logs of a segment are at their end.
    pub(super) fn end(&self, serial_number: u32) {
        self.written().retain(|(number, _)| *number != serial_number);
    }

    /// Ends what can be done by the next instance.
    pub(super) fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Whether a reason is to be said.
    fn is_new(&self, reason: &str) -> bool {
        let Said { before, now, more, .. } = &mut *self.said.lock();
        if now.len() >= REASONS_MAX {
            *more += u64::from(!now.contains(reason));
            return false;
        }
        now.insert(reason.to_owned()) && !before.contains(reason)
    }

    /// Failures whose reasons are not known.
    fn add_more(&self, failures: u64) {
        self.said.lock().more += failures;
    }

    /// A run of the data manager has ended. Returns whether all is done again, and how many failures were not said, unless that
    /// was so before.
    fn end_run(&self) -> (bool, u64) {
        let said = &mut *self.said.lock();
        let was_failing = !said.before.is_empty();
        said.before = std::mem::take(&mut said.now);
        let more = std::mem::take(&mut said.more);
        let had_more = std::mem::replace(&mut said.had_more, more > 0);
        (was_failing && said.before.is_empty(), if had_more { 0 } else { more })
    }

    /// Per segment there is one entry, so that no panic leaves half of something.
    fn written(&self) -> MutexGuard<'_, Vec<(u32, String)>> {
        self.written.lock()
    }
}

/// Checks whether the limits permit a run.
pub(super) fn check(
    folder: SetFolder,
    manager: &xml::DataManager,
    serial_number: u32,
    events: UnboundedSender<Event>,
) {
    let manager = DataManager::new(ManagerSettings::from(manager));
    let places = folder.places();
    let check = move || {
        let root = folder.open().map_err(|error| error.to_string())?;
        manager.check_before_running(&root).map_err(|error| error.to_string())
    };
    tokio::spawn(async move {
        let result = CHECKS.run(places, check).await.flatten();
        // If nobody listens any more, the set is gone.
        let _ = events.send(Event::Checked { serial_number, result });
    });
}

/// Runs the data manager on a segment when its logs have ended.
pub(super) fn compile(job: Job, closing: Option<JoinHandle<Vec<ClosedLog>>>, events: UnboundedSender<Event>) {
    tokio::spawn(async move {
        let closed = match closing {
            Some(closing) => closing.await.map_err(|error| error.to_string()),
            None => Ok(Vec::new()),
        };
        let serial_number = job.serial_number;
        let (target, set, upkeep) = (job.target.clone(), Arc::clone(&job.set), Arc::clone(&job.upkeep));
        let _turn = upkeep.turn.lock().await;
        let compiled = match closed {
            Ok(closed) => DATA_MANAGERS.run(job.places(), move || run(&job, &closed)).await,
            Err(reason) => {
                upkeep.end(serial_number);
                Err(reason)
            }
        };
        let compiled = compiled.unwrap_or_else(|reason| {
            tracing::warn!(
                target,
                set = &*set,
                serial_number,
                reason,
                "The data manager of a set has failed"
            );
            Compiled { failures: 1, ..Compiled::default() }
        });
        // If nobody listens any more, the set is gone.
        let _ = events.send(Event::Compiled { serial_number, compiled });
    });
}

/// Writes the report of a segment that ends with the instance. The next one runs the data manager.
pub(super) async fn report(job: Job, closed: Vec<ClosedLog>) {
    let places = job.folder.iter().flat_map(SetFolder::places).collect();
    // What panicked has nothing to wait for.
    let _ = LAST_REPORTS.run(places, move || Compiled::default().report(&job, &closed)).await;
}

fn run(job: &Job, closed: &[ClosedLog]) -> Compiled {
    let began = std::time::Instant::now();
    let mut compiled = Compiled::default();
    match job.folder.as_ref().map(SetFolder::open) {
        Some(Ok(root)) => {
            compiled.report(job, closed);
            job.upkeep.end(job.serial_number);
            let manager = DataManager::new(report::settings(&job.manager));
            let (cabinets, upkeep) = (compiled.cabinets(job), &*job.upkeep);
            let request = Request {
                is_in_use: &|folder| upkeep.written().iter().any(|(_, other)| other == folder),
                send_to: cabinets.as_ref(),
                stop: &|| upkeep.stop.load(Ordering::Relaxed),
                ..Request::new(&root, job.now)
            };
            compiled.take(&manager.run(&request), job);
        }
        Some(Err(error)) => {
            job.upkeep.end(job.serial_number);
            let (target, set) = (&*job.target, &*job.set);
            if job.upkeep.is_new(&error.to_string()) {
                tracing::warn!(target, set, %error, "The folder of a set cannot be opened for its data manager");
            }
            compiled.failures += 1;
        }
        None => {}
    }
    let (is_done_again, more) = job.upkeep.end_run();
    let (target, set) = (&*job.target, &*job.set);
    if more > 0 {
        tracing::warn!(
            target,
            set,
            "The data manager of a set could not do all, and {more} more: mend those before first"
        );
    }
    if is_done_again {
        tracing::info!(target, set, "The data manager of a set has done all again");
    }
    compiled.took_s = began.elapsed().as_secs_f64();
    compiled.ended = Timestamp::try_from(std::time::SystemTime::now()).ok();
    compiled
}

impl Compiled {
    /// Writes the report of the segment.
    fn report(&mut self, job: &Job, closed: &[ClosedLog]) {
        let Some(set) = &job.folder else { return };
        let of_this = job.ended.as_ref().filter(|_| !closed.is_empty()).map(|(folder, about)| {
            let write = |opened: Dir| report::write(&opened, about, &job.manager, closed);
            (folder, set.run(folder).map_or_else(|error| vec![error.to_string()], write))
        });
        let of_earlier = job.cut_off.as_ref().map(|(folder, about)| {
            let write = |opened: Option<Dir>| match opened {
                Some(opened) => report::write_cut_off(&opened, about, &job.manager),
                None => Vec::new(),
            };
            (folder, set.earlier_run(folder).map_or_else(|error| vec![error.to_string()], write))
        });
        for (folder, failures) in of_this.into_iter().chain(of_earlier) {
            let (target, set) = (&*job.target, &*job.set);
            for reason in failures.iter().filter(|reason| job.upkeep.is_new(reason)) {
                tracing::warn!(target, set, folder, reason, "A report is not complete");
            }
            self.failures += u64::try_from(failures.len()).unwrap_or(u64::MAX);
        }
    }

    /// Opens the folder for cabinet files, if some are sent.
    fn cabinets(&mut self, job: &Job) -> Option<Dir> {
        let folder = job.cabinets()?;
        let opened = folder.open();
        if let Err(error) = &opened {
            let (target, set, path) = (&*job.target, &*job.set, folder.path_of(""));
            if job.upkeep.is_new(&error.to_string()) {
                tracing::warn!(target, set, path = %path.display(), %error, "The folder for cabinet files cannot be opened: they wait");
            }
            self.failures += 1;
        }
        opened.ok()
    }

    fn take(&mut self, managed: &Managed, job: &Job) {
        for removed in &managed.removed {
            self.count(removed.by.as_str(), 1);
        }
        let is_new =
            |failure: &&counter_log::data_manager::Failure| job.upkeep.is_new(&failure.error.to_string());
        for failure in managed.failures.iter().filter(is_new) {
            let (target, set, error) = (&*job.target, &*job.set, &failure.error);
            tracing::warn!(target, set, folder = failure.folder, %error, "The data manager of a set could not do all");
        }
        job.upkeep.add_more(managed.failures_left_out);
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
        let Self { removed, failures, took_s, ended } = later;
        removed.into_iter().for_each(|(by, folders)| self.count(by, folders));
        self.failures += failures;
        if ended.is_some() {
            (self.took_s, self.ended) = (took_s, ended);
        }
    }
}

/// Different ones of one run.
const REASONS_MAX: usize = 100;

#[cfg(test)]
mod tests;
