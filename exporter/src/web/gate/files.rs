//! The files that a protection is made of, and whether they are still those that were read.

use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::config::Stamp;

/// No certificate, key or web configuration has more.
const FILE_BYTES_MAX: u64 = 4 << 20;

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

    /// Reads a file, and remembers it even where it cannot be read.
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
        let failed = |error: io::Error| format!("cannot be read: {error}");
        let metadata = fs::metadata(path);
        self.seen
            .push((path.to_owned(), metadata.as_ref().ok().map(|metadata| Stamp::of(metadata, self.now))));
        if !metadata.map_err(failed)?.is_file() {
            // Reading a pipe would wait for who writes into it.
            return Err("is no file".to_owned());
        }
        let mut bytes = Vec::new();
        let file = File::open(path).map_err(failed)?;
        file.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes).map_err(failed)?;
        if bytes.len() as u64 > FILE_BYTES_MAX {
            return Err(format!("has more than {FILE_BYTES_MAX} bytes, which is the limit"));
        }
        Ok(bytes)
    }

    /// Whether one of them is another than the one that was read, or was so young then that it may be.
    pub(super) fn may_have_changed(&self, now: SystemTime) -> bool {
        self.seen.iter().any(|(path, seen)| {
            let is_now = fs::metadata(path).ok().map(|metadata| Stamp::of(&metadata, now));
            match (seen, is_now) {
                (None, None) => false,
                (Some(seen), Some(is_now)) => !seen.is_settled() || !seen.is_same(&is_now),
                _ => true,
            }
        })
    }
}
