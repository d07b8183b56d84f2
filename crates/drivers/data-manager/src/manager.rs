use cap_std::fs::Dir;
use jiff::Timestamp;
use ms_pla::{DataManagerSteps, FolderActionSteps};
use rustix::fd::{AsFd, OwnedFd};

use crate::policy::{self, Freeing};
use crate::{Error, Folders, Limit, ManagerSettings, Result, ScanLimits};
use crate::{actions, folders, limits, tree};

/// Failures that are kept of a run; further ones are only counted.
pub(crate) const FAILURES_MAX: usize = 1000;

/// [MS-PLA] 3.2.4.2: the data manager of a set.
#[derive(Clone, Debug)]
pub struct DataManager {
    settings: ManagerSettings,
}

/// What a data manager is run on.
pub struct Request<'a> {
    /// The set's folder.
    pub root: &'a Dir,
    /// The folder of the run that goes on, which is not touched.
    pub current: Option<&'a str>,
    /// The time, from which the age of folders follows.
    pub now: Timestamp,
    /// Where cabinet files are sent. It should be a folder of this set alone: names of folders are unique in a set only.
    pub send_to: Option<&'a Dir>,
    /// [MS-PLA] 2.2.2.6: what is done. Only folder actions and freeing of resources mean something here.
    pub steps: DataManagerSteps,
    /// Whether to stop. It is asked between any two changes on the disk.
    pub stop: &'a dyn Fn() -> bool,
}

/// What a run of the data manager did.
#[derive(Debug, Default)]
pub struct Managed {
    /// The folders that were deleted because of a limit, in order.
    pub removed: Vec<Removed>,
    /// What was done with folders, in order.
    pub actions: Vec<ActionDone>,
    /// Bytes of all files that were deleted.
    pub bytes_freed: u64,
    /// What could not be done. At most 1,000 are here.
    pub failures: Vec<Failure>,
    /// Failures that are not here.
    pub failures_left_out: u64,
    /// Whether it ended because the caller wanted it to.
    pub is_stopped: bool,
    /// Folders that are there now.
    pub folders: u64,
    /// Bytes of all files below the set's folder now.
    pub bytes: u64,
}

/// A folder that was deleted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Removed {
    /// Its name.
    pub folder: String,
    /// The limit that did not hold.
    pub by: Limit,
    /// Bytes of its files.
    pub bytes: u64,
    /// How many there were.
    pub files: u64,
}

/// One step of a folder action that changed something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ActionDone {
    /// The folder.
    pub folder: String,
    /// One step.
    pub step: FolderActionSteps,
    /// Files: those in new cabinet files, those deleted, or those sent.
    pub files: u64,
    /// Bytes of these files: of cabinet files where they were made.
    pub bytes: u64,
}

/// Something that could not be done.
#[derive(Debug)]
pub struct Failure {
    /// The folder of a run; nothing if it concerns the set's folder.
    pub folder: Option<String>,
    /// Why.
    pub error: Error,
}

impl<'a> Request<'a> {
    /// All steps on the folders in `root`, without a run that goes on and without a place for cabinet files.
    #[must_use]
    pub fn new(root: &'a Dir, now: Timestamp) -> Self {
        let steps = DataManagerSteps::FOLDER_ACTIONS | DataManagerSteps::RESOURCE_FREEING;
        Self { root, current: None, now, send_to: None, steps, stop: &|| false }
    }
}

impl DataManager {
    /// A data manager with these settings.
    #[must_use]
    pub const fn new(settings: ManagerSettings) -> Self {
        Self { settings }
    }

    /// Its settings.
    #[must_use]
    pub const fn settings(&self) -> &ManagerSettings {
        &self.settings
    }

    /// [MS-PLA] 3.2.4.2 `CheckBeforeRunning`: whether `MaxFolderCount` and `MinFreeDisk` permit a run. `MaxSize` is not checked.
    ///
    /// # Errors
    /// [`Error::TooManyFolders`] and [`Error::TooLittleFreeDisk`]; the set's folder cannot be read.
    pub fn check_before_running(&self, root: &Dir) -> Result<()> {
        if !self.settings.is_enabled || !self.settings.checks_before_running {
            return Ok(());
        }
        let root = open(root)?;
        let count = if self.settings.limits.folders_max == 0 { 0 } else { folders::count(root.as_fd())? };
        limits::check_before_running(&self.settings.limits, count, root.as_fd())
    }

    /// [MS-PLA] 2.2.2.6: does the folder actions, then deletes whole folders until the limits hold. Blocks.
    #[must_use]
    pub fn run(&self, request: &Request<'_>) -> Managed {
        let mut managed = Managed::default();
        if !self.settings.is_enabled {
            return managed;
        }
        match self.run_steps(request, &mut managed) {
            Ok(()) => {}
            Err(Error::Stopped) => managed.is_stopped = true,
            Err(error) => managed.fail(None, error),
        }
        managed
    }

    fn run_steps(&self, request: &Request<'_>, managed: &mut Managed) -> Result<()> {
        let scan_limits = ScanLimits::default();
        let root = open(request.root)?;
        let mut folders = Folders::scan(request.root, &scan_limits, request.stop)?;
        for failure in std::mem::take(&mut folders.failures) {
            managed.fail(failure.folder.as_deref(), failure.error);
        }
        let ended = self.change(request, &root, &scan_limits, &mut folders, managed);
        managed.folders = folders.folders.len() as u64;
        managed.bytes = folders.bytes();
        ended
    }

    fn change(
        &self,
        request: &Request<'_>,
        root: &OwnedFd,
        scan_limits: &ScanLimits,
        folders: &mut Folders,
        managed: &mut Managed,
    ) -> Result<()> {
        let is_freeing = request.steps.contains(DataManagerSteps::RESOURCE_FREEING);
        if is_freeing {
            policy::remove_leftovers(root.as_fd(), folders, scan_limits, managed, request.stop)?;
        }
        if request.steps.contains(DataManagerSteps::FOLDER_ACTIONS) {
            actions::run(&self.settings, request, root.as_fd(), scan_limits, folders, managed)?;
        }
        if is_freeing {
            let freeing = Freeing {
                root,
                limits: &self.settings.limits,
                policy: self.settings.policy,
                scan_limits,
                current: request.current,
                stop: request.stop,
            };
            freeing.run(folders, managed)?;
        }
        Ok(())
    }
}

fn open(root: &Dir) -> Result<OwnedFd> {
    tree::open_root(root).map_err(|error| Error::io("open folder", ".", error))
}

impl Managed {
    pub(crate) fn fail(&mut self, folder: Option<&str>, error: Error) {
        if self.failures.len() < FAILURES_MAX {
            self.failures.push(Failure { folder: folder.map(str::to_owned), error });
        } else {
            self.failures_left_out += 1;
        }
    }
}
