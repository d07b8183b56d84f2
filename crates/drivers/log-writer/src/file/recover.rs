use std::io;

use cap_std::fs::Dir;
use counter_log::SinkError;

use super::parquet::{self, JOURNAL_SUFFIX};

/// What was found in a folder after a process had ended in the middle of its logs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recovered {
    /// Files that were brought to an end.
    pub files: u64,
    /// Records that were read from their journals.
    pub records: u64,
    /// What could not be recovered, with the reasons: the first 100.
    pub failures: Vec<SinkError>,
}

/// Brings the Parquet files of `folder` to an end that a process left behind with a journal. Not while logs are written there.
///
/// What cannot be recovered stays as it is, and is told in [`Recovered::failures`].
///
/// # Errors
/// When the folder cannot be listed.
pub fn recover(folder: &Dir) -> io::Result<Recovered> {
    let mut recovered = Recovered::default();
    for entry in folder.entries()? {
        let name = entry?.file_name();
        let Some(file) = name.to_str().and_then(|name| name.strip_suffix(JOURNAL_SUFFIX)) else { continue };
        match parquet::recover(folder, file) {
            Ok(records) => {
                recovered.files += 1;
                recovered.records += records;
            }
            Err(failure) if recovered.failures.len() < FAILURES_MAX => recovered.failures.push(failure),
            Err(_) => {}
        }
    }
    Ok(recovered)
}

/// The most failures that are told.
const FAILURES_MAX: usize = 100;
