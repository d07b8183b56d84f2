//! What the data manager of a set does with its folders, [MS-PLA] 3.2.4.2: limits, folder actions, cabinet files.
//!
//! A set has one folder, the root. Each of its runs has a folder there. [`DataManager::check_before_running`] says whether the
//! limits permit a run; [`DataManager::run`] does the folder actions after a run, and deletes whole folders until the limits hold
//! again. The report, its rules and its HTML are made before that, by the caller.
//!
//! Everything is done below the handle of the root. Links are not followed, other file systems that are mounted below the root are
//! not entered, and neither the folder of a run that goes on nor anything outside of the root is changed. All calls block.
//!
//! ```no_run
//! use cap_std::{ambient_authority, fs::Dir};
//! use counter_log::data_manager::{DataManager, FolderLimits, ManagerSettings, Request};
//!
//! let root = Dir::open_ambient_dir("/var/lib/perfmon/web1/Nightly", ambient_authority())?;
//! let limits = FolderLimits { folders_max: 30, ..FolderLimits::default() };
//! let manager = DataManager::new(ManagerSettings { is_enabled: true, limits, ..ManagerSettings::default() });
//! manager.check_before_running(&root)?;
//! // … the set runs …
//! let managed = manager.run(&Request::new(&root, jiff::Timestamp::now()));
//! for removed in &managed.removed {
//!     println!("{} was removed: {}", removed.folder, removed.by);
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "files")]

mod actions;
pub mod cabinet;
mod error;
mod folders;
mod policy;
mod remove;
pub mod reports;
mod tree;

use core::fmt;

use cap_std::fs::Dir;
use jiff::Timestamp;
use ms_pla::{DataManagerSteps, FolderActionSteps, ResourcePolicy, xml};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};

pub use self::cabinet::{ExtractLimits, Extracted, extract};
pub use self::error::{Error, Result};
pub use self::folders::{Folder, Folders};
pub use self::tree::ScanLimits;

use self::policy::Freeing;

/// What a data manager is run on.
pub struct Request<'a> {
    pub root: &'a Dir,
    /// Whether a folder is of a run that goes on, and is not touched. It is asked before anything is done with a folder.
    pub is_in_use: &'a dyn Fn(&str) -> bool,
    /// The time, from which the age of folders follows.
    pub now: Timestamp,
    /// Where cabinet files are sent. It should be a folder of this set alone: names of folders are unique in a set only.
    pub send_to: Option<&'a Dir>,
    /// [MS-PLA] 2.2.2.6: what is done. Only folder actions and freeing of resources mean something here.
    pub steps: DataManagerSteps,
    /// Whether to stop. It is asked between any two changes on the disk.
    pub stop: &'a dyn Fn() -> bool,
}

impl<'a> Request<'a> {
    /// All steps on the folders in `root`, without a run that goes on and without a place for cabinet files.
    #[must_use]
    pub fn new(root: &'a Dir, now: Timestamp) -> Self {
        let steps = DataManagerSteps::FOLDER_ACTIONS | DataManagerSteps::RESOURCE_FREEING;
        Self { root, is_in_use: &|_| false, now, send_to: None, steps, stop: &|| false }
    }
}

/// Which limit of a set's folders.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Limit {
    /// What documents call `MaxFolderCount`.
    FolderCount,
    /// What documents call `MaxSize`.
    Size,
    /// What documents call `MinFreeDisk`.
    FreeDisk,
}

impl Limit {
    /// All of them, in the order in which they are checked.
    pub const ALL: [Self; 3] = [Self::FolderCount, Self::Size, Self::FreeDisk];

    /// A word for labels.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::FolderCount => "folder_count",
            Self::Size => "size",
            Self::FreeDisk => "free_disk",
        }
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::FolderCount => "MaxFolderCount",
            Self::Size => "MaxSize",
            Self::FreeDisk => "MinFreeDisk",
        })
    }
}

// How far a folder is above the limits of its set.

/// The free space of a disk.
struct FreeDisk {
    before: u64,
    measured: u64,
    /// Bytes of the disk that were given back since.
    freed: u64,
}

impl FreeDisk {
    fn of(root: BorrowedFd<'_>) -> Result<Self> {
        let before = free_bytes(root)?;
        Ok(Self { before, measured: before, freed: 0 })
    }

    fn measure(&mut self, root: BorrowedFd<'_>) -> Result<()> {
        self.measured = free_bytes(root)?;
        Ok(())
    }

    /// Bytes that are free, or will be: some file systems give space back a while after a file is deleted.
    fn bytes(&self) -> u64 {
        self.measured.max(self.before.saturating_add(self.freed))
    }
}

fn free_bytes(root: BorrowedFd<'_>) -> Result<u64> {
    let status = rustix::fs::fstatvfs(root)
        .map_err(|error| Error::io("get the free space of the disk of", ".", error))?;
    Ok(status.f_bavail.saturating_mul(status.f_frsize))
}

