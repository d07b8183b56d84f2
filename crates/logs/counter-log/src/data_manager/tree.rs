//! Folders by their handles: opened without following a link or entering another mount, read with one `statx` an entry.

use std::ffi::{CStr, CString};
use std::fs::File;
use std::io;

use cap_std::fs::Dir;
use jiff::Timestamp;
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{
    AtFlags, FileType, Mode, OFlags, RawDir, RenameFlags, ResolveFlags, SeekFrom, Statx, StatxFlags,
    StatxTimestamp,
};
use rustix::io::Errno;
use safe_files::is_file_name;

use crate::data_manager::{Error, FAILURES_MAX, Failure, Result};

/// Bytes for the entries that one call of the system returns.
const ENTRIES_BYTES: usize = 32 * 1024;
/// Entries that are read between two questions whether to stop.
pub(crate) const ENTRIES_PER_STEP: u64 = 1024;
/// `stx_blocks` counts these, whatever the file system's blocks are.
const BLOCK_BYTES: u64 = 512;
/// The file in a folder that keeps what folder actions did with it.
pub(crate) const RECORD: &str = ".folder-actions";
/// Names of files that are written for folder actions begin with it.
pub(crate) const OWN: &str = RECORD;

/// How much of a set's folder is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScanLimits {
    pub folders_max: usize,
    /// Files and folders in one folder of a run.
    pub entries_max: u64,
    /// How deep folders are nested in the folder of a run.
    pub depth_max: usize,
}

impl Default for ScanLimits {
    fn default() -> Self {
        Self { folders_max: 200_000, entries_max: 2_000_000, depth_max: 32 }
    }
}

/// A handle that the folder can be read and synced by, which those of `cap_std` may not be.
pub(crate) fn open_root(root: &Dir) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    Ok(rustix::fs::openat(root, c".", flags, Mode::empty())?)
}

/// Opens a subfolder. A link, and a folder on which something else is mounted, are errors: `ELOOP` or `ENOTDIR`, and `EXDEV`. The
/// latter is what `safe_files` does not look for.
pub(crate) fn open_folder(parent: BorrowedFd<'_>, name: &CStr) -> rustix::io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_XDEV;
    match rustix::fs::openat2(parent, name, flags, Mode::empty(), resolve) {
        // Kernels before 5.6, and filters of calls that do not know this one.
        Err(Errno::NOSYS | Errno::PERM) => {
            let folder = rustix::fs::openat(parent, name, flags, Mode::empty())?;
            let is_same = rustix::fs::fstat(parent)?.st_dev == rustix::fs::fstat(&folder)?.st_dev;
            if is_same { Ok(folder) } else { Err(Errno::XDEV) }
        }
        other => other,
    }
}

/// Opens a file below a folder to read it.
pub(crate) fn open_file(folder: BorrowedFd<'_>, path: &str) -> Result<File> {
    let (parent, name) = parent_of(folder, path)?;
    let parent = parent.as_ref().map_or(folder, AsFd::as_fd);
    safe_files::open_file(parent, name).map_err(|error| Error::io("open", path, error))
}

/// The folder that a path ends in, opened part by part without following a link, unless it is `folder` itself, and the last part.
pub(crate) fn parent_of<'p>(folder: BorrowedFd<'_>, path: &'p str) -> Result<(Option<OwnedFd>, &'p str)> {
    let (folders, name) = path.rsplit_once('/').map_or((None, path), |(folders, name)| (Some(folders), name));
    let mut parent: Option<OwnedFd> = None;
    for part in folders.into_iter().flat_map(|folders| folders.split('/')) {
        let outer = parent.as_ref().map_or(folder, AsFd::as_fd);
        let inner = open_folder(outer, &c_name(part)?);
        parent = Some(inner.map_err(|error| Error::io("open the folder of", path, error))?);
    }
    c_name(name)?;
    Ok((parent, name))
}

/// One part of a path.
pub(crate) fn c_name(name: &str) -> Result<CString> {
    let refused = || Error::left_alone(name, "is no name of a file");
    if is_file_name(name) { CString::new(name).map_err(|_| refused()) } else { Err(refused()) }
}

