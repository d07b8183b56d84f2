//! The sets of a module while it runs: their files are read again when they change.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::config::SetSource;
use crate::files::{self, FileSet, Overrides, Stamp};
use crate::host::HostSet;
use crate::model::{ALERTS_MAX, Set};
use crate::threads::{Place, SET_FILES};

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
    let mut folders = BTreeMap::<Place, Vec<(usize, PathBuf, Box<Overrides>, Option<Stamp>)>>::new();
    for (index, set) in sets.iter().enumerate() {
        if let SetSource::File { path, overrides, .. } = &set.source {
            let file = (index, path.clone(), overrides.clone(), set.seen);
            folders.entry(Place::of_file(path)).or_default().push(file);
        }
    }
    let mut changed = Vec::new();
    for (folder, files) in folders {
        // It may be on a network drive that hangs: no share of another folder is held meanwhile.
        let look = SET_FILES.run(vec![folder], move || {
            let looked = files.into_iter().filter_map(|(index, path, overrides, seen)| {
                let stamp = files::stamp(&path);
                (stamp != seen).then(|| (index, stamp, files::read(&path, &overrides)))
            });
            looked.collect::<Vec<_>>()
        });
        changed.extend(look.await.unwrap_or_default());
    }
    let mut has_changed = false;
    for (index, stamp, read) in changed {
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

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::time::Duration;

    use serde_json::json;
    use tokio::time::timeout;

    use super::*;
    use crate::config;

    /// A set whose file changes after it was read.
    fn changed(folder: &Path) -> Vec<LoadedSet> {
        std::fs::create_dir(folder).expect("a folder");
        let path = folder.join("set.xml");
        let write = |level: u32| {
            let alert = format!(r"<Alert>\Water\Level&gt;{level}</Alert>");
            let collector = format!("<AlertDataCollector><Name>High</Name>{alert}</AlertDataCollector>");
            let text = format!("<DataCollectorSet><Name>Nightly</Name>{collector}</DataCollectorSet>");
            std::fs::write(&path, text).expect("the folder is ours");
        };
        write(9);
        let settings = serde_json::from_value(json!({"sets": [{"file": path}]})).expect("settings");
        let sets = loaded(config::compile(&settings).expect("settings that are right").sets);
        write(10);
        sets
    }

    #[tokio::test]
    async fn files_of_a_folder_that_hangs_keep_no_others_from_being_read() {
        let place = tempfile::tempdir().expect("a folder");
        let hangs = place.path().join("hangs");
        let (mut waiting, mut other) = (changed(&hangs), changed(&place.path().join("other")));
        let turns = SET_FILES.hang(Place::Folder(hangs)).await;
        let waiting = tokio::spawn(async move { reload(&mut waiting).await });
        let read = timeout(Duration::from_secs(30), reload(&mut other)).await;
        assert_eq!(read, Ok(true));
        for _ in 0..10 {
            assert!(!reload(&mut other).await, "it is as it was");
        }
        assert!(!waiting.is_finished(), "it waits for its folder");
        drop(turns);
        assert!(waiting.await.expect("no panic"));
    }
}
