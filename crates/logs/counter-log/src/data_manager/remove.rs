//! Deleting a folder: it is renamed first, so that one that is deleted in part is known as such, also after a crash.

use std::ffi::{CStr, CString};

use rustix::fd::{AsFd, BorrowedFd};
use rustix::fs::{AtFlags, FileType};
use rustix::io::Errno;

use crate::data_manager::folders::REMOVING;
use crate::data_manager::tree::{self, EntriesError};
use crate::data_manager::{Error, Result};

/// Files that are deleted between two questions whether to stop.
const FILES_PER_STEP: u64 = 256;
/// How deep folders are nested that are deleted. Each has a handle open.
const DEPTH_MAX: usize = 128;
/// Failures that are kept of one folder.
const FAILURES_MAX: usize = 16;
/// Folders whose deletion was interrupted that there may be.
const LEFTOVERS_MAX: u32 = 10_000;

/// Deletes the contents of folders, and counts.
pub(crate) struct Sweep<'a> {
    stop: &'a dyn Fn() -> bool,
    pub(crate) failures: Vec<Error>,
    pub(crate) files: u64,
}

impl<'a> Sweep<'a> {
    pub(crate) fn new(stop: &'a dyn Fn() -> bool) -> Self {
        Self { stop, failures: Vec::new(), files: 0 }
    }

    /// Deletes a folder of the set, and says whether it is gone. If nothing of it could be deleted it keeps its name.
    ///
    /// # Errors
    /// [`Error::Stopped`] alone.
    pub(crate) fn remove(&mut self, root: BorrowedFd<'_>, name: &CStr) -> Result<bool> {
        let shown = tree::shown(name);
        match tree::open_folder(root, name) {
            Ok(_) => {}
            Err(Errno::NOENT) => return Ok(true),
            Err(Errno::XDEV) => {
                self.fail(tree::mounted(&shown));
                return Ok(false);
            }
            // A folder that cannot be read can be deleted if it is empty.
            Err(_) => {}
        }
        let removing = match set_aside(root, name) {
            Ok(removing) => removing,
            Err(Errno::NOENT) => return Ok(true),
            Err(error) => {
                self.fail(Error::io("delete folder", shown, error));
                return Ok(false);
            }
        };
        let files = self.files;
        let is_gone = self.remove_set_aside(root, &removing, &shown)?;
        if !is_gone && self.files == files {
            // The failure to delete it is reported already.
            let _ = tree::rename_new(root, &removing, name);
        }
        Ok(is_gone)
    }

    /// Deletes a folder that was set aside before.
    ///
    /// # Errors
    /// [`Error::Stopped`] alone.
    pub(crate) fn remove_set_aside(
        &mut self,
        root: BorrowedFd<'_>,
        name: &CStr,
        shown: &str,
    ) -> Result<bool> {
        self.remove_folder(root, name, shown, 0)
    }

    fn remove_folder(
        &mut self,
        parent: BorrowedFd<'_>,
        name: &CStr,
        path: &str,
        depth: usize,
    ) -> Result<bool> {
        match tree::open_folder(parent, name) {
            Ok(_) if depth >= DEPTH_MAX => {
                self.fail(Error::left_alone(path, "is nested too deep: delete it by hand"));
                return Ok(false);
            }
            Ok(folder) => self.empty(folder.as_fd(), path, depth)?,
            Err(Errno::NOENT) => return Ok(true),
            Err(Errno::XDEV) => {
                self.fail(tree::mounted(path));
                return Ok(false);
            }
            // It may be empty, and if it is not, that is said below.
            Err(_) => {}
        }
        match rustix::fs::unlinkat(parent, name, AtFlags::REMOVEDIR) {
            Ok(()) | Err(Errno::NOENT) => Ok(true),
            Err(error) => {
                if self.failures.is_empty() {
                    self.fail(Error::io("delete folder", path, error));
                }
                Ok(false)
            }
        }
    }

    /// Deletes what is in a folder. Some file systems skip entries if others are deleted meanwhile: it is read again until
    /// nothing more can be deleted.
    fn empty(&mut self, folder: BorrowedFd<'_>, path: &str, depth: usize) -> Result<()> {
        loop {
            let mut removed = false;
            let failures = self.failures.len();
            let read = tree::for_each_entry(folder, |name, kind| {
                removed |= self.remove_entry(folder, name, kind, path, depth)?;
                Ok(())
            });
            match read {
                Ok(()) => {}
                Err(EntriesError::Each(error)) => return Err(error),
                Err(error) => {
                    self.fail(error.of(path));
                    return Ok(());
                }
            }
            if !removed || self.failures.len() > failures {
                return Ok(());
            }
        }
    }

    fn remove_entry(
        &mut self,
        folder: BorrowedFd<'_>,
        name: &CStr,
        kind: FileType,
        path: &str,
        depth: usize,
    ) -> Result<bool> {
        if kind != FileType::Directory {
            if self.files.is_multiple_of(FILES_PER_STEP) && (self.stop)() {
                return Err(Error::Stopped);
            }
            match rustix::fs::unlinkat(folder, name, AtFlags::empty()) {
                Ok(()) => {
                    self.files += 1;
                    return Ok(true);
                }
                Err(Errno::NOENT) => return Ok(false),
                // The file system did not say that it is a folder.
                Err(Errno::ISDIR) => {}
                Err(error) => {
                    self.fail(Error::io("delete", format!("{path}/{}", name.to_string_lossy()), error));
                    return Ok(false);
                }
            }
        }
        self.remove_folder(folder, name, &format!("{path}/{}", name.to_string_lossy()), depth + 1)
    }

    fn fail(&mut self, error: Error) {
        if self.failures.len() < FAILURES_MAX {
            self.failures.push(error);
        }
    }
}

/// Gives a folder a name that says that it is being deleted.
fn set_aside(root: BorrowedFd<'_>, name: &CStr) -> rustix::io::Result<CString> {
    for number in 0..LEFTOVERS_MAX {
        let aside = CString::new(format!("{REMOVING}{number}")).map_err(|_| Errno::INVAL)?;
        match tree::rename_new(root, name, &aside) {
            Ok(()) => return Ok(aside),
            Err(Errno::EXIST) => {}
            Err(error) => return Err(error),
        }
    }
    Err(Errno::EXIST)
}
