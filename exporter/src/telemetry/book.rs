use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use plugin_host::sink::{Completion, Failure};
use tokio::sync::Notify;
use tracing::{info, warn};

use super::account::{Down, JobStatus, Now};
use super::changes::{Change, Changes, Turn};
use super::identity::Identity;
use crate::config::{FileState, Target};
use crate::otlp::encode::Resource;
use crate::pipeline::{Refusal, StaleRow, Store};

/// The account of every target: one line in the log for each change of state, and all that pages and metrics show.
///
/// Targets come and go; who reads takes the list as it is and keeps it for as long as it reads.
#[derive(Default)]
pub struct Book {
    targets: Mutex<Arc<[Arc<TargetEntry>]>>,
    files: Mutex<Arc<[FileState]>>,
    changes: Arc<Changes>,
    config_text: Mutex<Arc<str>>,
}

/// One target's account.
pub struct TargetEntry {
    /// Its name.
    pub name: String,
    /// Its host.
    pub host: String,
    /// Its modules' names.
    pub modules: Vec<String>,
    /// So many series it may have.
    pub max_series: u32,
    /// Its labels from the configuration.
    pub labels: Vec<(String, String)>,
    /// The identity that it is shown.
    pub identity: Option<String>,
    /// How it is reached.
    pub transport: String,
    /// Between two collections.
    pub interval: Duration,
    /// Of one collection.
    pub deadline: Duration,
    /// Where changes of state are kept, once it is in a book.
    changes: OnceLock<Arc<Changes>>,
    /// How long its series outlive a collection that fails.
    pub stale_after: Duration,
    stores: Vec<OnceLock<Arc<Store>>>,
    to_collectors: Identity,
    status: Mutex<TargetStatus>,
    /// A collection ended, or could not begin.
    ended: Notify,
}

/// What is known of a target now.
#[derive(Clone, Debug, Default)]
pub struct TargetStatus {
    /// One for each of its modules.
    pub jobs: Vec<JobStatus>,
    /// Since when it is up, or down.
    pub since: Option<Instant>,
    told: Told,
    told_limit: bool,
}

/// What the log said last, so that it says only what changed.
#[derive(Clone, Debug, Default)]
enum Told {
    #[default]
    Nothing,
    Up,
    Partial(Down),
    Down(Down),
    /// It is no longer asked: there is nothing more to say.
    Ended,
}

impl TargetStatus {
    /// Up: every module's last collection brought something. `None` until each has had one.
    #[must_use]
    pub fn is_up(&self) -> Option<bool> {
        if self.jobs.iter().any(|job| job.down.is_some()) {
            return Some(false);
        }
        self.jobs.iter().all(JobStatus::has_ended).then_some(true)
    }

    /// Why it is down.
    #[must_use]
    pub fn down(&self) -> Option<&Down> {
        self.jobs.iter().find_map(|job| job.down.as_ref())
    }

    /// Series, over all modules.
    #[must_use]
    pub fn series(&self) -> usize {
        self.jobs.iter().map(|job| job.series).sum()
    }

    /// When it last was up, in Unix seconds: the oldest of its modules' last successes.
    #[must_use]
    pub fn last_success_unix_s(&self) -> Option<f64> {
        let successes: Option<Vec<f64>> = self.jobs.iter().map(|job| job.last_success_unix_s).collect();
        successes?.into_iter().reduce(f64::min)
    }
}

impl Book {
    /// Every target, in the order of the configuration.
    #[must_use]
    pub fn targets(&self) -> Arc<[Arc<TargetEntry>]> {
        Arc::clone(&lock(&self.targets))
    }

    /// These are the targets from now on.
    pub fn set_targets(&self, targets: Vec<Arc<TargetEntry>>) {
        for entry in &targets {
            entry.changes.get_or_init(|| Arc::clone(&self.changes));
        }
        *lock(&self.targets) = targets.into();
    }

    /// The files that targets come from.
    #[must_use]
    pub fn files(&self) -> Arc<[FileState]> {
        Arc::clone(&lock(&self.files))
    }

    /// This is known of the files.
    pub fn set_files(&self, files: Vec<FileState>) {
        *lock(&self.files) = files.into();
    }

    /// The last changes of state, the newest first.
    #[must_use]
    pub fn changes(&self) -> Vec<Arc<Change>> {
        self.changes.newest_first()
    }

