//! The files that a protection is made of, and whether they are still those that were read.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use support::input::file::{self, Stamp};

/// No certificate, key or web configuration has more.
const FILE_BYTES_MAX: usize = 4 << 20;

/// What was read, and when it was written as of then.
pub(super) struct Files {
    now: SystemTime,
    seen: Vec<(PathBuf, Option<Stamp>)>,
    contents: DefaultHasher,
}

impl Files {
    pub(super) fn new(now: SystemTime) -> Self {
        Self { now, seen: Vec::new(), contents: DefaultHasher::new() }
    }

    /// Reads a file, and tracks it even if it cannot be read.
    pub(super) fn read(&mut self, path: &Path) -> Result<Vec<u8>, String> {
        let read = self.read_anew(path);
        (path, &read).hash(&mut self.contents);
        read
    }

    /// What all of them held, or why it could not be read, as a number to compare.
    pub(super) fn contents(&self) -> u64 {
        self.contents.finish()
    }

    fn read_anew(&mut self, path: &Path) -> Result<Vec<u8>, String> {
        let seen = Stamp::look(path, self.now);
        self.seen.push((path.to_owned(), seen));
        file::read(path, FILE_BYTES_MAX).map_err(|error| error.to_string())
    }

    /// Whether one of them is another than the one that was read, or was so young then that it may be.
    pub(super) fn may_have_changed(&self, now: SystemTime) -> bool {
        let differs = |(path, seen): &(PathBuf, Option<Stamp>)| {
            Stamp::may_differ(seen.as_ref(), Stamp::look(path, now).as_ref())
        };
        self.seen.iter().any(differs)
    }
}
