mod entry;
mod status;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::changes::{Change, Changes};
use crate::config::FileState;

pub use self::entry::TargetEntry;
pub use self::status::TargetStatus;

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

impl Book {
    /// Every target, in the order of the configuration.
    #[must_use]
    pub fn targets(&self) -> Arc<[Arc<TargetEntry>]> {
        Arc::clone(&lock(&self.targets))
    }

    /// These are the targets from now on.
    pub fn set_targets(&self, targets: Vec<Arc<TargetEntry>>) {
        for entry in &targets {
            entry.keep_changes_in(&self.changes);
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

/// A panic elsewhere leaves the accounts whole: each change is made in one go.
fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
