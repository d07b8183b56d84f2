//! [MS-PLA] 3.2.4.3: what is done with folders that are old and large enough.

mod files;
mod pack;
mod record;
mod send;

use std::collections::{HashMap, HashSet};
use std::ffi::CString;

use jiff::{SignedDuration, Timestamp};
use ms_pla::FolderActionSteps;
use rustix::fd::{AsFd, BorrowedFd};
use rustix::fs::AtFlags;
use rustix::io::Errno;

use self::files::{Files, Reader, is_cabinet_of};
use self::record::{CabinetRecord, Packed, Record, sync_folder};
use super::cabinet::{Cabinet, ExtractLimits, cabinet_seconds};
use crate::data_manager::folders::{self, Folder};
use crate::data_manager::{
    ActionDone, Error, FolderAction, Folders, MB, Managed, ManagerSettings, Request, Result, ScanLimits, tree,
};

const HOURS_PER_DAY: i64 = 24;

/// Does all actions, one after another, each with the folders that it applies to. Their sizes are brought up to date.
///
/// # Errors
/// [`Error::Stopped`] alone: failures of a folder do not keep the others from theirs.
pub(crate) fn run(
    settings: &ManagerSettings,
    request: &Request<'_>,
    root: BorrowedFd<'_>,
    scan_limits: &ScanLimits,
    folders: &mut Folders,
    managed: &mut Managed,
) -> Result<()> {
    let set = Set { settings, request, root, scan_limits };
    for action in &settings.folder_actions {
        for at in 0..folders.folders.len() {
            let folder = &folders.folders[at];
            if (request.is_in_use)(&folder.name) || !is_old_enough(action, folder, request) {
                continue;
            }
            if (request.stop)() {
                return Err(Error::Stopped);
            }
            if let Some(changed) = set.act(action, folder, managed)? {
                folders.folders[at] = changed;
            }
        }
    }
    Ok(())
}

/// [MS-PLA] 3.2.4.3.1: a folder that was made fewer days ago is not touched.
fn is_old_enough(action: &FolderAction, folder: &Folder, request: &Request<'_>) -> bool {
    // 0xFFFFFFFF days fit.
    let age_min = SignedDuration::from_hours(i64::from(action.age_min_days) * HOURS_PER_DAY);
    action.age_min_days == 0 || request.now.duration_since(folder.created) >= age_min
}

/// A set whose folders are acted upon.
struct Set<'a> {
    settings: &'a ManagerSettings,
    request: &'a Request<'a>,
    root: BorrowedFd<'a>,
    scan_limits: &'a ScanLimits,
}

impl Set<'_> {
    /// Does an action with one folder, and measures it again if that changed something.
    fn act(&self, action: &FolderAction, folder: &Folder, managed: &mut Managed) -> Result<Option<Folder>> {
        let name = tree::c_name(&folder.name)?;
        let handle = match tree::open_folder(self.root, &name) {
            Ok(handle) => handle,
            Err(Errno::NOENT) => return Ok(None),
            Err(error) => {
                managed.fail(Some(&folder.name), Error::io("open folder", &folder.name, error));
                return Ok(None);
            }
        };
        let record = if folder.has_record { Record::read(handle.as_fd()) } else { Record::default() };
        // A folder whose data was deleted is as large as it was, so that what is left to be done with it is done.
        if folder.bytes.max(record.bytes) < u64::from(action.size_min_mb) * MB {
            return Ok(None);
        }
        let done = managed.actions.len();
        let mut job = Job {
            folder: handle.as_fd(),
            name: &folder.name,
            action,
            settings: self.settings,
            request: self.request,
            scan_limits: self.scan_limits,
            record: Record { bytes: folder.bytes.max(record.bytes), ..record },
            managed,
        };
        let ended = job.run();
        let is_changed = managed.actions.len() > done;
        let measured = if is_changed { self.measured(&name, managed)? } else { None };
        match ended {
            Ok(()) => {}
            Err(Error::Stopped) => return Err(Error::Stopped),
            Err(error) => managed.fail(Some(&folder.name), error),
        }
        Ok(measured)
    }

    fn measured(&self, name: &CString, managed: &mut Managed) -> Result<Option<Folder>> {
        let mut failures = Vec::new();
        let measured =
            folders::measured(self.root, name, self.scan_limits, &mut failures, self.request.stop)?;
        for failure in failures {
            managed.fail(failure.folder.as_deref(), failure.error);
        }
        Ok(measured)
    }
}

