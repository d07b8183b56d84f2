use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Instant, SystemTime};

use plugin_host::sink::{CollectionId, Completion, Event, Failure, Level};
use tracing::{info, warn};

use super::account::{Down, JobStatus, Now, ending};
use super::log::{log_plugin_event, log_plugin_record, plugin_log_enabled};
use crate::config::Config;
use crate::pipeline::{Store, StoreObserver};
use crate::schedule::{Ended, Ends, JobId};

/// The account of every target: one line in the log for each change of state, and all that pages and metrics show.
#[derive(Default)]
pub struct Book {
    targets: Vec<TargetEntry>,
}

/// One module on one target: the indexes into the configuration's targets, and into that target's modules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JobKey {
    /// Which target.
    pub target: usize,
    /// Which of its modules.
    pub module: usize,
}

/// One target's account.
pub struct TargetEntry {
    /// Its name.
    pub name: String,
    /// Its host.
    pub host: String,
    /// Its modules' names.
    pub modules: Vec<String>,
    stores: Vec<OnceLock<Arc<Store>>>,
    status: Mutex<TargetStatus>,
}

/// What is known of a target now.
#[derive(Clone, Debug, Default)]
pub struct TargetStatus {
    /// One for each of its modules.
    pub jobs: Vec<JobStatus>,
    /// Since when it is up, or down.
    pub since: Option<Instant>,
    told: Told,
}

/// What the log said last, so that it says only what changed.
#[derive(Clone, Debug, Default)]
enum Told {
    #[default]
    Nothing,
    Up,
    Partial(Down),
    Down(Down),
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
    /// An empty account of each of the configuration's targets.
    #[must_use]
    pub fn new(config: &Config) -> Self {
        let targets = config.targets.iter().map(|target| TargetEntry {
            name: target.name.clone(),
            host: target.host.clone(),
            modules: target.modules.clone(),
            stores: target.modules.iter().map(|_| OnceLock::new()).collect(),
            status: Mutex::new(TargetStatus {
                jobs: vec![JobStatus::default(); target.modules.len()],
                ..TargetStatus::default()
            }),
        });
        Self { targets: targets.collect() }
    }

    /// Every target, in the order of the configuration.
    #[must_use]
    pub fn targets(&self) -> &[TargetEntry] {
        &self.targets
    }

    /// A collection begins.
    pub fn started(&self, key: JobKey) {
        self.targets[key.target].lock().jobs[key.module].running_since = Some(Instant::now());
    }

    /// A collection could not begin.
    pub fn not_started(&self, key: JobKey, failure: &Failure) {
        let entry = &self.targets[key.target];
        let mut status = entry.lock();
        status.jobs[key.module].enter_not_started(&entry.modules[key.module], failure);
        entry.tell(&mut status);
    }
}

impl TargetEntry {
    /// What is known of it now.
    #[must_use]
    pub fn status(&self) -> TargetStatus {
        self.lock().clone()
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
        self.status.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Logs what changed, and only that.
    fn tell(&self, status: &mut TargetStatus) {
        let target = self.name.as_str();
        let (series, down, is_up) = (status.series(), status.down().cloned(), status.is_up());
        let partial = status.jobs.iter().find_map(|job| job.partial.clone());
        let next = match (&status.told, down, partial, is_up) {
            (Told::Down(told), Some(down), ..) if told.is_like(&down) => return,
            (_, Some(down), ..) => {
                let Down { module, stage, reason, message, next_step, .. } = &down;
                let detail = if message.is_empty() { &down.sentence } else { message };
                warn!(target_name = target, module, %stage, reason, detail, next_step, "Target is down");
                Told::Down(down)
            }
            (_, None, _, None) => return,
            (Told::Partial(told), None, Some(partial), _) if told.is_like(&partial) => return,
            (_, None, Some(partial), _) => {
                let Down { module, stage, reason, message, next_step, .. } = &partial;
                let detail = message.as_str();
                warn!(target_name = target, module, %stage, reason, detail, next_step, series, "Target is up in part");
                Told::Partial(partial)
            }
            (Told::Up, None, None, _) => return,
            (Told::Nothing, None, None, _) => {
                info!(target_name = target, host = self.host, series, "Target is up");
                Told::Up
            }
            (Told::Partial(_), None, None, _) => {
                info!(target_name = target, series, "Target is up in full again");
                Told::Up
            }
            (Told::Down(_), None, None, _) => {
                let down_s = status.since.map_or(0, |since| since.elapsed().as_secs());
                info!(target_name = target, series, down_s, "Target is up again");
                Told::Up
            }
        };
        let was_down = matches!(status.told, Told::Down(_));
        if status.since.is_none() || was_down != matches!(next, Told::Down(_)) {
            status.since = Some(Instant::now());
        }
        status.told = next;
    }
}

/// Hears of one module's collections on one target: enters them in the book and tells the schedule.
pub struct JobObserver {
    /// The book.
    pub book: Arc<Book>,
    /// Whose.
    pub key: JobKey,
    /// The schedule's name for it.
    pub job: JobId,
    /// The plugin's name, for its log records.
    pub plugin: String,
    /// Where the schedule hears of ends.
    pub ends: Ends,
}

impl JobObserver {
    fn entry(&self) -> &TargetEntry {
        &self.book.targets[self.key.target]
    }
}

impl StoreObserver for JobObserver {
    fn completed(&self, _collection: CollectionId, completion: &Completion<'_>, series: usize) {
        let entry = self.entry();
        let unix = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let now = Now { mono: Instant::now(), unix_s: unix.as_secs_f64() };
        let mut status = entry.lock();
        status.jobs[self.key.module].enter(&entry.modules[self.key.module], completion, series, now);
        entry.tell(&mut status);
        drop(status);
        self.ends.tell(Ended { job: self.job, ending: ending(&completion.outcome) });
    }

    fn log_enabled(&self, level: Level) -> bool {
        plugin_log_enabled(level)
    }

    fn log(&self, level: Level, message: &str, fields: &[(&str, &str)]) {
        log_plugin_record(&self.plugin, &self.entry().name, level, message, fields);
    }

    fn event(&self, event: &Event<'_>) {
        log_plugin_event(&self.plugin, &self.entry().name, event);
    }
}
