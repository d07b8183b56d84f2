use std::collections::HashMap;

use jiff::Timestamp;
use ms_pla::FolderActionSteps;
use rustix::fd::{AsFd, BorrowedFd};
use rustix::fs::AtFlags;
use rustix::io::Errno;

use super::files::{Files, Reader, is_cabinet_of};
use super::record::{CabinetRecord, Packed, Record};
use crate::data_manager::cabinet::{Cabinet, ExtractLimits, cabinet_seconds};
use crate::data_manager::tree;
use crate::data_manager::{
    ActionDone, Error, FolderAction, Managed, ManagerSettings, Request, Result, ScanLimits,
};

/// One action with one folder. Its steps can be repeated: each looks what is done already.
pub(crate) struct Job<'a, 'm> {
    pub(crate) folder: BorrowedFd<'a>,
    pub(crate) name: &'a str,
    pub(crate) action: &'a FolderAction,
    pub(crate) settings: &'a ManagerSettings,
    pub(crate) request: &'a Request<'a>,
    pub(crate) scan_limits: &'a ScanLimits,
    pub(crate) record: Record,
    pub(crate) managed: &'m mut Managed,
}

impl Job<'_, '_> {
    pub(crate) fn has(&self, step: FolderActionSteps) -> bool {
        self.action.steps.contains(step)
    }

    pub(crate) fn checkpoint(&self) -> Result<()> {
        if (self.request.stop)() { Err(Error::Stopped) } else { Ok(()) }
    }

    pub(crate) fn done(&mut self, step: FolderActionSteps, files: u64, bytes: u64) {
        if files > 0 {
            self.managed.actions.push(ActionDone { folder: self.name.to_owned(), step, files, bytes });
        }
    }

    pub(crate) fn fail(&mut self, error: Error) {
        self.managed.fail(Some(self.name), error);
    }

    pub(super) fn files(&self) -> Result<Files> {
        let reader = Reader {
            name: self.name,
            report_files: &self.settings.report_files,
            limits: self.scan_limits,
            stop: self.request.stop,
        };
        reader.read(self.folder)
    }

    /// Compares the record with the cabinet files that are there. One that the record does not have was made before a crash.
    pub(super) fn adopt(&mut self, files: &Files) -> Result<()> {
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
    pub(crate) fn covered(&self) -> HashMap<Packed, usize> {
        let cabinets = self.record.cabinets.iter().enumerate();
        cabinets.flat_map(|(at, cabinet)| cabinet.files.iter().map(move |file| (file.clone(), at))).collect()
    }

    pub(super) fn delete(&self, path: &str) -> Result<()> {
        let (parent, name) = tree::parent_of(self.folder, path)?;
        let parent = parent.as_ref().map_or(self.folder, AsFd::as_fd);
        match rustix::fs::unlinkat(parent, name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(error) => Err(Error::io("delete", path, error)),
        }
    }

    pub(super) fn delete_folder_if_empty(&self, path: &str) -> Result<()> {
        let (parent, name) = tree::parent_of(self.folder, path)?;
        let parent = parent.as_ref().map_or(self.folder, AsFd::as_fd);
        match rustix::fs::unlinkat(parent, name, AtFlags::REMOVEDIR) {
            Ok(()) | Err(Errno::NOENT | Errno::NOTEMPTY | Errno::EXIST) => Ok(()),
            Err(error) => Err(Error::io("delete folder", path, error)),
        }
    }
}