/// One action with one folder. Its steps can be repeated: each looks what is done already.
struct Job<'a, 'm> {
    folder: BorrowedFd<'a>,
    name: &'a str,
    action: &'a FolderAction,
    settings: &'a ManagerSettings,
    request: &'a Request<'a>,
    scan_limits: &'a ScanLimits,
    record: Record,
    managed: &'m mut Managed,
}

impl Job<'_, '_> {
    fn has(&self, step: FolderActionSteps) -> bool {
        self.action.steps.contains(step)
    }

    fn checkpoint(&self) -> Result<()> {
        if (self.request.stop)() { Err(Error::Stopped) } else { Ok(()) }
    }

    fn done(&mut self, step: FolderActionSteps, files: u64, bytes: u64) {
        if files > 0 {
            self.managed.actions.push(ActionDone { folder: self.name.to_owned(), step, files, bytes });
        }
    }

    fn fail(&mut self, error: Error) {
        self.managed.fail(Some(self.name), error);
    }

    fn files(&self) -> Result<Files> {
        let reader = Reader {
            name: self.name,
            report_files: &self.settings.report_files,
            limits: self.scan_limits,
            stop: self.request.stop,
        };
        reader.read(self.folder)
    }

    /// Compares the record with the cabinet files that are there. One that the record does not have was made before a crash.
    fn adopt(&mut self, files: &Files) -> Result<()> {
        let found: HashMap<&str, u64> =
            files.cabinets.iter().map(|(name, bytes)| (&name[..], *bytes)).collect();
        let name = self.name;
        self.record.cabinets.retain(|cabinet| {
            let is_there = found.get(&cabinet.name[..]) == Some(&cabinet.bytes);
            is_cabinet_of(name, &cabinet.name) && (is_there || cabinet.is_deleted)
        });
        for (name, bytes) in &files.cabinets {
            if self.record.cabinets.iter().all(|cabinet| cabinet.name != *name) {
                self.checkpoint()?;
                let packed = self.packed(name, files);
                let files = packed.unwrap_or_else(|error| {
                    self.fail(error);
                    Vec::new()
                });
                let name = name.clone();
                let cabinet = CabinetRecord { name, bytes: *bytes, is_sent: false, is_deleted: false, files };
                self.record.cabinets.push(cabinet);
            }
        }
        Ok(())
    }

    /// The files that a cabinet file has in the state in which they are there.
    fn packed(&self, name: &str, files: &Files) -> Result<Vec<Packed>> {
        let source = tree::open_file(self.folder, name)?;
        let limits = ExtractLimits { bytes_max: u64::MAX, ..ExtractLimits::default() };
        let cabinet = Cabinet::open(source, name, &limits)?;
        let entries: HashMap<&str, _> =
            cabinet.entries().iter().map(|entry| (&entry.path[..], (entry.bytes, entry.modified))).collect();
        let is_packed = |file: &&Packed| {
            entries.get(&file.path[..]).is_some_and(|(bytes, modified)| {
                u64::from(*bytes) == file.bytes
                    && modified.map(Timestamp::as_second) == Some(cabinet_seconds(file.modified))
            })
        };
        Ok(files.data.iter().chain(&files.reports).filter(is_packed).cloned().collect())
    }

    /// The files that are in a cabinet file, each with the index of one.
    fn covered(&self) -> HashMap<Packed, usize> {
        let cabinets = self.record.cabinets.iter().enumerate();
        cabinets.flat_map(|(at, cabinet)| cabinet.files.iter().map(move |file| (file.clone(), at))).collect()
    }

    fn delete(&self, path: &str) -> Result<()> {
        let (parent, name) = tree::parent_of(self.folder, path)?;
        let parent = parent.as_ref().map_or(self.folder, AsFd::as_fd);
        match rustix::fs::unlinkat(parent, name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(error) => Err(Error::io("delete", path, error)),
        }
    }

    fn delete_folder_if_empty(&self, path: &str) -> Result<()> {
        let (parent, name) = tree::parent_of(self.folder, path)?;
        let parent = parent.as_ref().map_or(self.folder, AsFd::as_fd);
        match rustix::fs::unlinkat(parent, name, AtFlags::REMOVEDIR) {
            Ok(()) | Err(Errno::NOENT | Errno::NOTEMPTY | Errno::EXIST) => Ok(()),
            Err(error) => Err(Error::io("delete folder", path, error)),
        }
    }
}

// The steps of an action, in their order.

