//! [MS-PLA] 2.2.2.6 `plaResourceFreeing`: whole folders are deleted until the limits hold.

use std::collections::HashSet;
use std::ffi::CString;

use ms_pla::ResourcePolicy;
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};

use super::FreeDisk;
use crate::data_manager::folders::{self, Folder, Folders};
use crate::data_manager::remove::Sweep;
use crate::data_manager::{Error, FolderLimits, Limit, Managed, Removed, Result, ScanLimits};

/// Frees resources of one set.
pub(crate) struct Freeing<'a> {
    pub(crate) root: &'a OwnedFd,
    pub(crate) limits: &'a FolderLimits,
    pub(crate) policy: ResourcePolicy,
    pub(crate) scan_limits: &'a ScanLimits,
    pub(crate) is_in_use: &'a dyn Fn(&str) -> bool,
    pub(crate) stop: &'a dyn Fn() -> bool,
}

/// What is left, kept up to date with each deletion.
struct State {
    count: u64,
    bytes: u64,
    disk: FreeDisk,
}

impl Freeing<'_> {
    /// Deletes folders until the limits hold or none is left that may be deleted.
    ///
    /// # Errors
    /// [`Error::Stopped`], and the free space of the disk cannot be asked for.
    pub(crate) fn run(&self, folders: &mut Folders, managed: &mut Managed) -> Result<()> {
        let mut state = State {
            count: folders.folders.len() as u64,
            bytes: folders.bytes(),
            disk: FreeDisk::of(self.root.as_fd())?,
        };
        if super::violated_limit(self.limits, state.count, state.bytes, &state.disk).is_none() {
            return Ok(());
        }
        if folders.has_more {
            let reason = format!(
                "has more than {} folders, so that the order in which they are deleted is not known: delete some by hand",
                self.scan_limits.folders_max
            );
            managed.fail(None, Error::left_alone(".", reason));
            return Ok(());
        }
        let newest = self.newest(&folders.folders).map(|folder| folder.name.clone());
        let mut gone = HashSet::new();
        let ended =
            self.delete(&self.order(&folders.folders), newest.as_deref(), &mut state, &mut gone, managed);
        folders.folders.retain(|folder| !gone.contains(&folder.name));
        ended
    }

    fn delete(
        &self,
        order: &[Folder],
        newest: Option<&str>,
        state: &mut State,
        gone: &mut HashSet<String>,
        managed: &mut Managed,
    ) -> Result<()> {
        let (mut is_newest_spared, mut is_one_in_use) = (false, false);
        for folder in order {
            let Some(limit) = super::violated_limit(self.limits, state.count, state.bytes, &state.disk)
            else {
                return Ok(());
            };
            if (self.stop)() {
                return Err(Error::Stopped);
            }
            if (self.is_in_use)(&folder.name) {
                is_one_in_use = true;
                continue;
            }
            // What fills the disk may be something else: that does not cost the newest data.
            if limit == Limit::FreeDisk && newest == Some(&folder.name) {
                is_newest_spared = true;
                continue;
            }
            self.delete_one(folder, limit, state, gone, managed)?;
            state.disk.measure(self.root.as_fd())?;
        }
        let left = super::violated_limit(self.limits, state.count, state.bytes, &state.disk);
        if let Some(limit) = left {
            let reason = match (limit, is_newest_spared, is_one_in_use) {
                (Limit::FreeDisk, true, _) => {
                    "the newest folder is kept, and the rest of the disk is used by others: free some space there"
                }
                (_, _, true) => {
                    "what is left belongs to the run that goes on, or could not be deleted: let segments be smaller, or change the limit"
                }
                (_, _, false) => {
                    "what is left could not be deleted, or is beside the folders: delete it by hand, or change the limit"
                }
            };
            managed.fail(None, Error::StillAbove { limit, reason: reason.to_owned() });
        }
        Ok(())
    }

    fn delete_one(
        &self,
        folder: &Folder,
        limit: Limit,
        state: &mut State,
        gone: &mut HashSet<String>,
        managed: &mut Managed,
    ) -> Result<()> {
        // Names of folders have no NUL: they were read from the file system.
        let Ok(name) = CString::new(&folder.name[..]) else { return Ok(()) };
        let mut sweep = Sweep::new(self.stop);
        let removed = sweep.remove(self.root.as_fd(), &name);
        if let Ok(true) = removed {
            gone.insert(folder.name.clone());
            state.count = state.count.saturating_sub(1);
            state.bytes = state.bytes.saturating_sub(folder.bytes);
            state.disk.freed = state.disk.freed.saturating_add(folder.disk_bytes);
            managed.bytes_freed = managed.bytes_freed.saturating_add(folder.bytes);
            let (bytes, files) = (folder.bytes, folder.files);
            managed.removed.push(Removed { folder: folder.name.clone(), by: limit, bytes, files });
        }
        for error in sweep.failures {
            managed.fail(Some(&folder.name), error);
        }
        removed.map(|_| ())
    }

    /// The folders in the order in which they are deleted.
    fn order(&self, folders: &[Folder]) -> Vec<Folder> {
        let mut order = folders.to_vec();
        let by_age = |a: &Folder, b: &Folder| (a.created, &a.name).cmp(&(b.created, &b.name));
        if self.policy == ResourcePolicy::DELETE_OLDEST {
            order.sort_unstable_by(by_age);
        } else {
            order.sort_unstable_by(|a, b| b.bytes.cmp(&a.bytes).then_with(|| by_age(a, b)));
        }
        order
    }

    fn newest<'f>(&self, folders: &'f [Folder]) -> Option<&'f Folder> {
        let finished = folders.iter().filter(|folder| !(self.is_in_use)(&folder.name));
        finished.max_by(|a, b| (a.created, &a.name).cmp(&(b.created, &b.name)))
    }
}

/// Deletes what is left of folders whose deletion was interrupted.
///
/// # Errors
/// [`Error::Stopped`] alone.
pub(crate) fn remove_leftovers(
    root: BorrowedFd<'_>,
    folders: &mut Folders,
    scan_limits: &ScanLimits,
    managed: &mut Managed,
    stop: &dyn Fn() -> bool,
) -> Result<()> {
    for name in std::mem::take(&mut folders.leftovers) {
        let shown = name.to_string_lossy();
        let mut unread = Vec::new();
        let measured = folders::measured(root, &name, scan_limits, &mut unread, stop)?;
        let mut sweep = Sweep::new(stop);
        let removed = sweep.remove_set_aside(root, &name, &shown);
        if let (Ok(true), Some(measured)) = (&removed, measured) {
            folders.other_bytes = folders.other_bytes.saturating_sub(measured.bytes);
            managed.bytes_freed = managed.bytes_freed.saturating_add(measured.bytes);
        }
        for error in sweep.failures {
            managed.fail(None, error);
        }
        removed?;
    }
    Ok(())
}