    /// The configuration in use, as people are shown it.
    #[must_use]
    pub fn config_text(&self) -> Arc<str> {
        Arc::clone(&lock(&self.config_text))
    }

    /// This is the configuration from now on. There are no secrets in `text`.
    pub fn set_config_text(&self, text: Arc<str>) {
        *lock(&self.config_text) = text;
    }
}

impl TargetEntry {
    /// An empty account.
    #[must_use]
    pub fn new(target: &Target) -> Self {
        Self {
            name: target.name.clone(),
            host: target.host.clone(),
            modules: target.modules.clone(),
            max_series: target.max_series,
            labels: target.labels.iter().map(|(name, value)| (name.clone(), value.clone())).collect(),
            identity: target.identity.clone(),
            transport: target.transport.clone(),
            interval: target.interval,
            deadline: target.deadline,
            changes: OnceLock::new(),
            stale_after: target.stale_after,
            stores: target.modules.iter().map(|_| OnceLock::new()).collect(),
            to_collectors: Identity::of(target),
            status: Mutex::new(TargetStatus {
                jobs: vec![JobStatus::default(); target.modules.len()],
                ..TargetStatus::default()
            }),
            ended: Notify::new(),
        }
    }

    /// The target to collectors, as far as it is known by now.
    #[must_use]
    pub fn resource(&self) -> Arc<Resource> {
        self.to_collectors.resource()
    }

    /// The target told the version of its Windows.
    pub fn set_os_version(&self, os_version: &str) {
        self.to_collectors.set_os_version(os_version);
    }

    /// A collection of a module begins.
    pub fn started(&self, module: usize) {
        self.lock().jobs[module].running_since = Some(Instant::now());
    }

    /// A collection of a module could not begin.
    pub fn not_started(&self, module: usize, failure: &Failure) {
        let mut status = self.lock();
        status.jobs[module].enter_not_started(&self.modules[module], failure);
        self.tell(&mut status);
        drop(status);
        self.ended.notify_waiters();
    }

    /// Waits until each of these modules had a collection.
    pub async fn ended(&self, modules: &[usize]) {
        loop {
            let next = self.ended.notified();
            tokio::pin!(next);
            // From here on no end is missed.
            next.as_mut().enable();
            if modules.iter().all(|&module| self.lock().jobs[module].has_ended()) {
                return;
            }
            next.await;
        }
    }

    /// The target is no longer asked; what its collections still say is not news.
    pub fn end(&self) {
        self.lock().told = Told::Ended;
    }

    /// What is known of it now.
    #[must_use]
    pub fn status(&self) -> TargetStatus {
        self.lock().clone()
    }

    /// Looks at what is known of it now, without a copy. Collections that end meanwhile wait.
    pub fn read<T>(&self, look: impl FnOnce(&TargetStatus) -> T) -> T {
        look(&self.lock())
    }

    /// The store of a module, if it exists.
    #[must_use]
    pub fn store(&self, module: usize) -> Option<&Arc<Store>> {
        self.stores.get(module)?.get()
    }

    /// Whether it is up, as [`TargetStatus::is_up`] says.
    #[must_use]
    pub fn is_up(&self) -> Option<bool> {
        self.lock().is_up()
    }

    /// The stores that its modules' instances send into, as far as they exist.
    pub fn stores(&self) -> impl Iterator<Item = &Arc<Store>> {
        self.stores.iter().filter_map(OnceLock::get)
    }

    /// Names the store of a module.
    pub fn set_store(&self, module: usize, store: Arc<Store>) {
        // A module has one store for its life; a second one would change nothing.
        let _ = self.stores[module].set(store);
    }

