mod denials;
mod recoveries;
mod state;
mod status;

use std::sync::Arc;

use config::target_files::FileState;
use config::{Config, PasswordFiles, Shown};
use parking_lot::Mutex;

use self::denials::Denials;
use self::recoveries::Recoveries;
use super::changes::{Change, Changes};

pub use self::state::TargetState;
pub use self::status::TargetStatus;

/// The state of every target: all that pages and metrics show. Each change of it is one line in the log.
///
/// Targets come and go; who reads takes the list as it is and keeps it for as long as it reads.
#[derive(Default)]
pub struct TargetRegistry {
    targets: Mutex<Arc<[Arc<TargetState>]>>,
    files: Mutex<Arc<[FileState]>>,
    changes: Arc<Changes>,
    groups: Arc<Groups>,
    config_shown: Mutex<Shown>,
    /// Of this configuration and those before it: what failed then is still shown.
    password_files: Mutex<PasswordFiles>,
}

/// Targets that fail or recover for one and the same reason, so that the log needs no line for each of them.
#[derive(Debug, Default)]
struct Groups {
    denials: Denials,
    recoveries: Recoveries,
}

impl TargetRegistry {
    /// Every target, in the order of the configuration.
    #[must_use]
    pub fn targets(&self) -> Arc<[Arc<TargetState>]> {
        Arc::clone(&self.targets.lock())
    }

    /// These are the targets from now on.
    pub fn set_targets(&self, targets: Vec<Arc<TargetState>>) {
        for entry in &targets {
            entry.enter_registry(&self.changes, &self.groups);
        }
        *self.targets.lock() = targets.into();
    }

    /// The files that targets come from.
    #[must_use]
    pub fn files(&self) -> Arc<[FileState]> {
        Arc::clone(&self.files.lock())
    }

    /// This is known of the files.
    pub fn set_files(&self, files: Vec<FileState>) {
        *self.files.lock() = files.into();
    }

    /// The last changes of state, the newest first.
    #[must_use]
    pub fn changes(&self) -> Vec<Arc<Change>> {
        self.changes.newest_first()
    }

    /// The configuration in use, as it is shown.
    #[must_use]
    pub fn config_shown(&self) -> Shown {
        self.config_shown.lock().clone()
    }

    /// Paths that only authenticated readers may see.
    #[must_use]
    pub fn password_files(&self) -> PasswordFiles {
        self.password_files.lock().clone()
    }

    /// This is the configuration from now on.
    pub fn set_config(&self, config: &Config) {
        *self.config_shown.lock() = config.shown.clone();
        self.password_files.lock().add(&config.identities);
    }
}
