//! [MS-PLA] 3.2.4.3: what is done with folders that are old and large enough.

mod files;
mod job;
mod pack;
mod record;
mod send;
mod steps;

use std::ffi::CString;

use jiff::SignedDuration;
use rustix::fd::{AsFd, BorrowedFd};
use rustix::io::Errno;

use self::job::Job;
use self::record::Record;
use super::MB;
use crate::data_manager::folders::{self, Folder};
use crate::data_manager::{
    Error, FolderAction, Folders, Managed, ManagerSettings, Request, Result, ScanLimits, tree,
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
