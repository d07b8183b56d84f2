//! Files with exported sets.

use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use ms_pla::xml::DataCollectorSet;

use crate::model::{LIMITS, LogOverrides, Origin, Problem, ProblemKind, Set, Start};

/// What tells one content of a file from another, without reading it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    bytes: u64,
    modified: Option<SystemTime>,
}

/// A set with the stamp of its file.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FileSet {
    pub(crate) set: Set,
    /// Of the content that it was read from.
    pub(crate) stamp: Stamp,
}

/// What the settings say about a set in a file.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Overrides {
    /// The name, instead of the set's own.
    pub(crate) name: Option<String>,
    /// When its alerts are judged.
    pub(crate) start: Start,
    /// For how long, instead of the set's own time.
    pub(crate) duration: Option<Duration>,
    /// How its counters are logged.
    pub(crate) logs: LogOverrides,
    /// Whether hosts may lack its counters.
    pub(crate) is_optional: bool,
}

/// The stamp of a file; none if there is no such file.
pub(crate) fn stamp(path: &Path) -> Option<Stamp> {
    let found = fs::metadata(path).ok()?;
    Some(Stamp { bytes: found.len(), modified: found.modified().ok() })
}

/// Reads the document of a file.
///
/// # Errors
/// What is wrong with the file, for people.
pub(crate) fn document(path: &Path) -> Result<(DataCollectorSet, Stamp), String> {
    let unreadable = |error: std::io::Error| format!("`{}` cannot be read: {error}", path.display());
    // A pipe or a device would keep the reader waiting.
    if !fs::metadata(path).map_err(unreadable)?.is_file() {
        return Err(format!("`{}` is not a file", path.display()));
    }
    let file = File::open(path).map_err(unreadable)?;
    let found = file.metadata().map_err(unreadable)?;
    let stamp = Stamp { bytes: found.len(), modified: found.modified().ok() };
    let mut bytes = Vec::new();
    file.take(BYTES_MAX + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > BYTES_MAX {
        return Err(format!("`{}` has more than {BYTES_MAX} bytes", path.display()));
    }
    let document = DataCollectorSet::read_each(&bytes, &LIMITS);
    document.map(|document| (document, stamp)).map_err(|error| format!("`{}`: {error}", path.display()))
}

/// The set of a document, with all that is not done of it. This judges for the configuration and for `validate`.
pub(crate) fn judge(path: &Path, document: &DataCollectorSet, overrides: &Overrides) -> Set {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let mut set = Set::of_document(document, &stem, Origin::File(PathBuf::from(path)));
    if let Some(name) = &overrides.name {
        name.clone_into(&mut set.name);
    }
    set.add_logs(document, &overrides.logs);
    set.is_optional = overrides.is_optional;
    set.alerts.iter_mut().for_each(|alert| alert.is_optional = overrides.is_optional);
    set.start = overrides.start;
    set.duration = overrides.duration.unwrap_or(set.duration);
    set
}

/// Reads the set of a file.
///
/// # Errors
/// What is wrong with the file, for people.
pub(crate) fn read(path: &Path, overrides: &Overrides) -> Result<FileSet, String> {
    let (document, stamp) = document(path)?;
    let set = judge(path, &document, overrides);
    // A threshold that cannot be read would be an alert that never fires.
    let unread = |kind| matches!(kind, ProblemKind::Threshold | ProblemKind::Limit);
    let mut wrong: Vec<String> =
        set.problems.iter().filter(|problem| unread(problem.kind)).map(Problem::sentence).collect();
    let more = wrong.len().saturating_sub(SHOWN_MAX);
    if more > 0 {
        wrong.truncate(SHOWN_MAX);
        wrong.push(format!("and {more} more: `pla validate` lists them"));
    }
    if wrong.is_empty() {
        Ok(FileSet { set, stamp })
    } else {
        Err(format!("`{}`: {}", path.display(), wrong.join("; ")))
    }
}

const BYTES_MAX: u64 = 8 << 20;
/// Problems of one file that are shown at a time.
const SHOWN_MAX: usize = 3;
