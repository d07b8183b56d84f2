use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::{Duration, SystemTime};

use tracing::{info, warn};

use super::engine::{Changes, Engine};
use super::plugins::Libraries;
use crate::config::{Config, FileNews, Refused, TargetFiles, Wanted};
use crate::telemetry::Book;

/// Target files are looked at so often.
const LOOK_EVERY: Duration = Duration::from_secs(2);
/// So many refused targets are logged at a time; the rest is a count.
const REFUSED_SHOWN_MAX: usize = 20;

/// Keeps the engine's targets those of the configuration and of its target files.
pub(super) struct Targets {
    config: Arc<Config>,
    files: TargetFiles,
    engine: Engine,
    book: Arc<Book>,
    refused: Vec<Refused>,
}

impl Targets {
    /// Begins with what is there now. Blocks.
    pub(super) fn begin(config: Arc<Config>, engine: Engine, book: Arc<Book>) -> Self {
        let files = TargetFiles::new(Arc::clone(&config));
        let mut targets = Self { config, files, engine, book, refused: Vec::new() };
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
        self.apply()
    }

    fn has_files(&self) -> bool {
        !self.config.target_files.is_empty()
    }

    fn look(&mut self) {
        if self.read() {
            let Changes { added, changed, removed } = self.apply();
            let targets = self.book.targets().len();
            info!(targets, added, changed, removed, "Targets read anew");
        }
    }

    /// Reads what changed; answers whether targets may have.
    fn read(&mut self) -> bool {
        let news = self.files.look(SystemTime::now());
        self.book.set_files(self.files.states(&self.refused));
        // All of them are told.
        news.into_iter().map(tell).fold(false, |is_changed, changes| is_changed | changes)
    }

    fn apply(&mut self) -> Changes {
        let Wanted { targets, refused } = self.files.wanted();
        let is_new = |one: &&Refused| {
            !self.refused.iter().any(|told| (&told.file, &told.name) == (&one.file, &one.name))
        };
        let new: Vec<&Refused> = refused.iter().filter(is_new).collect();
        for Refused { file, position, reason, .. } in new.iter().take(REFUSED_SHOWN_MAX) {
            let place = format!("{}:{}:{}", file.display(), position.line, position.column);
            warn!(place, reason, "Target refused");
        }
        if let Some(more @ 1..) = new.len().checked_sub(REFUSED_SHOWN_MAX) {
            warn!(targets = more, "More targets refused");
        }
        self.refused = refused;
        self.book.set_files(self.files.states(&self.refused));
        self.engine.apply(&self.config, &targets)
    }
}

/// Follows the files of `targets` until it is dropped.
pub(super) async fn follow(targets: Arc<Mutex<Targets>>) {
    loop {
        tokio::time::sleep(LOOK_EVERY).await;
        // Whoever else works on them now reads the files as well.
        let has_files = match targets.try_lock() {
            Ok(targets) => targets.has_files(),
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner().has_files(),
            Err(TryLockError::WouldBlock) => false,
        };
        if !has_files {
            continue;
        }
        let looked = Arc::clone(&targets);
        let look = tokio::task::spawn_blocking(move || lock(&looked).look());
        if let Err(error) = look.await {
            warn!(%error, "Target files are not followed any more");
            return;
        }
    }
}

/// A panic elsewhere leaves the map of targets whole: each is made before it is entered.
pub(super) fn lock(targets: &Mutex<Targets>) -> MutexGuard<'_, Targets> {
    targets.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Logs what a look at the files found; answers whether targets may have changed.
fn tell(news: FileNews) -> bool {
    match news {
        FileNews::Read(path, targets) => {
            info!(file = %path.display(), targets, "Target file read");
            return true;
        }
        FileNews::Gone(path) => {
            warn!(file = %path.display(), "Target file is gone, and its targets with it");
            return true;
        }
        FileNews::Broken(report) => {
            for problem in report.to_string().lines() {
                warn!(problem, "Target file refused; its last good targets stay");
            }
        }
        FileNews::Unlisted(path, error) => {
            warn!(files = %path.display(), error, "Target files not listed; those that are known stay");
        }
        FileNews::TooMany(files) => warn!(files, "Too many target files; the last ones are not read"),
    }
    false
}