/// The first limit that does not hold.
fn violated_limit(limits: &FolderLimits, count: u64, bytes: u64, disk: &FreeDisk) -> Option<Limit> {
    let is_violated = |limit: &Limit| match limit {
        Limit::FolderCount => limits.folders_max != 0 && count > u64::from(limits.folders_max),
        Limit::Size => limits.size_max_mb != 0 && bytes > u64::from(limits.size_max_mb) * MB,
        Limit::FreeDisk => disk.bytes() < u64::from(limits.free_disk_min_mb) * MB,
    };
    Limit::ALL.into_iter().find(is_violated)
}

/// [MS-PLA] 3.2.4.2 `CheckBeforeRunning`. As many folders as the limit are permitted, as after a run.
fn check_before_running(limits: &FolderLimits, count: u64, root: BorrowedFd<'_>) -> Result<()> {
    if limits.folders_max != 0 && count > u64::from(limits.folders_max) {
        return Err(Error::TooManyFolders { folders: count, folders_max: limits.folders_max });
    }
    let free = if limits.free_disk_min_mb == 0 { u64::MAX } else { free_bytes(root)? };
    if free < u64::from(limits.free_disk_min_mb) * MB {
        return Err(Error::TooLittleFreeDisk { free_mb: free / MB, free_min_mb: limits.free_disk_min_mb });
    }
    Ok(())
}

// The data manager of one set, and what a run of it did.

/// Failures that are kept of a run; further ones are only counted.
const FAILURES_MAX: usize = 1000;

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
    pub folder: String,
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
    pub error: Error,
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

/// Bytes of a megabyte, in which [MS-PLA] gives sizes.
const MB: u64 = 1024 * 1024;

/// [MS-PLA] 3.2.4.2: the properties of a data manager that concern folders.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ManagerSettings {
    /// `Enabled`: whether it does anything at all.
    pub is_enabled: bool,
    /// `CheckBeforeRunning`: whether a run needs the limits to hold.
    pub checks_before_running: bool,
    /// The limits of what the set keeps on disk.
    pub limits: FolderLimits,
    /// `ResourcePolicy`: which folders are deleted first.
    pub policy: ResourcePolicy,
    /// `FolderActions`, in this order.
    pub folder_actions: Vec<FolderAction>,
    /// `RuleTargetFileName` and `ReportFileName`: the files of a run that are its report.
    pub report_files: Vec<String>,
}

/// What a set may keep on disk. 0 is no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FolderLimits {
    /// `MaxSize`: MB of all files below the set's folder.
    pub size_max_mb: u32,
    /// `MinFreeDisk`: MB that have to be free on the disk.
    pub free_disk_min_mb: u32,
    /// `MaxFolderCount`: folders of runs.
    pub folders_max: u32,
}

/// [MS-PLA] 3.2.4.3: what is done with a folder that is old and large enough.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FolderAction {
    /// `Age`: days since the folder was made; 0 is any age.
    pub age_min_days: u32,
    /// `Size`: MB of its files; 0 is any size.
    pub size_min_mb: u32,
    /// `Actions`: what is done.
    pub steps: FolderActionSteps,
    /// `SendCabTo`, as the set has it. It is only repeated in messages: where cabinet files go is in
    /// [`Request::send_to`](crate::data_manager::Request::send_to).
    pub send_cab_to: String,
}

impl Default for ManagerSettings {
    fn default() -> Self {
        Self {
            is_enabled: false,
            checks_before_running: false,
            limits: FolderLimits::default(),
            policy: ResourcePolicy::DELETE_LARGEST,
            folder_actions: Vec::new(),
            report_files: Vec::new(),
        }
    }
}

impl From<&xml::DataManager> for ManagerSettings {
    fn from(manager: &xml::DataManager) -> Self {
        let limits = FolderLimits {
            size_max_mb: manager.size_max_mb.unwrap_or(0),
            free_disk_min_mb: manager.free_disk_min_mb.unwrap_or(0),
            folders_max: manager.folders_max.unwrap_or(0),
        };
        let actions = manager.folder_actions.iter().map(|action| FolderAction {
            age_min_days: action.age_days.unwrap_or(0),
            size_min_mb: action.size_mb.unwrap_or(0),
            steps: action.actions.unwrap_or(FolderActionSteps(0)),
            send_cab_to: action.send_cab_to.clone().unwrap_or_default(),
        });
        let reports = [&manager.rule_target_file_name, &manager.report_file_name];
        Self {
            is_enabled: manager.is_enabled.unwrap_or(false),
            checks_before_running: manager.checks_before_running.unwrap_or(false),
            limits,
            policy: manager.resource_policy.unwrap_or(ResourcePolicy::DELETE_LARGEST),
            folder_actions: actions.collect(),
            report_files: reports.into_iter().flatten().filter(|name| !name.is_empty()).cloned().collect(),
        }
    }
}

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
        check_before_running(&self.settings.limits, count, root.as_fd())
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
