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
mod limits;
mod manager;
mod policy;
mod remove;
mod report;
pub mod reports;
mod settings;
mod tree;

pub use self::cabinet::{ExtractLimits, Extracted, extract};
pub use self::error::{Error, Result};
pub use self::folders::{Folder, Folders};
pub use self::manager::DataManager;
pub use self::report::{ActionDone, Failure, Managed, Removed};
pub use self::settings::{FolderAction, FolderLimits, ManagerSettings};
pub use self::tree::ScanLimits;
use core::fmt;

use cap_std::fs::Dir;
use jiff::Timestamp;
use ms_pla::DataManagerSteps;

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
