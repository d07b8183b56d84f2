//! The sets of a module while it runs: their files are read again when they change.

use std::path::PathBuf;

use crate::config::SetSource;
use crate::files::{self, FileSet, Overrides, Stamp};
use crate::host::HostSet;
use crate::model::{ALERTS_MAX, Set};
use crate::threads::SET_FILES;

/// A set with the state of its file.
#[derive(Debug)]
pub(crate) struct LoadedSet {
    source: SetSource,
    /// The content of the file that was seen last.
    seen: Option<Stamp>,
    /// What is wrong with that content. The set is that of an earlier one.
    problem: Option<String>,
}

/// A set as metrics show it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ShownSet<'a> {
    /// The set.
    pub(crate) set: &'a Set,
    /// Whether the content of its file that is there now cannot be used.
    pub(crate) has_bad_file: bool,
    /// Whether it would log, and has no folder or database to log to.
    pub(crate) lacks_storage: bool,
    /// Counters of its logs that are of other hosts.
    pub(crate) counters_elsewhere: usize,
    /// What only a set of the host has.
    pub(crate) host: Option<&'a HostSet>,
    /// When the host starts it next, in seconds since 1970.
    pub(crate) next_start_unix_s: Option<u64>,
}

impl<'a> From<&'a HostSet> for ShownSet<'a> {
    fn from(host: &'a HostSet) -> Self {
        Self {
            set: &host.set,
            has_bad_file: false,
            lacks_storage: false,
            counters_elsewhere: 0,
            host: Some(host),
            next_start_unix_s: None,
        }
    }
}

impl<'a> From<&'a LoadedSet> for ShownSet<'a> {
    fn from(loaded: &'a LoadedSet) -> Self {
        let has_bad_file = loaded.problem.is_some();
        Self {
            set: loaded.set(),
            has_bad_file,
            lacks_storage: false,
            counters_elsewhere: 0,
            host: None,
            next_start_unix_s: None,
        }
    }
}

impl LoadedSet {
    /// The set.
    pub(crate) const fn set(&self) -> &Set {
        self.source.set()
    }
}

/// Sets that were read just now. The check of the settings said what of them is not done.
pub(crate) fn loaded(sources: Vec<SetSource>) -> Vec<LoadedSet> {
    let load = |source: SetSource| {
        let seen = match &source {
            SetSource::Here(_) => None,
            SetSource::File { read, .. } => Some(read.stamp),
        };
        LoadedSet { source, seen, problem: None }
    };
    sources.into_iter().map(load).collect()
}

/// Reads the files that have changed. Returns whether a set did.
pub(crate) async fn reload(sets: &mut [LoadedSet]) -> bool {
    let files: Vec<(usize, PathBuf, Box<Overrides>, Option<Stamp>)> = sets
        .iter()
        .enumerate()
        .filter_map(|(index, set)| match &set.source {
            SetSource::Here(_) => None,
            SetSource::File { path, overrides, .. } => {
                Some((index, path.clone(), overrides.clone(), set.seen))
            }
        })
        .collect();
    if files.is_empty() {
        return false;
    }
    // A file may be on a network drive.
    let look = SET_FILES.run(move || {
        let looked = files.into_iter().filter_map(|(index, path, overrides, seen)| {
            let stamp = files::stamp(&path);
            (stamp != seen).then(|| (index, stamp, files::read(&path, &overrides)))
        });
        looked.collect::<Vec<_>>()
    });
    let mut has_changed = false;
    for (index, stamp, read) in look.await.unwrap_or_default() {
        let is_taken =
            |name: &str| sets.iter().enumerate().any(|(other, set)| other != index && set.set().name == name);
        let others = sets.iter().enumerate().filter(|(other, _)| *other != index);
        let alerts: usize = others.map(|(_, set)| set.set().alerts.len()).sum();
        let read = read.and_then(|read| match is_taken(&read.set.name) {
            true => Err(format!("another set of the module is called `{}`, too", read.set.name)),
            false if alerts + read.set.alerts.len() > ALERTS_MAX => {
                Err(format!("all sets together have more than {ALERTS_MAX} alerts"))
            }
            false => Ok(read),
        });
        has_changed |= sets[index].take(stamp, read);
    }
    has_changed
}

impl LoadedSet {
    /// Takes another content of the file. Returns whether the set is another one.
    fn take(&mut self, stamp: Option<Stamp>, content: Result<FileSet, String>) -> bool {
        self.seen = stamp;
        let SetSource::File { read, .. } = &mut self.source else { return false };
        let name = &read.set.name;
        match content {
            Ok(content) => {
                tracing::info!(set = name, "The file of a set was read again");
                if content.set.problems != read.set.problems {
                    content.set.tell(&content.set.problems, content.set.problems_left_out);
                }
                self.problem = None;
                let is_other = content.set != read.set;
                *read = content;
                is_other
            }
            Err(problem) => {
                tracing::warn!(
                    set = name,
                    problem,
                    "The file of a set cannot be used any more; its earlier content holds"
                );
                self.problem = Some(problem);
                false
            }
        }
    }
}
