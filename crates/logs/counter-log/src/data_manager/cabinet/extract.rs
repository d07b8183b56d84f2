use std::fs::File;
use std::io::Write;

use cap_std::fs::Dir;
use rustix::fd::{AsFd, BorrowedFd};
use rustix::fs::{AtFlags, Mode, Timespec, Timestamps};
use rustix::io::Errno;

use super::layout::ExtractLimits;
use super::read::Cabinet;
use crate::data_manager::tree;
use crate::data_manager::{Error, Result};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Extracted {
    pub files: u64,
    pub bytes: u64,
}

/// [MS-PLA] 3.2.4.2.25: unpacks the cabinet file `name` of a folder into another folder. Its names, sizes, checksums and all of
/// its data are checked before anything is written, no file is overwritten, and no link is followed. After a failure nothing
/// of it is left there.
///
/// # Errors
/// [`Error::Cabinet`] if it is refused; files exist already or cannot be written; [`Error::Stopped`].
pub fn extract(
    from: &Dir,
    name: &str,
    to: &Dir,
    limits: &ExtractLimits,
    stop: &dyn Fn() -> bool,
) -> Result<Extracted> {
    let from = tree::open_root(from).map_err(|error| Error::io("open folder", ".", error))?;
    let to = tree::open_root(to).map_err(|error| Error::io("open folder", ".", error))?;
    let source = tree::open_file(from.as_fd(), name)?;
    let mut cabinet = Cabinet::open(source, name, limits)?;
    cabinet.read(stop, &mut |_, _| Ok(()))?;
    let mut target = Target { root: to.as_fd(), made: Vec::new() };
    let unpacked = target.unpack(&mut cabinet, stop);
    if unpacked.is_err() {
        target.undo();
    }
    unpacked
}

/// The folder that files are unpacked into.
struct Target<'a> {
    root: BorrowedFd<'a>,
    /// What was made there: paths, and whether they are folders.
    made: Vec<(String, bool)>,
}

impl Target<'_> {
    fn unpack(&mut self, cabinet: &mut Cabinet<File>, stop: &dyn Fn() -> bool) -> Result<Extracted> {
        let entries = cabinet.entries().to_vec();
        let mut extracted = Extracted::default();
        let mut open: Option<(usize, File)> = None;
        let mut left = 0_u64;
        cabinet.read(stop, &mut |index, bytes| {
            // Indexes are those of the entries.
            let entry = &entries[index];
            if open.as_ref().is_none_or(|(opened, _)| *opened != index) {
                open = Some((index, self.create(&entry.path)?));
                left = entry.bytes.into();
                extracted.files += 1;
            }
            let Some((_, file)) = &mut open else { return Ok(()) };
            file.write_all(bytes).map_err(|error| Error::io("write", &entry.path, error))?;
            extracted.bytes += bytes.len() as u64;
            left -= bytes.len() as u64;
            if let (0, Some(modified)) = (left, entry.modified) {
                let time = Timespec { tv_sec: modified.as_second(), tv_nsec: 0 };
                let times = Timestamps { last_access: time, last_modification: time };
                rustix::fs::futimens(&*file, &times)
                    .map_err(|error| Error::io("set the time of", &entry.path, error))?;
            }
            Ok(())
        })?;
        Ok(extracted)
    }

    /// Makes a file, and the folders on its way.
    fn create(&mut self, path: &str) -> Result<File> {
        for (at, _) in path.match_indices('/') {
            let (parent, name) = tree::parent_of(self.root, &path[..at])?;
            match rustix::fs::mkdirat(
                parent.as_ref().map_or(self.root, AsFd::as_fd),
                name,
                Mode::from_raw_mode(0o777),
            ) {
                Ok(()) => self.made.push((path[..at].to_owned(), true)),
                Err(Errno::EXIST) => {}
                Err(error) => return Err(Error::io("create folder", &path[..at], error)),
            }
        }
        let (parent, name) = tree::parent_of(self.root, path)?;
        let parent = parent.as_ref().map_or(self.root, AsFd::as_fd);
        let file = safe_files::create(parent, name).map_err(|error| Error::io("create", path, error))?;
        self.made.push((path.to_owned(), false));
        Ok(file)
    }

    /// Deletes what was made, the newest first.
    fn undo(&mut self) {
        for (path, is_folder) in self.made.drain(..).rev() {
            let flags = if is_folder { AtFlags::REMOVEDIR } else { AtFlags::empty() };
            // The failure that led here is what is reported.
            let Ok((parent, name)) = tree::parent_of(self.root, &path) else { continue };
            let parent = parent.as_ref().map_or(self.root, AsFd::as_fd);
            let _ = rustix::fs::unlinkat(parent, name, flags);
        }
    }
}
