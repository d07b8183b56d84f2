//! Reads run directories.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use plugin_sdk::{Collection, Failure, GeneralReason, Stage};
use rpc_cells::{Error, Problem, Problems, ReadLimits, read_files};

use super::reasons::{of_directory, of_files};
use super::report::Report;
use super::tally::Tally;

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

/// What is read.
pub(super) struct Reading<'a> {
    pub(super) directories: &'a [PathBuf],
    pub(super) is_default: bool,
    pub(super) include_dead: bool,
    /// The time, in milliseconds after boot.
    pub(super) now_ms: u64,
}

impl Reading<'_> {
    /// Adds all files to the report. What could not be read is in the second result, if there is something else.
    ///
    /// # Errors
    /// When no directory can be read, or the collection was cancelled.
    pub(super) fn read(
        &self,
        report: &mut Report,
        collection: &Collection,
    ) -> Result<(FileCounts, Option<Failure>), Failure> {
        let mut counts = FileCounts::default();
        let mut failures = Vec::new();
        for directory in self.directories {
            if let Err(error) = self.read_directory(directory, report, &mut counts, collection) {
                failures.push(of_directory(&error, self.is_default));
            }
            if collection.is_cancelled() {
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
                    counts.first_failed.as_deref().map(|first| of_files(counts.failed.sum(), first));
                Ok((counts, failure))
            }
        }
    }

    fn read_directory(
        &self,
        path: &Path,
        report: &mut Report,
        counts: &mut FileCounts,
        collection: &Collection,
    ) -> Result<(), Error> {
        let limits = ReadLimits::default();
        let mut files = read_files(path, &limits)?;
        for file in files.by_ref().take(FILES_MAX) {
            match file.snapshot {
                Ok(snapshot) => {
                    let is_dead = !snapshot.header.process.is_running();
                    *(if is_dead { &mut counts.dead } else { &mut counts.running }) += 1;
                    if !is_dead || self.include_dead {
                        counts.add_problems(&snapshot.problems);
                        report.add(&snapshot, is_dead, self.now_ms);
                    }
                }
                Err(error) => counts.add_failed(&file.file, &error),
            }
            if collection.is_cancelled() {
                break;
            }
        }
        counts.left_out += files.len() as u64;
        Ok(())
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
