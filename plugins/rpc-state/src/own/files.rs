//! Reads run directories.

use std::collections::HashSet;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use plugin_sdk::{Failure, GeneralReason, Stage};
use rpc_cells::{Error, FileSnapshot, Problem, Problems, ReadLimits, Snapshot, read_files};

use super::report::Report;
use super::{Tally, failure_of_directory, failure_of_files, is_missing, warn_of_missing};

/// The files that were there.
#[derive(Debug)]
pub(super) struct FileCounts {
    /// Those of processes that run.
    pub(super) running: u64,
    /// Those of processes that do not.
    pub(super) dead: u64,
    /// Those that could not be read, by reason.
    pub(super) failed: Tally,
    /// What could not be believed in the others, by kind.
    pub(super) problems: Tally,
    /// Those that are too many.
    pub(super) left_out: u64,
    /// The first of `failed`, and why.
    first_failed: Option<String>,
}

pub(super) struct Reading<'a> {
    pub(super) directories: &'a [PathBuf],
    pub(super) is_default: bool,
    pub(super) include_dead: bool,
    /// Whether a directory may be missing, because the program that makes it has not been started yet.
    pub(super) may_be_missing: bool,
    /// The time, in milliseconds after boot.
    pub(super) now_ms: u64,
    /// Files and directories of which was said that they cannot be read.
    pub(super) known_failed: &'a mut HashSet<PathBuf>,
    /// Waits a moment, in which a process that has just begun a file writes its head.
    pub(super) settle: &'a dyn Fn(),
}

impl Reading<'_> {
    /// Adds all files to the report. What could not be read is in the second result, if there is something else.
    ///
    /// # Errors
    /// When no directory can be read, or the collection was cancelled.
    pub(super) fn read(
        &mut self,
        report: &mut Report,
        is_cancelled: &dyn Fn() -> bool,
    ) -> Result<(FileCounts, Option<Failure>), Failure> {
        let mut counts = FileCounts::default();
        let mut failures = Vec::new();
        for directory in self.directories {
            if let Err(error) = self.read_directory(directory, report, &mut counts, is_cancelled) {
                let failure = failure_of_directory(&error, self.is_default);
                if !(self.may_be_missing && is_missing(&failure)) {
                    failures.push(failure);
                } else if self.known_failed.insert(directory.clone()) {
                    warn_of_missing(&failure);
                }
            }
            if is_cancelled() {
                let message = format!("read {}: cancelled", directory.display());
                return Err(Failure::new(Stage::Plugin, GeneralReason::Cancelled, message));
            }
        }
        let is_nothing_read = failures.len() == self.directories.len();
        match failures.into_iter().next() {
            Some(failure) if is_nothing_read => Err(failure),
            Some(failure) => Ok((counts, Some(failure))),
            None => {
                let failure =
                    counts.first_failed.as_deref().map(|first| failure_of_files(counts.failed.sum(), first));
                Ok((counts, failure))
            }
        }
    }

    /// A file that was not read before is looked at once more before it is said that it cannot be: it may not be written yet.
    fn read_directory(
        &mut self,
        path: &Path,
        report: &mut Report,
        counts: &mut FileCounts,
        is_cancelled: &dyn Fn() -> bool,
    ) -> Result<(), Error> {
        let limits = ReadLimits::default();
        let mut files = read_files(path, &limits)?;
        let mut again = HashSet::new();
        for FileSnapshot { file, snapshot } in files.by_ref().take(FILES_MAX) {
            match snapshot {
                Err(error) if may_be_unwritten(&error) && !self.known_failed.contains(&path.join(&file)) => {
                    again.insert(file);
                }
                snapshot => self.add(&file, snapshot, report, counts),
            }
            if is_cancelled() {
                break;
            }
        }
        counts.left_out += files.len() as u64;
        if again.is_empty() {
            return Ok(());
        }
        (self.settle)();
        for FileSnapshot { file, snapshot } in
            read_files(path, &limits)?.filter(|it| again.contains(&it.file))
        {
            if snapshot.is_err() && self.known_failed.len() < FILES_MAX {
                self.known_failed.insert(path.join(&file));
            }
            self.add(&file, snapshot, report, counts);
        }
        Ok(())
    }

    fn add(
        &self,
        file: &str,
        snapshot: Result<Snapshot, Error>,
        report: &mut Report,
        counts: &mut FileCounts,
    ) {
        match snapshot {
            Ok(snapshot) => {
                let is_dead = !snapshot.header.process.is_running();
                *(if is_dead { &mut counts.dead } else { &mut counts.running }) += 1;
                if !is_dead || self.include_dead {
                    counts.add_problems(&snapshot.problems);
                    report.add(&snapshot, is_dead, self.now_ms);
                }
            }
            Err(error) => counts.add_failed(file, &error),
        }
    }
}

