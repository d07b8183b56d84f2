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
//! use data_manager::{DataManager, FolderLimits, ManagerSettings, Request};
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

mod actions;
pub mod cabinet;
mod error;
mod folders;
mod limit;
mod limits;
mod manager;
mod policy;
mod remove;
mod report;
mod request;
mod settings;
mod tree;

pub use self::cabinet::{ExtractLimits, Extracted, extract};
pub use self::error::{Error, Result};
pub use self::folders::{Folder, Folders};
pub use self::limit::Limit;
pub use self::manager::DataManager;
pub use self::report::{ActionDone, Failure, Managed, Removed};
pub use self::request::Request;
pub use self::settings::{FolderAction, FolderLimits, ManagerSettings};
pub use self::tree::ScanLimits;
