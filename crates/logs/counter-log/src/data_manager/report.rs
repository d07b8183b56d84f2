use ms_pla::FolderActionSteps;

use crate::data_manager::{Error, Limit};

/// Failures that are kept of a run; further ones are only counted.
pub(crate) const FAILURES_MAX: usize = 1000;

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
