//! What is read of targets and plugins when a page is asked for.

mod memory;
mod plugins;
mod targets;

use std::fmt;

use config::target_files::FileState;
use support::telemetry::{Metric, Writer};

pub use self::memory::METRICS as MEMORY_METRICS;
pub use self::plugins::{METRICS as PLUGIN_METRICS, PluginSource, Plugins};
pub use self::targets::METRICS as TARGET_METRICS;

use super::registry::{TargetRegistry, TargetStatus};

impl TargetRegistry {
    /// What the exporter says of its targets and of the files that they come from.
    pub fn write(&self, out: &mut Writer<'_, '_>) -> fmt::Result {
        let entries = self.targets();
        let statuses: Vec<TargetStatus> = entries.iter().map(|entry| entry.status()).collect();
        let targets: Vec<targets::TargetWithStatus<'_>> =
            entries.iter().map(|entry| &**entry).zip(&statuses).collect();
        targets::write(out, &targets)?;
        memory::write(out, &targets)?;
        write_files(out, &self.files())
    }
}

fn write_files(out: &mut Writer<'_, '_>, files: &[FileState]) -> fmt::Result {
    let each =
        |count: fn(&FileState) -> u64| files.iter().map(move |file| ([file.path.as_str()], count(file)));
    out.rows(&READ_SUCCESS, each(|file| u64::from(file.is_good)))?;
    out.rows(&TARGETS, each(|file| file.targets as u64))?;
    out.rows(&REFUSED, each(|file| file.refused as u64))?;
    let modified = files.iter().filter_map(|file| Some(([file.path.as_str()], file.modified_unix_s?)));
    out.rows(&MODIFIED, modified)
}

/// What is shown of the files of targets.
pub const FILE_METRICS: &[&Metric] = &[&READ_SUCCESS, &TARGETS, &REFUSED, &MODIFIED];

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
