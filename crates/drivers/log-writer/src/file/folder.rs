//! Files of one folder, by names without a folder in them. Links are never followed.

use std::fs::File;
use std::io;

use cap_std::fs::{Dir, OpenOptions, OpenOptionsExt};
use counter_log::SinkError;
use rustix::fs::OFlags;

use super::failure::{failure, refused};

/// Begins a file that must not be there.
pub(super) fn create(folder: &Dir, name: &str) -> io::Result<File> {
    let mut options = options();
    options.create_new(true).mode(MODE);
    folder.open_with(name, &options).map(cap_std::fs::File::into_std)
}

/// Opens a file that is there: a regular one, with no other name.
pub(super) fn open(folder: &Dir, name: &str) -> io::Result<File> {
    let file = folder.open_with(name, &options())?.into_std();
    let metadata = file.metadata()?;
    let is_alone = metadata.is_file() && std::os::unix::fs::MetadataExt::nlink(&metadata) == 1;
    if is_alone { Ok(file) } else { Err(io::Error::other("it is no regular file with one name")) }
}

/// Removes a file, if there is one.
pub(super) fn remove(folder: &Dir, name: &str) -> io::Result<()> {
    match folder.remove_file(name) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Whether there is something of this name, be it a link that leads nowhere.
pub(super) fn has(folder: &Dir, name: &str) -> io::Result<bool> {
    match folder.symlink_metadata(name) {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// The first of `NAME`, `NAME (2)`, `NAME (3)` … that is free.
pub(super) fn free_name(
    name: &str,
    is_taken: impl Fn(&str) -> io::Result<bool>,
) -> Result<String, SinkError> {
    for number in 1..=NUMBERS_MAX {
        let candidate = if number == 1 { name.to_owned() } else { beside(name, &format!("({number})")) };
        match is_taken(&candidate) {
            Ok(false) => return Ok(candidate),
            Ok(true) => {}
            Err(error) => return Err(failure(format_args!("look for {candidate}"), &error)),
        }
    }
    Err(refused(format!("{name} and {NUMBERS_MAX} names beside it are taken; remove older files")))
}

/// `NAME.csv` with a mark is `NAME MARK.csv`.
pub(super) fn beside(name: &str, mark: &str) -> String {
    match name.rsplit_once('.').filter(|(stem, _)| !stem.is_empty()) {
        Some((stem, extension)) => format!("{stem} {mark}.{extension}"),
        None => format!("{name} {mark}"),
    }
}

/// Whether it is the name of a file without a folder.
pub(super) fn is_file_name(name: &str) -> bool {
    !matches!(name, "" | "." | "..") && !name.contains(['/', '\0'])
}

const NUMBERS_MAX: u32 = 9_999;

/// Others than the group do not read logs.
const MODE: u32 = 0o640;

fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    // A pipe that somebody put there must not make the opening wait.
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
    options.read(true).write(true).custom_flags(flags);
    options
}