impl Job<'_, '_> {
    /// [MS-PLA] 2.2.2.8: the steps, in their order.
    ///
    /// # Errors
    /// The folder or its record cannot be read or written; [`Error::Stopped`]. Other failures are noted.
    fn run(&mut self) -> Result<()> {
        let mut files = self.files()?;
        for error in std::mem::take(&mut files.failures) {
            self.managed.fail(Some(self.name), error);
        }
        self.adopt(&files)?;
        // Cabinet files of this run, whose bytes were compared already.
        let mut compared = HashSet::new();
        if self.has(FolderActionSteps::CREATE_CAB) {
            let packed = pack::create_cabinets(self, &files, &mut compared);
            self.note(packed)?;
            files = self.files()?;
        }
        if self.has(FolderActionSteps::DELETE_DATA) {
            let deleted = self.delete_data(&files, &compared);
            self.note(deleted)?;
        }
        if self.has(FolderActionSteps::SEND_CAB) {
            let sent = send::send_cabinets(self);
            self.note(sent)?;
        }
        if self.has(FolderActionSteps::DELETE_CAB) {
            let deleted = self.delete_cabinets();
            self.note(deleted)?;
        }
        if self.has(FolderActionSteps::DELETE_REPORT) {
            let deleted = self.delete_reports(&files);
            self.note(deleted)?;
        }
        Ok(())
    }

    /// A step that failed does not keep the next one from its work, unless the caller wants to stop.
    fn note(&mut self, result: Result<()>) -> Result<()> {
        match result {
            Err(Error::Stopped) => Err(Error::Stopped),
            Err(error) => {
                self.fail(error);
                Ok(())
            }
            Ok(()) => Ok(()),
        }
    }

    /// Deletes what is neither report nor cabinet file. If the action makes cabinet files, only what is in one is deleted, after
    /// its bytes were compared.
    fn delete_data(&mut self, files: &Files, compared: &HashSet<String>) -> Result<()> {
        let is_packed_first = self.has(FolderActionSteps::CREATE_CAB);
        let safe = if is_packed_first { Some(pack::safe_files(self, &files.data, compared)?) } else { None };
        let is_safe = |file: &&Packed| safe.as_ref().is_none_or(|safe| safe.contains(&file.path));
        let data = files.data.iter().filter(is_safe).map(|file| (&file.path, file.bytes));
        // Links and the like cannot be in a cabinet file. Deleting a link does not touch what it leads to.
        let others = files.others.iter().filter(|_| safe.is_none()).map(|path| (path, 0));
        let (mut count, mut bytes) = (0, 0);
        let deleted = data.chain(others).try_for_each(|(path, file_bytes)| {
            self.checkpoint()?;
            self.delete(path)?;
            count += 1;
            bytes += file_bytes;
            Ok(())
        });
        self.managed.bytes_freed += bytes;
        self.done(FolderActionSteps::DELETE_DATA, count, bytes);
        deleted?;
        files.folders.iter().rev().try_for_each(|path| self.delete_folder_if_empty(path))
    }

    /// Deletes cabinet files. One that the action sends is kept until it was sent.
    fn delete_cabinets(&mut self) -> Result<()> {
        let is_sent_first = self.has(FolderActionSteps::SEND_CAB);
        for cabinet in &mut self.record.cabinets {
            cabinet.is_deleted |= cabinet.is_sent || !is_sent_first;
        }
        let marked: Vec<(String, u64)> = self
            .record
            .cabinets
            .iter()
            .filter(|cabinet| cabinet.is_deleted)
            .map(|cabinet| (cabinet.name.clone(), cabinet.bytes))
            .collect();
        let mut there = Vec::new();
        for (name, bytes) in marked {
            if tree::stat(self.folder, &tree::c_name(&name)?).is_ok_and(|status| status.is_some()) {
                there.push((name, bytes));
            }
        }
        if there.is_empty() {
            return Ok(());
        }
        self.checkpoint()?;
        self.record.write(self.folder)?;
        for (name, bytes) in there {
            self.checkpoint()?;
            self.delete(&name)?;
            self.managed.bytes_freed += bytes;
            self.done(FolderActionSteps::DELETE_CAB, 1, bytes);
        }
        sync_folder(self.folder)
    }

    /// Deletes the report. If the action makes cabinet files, it has to be in one.
    fn delete_reports(&mut self, files: &Files) -> Result<()> {
        let covered = self.covered();
        for report in &files.reports {
            if self.has(FolderActionSteps::CREATE_CAB) && !covered.contains_key(report) {
                let reason = "is a report that is in no cabinet file: it is kept until it is in one";
                self.fail(Error::left_alone(&report.path, reason));
                continue;
            }
            self.checkpoint()?;
            self.delete(&report.path)?;
            self.managed.bytes_freed += report.bytes;
            self.done(FolderActionSteps::DELETE_REPORT, 1, report.bytes);
        }
        Ok(())
    }
}
