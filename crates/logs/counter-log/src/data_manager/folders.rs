use std::ffi::{CStr, CString};

use cap_std::fs::Dir;
use jiff::Timestamp;
use rustix::fd::{AsFd, BorrowedFd};
use rustix::fs::FileType;
use rustix::io::Errno;

use crate::data_manager::tree::{self, ENTRIES_PER_STEP, Measure, ScanLimits};
use crate::data_manager::{Error, FAILURES_MAX, Failure, Result};

/// Names of folders that are being deleted begin with it.
pub(crate) const REMOVING: &str = ".removing-";

/// The folders of a set, as they are on disk.
#[derive(Debug, Default)]
pub struct Folders {
    /// The folders of runs, by name.
    pub folders: Vec<Folder>,
    /// Bytes of the files beside these folders.
    pub other_bytes: u64,
    /// Files and folders that could not be read; at most 1,000 are here. What could be read of their folders is in `folders`.
    pub failures: Vec<Failure>,
    /// Whether there are more folders than the limit. Those above it are not in `folders`.
    pub has_more: bool,
    /// Folders whose deletion was interrupted.
    pub(crate) leftovers: Vec<CString>,
}

/// A folder of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Folder {
    /// Its name below the set's folder.
    pub name: String,
    /// When it was made. On file systems that do not say so, the oldest modification of it or anything in it.
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

impl Folders {
    /// Reads the folders of a set. Links are not followed, and what is mounted in them is not entered. Files that vanish
    /// meanwhile are no failure.
    ///
    /// # Errors
    /// The set's folder itself cannot be read, or `stop` said so.
    pub fn scan(root: &Dir, limits: &ScanLimits, stop: &dyn Fn() -> bool) -> Result<Self> {
        let root = tree::open_root(root).map_err(|error| Error::io("open folder", ".", error))?;
        let mut folders = Self::default();
        let names = folders.names(root.as_fd(), limits, stop)?;
        for name in names {
            folders.add(root.as_fd(), &name, limits, stop)?;
        }
        let leftovers = std::mem::take(&mut folders.leftovers);
        for name in &leftovers {
            if let Some(left) = measured(root.as_fd(), name, limits, &mut folders.failures, stop)? {
                folders.other_bytes = folders.other_bytes.saturating_add(left.bytes);
            }
        }
        folders.leftovers = leftovers;
        folders.folders.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        Ok(folders)
    }

    /// Bytes of all files below the set's folder.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.folders.iter().fold(self.other_bytes, |sum, folder| sum.saturating_add(folder.bytes))
    }

    /// The names of folders. The files beside them are added up.
    fn names(
        &mut self,
        root: BorrowedFd<'_>,
        limits: &ScanLimits,
        stop: &dyn Fn() -> bool,
    ) -> Result<Vec<CString>> {
        let mut names = Vec::new();
        let mut entries: u64 = 0;
        let read = tree::for_each_entry(root, |name, kind| {
            entries += 1;
            if entries.is_multiple_of(ENTRIES_PER_STEP) && stop() {
                return Err(Error::Stopped);
            }
            let is_folder = match kind {
                FileType::Directory => true,
                FileType::RegularFile | FileType::Unknown => match tree::stat(root, name) {
                    Ok(Some(status)) if tree::file_type(&status) == FileType::Directory => true,
                    Ok(Some(status)) => {
                        self.other_bytes = self.other_bytes.saturating_add(status.stx_size);
                        false
                    }
                    Ok(None) => false,
                    Err(error) => {
                        self.fail(None, Error::io("get the size of", tree::shown(name), error));
                        false
                    }
                },
                _ => false,
            };
            if !is_folder {
                return Ok(());
            }
            if is_removing(name) {
                self.leftovers.push(name.to_owned());
            } else if names.len() < limits.folders_max {
                names.push(name.to_owned());
            } else {
                self.has_more = true;
            }
            Ok(())
        });
        read.map_err(|error| error.of("."))?;
        Ok(names)
    }

    fn add(
        &mut self,
        root: BorrowedFd<'_>,
        name: &CStr,
        limits: &ScanLimits,
        stop: &dyn Fn() -> bool,
    ) -> Result<()> {
        let measured = measured(root, name, limits, &mut self.failures, stop)?;
        match measured {
            Some(folder) if name.to_str().is_ok() => self.folders.push(folder),
            Some(folder) => {
                self.other_bytes = self.other_bytes.saturating_add(folder.bytes);
                let reason = "has a name that is not UTF-8: rename or delete it";
                self.fail(None, Error::left_alone(folder.name, reason));
            }
            None => {}
        }
        Ok(())
    }

    fn fail(&mut self, folder: Option<&str>, error: Error) {
        if self.failures.len() < FAILURES_MAX {
            self.failures.push(Failure { folder: folder.map(str::to_owned), error });
        }
    }
}

/// Reads one folder. Nothing if it has vanished, or is none.
pub(crate) fn measured(
    root: BorrowedFd<'_>,
    name: &CStr,
    limits: &ScanLimits,
    failures: &mut Vec<Failure>,
    stop: &dyn Fn() -> bool,
) -> Result<Option<Folder>> {
    let shown = tree::shown(name);
    let mut measure = Measure::new(&shown, limits, failures, stop);
    let status = match tree::open_folder(root, name) {
        Ok(folder) => {
            measure.add_folder(folder.as_fd(), &shown, 0)?;
            tree::stat(folder.as_fd(), c".")
        }
        Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => return Ok(None),
        Err(error) => {
            measure.is_complete = false;
            let error = match error {
                Errno::XDEV => tree::mounted(&shown),
                error => Error::io("open folder", shown.clone(), error),
            };
            measure.failures.push(Failure { folder: Some(shown.clone()), error });
            tree::stat(root, name)
        }
    };
    let Ok(Some(status)) = status else { return Ok(None) };
    let oldest = measure.oldest.min(tree::modified(&status));
    Ok(Some(Folder {
        created: tree::born(&status).unwrap_or(oldest),
        modified: measure.newest.max(tree::modified(&status)),
        bytes: measure.bytes,
        disk_bytes: measure.disk_bytes,
        files: measure.files,
        is_complete: measure.is_complete,
        has_record: measure.has_record,
        name: shown,
    }))
}

/// Whether a folder is one that is being deleted.
pub(crate) fn is_removing(name: &CStr) -> bool {
    name.to_bytes().starts_with(REMOVING.as_bytes())
}

/// How many folders of runs there are, without a look into them. As in [`Folders`], a name that is not UTF-8 is none of a run.
pub(crate) fn count(root: BorrowedFd<'_>) -> Result<u64> {
    let mut count = 0;
    let read = tree::for_each_entry(root, |name, kind| {
        let is_folder = match kind {
            FileType::Unknown => tree::stat(root, name)
                .map_err(|error| Error::io("get the type of", tree::shown(name), error))?
                .is_some_and(|status| tree::file_type(&status) == FileType::Directory),
            kind => kind == FileType::Directory,
        };
        count += u64::from(is_folder && !is_removing(name) && name.to_str().is_ok());
        Ok(())
    });
    read.map_err(|error| error.of("."))?;
    Ok(count)
}
