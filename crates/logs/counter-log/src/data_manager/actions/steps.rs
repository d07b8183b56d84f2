//! The steps of an action, in their order.

use std::collections::HashSet;

use ms_pla::FolderActionSteps;

use super::files::Files;
use super::record::{Packed, sync_folder};
use super::{Job, pack, send};
use crate::data_manager::{Error, Result, tree};

impl Job<'_, '_> {
    /// [MS-PLA] 2.2.2.8: the steps, in their order.
    ///
    /// # Errors
    /// The folder or its record cannot be read or written; [`Error::Stopped`]. Other failures are noted.
    pub(crate) fn run(&mut self) -> Result<()> {
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
