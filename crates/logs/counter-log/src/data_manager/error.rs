use std::io;

use wire::HResult;

/// What this crate's functions return.
pub type Result<T> = std::result::Result<T, Error>;

/// Why something was not done.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A call of the system failed.
    #[error("{doing} {name:?}: {source}")]
    Io {
        /// What was being done.
        doing: &'static str,
        /// The file or folder, below the set's folder.
        name: String,
        /// What the system said.
        source: io::Error,
    },
    /// A folder or file is not what was expected, and was left alone.
    #[error("{name:?} {reason}")]
    LeftAlone {
        /// The file or folder, below the set's folder.
        name: String,
        /// What is not as expected, and what to do about it.
        reason: String,
    },
    /// A cabinet file cannot be read or made.
    #[error("cabinet file {name:?}: {reason}")]
    Cabinet {
        name: String,
        /// What is wrong with it.
        reason: String,
    },
    /// There are more folders than the limit before a run.
    #[error(
        "the set has {folders} folders, and its limit is {folders_max}: delete folders, run the data manager, or raise the limit"
    )]
    TooManyFolders {
        /// How many there are.
        folders: u64,
        /// What documents call `MaxFolderCount`.
        folders_max: u32,
    },
    /// The disk has less free space than the limit before a run.
    #[error(
        "the disk has {free_mb} MB of free space, and the set wants {free_min_mb} MB: free some space, or lower the limit"
    )]
    TooLittleFreeDisk {
        /// MB that are free.
        free_mb: u64,
        /// What documents call `MinFreeDisk`.
        free_min_mb: u32,
    },
    /// A limit does not hold after all folders that may be deleted were deleted.
    #[error("{limit} does not hold after everything that may be deleted was deleted: {reason}")]
    StillAbove {
        limit: crate::data_manager::Limit,
        /// What is in the way.
        reason: String,
    },
    /// The caller wanted to stop.
    #[error("stopped before the end")]
    Stopped,
}

impl Error {
    /// [MS-PLA] 2.2.1: the result that a validation map has for it.
    #[must_use]
    pub fn hresult(&self) -> HResult {
        match self {
            Self::Cabinet { .. } => HResult::PLA_E_CABAPI_FAILURE,
            Self::TooManyFolders { .. } => HResult::PLA_E_TOO_MANY_FOLDERS,
            Self::TooLittleFreeDisk { .. } => HResult::PLA_E_NO_MIN_DISK,
            Self::StillAbove { limit: crate::data_manager::Limit::FreeDisk, .. } => {
                HResult::PLA_E_NO_MIN_DISK
            }
            Self::StillAbove { limit: crate::data_manager::Limit::FolderCount, .. } => {
                HResult::PLA_E_TOO_MANY_FOLDERS
            }
            Self::Io { source, .. } if source.kind() == io::ErrorKind::PermissionDenied => {
                HResult::E_ACCESSDENIED
            }
            Self::Io { .. } | Self::LeftAlone { .. } | Self::StillAbove { .. } | Self::Stopped => {
                HResult::E_FAIL
            }
        }
    }

    pub(crate) fn io(doing: &'static str, name: impl Into<String>, source: impl Into<io::Error>) -> Self {
        Self::Io { doing, name: name.into(), source: source.into() }
    }

    pub(crate) fn left_alone(name: impl Into<String>, reason: impl Into<String>) -> Self {
        Self::LeftAlone { name: name.into(), reason: reason.into() }
    }

    pub(crate) fn cabinet(name: impl Into<String>, reason: impl Into<String>) -> Self {
        Self::Cabinet { name: name.into(), reason: reason.into() }
    }
}
