use std::io;

use crate::SinkError;
use cap_std::fs::Dir;

use super::parquet::{self, JOURNAL_SUFFIX};
use super::text;

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
/// What cannot be recovered stays as it is, and is in [`Recovered::failures`].
///
/// # Errors
/// When the folder cannot be listed.
pub fn recover(folder: &Dir) -> io::Result<Recovered> {
    let mut recovered = Recovered::default();
    for entry in folder.entries()? {
        let name = entry?.file_name();
        let Some(file) = name.to_str().and_then(|name| name.strip_suffix(JOURNAL_SUFFIX)) else { continue };
        recovered.add(parquet::recover(folder, file).map(Some));
    }
    Ok(recovered)
}

/// Cuts rows off the CSV and TSV files of `folder` that a process left behind before they were whole. Not while logs are written
/// there.
///
/// What is no log stays as it is. What cannot be changed is in [`Recovered::failures`].
///
/// # Errors
/// When the folder cannot be listed.
pub fn cut_unfinished_rows(folder: &Dir) -> io::Result<Recovered> {
    let mut recovered = Recovered::default();
    for entry in folder.entries()? {
        let name = entry?.file_name();
        let Some(file) = name.to_str().filter(|name| name.ends_with(".csv") || name.ends_with(".tsv")) else {
            continue;
        };
        recovered.add(text::cut_row(folder, file).map(|is_cut| is_cut.then_some(0)));
    }
    Ok(recovered)
}

impl Recovered {
    /// Adds the records of a file, if there was something to do.
    fn add(&mut self, file: Result<Option<u64>, SinkError>) {
        match file {
            Ok(Some(records)) => {
                self.files += 1;
                self.records += records;
            }
            Ok(None) => {}
            Err(failure) if self.failures.len() < FAILURES_MAX => self.failures.push(failure),
            Err(_) => {}
        }
    }
}

/// The most failures that are reported.
const FAILURES_MAX: usize = 100;
