//! Opens files and folders of a folder that is open already.
//!
//! Others may put anything into a folder between two uses of it. So a name is one component and never a path, no link is
//! followed, and no pipe or device is waited for. What is there instead of a file or folder is left alone, and the error says
//! what it is. All functions may wait for the disk. [`WeakMap`] has what all who work in one folder share.

mod error;
mod weak_map;

use std::fs::File;
use std::io::Write as _;

use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{AtFlags, FileType, Mode, OFlags, fstat, fsync, openat, renameat, statat, unlinkat};
use rustix::io::Errno;

pub use self::error::{Error, Result};
pub use self::weak_map::WeakMap;

/// Opens a regular file to read it.
///
/// # Errors
/// [`Error::Refused`] if something else has the name.
pub fn open_file(folder: impl AsFd, name: &str) -> Result<File> {
    open_regular(folder.as_fd(), name, OFlags::RDONLY)
}

/// Opens a regular file to read and write it. One with a second name is refused: writing would change a file elsewhere.
///
/// # Errors
/// [`Error::Refused`] if something else has the name.
pub fn open_to_write(folder: impl AsFd, name: &str) -> Result<File> {
    let file = open_regular(folder.as_fd(), name, OFlags::RDWR)?;
    match fstat(&file)?.st_nlink {
        0 | 1 => Ok(file),
        links => Err(Error::refused(
            name,
            format!("has {links} names, which are hard links to it: delete this one"),
        )),
    }
}

/// Creates a file to read and write it. Its mode is 640: files have measurements of hosts, which not all users may read.
///
/// # Errors
/// [`std::io::ErrorKind::AlreadyExists`] if anything has the name, be it a link that leads nowhere.
pub fn create(folder: impl AsFd, name: &str) -> Result<File> {
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL;
    open_regular(folder.as_fd(), name, flags)
}

/// Writes a file to the disk, all of it or nothing. Whatever had the name is replaced, and a link is not followed. The bytes are
/// first in `.NAME.new`.
///
/// # Errors
/// When a call of the system fails. The file of before is still there then.
pub fn replace(folder: impl AsFd, name: &str, bytes: &[u8]) -> Result<()> {
    let folder = folder.as_fd();
    check_name(name)?;
    let new = format!(".{}.new", name.trim_start_matches('.'));
    match unlinkat(folder, &*new, AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => {}
        Err(error) => return Err(error.into()),
    }
    let written = write_new(folder, &new, bytes).and_then(|()| Ok(renameat(folder, &*new, folder, name)?));
    if written.is_err() {
        // The failure to write it is what is reported.
        let _ = unlinkat(folder, &*new, AtFlags::empty());
    }
    written?;
    sync_folder(folder)
}

/// Opens a folder, with a handle that can be read and synced.
///
/// # Errors
/// [`Error::Refused`] if something else has the name.
pub fn open_folder(folder: impl AsFd, name: &str) -> Result<OwnedFd> {
    let folder = folder.as_fd();
    check_name(name)?;
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | SAFE;
    openat(folder, name, flags, Mode::empty()).map_err(|error| refusal(folder, name, Expected::Folder, error))
}

/// Writes the names of a folder to the disk. Without that, one that was created or renamed may be lost by a power failure.
///
/// # Errors
/// When a call of the system fails. A file system that cannot sync folders is no failure.
pub fn sync_folder(folder: impl AsFd) -> Result<()> {
    // The handle may be one that is only for paths, as those of `cap_std` are.
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let folder = openat(folder, c".", flags, Mode::empty())?;
    match fsync(&folder) {
        Ok(()) | Err(Errno::INVAL) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Whether it is the name of a file or folder, and no path.
#[must_use]
pub fn is_file_name(name: &str) -> bool {
    !matches!(name, "" | "." | "..") && !name.contains(['/', '\0'])
}

/// What every file and folder is opened with. A pipe would make the opening wait, and a terminal take the process.
const SAFE: OFlags = OFlags::NOFOLLOW.union(OFlags::NONBLOCK).union(OFlags::NOCTTY).union(OFlags::CLOEXEC);

/// Of a new file.
const MODE: Mode = Mode::RUSR.union(Mode::WUSR).union(Mode::RGRP);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Expected {
    File,
    Folder,
}

fn open_regular(folder: BorrowedFd<'_>, name: &str, flags: OFlags) -> Result<File> {
    check_name(name)?;
    let opened = openat(folder, name, flags | SAFE, MODE);
    let file = opened.map_err(|error| refusal(folder, name, Expected::File, error))?;
    match FileType::from_raw_mode(fstat(&file)?.st_mode) {
        FileType::RegularFile => Ok(File::from(file)),
        found => Err(unexpected(name, found, Expected::File)),
    }
}

fn check_name(name: &str) -> Result<()> {
    if is_file_name(name) { Ok(()) } else { Err(Error::refused(name, "is not the name of a file or folder")) }
}

fn write_new(folder: BorrowedFd<'_>, name: &str, bytes: &[u8]) -> Result<()> {
    let mut file = create(folder, name)?;
    file.write_all(bytes)?;
    Ok(file.sync_all()?)
}

/// Says what has the name if that is why it was not opened.
fn refusal(folder: BorrowedFd<'_>, name: &str, expected: Expected, error: Errno) -> Error {
    // A link; no folder; a folder that is opened to be written; a socket, or a pipe or device that nobody is at.
    let is_of_kind = matches!(error, Errno::LOOP | Errno::NOTDIR | Errno::ISDIR | Errno::NXIO);
    match statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(found) if is_of_kind => unexpected(name, FileType::from_raw_mode(found.st_mode), expected),
        _ => error.into(),
    }
}

fn unexpected(name: &str, found: FileType, expected: Expected) -> Error {
    let found = match found {
        FileType::RegularFile => "a file",
        FileType::Directory => "a folder",
        FileType::Symlink => "a link",
        FileType::Fifo => "a pipe",
        FileType::Socket => "a socket",
        _ => "a device",
    };
    let expected = if expected == Expected::File { "a file" } else { "a folder" };
    Error::refused(name, format!("is {found}, not {expected}: delete it"))
}