/// Renames a file or folder; a name that exists is an error, `EEXIST`.
pub(crate) fn rename_new(folder: BorrowedFd<'_>, from: &CStr, to: &CStr) -> rustix::io::Result<()> {
    match rustix::fs::renameat_with(folder, from, folder, to, RenameFlags::NOREPLACE) {
        // File systems that have no such rename.
        Err(Errno::INVAL | Errno::NOSYS) => match stat(folder, to)? {
            Some(_) => Err(Errno::EXIST),
            None => rustix::fs::renameat(folder, from, folder, to),
        },
        other => other,
    }
}

/// Calls `each` with the name of each entry but `.` and `..`, and what it is if the file system says so.
pub(crate) fn for_each_entry(
    folder: BorrowedFd<'_>,
    mut each: impl FnMut(&CStr, FileType) -> Result<()>,
) -> std::result::Result<(), EntriesError> {
    // The handle may have been read before.
    rustix::fs::seek(folder, SeekFrom::Start(0)).map_err(|error| EntriesError::Read(error.into()))?;
    let mut bytes: Vec<u8> = Vec::with_capacity(ENTRIES_BYTES);
    let mut entries = RawDir::new(folder, bytes.spare_capacity_mut());
    while let Some(entry) = entries.next() {
        let entry = match entry {
            Ok(entry) => entry,
            // The folder was deleted meanwhile.
            Err(Errno::NOENT) => break,
            Err(error) => return Err(EntriesError::Read(error.into())),
        };
        let name = entry.file_name();
        if name != c"." && name != c".." {
            each(name, entry.file_type()).map_err(EntriesError::Each)?;
        }
    }
    Ok(())
}

/// Why the entries of a folder were not read to the end.
pub(crate) enum EntriesError {
    Read(io::Error),
    Each(Error),
}

impl EntriesError {
    pub(crate) fn of(self, name: &str) -> Error {
        match self {
            Self::Read(error) => Error::io("read folder", name, error),
            Self::Each(error) => error,
        }
    }
}

/// Asks for what is needed of an entry, once. Nothing if it has vanished.
pub(crate) fn stat(folder: BorrowedFd<'_>, name: &CStr) -> rustix::io::Result<Option<Statx>> {
    let mask = StatxFlags::TYPE | StatxFlags::SIZE | StatxFlags::BLOCKS | StatxFlags::NLINK;
    let mask = mask | StatxFlags::MTIME | StatxFlags::BTIME;
    let flags = AtFlags::SYMLINK_NOFOLLOW | AtFlags::NO_AUTOMOUNT;
    match rustix::fs::statx(folder, name, flags, mask) {
        Ok(status) => Ok(Some(status)),
        Err(Errno::NOENT) => Ok(None),
        Err(error) => Err(error),
    }
}

pub(crate) fn file_type(status: &Statx) -> FileType {
    FileType::from_raw_mode(status.stx_mode.into())
}

pub(crate) fn modified(status: &Statx) -> Timestamp {
    timestamp(status.stx_mtime)
}

/// When it was made, on file systems that keep that.
pub(crate) fn born(status: &Statx) -> Option<Timestamp> {
    (status.stx_mask & StatxFlags::BTIME.bits() != 0).then(|| timestamp(status.stx_btime))
}

/// The time, or the nearest one that there is a date for.
fn timestamp(time: StatxTimestamp) -> Timestamp {
    let nanosecond = i32::try_from(time.tv_nsec).unwrap_or(0);
    let nearest = if time.tv_sec < 0 { Timestamp::MIN } else { Timestamp::MAX };
    Timestamp::new(time.tv_sec, nanosecond).unwrap_or(nearest)
}

/// A name as it is shown: what is not UTF-8 in it is replaced.
pub(crate) fn shown(name: &CStr) -> String {
    name.to_string_lossy().into_owned()
}

