use cap_std::fs::Dir;
use ms_pla::DataManagerSteps;
use rustix::fd::{AsFd, OwnedFd};

use crate::data_manager::policy::{self, Freeing};
use crate::data_manager::{
    Error, Folders, Managed, ManagerSettings, Request, Result, ScanLimits, actions, folders, tree,
};

/// [MS-PLA] 3.2.4.2: the data manager of a set.
#[derive(Clone, Debug)]
pub struct DataManager {
    settings: ManagerSettings,
}

impl DataManager {
    /// A data manager with these settings.
    #[must_use]
    pub const fn new(settings: ManagerSettings) -> Self {
        Self { settings }
    }

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
        super::check_before_running(&self.settings.limits, count, root.as_fd())
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
                is_in_use: request.is_in_use,
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
