//! The files of one folder.

use std::ffi::{CStr, CString};

use rustix::fd::{AsFd, BorrowedFd};
use rustix::fs::FileType;
use rustix::io::Errno;

use super::record::Packed;
use crate::data_manager::tree::{self, ENTRIES_PER_STEP, OWN};
use crate::data_manager::{Error, Result, ScanLimits};

/// What is in a folder.
#[derive(Debug, Default)]
pub(crate) struct Files {
    /// Files that are neither reports nor cabinet files.
    pub(crate) data: Vec<Packed>,
    /// The report, as XML and as HTML.
    pub(crate) reports: Vec<Packed>,
    /// Cabinet files that were made of the folder, and their bytes.
    pub(crate) cabinets: Vec<(String, u64)>,
    /// Links, pipes and the like.
    pub(crate) others: Vec<String>,
    /// Subfolders; those in a folder come after it.
    pub(crate) folders: Vec<String>,
    /// What could not be read.
    pub(crate) failures: Vec<Error>,
}

pub(crate) struct Reader<'a> {
    /// The name of the folder.
    pub(crate) name: &'a str,
    pub(crate) report_files: &'a [String],
    pub(crate) limits: &'a ScanLimits,
    pub(crate) stop: &'a dyn Fn() -> bool,
}

impl Reader<'_> {
    /// Lists a folder.
    ///
    /// # Errors
    /// There are more files than the limit; [`Error::Stopped`].
    pub(crate) fn read(&self, folder: BorrowedFd<'_>) -> Result<Files> {
        let mut files = Files::default();
        let mut count = 0;
        self.read_folder(folder, "", 0, &mut count, &mut files)?;
        files.data.sort_unstable_by(|a, b| a.path.cmp(&b.path));
        files.reports.sort_unstable_by(|a, b| a.path.cmp(&b.path));
        files.cabinets.sort_unstable();
        Ok(files)
    }

    fn read_folder(
        &self,
        folder: BorrowedFd<'_>,
        prefix: &str,
        depth: usize,
        count: &mut u64,
        files: &mut Files,
    ) -> Result<()> {
        let mut folders: Vec<CString> = Vec::new();
        let read = tree::for_each_entry(folder, |name, _| {
            *count += 1;
            if count.is_multiple_of(ENTRIES_PER_STEP) && (self.stop)() {
                return Err(Error::Stopped);
            }
            if *count > self.limits.entries_max {
                let reason = format!(
                    "has more than {} files, which are too many for its actions: move or delete some",
                    self.limits.entries_max
                );
                return Err(Error::left_alone(self.name, reason));
            }
            if self.add(folder, name, prefix, depth, files) {
                folders.push(name.to_owned());
            }
            Ok(())
        });
        read.map_err(|error| error.of(self.name))?;
        for name in folders {
            let path = format!("{prefix}{}", name.to_string_lossy());
            match tree::open_folder(folder, &name) {
                Ok(_) if depth >= self.limits.depth_max => {
                    files.failures.push(Error::left_alone(
                        path,
                        "is nested too deep for folder actions: move or delete it",
                    ));
                }
                Ok(inner) => {
                    files.folders.push(path.clone());
                    self.read_folder(inner.as_fd(), &format!("{path}/"), depth + 1, count, files)?;
                }
                Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => {}
                Err(Errno::XDEV) => files.failures.push(tree::mounted(&path)),
                Err(error) => files.failures.push(Error::io("open folder", path, error)),
            }
        }
        Ok(())
    }

    /// Adds a file. True if it is a folder instead.
    fn add(
        &self,
        folder: BorrowedFd<'_>,
        name: &CStr,
        prefix: &str,
        depth: usize,
        files: &mut Files,
    ) -> bool {
        let path = format!("{prefix}{}", name.to_string_lossy());
        let status = match tree::stat(folder, name) {
            Ok(Some(status)) => status,
            Ok(None) => return false,
            Err(error) => {
                files.failures.push(Error::io("get the size of", path, error));
                return false;
            }
        };
        let Ok(name) = name.to_str() else {
            let reason = "has a name that is not UTF-8: rename or delete it";
            files.failures.push(Error::left_alone(path, reason));
            return false;
        };
        if tree::file_type(&status) == FileType::Directory {
            return true;
        }
        if tree::file_type(&status) != FileType::RegularFile {
            files.others.push(path);
            return false;
        }
        let (bytes, modified) = (status.stx_size, tree::modified(&status));
        if depth == 0 && name.starts_with(OWN) {
            return false;
        }
        if depth == 0 && is_cabinet_of(self.name, name) {
            files.cabinets.push((path, bytes));
        } else if depth == 0 && self.report_files.iter().any(|report| report.eq_ignore_ascii_case(name)) {
            files.reports.push(Packed { path, bytes, modified });
        } else {
            files.data.push(Packed { path, bytes, modified });
        }
        false
    }
}

/// The name of a folder's cabinet file: the first one has that of [MS-PLA] 2.2.2.8, further ones have a number.
pub(crate) fn cabinet_name(folder: &str, number: u32) -> String {
    if number <= 1 { format!("{folder}.cab") } else { format!("{folder}.part{number}.cab") }
}

pub(crate) fn is_cabinet_of(folder: &str, name: &str) -> bool {
    let Some(rest) = name.strip_prefix(folder).and_then(|rest| rest.strip_suffix(".cab")) else {
        return false;
    };
    let number = rest.strip_prefix(".part").and_then(|number| number.parse().ok());
    rest.is_empty() || number.is_some_and(|number: u32| number > 1 && name == cabinet_name(folder, number))
}

#[cfg(test)]
mod tests {
    use super::is_cabinet_of;

    #[test]
    fn only_the_names_of_a_folder_s_own_cabinets_are_cabinets() {
        assert!(is_cabinet_of("day", "day.cab") && is_cabinet_of("day", "day.part2.cab"));
        for other in [
            "day.part1.cab",
            "day.part02.cab",
            "day.partx.cab",
            "day.part+2.cab",
            "day_2.cab",
            "days.cab",
            "DAY.cab",
            "day.cab.csv",
        ] {
            assert!(!is_cabinet_of("day", other), "{other}");
        }
    }
}