/// What all files of a folder add up to.
pub(crate) struct Measure<'a> {
    limits: &'a ScanLimits,
    stop: &'a dyn Fn() -> bool,
    pub(crate) failures: &'a mut Vec<Failure>,
    /// The folder that failures belong to.
    run: &'a str,
    pub(crate) bytes: u64,
    pub(crate) disk_bytes: u64,
    pub(crate) files: u64,
    pub(crate) oldest: Timestamp,
    pub(crate) newest: Timestamp,
    pub(crate) is_complete: bool,
    pub(crate) has_record: bool,
    entries: u64,
}

impl<'a> Measure<'a> {
    pub(crate) fn new(
        run: &'a str,
        limits: &'a ScanLimits,
        failures: &'a mut Vec<Failure>,
        stop: &'a dyn Fn() -> bool,
    ) -> Self {
        Self {
            limits,
            stop,
            failures,
            run,
            bytes: 0,
            disk_bytes: 0,
            files: 0,
            oldest: Timestamp::MAX,
            newest: Timestamp::MIN,
            is_complete: true,
            has_record: false,
            entries: 0,
        }
    }

    /// Adds what is in `folder`, which is `depth` folders below that of the run.
    ///
    /// # Errors
    /// [`Error::Stopped`] alone: what cannot be read is a failure.
    pub(crate) fn add_folder(&mut self, folder: BorrowedFd<'_>, path: &str, depth: usize) -> Result<()> {
        let mut folders: Vec<CString> = Vec::new();
        let read = for_each_entry(folder, |name, kind| {
            self.entries += 1;
            if self.entries.is_multiple_of(ENTRIES_PER_STEP) && (self.stop)() {
                return Err(Error::Stopped);
            }
            if self.entries > self.limits.entries_max {
                self.is_complete = false;
            } else if self.add_entry(folder, name, kind, path) {
                folders.push(name.to_owned());
            } else if depth == 0 && name.to_bytes() == RECORD.as_bytes() {
                self.has_record = true;
            }
            Ok(())
        });
        match read {
            Ok(()) => {}
            Err(EntriesError::Each(error)) => return Err(error),
            Err(error) => self.fail(error.of(path)),
        }
        if depth < self.limits.depth_max {
            for name in folders {
                let path = format!("{path}/{}", name.to_string_lossy());
                match open_folder(folder, &name) {
                    Ok(inner) => self.add_folder(inner.as_fd(), &path, depth + 1)?,
                    Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => {}
                    Err(Errno::XDEV) => self.fail(mounted(&path)),
                    Err(error) => self.fail(Error::io("open folder", path, error)),
                }
            }
        } else if !folders.is_empty() {
            self.fail(Error::left_alone(path, "has folders too deep in it: delete them by hand"));
        }
        Ok(())
    }

    /// Adds a file. True if it is a folder instead.
    fn add_entry(&mut self, folder: BorrowedFd<'_>, name: &CStr, kind: FileType, path: &str) -> bool {
        // Folders are asked for when they are opened, but for their times.
        match stat(folder, name) {
            Ok(Some(status)) => {
                self.oldest = self.oldest.min(modified(&status));
                self.newest = self.newest.max(modified(&status));
                if file_type(&status) == FileType::Directory {
                    return true;
                }
                self.files += 1;
                if file_type(&status) == FileType::RegularFile {
                    self.bytes = self.bytes.saturating_add(status.stx_size);
                    let own_blocks = if status.stx_nlink <= 1 { status.stx_blocks } else { 0 };
                    self.disk_bytes = self.disk_bytes.saturating_add(own_blocks.saturating_mul(BLOCK_BYTES));
                }
                false
            }
            Ok(None) => false,
            Err(error) => {
                self.fail(Error::io("get the size of", format!("{path}/{}", name.to_string_lossy()), error));
                kind == FileType::Directory
            }
        }
    }

    fn fail(&mut self, error: Error) {
        self.is_complete = false;
        if self.failures.len() < FAILURES_MAX {
            self.failures.push(Failure { folder: Some(self.run.to_owned()), error });
        }
    }
}

pub(crate) fn mounted(path: &str) -> Error {
    Error::left_alone(path, "is another file system that is mounted there: unmount it")
}
