//! How far a folder is above the limits of its set.

use rustix::fd::BorrowedFd;

use crate::data_manager::settings::MB;
use crate::data_manager::{Error, FolderLimits, Limit, Result};

/// The free space of a disk.
pub(crate) struct FreeDisk {
    before: u64,
    measured: u64,
    /// Bytes of the disk that were given back since.
    pub(crate) freed: u64,
}

impl FreeDisk {
    pub(crate) fn of(root: BorrowedFd<'_>) -> Result<Self> {
        let before = free_bytes(root)?;
        Ok(Self { before, measured: before, freed: 0 })
    }

    pub(crate) fn measure(&mut self, root: BorrowedFd<'_>) -> Result<()> {
        self.measured = free_bytes(root)?;
        Ok(())
    }

    /// Bytes that are free, or will be: some file systems give space back a while after a file is deleted.
    pub(crate) fn bytes(&self) -> u64 {
        self.measured.max(self.before.saturating_add(self.freed))
    }
}

fn free_bytes(root: BorrowedFd<'_>) -> Result<u64> {
    let status = rustix::fs::fstatvfs(root)
        .map_err(|error| Error::io("get the free space of the disk of", ".", error))?;
    Ok(status.f_bavail.saturating_mul(status.f_frsize))
}

/// The first limit that does not hold.
pub(crate) fn violated(limits: &FolderLimits, count: u64, bytes: u64, disk: &FreeDisk) -> Option<Limit> {
    let is_violated = |limit: &Limit| match limit {
        Limit::FolderCount => limits.folders_max != 0 && count > u64::from(limits.folders_max),
        Limit::Size => limits.size_max_mb != 0 && bytes > u64::from(limits.size_max_mb) * MB,
        Limit::FreeDisk => disk.bytes() < u64::from(limits.free_disk_min_mb) * MB,
    };
    Limit::ALL.into_iter().find(is_violated)
}

/// [MS-PLA] 3.2.4.2 `CheckBeforeRunning`. As many folders as the limit are permitted, as after a run.
pub(crate) fn check_before_running(limits: &FolderLimits, count: u64, root: BorrowedFd<'_>) -> Result<()> {
    if limits.folders_max != 0 && count > u64::from(limits.folders_max) {
        return Err(Error::TooManyFolders { folders: count, folders_max: limits.folders_max });
    }
    let free = if limits.free_disk_min_mb == 0 { u64::MAX } else { free_bytes(root)? };
    if free < u64::from(limits.free_disk_min_mb) * MB {
        return Err(Error::TooLittleFreeDisk { free_mb: free / MB, free_min_mb: limits.free_disk_min_mb });
    }
    Ok(())
}
