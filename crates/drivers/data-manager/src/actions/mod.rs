//! [MS-PLA] 3.2.4.3: what is done with folders that are old and large enough.

use rustix::fd::BorrowedFd;

use crate::manager::{Managed, Request};
use crate::{Folders, ManagerSettings, Result, ScanLimits};

pub(crate) fn run(
    settings: &ManagerSettings,
    request: &Request<'_>,
    root: BorrowedFd<'_>,
    scan_limits: &ScanLimits,
    folders: &mut Folders,
    managed: &mut Managed,
) -> Result<()> {
    let _ = (settings, request, root, scan_limits, folders, managed);
    Ok(())
}