impl FileCounts {
    fn add_failed(&mut self, file: &str, error: &Error) {
        let Some(reason) = reason_of(error) else { return };
        self.failed.add_many(reason, 1);
        // Errors about a path name the file.
        self.first_failed.get_or_insert_with(|| match error {
            Error::File { .. } | Error::NotRegular { .. } => error.to_string(),
            _ => format!("{file}: {error}"),
        });
    }

    fn add_problems(&mut self, problems: &Problems) {
        for problem in problems.listed() {
            self.problems.add_many(kind_of(problem), 1);
        }
        self.problems.add_many(NOT_LISTED, problems.more() as u64);
    }
}

impl Default for FileCounts {
    fn default() -> Self {
        Self {
            running: 0,
            dead: 0,
            failed: Tally::new(REASONS),
            problems: Tally::new(KINDS),
            left_out: 0,
            first_failed: None,
        }
    }
}

/// Why a file cannot be read; `None` if it was removed meanwhile, because its process ended.
fn reason_of(error: &Error) -> Option<&'static str> {
    Some(match error {
        Error::File { error, .. } => match error.kind() {
            ErrorKind::NotFound => return None,
            ErrorKind::PermissionDenied => ACCESS_DENIED,
            _ => READ_ERROR,
        },
        Error::NotRegular { .. } => NOT_REGULAR,
        Error::HeaderCutShort { .. } => CUT_SHORT,
        Error::Magic => NOT_CELLS,
        Error::Version { .. } => VERSION,
        Error::Capacity(_) | Error::Name => MALFORMED,
        _ => READ_ERROR,
    })
}

/// Whether it is what a file looks like that has no head yet.
fn may_be_unwritten(error: &Error) -> bool {
    reason_of(error).is_some_and(|reason| [CUT_SHORT, NOT_CELLS, VERSION, MALFORMED].contains(&reason))
}

fn kind_of(problem: &Problem) -> &'static str {
    match problem {
        Problem::Sections { .. } => "sections",
        Problem::CutShort { .. } => CUT_SHORT,
        Problem::TooManyCells { .. } => "too_many_cells",
        Problem::Changing { .. } => "changing",
        Problem::Malformed { .. } => MALFORMED,
        Problem::Reference { .. } => "reference",
        // Versions after this one may have more.
        _ => NOT_LISTED,
    }
}

const ACCESS_DENIED: &str = "access_denied";
const CUT_SHORT: &str = "cut_short";
const MALFORMED: &str = "malformed";
const NOT_CELLS: &str = "not_cells";
const NOT_LISTED: &str = "not_listed";
const NOT_REGULAR: &str = "not_regular";
const READ_ERROR: &str = "read_error";
const VERSION: &str = "version";

const REASONS: [&str; 7] = [ACCESS_DENIED, CUT_SHORT, MALFORMED, NOT_CELLS, NOT_REGULAR, READ_ERROR, VERSION];
const KINDS: [&str; 7] =
    ["sections", CUT_SHORT, "too_many_cells", "changing", MALFORMED, "reference", NOT_LISTED];

/// Files of one directory that are read: many times those of one program.
const FILES_MAX: usize = 1_024;

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::fs;

    use rpc_cells::{Capacity, Level, RunDirectory, SectionFileOptions, SigbusGuard};

    use super::super::Settings;
    use super::*;

    #[test]
    fn a_file_without_a_head_is_looked_at_once_more_before_it_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run");
        let directory = RunDirectory::open(&path).unwrap();
        let (name, level, capacity) = ("pcq", Level::FULL, Capacity::default());
        let options = SectionFileOptions { name, level, capacity, now_ms: 1 };
        let _own = directory.create(SigbusGuard::install().unwrap(), &options).unwrap();
        let whole = fs::read_dir(&path).unwrap().next().unwrap().unwrap().path();
        let (young, broken) = (path.join("young.cells"), path.join("broken.cells"));
        fs::write(&young, []).unwrap();

        let (looks, mut known_failed) = (Cell::new(0), HashSet::new());
        let settle = || {
            looks.set(looks.get() + 1);
            fs::copy(&whole, &young).unwrap();
        };
        let settings: Settings = serde_json::from_str("{}").unwrap();
        let mut read = || {
            let mut report = Report::new(settings.limits());
            let directories = std::slice::from_ref(&path);
            let mut reading = Reading {
                directories,
                is_default: false,
                include_dead: true,
                may_be_missing: false,
                now_ms: 2,
                known_failed: &mut known_failed,
                settle: &settle,
            };
            let (counts, failure) = reading.read(&mut report, &|| false).unwrap();
            (counts.running + counts.dead, failure.map(|failure| failure.message))
        };
        assert_eq!(read(), (2, None), "it was not written yet");
        assert_eq!((read(), looks.get()), ((2, None), 1));
        fs::write(&broken, []).unwrap();
        for _ in 0..3 {
            let (files, told) = read();
            assert!(files == 2 && told.is_some_and(|told| told.starts_with("broken.cells: ")));
        }
        assert_eq!(looks.get(), 2, "what stays broken is not waited for again");
    }
}
