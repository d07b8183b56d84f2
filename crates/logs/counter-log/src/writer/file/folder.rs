//! Files of one folder, by names without a folder in them.

use std::io;

use crate::SinkError;
use cap_std::fs::Dir;

use super::failure::{failure, refused};

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

const NUMBERS_MAX: u32 = 9_999;
