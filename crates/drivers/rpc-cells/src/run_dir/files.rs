use std::fs::File;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::{AtFlags, FileType, FlockOperation, Mode, OFlags, flock, fstat, open, openat, unlinkat};
use rustix::io::Errno;

use super::{DIRECTORY, EXTENSION, FILES_MAX, RunDirectory, names, other_than_directory};
use crate::Memory;
use crate::cell::Name;
use crate::error::Error;
use crate::header::{FileHeader, Level};
use crate::layout::Capacity;
use crate::mapped::{CreateError, MappedFile, SigbusGuard};
use crate::process::ProcessIdentity;
use crate::read::{ReadLimits, Snapshot, read};

/// What a new file is for.
#[derive(Clone, Copy, Debug)]
pub struct SectionFileOptions<'a> {
    /// The owner of the state: the process itself, or an instance of a plugin.
    pub name: &'a str,
    /// What is kept in cells.
    pub level: Level,
    /// How many cells the file has room for.
    pub capacity: Capacity,
    /// The time, in milliseconds after boot.
    pub now_ms: u64,
}

/// A file of this process in a run directory. It is removed when this is dropped; after a crash it stays.
#[derive(Debug)]
pub struct SectionFile {
    mapped: MappedFile,
    directory: OwnedFd,
    name: String,
    path: PathBuf,
}

impl RunDirectory {
    /// Makes a file and maps it.
    ///
    /// # Errors
    /// When the directory is not writable or full, or too many files are mapped.
    pub fn create(&self, guard: SigbusGuard, options: &SectionFileOptions<'_>) -> Result<SectionFile, Error> {
        let process = ProcessIdentity::current()?;
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("{process}-{number}{EXTENSION}");
        let path = self.path.join(&name);
        let failed = |doing: &'static str, error: Errno| {
            let path = self.path.join(&name);
            Error::File { doing, path, error: error.into() }
        };
        let directory = self.directory.try_clone().map_err(|error| Error::File {
            doing: "open the directory of",
            path: path.clone(),
            error,
        })?;
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = openat(&self.directory, &name, flags, Mode::RUSR | Mode::WUSR)
            .map_err(|error| failed("create", error))?;
        let header = FileHeader {
            capacity: options.capacity,
            level: options.level,
            process,
            created_ms: options.now_ms,
            name: Name::new(options.name),
        };
        // Who removes stale files asks for the lock, too: processes of other PID namespaces have it.
        let mapped = flock(&file, FlockOperation::NonBlockingLockExclusive)
            .map_err(|error| failed("lock", error))
            .and_then(|()| {
                MappedFile::create(file, &header, guard).map_err(|error| match error {
                    CreateError::Reserve(error) => failed("reserve space for", error),
                    CreateError::Map(error) => failed("map", error),
                    CreateError::Other(error) => error,
                })
            });
        match mapped {
            Ok(mapped) => Ok(SectionFile { mapped, directory, name, path }),
            Err(error) => {
                let _ = unlinkat(&self.directory, &name, AtFlags::empty());
                Err(error)
            }
        }
    }
}

/// The files that this process has made.
static NUMBER: AtomicU64 = AtomicU64::new(0);

impl SectionFile {
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// How many of its pages somebody cut off.
    #[must_use]
    pub fn pages_lost(&self) -> u64 {
        self.mapped.pages_lost()
    }

    /// Removes the file before this is dropped. The memory stays, and nobody finds it any more.
    pub fn remove(&self) {
        // If it is gone already, that is what is wanted.
        let _ = unlinkat(&self.directory, &self.name, AtFlags::empty());
    }
}

impl Memory for SectionFile {
    fn words(&self) -> &[AtomicU64] {
        self.mapped.words()
    }

    fn grow(&self, sections: u16) -> bool {
        self.mapped.grow(sections)
    }
}

impl Drop for SectionFile {
    fn drop(&mut self) {
        self.remove();
    }
}

/// A file of a run directory, and what stood in it.
#[derive(Debug)]
pub struct FileSnapshot {
    /// The name of the file.
    pub file: String,
    /// Its cells, or why they cannot be read.
    pub snapshot: Result<Snapshot, Error>,
}

/// Reads all files of a run directory, also those of processes that have died. Nothing is written. Files beyond the limits
/// are not read to their ends, which is a [`Problem::TooManyCells`](crate::Problem::TooManyCells) of each.
///
/// # Errors
/// When the directory cannot be read.
pub fn read_directory(path: &Path, limits: &ReadLimits) -> Result<Vec<FileSnapshot>, Error> {
    Ok(read_files(path, limits)?.collect())
}

/// The files of a run directory, each of which is read when it is taken, so that one at a time needs memory. Limits as for
/// [`read_directory`].
///
/// # Errors
/// When the directory cannot be read.
pub fn read_files<'a>(path: &'a Path, limits: &ReadLimits) -> Result<DirectoryFiles<'a>, Error> {
    let failed = |error| Error::Directory { path: path.to_owned(), error };
    let directory = open(path, DIRECTORY, Mode::empty()).map_err(|error| match error {
        Errno::NOTDIR | Errno::LOOP => {
            Error::Refused { path: path.to_owned(), reason: other_than_directory(path) }
        }
        error => failed(error.into()),
    })?;
    let names = names(&directory, FILES_MAX).map_err(failed)?.into_iter();
    Ok(DirectoryFiles { path, directory, names, limits: *limits, left: limits.directory_cells_max })
}

/// The files of a run directory that have not been read yet, in the order of their names. Its length is how many there are.
#[derive(Debug)]
pub struct DirectoryFiles<'a> {
    path: &'a Path,
    directory: OwnedFd,
    names: std::vec::IntoIter<String>,
    limits: ReadLimits,
    /// Cells that may still be looked at.
    left: usize,
}

impl Iterator for DirectoryFiles<'_> {
    type Item = FileSnapshot;

    fn next(&mut self) -> Option<FileSnapshot> {
        let file = self.names.next()?;
        let limits = ReadLimits { cells_max: self.limits.cells_max.min(self.left), ..self.limits };
        let source = open_regular(&self.directory, self.path, &file);
        let snapshot = source.and_then(|source| read(&source, &limits));
        if let Ok(Snapshot { header, sections, .. }) = &snapshot {
            let cells = usize::from(*sections) * usize::from(header.capacity.cells_per_section);
            self.left = self.left.saturating_sub(cells);
        }
        Some(FileSnapshot { file, snapshot })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.names.size_hint()
    }
}

impl ExactSizeIterator for DirectoryFiles<'_> {}

/// Opens a file for reading that is no link, and no pipe or device that could block.
pub(super) fn open_regular(directory: &OwnedFd, path: &Path, name: &str) -> Result<File, Error> {
    let failed = |error: Errno| Error::File { doing: "open", path: path.join(name), error: error.into() };
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let not_regular = |found| Error::NotRegular { path: path.join(name), found };
    let file = openat(directory, name, flags, Mode::empty()).map_err(|error| match error {
        Errno::LOOP => not_regular("a symbolic link"),
        // A socket, or a device without a driver.
        Errno::NXIO => not_regular("a socket or device"),
        error => failed(error),
    })?;
    let status = fstat(&file).map_err(failed)?;
    match FileType::from_raw_mode(status.st_mode) {
        FileType::RegularFile => Ok(File::from(file)),
        FileType::Directory => Err(not_regular("a directory")),
        _ => Err(not_regular("a pipe or device")),
    }
}
