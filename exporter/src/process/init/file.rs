//! Files that are written whole, with their mode, and never over others by accident.

use std::ffi::OsString;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use super::Error;

/// The mode of a password file.
pub(super) const OWNER_ONLY: u32 = 0o600;
/// The mode of a configuration, less the process's umask.
pub(super) const READABLE: u32 = 0o644;

/// # Errors
/// When `folder` is none.
pub(super) fn check_folder(folder: &Path) -> Result<(), Error> {
    let shown = folder.display();
    match fs::metadata(folder) {
        Ok(metadata) if metadata.is_dir() => Ok(()),
        Ok(_) => Err(Error::Failed(format!("--output {shown}: is not a folder; name one"))),
        Err(error) => Err(Error::Failed(format!(
            "--output {shown}: {error}; create the folder with `mkdir -p`, or name another one"
        ))),
    }
}

/// # Errors
/// When `path` exists, be it as a link to nowhere.
pub(super) fn check_free(path: &Path) -> Result<(), Error> {
    // What else is wrong is seen when it is written.
    if is_free(path) { Ok(()) } else { Err(exists(path)) }
}

/// Whether nothing is known to be at `path`, not even a link to nowhere.
pub(super) fn is_free(path: &Path) -> bool {
    fs::symlink_metadata(path).is_err()
}

/// Writes a new file. With `force`, one that is there is replaced at once and whole.
pub(super) fn write(path: &Path, bytes: &[u8], mode: u32, force: bool) -> Result<(), Error> {
    let written = if force { replace(path, bytes, mode) } else { create(path, bytes, mode) };
    written.map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists if !force => exists(path),
        _ => Error::Failed(format!(
            "write {}: {error}; name a folder that you may write to with --output DIR",
            path.display()
        )),
    })
}

fn create(path: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(mode).open(path)?;
    file.write_all(bytes).and_then(|()| file.sync_all()).inspect_err(|_| {
        // Half a file is none. The error that matters is the first one.
        let _ = fs::remove_file(path);
    })
}

fn replace(path: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
    let mut name = OsString::from(path);
    name.push(format!(".{}.new", std::process::id()));
    let new = Path::new(&name);
    create(new, bytes, mode).and_then(|()| fs::rename(new, path)).inspect_err(|_| {
        // The error that matters is the first one.
        let _ = fs::remove_file(new);
    })
}

fn exists(path: &Path) -> Error {
    Error::Failed(format!(
        "{} exists and stays as it is; replace it with --force, or write elsewhere with --output DIR",
        path.display()
    ))
}
