use std::path::{Path, PathBuf};
use std::time::SystemTime;

use support::input::file::{Look, WatchedFile};

use super::groups::parse_target_file;
use super::{FileNews, Skipped};
use crate::document::Config;
use crate::problem::Report;
use crate::target::Target;
use crate::tree::CONFIG_BYTES_MAX;

/// A file must be missing so many looks in a row before its targets go: who replaces a file by removing it first
/// does not take them down.
const MISSING_LOOKS: u8 = 2;

/// One file, as of the last look at it.
#[derive(Debug)]
pub(super) struct TargetFile {
    file: WatchedFile,
    /// It was good once.
    was_good: bool,
    pub(super) targets: Vec<Target>,
    /// What of it was not read as it is.
    pub(super) skipped: Vec<Skipped>,
    skipped_targets: usize,
    broken: Option<Report>,
    missing: u8,
}

impl TargetFile {
    pub(super) fn new(path: PathBuf) -> Self {
        Self {
            file: WatchedFile::new(path, CONFIG_BYTES_MAX),
            was_good: false,
            targets: Vec::new(),
            skipped: Vec::new(),
            skipped_targets: 0,
            broken: None,
            missing: 0,
        }
    }

    fn path(&self) -> &Path {
        self.file.path()
    }

    /// When it was written, as of the last look.
    pub(super) fn modified(&self) -> Option<SystemTime> {
        self.file.modified()
    }

    /// The file is read again at the next look, whatever it looks like.
    pub(super) fn forget_contents(&mut self) {
        self.file.forget();
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
    pub(super) fn look(&mut self, config: &Config, now: SystemTime, is_named: bool) -> Option<FileNews> {
        let bytes = match self.file.look(now) {
            look if look.is_missing() => return self.miss(is_named),
            Look::Unreadable(error) => return self.unreadable(error.to_string()),
            Look::Same => {
                self.missing = 0;
                return None;
            }
            Look::Changed(bytes) => bytes,
        };
        self.missing = 0;
        let text = match String::from_utf8(bytes) {
            Ok(text) => text,
            Err(error) => return self.unreadable(format!("is not UTF-8: {error}")),
        };
        match parse_target_file(&self.path().display().to_string(), &text, config) {
            Ok(mut list) => {
                (self.broken, self.was_good) = (None, true);
                list.keep_from(&self.targets);
                (self.targets, self.skipped) = (list.targets, list.skipped);
                self.skipped_targets = list.skipped_targets;
                Some(FileNews::Read(self.path().to_owned(), self.targets.len()))
            }
            Err(report) => self.broken(report),
        }
    }

    fn miss(&mut self, is_named: bool) -> Option<FileNews> {
        self.missing = self.missing.saturating_add(1);
        if self.was_good && self.missing < MISSING_LOOKS {
            return None;
        }
        let was_good = self.was_good;
        let path = self.path().to_owned();
        *self = Self { missing: self.missing, broken: self.broken.take(), ..Self::new(path.clone()) };
        if was_good {
            Some(FileNews::Gone(path))
        } else if is_named {
            let message = "there is no such file".to_owned();
            self.broken(Report::of_file(&path.display().to_string(), message, None))
        } else {
            None
        }
    }

    /// It is there, and says nothing.
    fn unreadable(&mut self, message: String) -> Option<FileNews> {
        self.missing = 0;
        self.forget_contents();
        self.broken(Report::of_file(&self.path().display().to_string(), message, None))
    }

    /// Tells each trouble once.
    fn broken(&mut self, report: Report) -> Option<FileNews> {
        let is_reported = self.broken.as_ref().is_some_and(|reported| reported.problems == report.problems);
        self.broken = Some(report.clone());
        (!is_reported).then_some(FileNews::Broken(report, self.targets.len()))
    }
}
