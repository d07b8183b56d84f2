//! The directory with the files of all processes.

mod files;

use std::ffi::OsString;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::{env, io};

use rustix::fs::{
    AtFlags, FileType, FlockOperation, Mode, OFlags, flock, fstat, mkdir, open, statat, unlinkat,
};
use rustix::io::Errno;

pub use self::files::{
    DirectoryFiles, FileSnapshot, SectionFile, SectionFileOptions, read_directory, read_files,
};

use self::files::open_regular;
use super::process::ProcessIdentity;
use crate::error::Error;

/// A directory that only this user can write.
#[derive(Debug)]
pub struct RunDirectory {
    path: PathBuf,
    directory: OwnedFd,
}

impl RunDirectory {
    /// Opens the directory, or makes it. The directory above it has to be there.
    ///
    /// # Errors
    /// When it cannot be made, is no directory, belongs to another user, or can be written by others.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let failed = |error: Errno| Error::Directory { path: path.to_owned(), error: error.into() };
        let refused = |reason: String| Error::Refused { path: path.to_owned(), reason };
        match mkdir(path, Mode::RWXU) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(error) => return Err(failed(error)),
        }
        let directory = match open(path, DIRECTORY, Mode::empty()) {
            Ok(directory) => directory,
            Err(Errno::NOTDIR | Errno::LOOP) => return Err(refused(other_than_directory(path))),
            Err(error) => return Err(failed(error)),
        };
        let status = fstat(&directory).map_err(failed)?;
        let user = rustix::process::geteuid().as_raw();
        if status.st_uid != user {
            let owner = status.st_uid;
            return Err(refused(format!(
                "it belongs to user {owner}, and this process runs as user {user}: remove it, or set another"
            )));
        }
        let mode = Mode::from_raw_mode(status.st_mode);
        if mode.intersects(Mode::WGRP | Mode::WOTH) {
            let bits = mode.bits() & 0o777;
            return Err(refused(format!(
                "other users can write it (mode {bits:03o}): take that away, with `chmod go-w`"
            )));
        }
        Ok(Self { path: path.to_owned(), directory })
    }

    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
}

fn other_than_directory(path: &Path) -> String {
    let status = statat(rustix::fs::CWD, path, AtFlags::SYMLINK_NOFOLLOW);
    match status.map(|status| FileType::from_raw_mode(status.st_mode)) {
        Ok(FileType::Symlink) => {
            "it is a symbolic link, which may lead anywhere: set the directory itself".to_owned()
        }
        _ => "it is not a directory: remove it, or set another".to_owned(),
    }
}

/// The names in a directory, at most so many.
fn names(directory: &OwnedFd, names_max: usize) -> io::Result<Vec<String>> {
    let entries = rustix::fs::Dir::read_from(directory)?;
    let mut names = Vec::new();
    for entry in entries {
        let entry = entry?;
        // Names that are not UTF-8 are not ours.
        let Ok(name) = entry.file_name().to_str() else { continue };
        if name.ends_with(EXTENSION) {
            names.push(name.to_owned());
            if names.len() == names_max {
                break;
            }
        }
    }
    names.sort_unstable();
    Ok(names)
}

const DIRECTORY: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
const EXTENSION: &str = ".cells";
/// Files of a run directory that are looked at: many times those of one process.
const FILES_MAX: usize = 4_096;

impl RunDirectory {
    /// Where the exporter's run directory is if nobody sets another: in the service manager's directory for the service, or
    /// in the user's. `variable` gives the value of an environment variable.
    #[must_use]
    pub fn default_path(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
        let first = |variable: OsString| env::split_paths(&variable).next();
        let of = |name: &str, folder: &str| {
            let path = variable(name).and_then(first).filter(|path| path.is_absolute())?;
            Some(path.join(folder))
        };
        of("RUNTIME_DIRECTORY", "rpc-state").or_else(|| of("XDG_RUNTIME_DIR", "perfmon-exporter-rpc-state"))
    }
}

impl RunDirectory {
    /// Removes the files of processes that do not run any more. Returns their names.
    ///
    /// A file is left alone if its name is not one that this crate gives, if a process with this process id and start
    /// time runs, or if it is locked.
    ///
    /// # Errors
    /// When the directory cannot be read.
    pub fn remove_stale(&self) -> Result<Vec<String>, Error> {
        let failed = |error| Error::Directory { path: self.path.clone(), error };
        let mut names = names(&self.directory, FILES_MAX).map_err(failed)?;
        names.retain(|name| owner(name).is_some_and(|owner| !owner.is_running()) && self.remove(name));
        Ok(names)
    }

    /// Removes a file that nobody holds the lock of.
    fn remove(&self, name: &str) -> bool {
        let is_held = open_regular(&self.directory, &self.path, name)
            .is_ok_and(|file| flock(&file, FlockOperation::NonBlockingLockShared).is_err());
        !is_held && unlinkat(&self.directory, name, AtFlags::empty()).is_ok()
    }
}

/// The process whose file has this name.
fn owner(name: &str) -> Option<ProcessIdentity> {
    let (owner, number) = name.strip_suffix(EXTENSION)?.rsplit_once('-')?;
    number.parse::<u64>().ok()?;
    ProcessIdentity::parse(owner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(variables: &[(&str, &str)], expected: Option<&str>) {
        let found = |name: &str| {
            variables.iter().find(|(variable, _)| *variable == name).map(|(_, value)| OsString::from(value))
        };
        assert_eq!(RunDirectory::default_path(found), expected.map(PathBuf::from), "{variables:?}");
    }

    #[test]
    fn the_directory_is_the_services_own_or_the_users() {
        let user = ("XDG_RUNTIME_DIR", "/run/user/7");
        check(
            &[("RUNTIME_DIRECTORY", "/run/perfmon-exporter"), user],
            Some("/run/perfmon-exporter/rpc-state"),
        );
        check(&[("RUNTIME_DIRECTORY", "/run/first:/run/second")], Some("/run/first/rpc-state"));
        check(&[user], Some("/run/user/7/perfmon-exporter-rpc-state"));
        check(&[("RUNTIME_DIRECTORY", ""), user], Some("/run/user/7/perfmon-exporter-rpc-state"));
        check(&[("XDG_RUNTIME_DIR", "run")], None);
        check(&[], None);
    }

    #[test]
    fn the_owner_of_a_file_stands_in_its_name() {
        let identity = ProcessIdentity { pid: 77, start_ticks: 5, boot_id: 0xab };
        assert_eq!(owner(&format!("{identity}-3.cells")), Some(identity));
        for other in ["77.cells", "77-5-00000000000000ab.cells", "77-5-00000000000000ab-x.cells", "notes.txt"]
        {
            assert_eq!(owner(other), None, "{other}");
        }
    }
}
