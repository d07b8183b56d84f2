use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::path::Path;
use std::time::SystemTime;

use input::file::{self, Stamp};

use super::FileNews;
use super::groups::parse_target_file;
use super::list::Skipped;
use crate::document::Config;
use crate::problem::Report;
use crate::target::Target;
use crate::tree::CONFIG_BYTES_MAX;

/// A file must be missing so many looks in a row before its targets go: who replaces a file by removing it first
/// does not take them down.
const MISSING_LOOKS: u8 = 2;

/// One file, as of the last look at it.
#[derive(Debug, Default)]
pub(super) struct Known {
    /// Nothing where the last look could not read it.
    seen: Option<Stamp>,
    contents: Option<u64>,
    /// It was good once.
    was_good: bool,
    pub(super) targets: Vec<Target>,
    /// What of it was not read as it stands.
    pub(super) skipped: Vec<Skipped>,
    skipped_targets: usize,
    broken: Option<Report>,
    pub(super) modified: Option<SystemTime>,
    missing: u8,
}

impl Known {
    /// The file is read again at the next look, whatever it looks like.
    pub(super) fn forget_contents(&mut self) {
        (self.seen, self.contents) = (None, None);
    }

    /// The number of its targets that are not asked as written, because something is wrong with them.
    pub(super) fn skipped_targets(&self) -> usize {
        self.skipped_targets
    }

    /// The number of targets in it, good and bad.
    pub(super) fn all_targets(&self) -> usize {
        let kept: usize = self.skipped.iter().map(|skipped| skipped.kept).sum();
        self.targets.len() - kept + self.skipped_targets
    }

    /// Why the last reading failed.
    pub(super) fn broken_by(&self) -> Option<&Report> {
        self.broken.as_ref()
    }

    /// Whether the last reading succeeded.
    pub(super) fn is_good(&self) -> bool {
        self.broken.is_none() && self.was_good
    }

    /// Whether it was missing for so long that its targets go.
    pub(super) fn is_gone(&self) -> bool {
        self.missing >= MISSING_LOOKS
    }

    /// Looks at the file, and reads it where it changed.
    pub(super) fn look(
        &mut self,
        path: &Path,
        config: &Config,
        now: SystemTime,
        is_named: bool,
    ) -> Option<FileNews> {
        let metadata = match fs::metadata(path) {
            Ok(metadata) => metadata,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return self.miss(path, is_named),
            Err(error) => return self.unreadable(path, format!("cannot be read: {error}")),
        };
        self.missing = 0;
        let seen = Stamp::of(&metadata, now);
        if seen.is_settled() && self.seen.is_some_and(|before| before.is_settled() && before.is_same(&seen)) {
            return None;
        }
        self.seen = Some(seen);
        self.modified = metadata.modified().ok();
        let text = match read(path) {
            Ok(text) => text,
            Err(message) => return self.unreadable(path, message),
        };
        let mut hasher = DefaultHasher::new();
        text.hash(&mut hasher);
        let contents = hasher.finish();
        if self.contents.replace(contents) == Some(contents) {
            return None;
        }
        match parse_target_file(&path.display().to_string(), &text, config) {
            Ok(mut list) => {
                (self.broken, self.was_good) = (None, true);
                list.keep_from(&self.targets);
                (self.targets, self.skipped) = (list.targets, list.skipped);
                self.skipped_targets = list.skipped_targets;
                Some(FileNews::Read(path.to_owned(), self.targets.len()))
            }
            Err(report) => self.broken(report),
        }
    }

    fn miss(&mut self, path: &Path, is_named: bool) -> Option<FileNews> {
        self.missing = self.missing.saturating_add(1);
        if self.was_good && self.missing < MISSING_LOOKS {
            return None;
        }
        let was_good = self.was_good;
        *self = Self { missing: self.missing, broken: self.broken.take(), ..Self::default() };
        if was_good {
            Some(FileNews::Gone(path.to_owned()))
        } else if is_named {
            self.unreadable(path, "there is no such file".to_owned())
        } else {
            None
        }
    }

    fn unreadable(&mut self, path: &Path, message: String) -> Option<FileNews> {
        self.forget_contents();
        self.broken(Report::of_file(&path.display().to_string(), message, None))
    }

    /// Tells each trouble once.
    fn broken(&mut self, report: Report) -> Option<FileNews> {
        let is_told = self.broken.as_ref().is_some_and(|told| told.problems == report.problems);
        self.broken = Some(report.clone());
        (!is_told).then_some(FileNews::Broken(report, self.targets.len()))
    }
}

fn read(path: &Path) -> Result<String, String> {
    let text = file::read(path, CONFIG_BYTES_MAX).map_err(|error| error.to_string())?;
    String::from_utf8(text).map_err(|error| format!("is no UTF-8: {error}"))
}
