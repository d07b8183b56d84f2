use std::fmt;

use config::target_files::FileState;
use support::telemetry::{Metric, Writer};

pub(super) fn write(out: &mut Writer<'_, '_>, files: &[FileState]) -> fmt::Result {
    let each =
        |count: fn(&FileState) -> u64| files.iter().map(move |file| ([file.path.as_str()], count(file)));
    out.rows(&READ_SUCCESS, each(|file| u64::from(file.is_good)))?;
    out.rows(&TARGETS, each(|file| file.targets as u64))?;
    out.rows(&REFUSED, each(|file| file.refused as u64))?;
    let modified = files.iter().filter_map(|file| Some(([file.path.as_str()], file.modified_unix_s?)));
    out.rows(&MODIFIED, modified)
}

/// What this file shows.
pub const METRICS: &[&Metric] = &[&READ_SUCCESS, &TARGETS, &REFUSED, &MODIFIED];

static READ_SUCCESS: Metric = Metric::gauge(
    "perfmon_exporter_target_file_last_read_success",
    FILE,
    "Whether the file was a valid list when it was last read; otherwise its last good targets stay in use, \
     if there were any.",
);
static TARGETS: Metric = Metric::gauge(
    "perfmon_exporter_target_file_targets",
    FILE,
    "Targets in the file, including those that were refused.",
);
static REFUSED: Metric = Metric::gauge(
    "perfmon_exporter_target_file_refused_targets",
    FILE,
    "Targets in the file that were refused: they have an error, their name is already used, or there are \
     too many.",
);
static MODIFIED: Metric = Metric::gauge(
    "perfmon_exporter_target_file_mtime_seconds",
    FILE,
    "Modification time of the file when it was last read.",
);

const FILE: &[&str] = &["file"];