    fn lock(&self) -> MutexGuard<'_, TargetStatus> {
        lock(&self.status)
    }

    /// Series of a module that outlived a row of failures go.
    pub(super) fn expire(&self, module: usize, row: StaleRow) {
        let Some(store) = self.stores[module].get() else { return };
        store.expire(row);
        self.lock().jobs[module].series = store.snapshot().series();
    }

    /// Enters the end of a collection; answers how long it took, unless nobody wants to know any more.
    pub(crate) fn completed(
        &self,
        module: usize,
        completion: &Completion<'_>,
        series: usize,
    ) -> Option<Duration> {
        let unix = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let now = Now { mono: Instant::now(), unix_s: unix.as_secs_f64() };
        let mut status = self.lock();
        if matches!(status.told, Told::Ended) {
            return None;
        }
        let job = &mut status.jobs[module];
        job.enter(&self.modules[module], completion, series, now);
        // Whose rules drop all that is found need not look for names.
        let ruled =
            self.stores[module].get().map_or(0, |store| store.refusals().count(Refusal::DroppedByRule));
        job.matches_nothing &= ruled == 0;
        let took = job.last_duration;
        if job.matches_nothing != job.told_nothing && (job.matches_nothing || series > 0) {
            job.told_nothing = job.matches_nothing;
            let (target, module) = (self.name.as_str(), self.modules[module].as_str());
            if job.matches_nothing {
                let next_step = "compare its names and patterns with what `perfmon-exporter discover` lists";
                warn!(target, module, next_step, "Module matches nothing on the target");
            } else {
                info!(target, module, series, "Module matches something again");
            }
        }
        self.tell_limit(&mut status);
        self.tell(&mut status);
        drop(status);
        self.ended.notify_waiters();
        took
    }

    /// Says once that the target has more series than it may have.
    fn tell_limit(&self, status: &mut TargetStatus) {
        let dropped: u64 = self.stores().map(|store| store.refusals().count(Refusal::SeriesLimit)).sum();
        if dropped > 0 && !std::mem::replace(&mut status.told_limit, true) {
            let (target, max_series) = (self.name.as_str(), self.max_series);
            let next_step =
                "select less in its modules, or raise `max_series`, of the target or in `normalize.limits`";
            warn!(target, max_series, dropped, next_step, "Target has too many series; the rest is left out");
        }
    }

    /// Logs what changed, and only that.
    fn tell(&self, status: &mut TargetStatus) {
        let target = self.name.as_str();
        let (series, down, is_up) = (status.series(), status.down().cloned(), status.is_up());
        let partial = status.jobs.iter().find_map(|job| job.partial.clone());
        let next = match (&status.told, down, partial, is_up) {
            (Told::Ended, ..) => return,
            (Told::Down(told), Some(down), ..) if told.is_like(&down) => return,
            (_, Some(down), ..) => {
                let Down { module, stage, reason, message, next_step, .. } = &down;
                let detail = if message.is_empty() { &down.sentence } else { message };
                warn!(target, module, %stage, reason, detail, next_step, "Target is down");
                Told::Down(down)
            }
            (_, None, _, None) => return,
            (Told::Partial(told), None, Some(partial), _) if told.is_like(&partial) => return,
            (_, None, Some(partial), _) => {
                let Down { module, stage, reason, message, next_step, .. } = &partial;
                let detail = message.as_str();
                warn!(target, module, %stage, reason, detail, next_step, series, "Target is up in part");
                Told::Partial(partial)
            }
            (Told::Up, None, None, _) => return,
            (Told::Nothing, None, None, _) => {
                info!(target, host = self.host, series, "Target is up");
                Told::Up
            }
            (Told::Partial(_), None, None, _) => {
                info!(target, series, "Target is up in full again");
                Told::Up
            }
            (Told::Down(_), None, None, _) => {
                let down_s = status.since.map_or(0, |since| since.elapsed().as_secs());
                info!(target, series, down_s, "Target is up again");
                Told::Up
            }
        };
        let was_down = matches!(status.told, Told::Down(_));
        if status.since.is_none() || was_down != matches!(next, Told::Down(_)) {
            status.since = Some(Instant::now());
        }
        if let (Some(changes), Some(turn)) = (self.changes.get(), turn(&status.told, &next)) {
            changes.push(&self.name, turn);
        }
        status.told = next;
    }
}

/// What of a change is worth keeping: a target that is there from the first is no news.
fn turn(told: &Told, next: &Told) -> Option<Turn> {
    match (told, next) {
        (_, Told::Down(down)) => Some(Turn::Down(down.clone())),
        (_, Told::Partial(part)) => Some(Turn::Partly(part.clone())),
        (Told::Down(_) | Told::Partial(_), Told::Up) => Some(Turn::Up),
        _ => None,
    }
}

/// A panic elsewhere leaves the accounts whole: each change is made in one go.
fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
