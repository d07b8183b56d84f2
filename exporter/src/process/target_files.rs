use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use config::target_files::{Fate, FileNews, Refused, SharedInstance, TargetFiles, Wanted};
use config::{Config, Problem, Report};
use parking_lot::Mutex;
use tracing::{info, warn};

use super::engine::{Changes, Engine};
use super::plugins::Libraries;
use targets::TargetRegistry;

/// Target files are looked at so often.
const LOOK_EVERY: Duration = Duration::from_secs(2);
/// Maximum shared `instance` labels logged one by one. One line counts the others.
const SHARED_SHOWN_MAX: usize = 10;

/// Keeps the engine's targets those of the configuration and of its target files.
pub(super) struct Targets {
    file: PathBuf,
    config: Arc<Config>,
    files: TargetFiles,
    engine: Engine,
    target_registry: Arc<TargetRegistry>,
    refused: Vec<Refused>,
    shared: Vec<SharedInstance>,
}

impl Targets {
    /// Begins with what is there now. Blocks.
    pub(super) fn begin(
        file: PathBuf,
        config: Arc<Config>,
        engine: Engine,
        target_registry: Arc<TargetRegistry>,
    ) -> Self {
        let files = TargetFiles::new(Arc::clone(&config));
        let (refused, shared) = (Vec::new(), Vec::new());
        let mut targets = Self { file, config, files, engine, target_registry, refused, shared };
        targets.read();
        targets.apply();
        targets
    }

    /// From now on this is the configuration, and these are its plugins. Blocks.
    pub(super) fn set_config(&mut self, config: Arc<Config>, libraries: Libraries) -> Changes {
        self.files.set_config(Arc::clone(&config));
        self.config = config;
        self.engine.set_libraries(libraries);
        self.read();
        let changes = self.apply();
        self.engine.retry_refused();
        changes
    }

    fn has_files(&self) -> bool {
        !self.config.target_files.is_empty()
    }

    fn look(&mut self) {
        if self.read() {
            let Changes { added, changed, removed } = self.apply();
            let targets = self.target_registry.targets().len();
            info!(targets, added, changed, removed, "Targets reloaded");
        }
    }

    /// Reads changed files; returns whether targets may have changed.
    fn read(&mut self) -> bool {
        let news = self.files.look(SystemTime::now());
        self.target_registry.set_files(self.files.states(&self.refused));
        // All of them are reported.
        news.into_iter().map(log_news).fold(false, |is_changed, changes| is_changed | changes)
    }

    fn apply(&mut self) -> Changes {
        let Wanted { targets, refused, shared } = self.files.wanted();
        log_refused(&self.refused, &refused);
        log_shared(&self.file, &self.shared, &shared);
        (self.refused, self.shared) = (refused, shared);
        self.target_registry.set_files(self.files.states(&self.refused));
        self.engine.apply(&self.config, &targets)
    }
}

/// Logs, once for each target, why it is refused and how it is handled.
fn log_refused(before: &[Refused], now: &[Refused]) {
    // A line more or less above it makes nothing new of it.
    let key = |one: &Refused| (one.file.clone(), one.name.clone(), one.problem.message.clone(), one.fate);
    let logged: HashSet<_> = before.iter().map(key).collect();
    let mut new: BTreeMap<(&Path, Fate), Vec<Problem>> = BTreeMap::new();
    for one in now.iter().filter(|one| !logged.contains(&key(one))) {
        new.entry((&one.file, one.fate)).or_default().push(one.problem.clone());
    }
    for ((file, fate), problems) in new {
        let report = Report::new(&file.display().to_string(), problems).to_string();
        for problem in report.lines() {
            match fate {
                Fate::Skipped | Fate::Surplus => warn!(problem, "Target refused"),
                Fate::Kept => warn!(problem, "Target refused; its last good version stays in use"),
            }
        }
    }
}

/// Logs which targets are one to Prometheus, each label once for as long as they share it.
fn log_shared(config_file: &Path, before: &[SharedInstance], now: &[SharedInstance]) {
    let logged: HashSet<&str> = before.iter().map(|shared| shared.instance.as_str()).collect();
    let config_file = config_file.display().to_string();
    let mut new = now.iter().filter(|shared| !logged.contains(shared.instance.as_str()));
    for shared in new.by_ref().take(SHARED_SHOWN_MAX) {
        let (file, problem) = shared.warning(&config_file);
        let problem = Report::new(&file, vec![problem]).to_string();
        warn!(problem, "Targets share a label `instance`");
    }
    if let more @ 1.. = new.count() {
        warn!(more, "Targets share more values of the label `instance`; `check-config` counts them");
    }
}

/// Follows the files of `targets` until it is dropped.
pub(super) async fn follow(targets: Arc<Mutex<Targets>>) {
    loop {
        tokio::time::sleep(LOOK_EVERY).await;
        // If another task holds the lock, it reads the files as well.
        let has_files = targets.try_lock().is_some_and(|targets| targets.has_files());
        if !has_files {
            continue;
        }
        let looked = Arc::clone(&targets);
        let look = tokio::task::spawn_blocking(move || looked.lock().look());
        if let Err(error) = look.await {
            warn!(%error, "Target files are no longer watched");
            return;
        }
    }
}

/// Logs the result of a check of the files; returns whether targets may have changed.
fn log_news(news: FileNews) -> bool {
    match news {
        FileNews::Read(path, targets) => {
            info!(file = %path.display(), targets, "Target file read");
            return true;
        }
        FileNews::Gone(path) => {
            warn!(file = %path.display(), "Target file was removed, and so are its targets");
            return true;
        }
        FileNews::Broken(report, targets) => {
            for problem in report.to_string().lines() {
                match targets {
                    0 => warn!(problem, "Target file refused; it has no earlier targets to keep"),
                    _ => warn!(problem, targets, "Target file refused; its last good targets stay in use"),
                }
            }
        }
        FileNews::Unlisted(path, error, known) => match known {
            0 => warn!(files = %path.display(), error, "Failed to list target files"),
            _ => {
                warn!(files = %path.display(), error, known, "Failed to list target files; known files stay in use");
            }
        },
        FileNews::TooMany(files) => warn!(files, "Too many target files; the last ones are not read"),
    }
    false
}
