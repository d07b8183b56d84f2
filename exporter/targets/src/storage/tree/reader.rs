//! Reads directories within limits.

use std::io;
use std::time::SystemTime;

use cap_std::fs::Dir;

use super::super::open::open_directory;
use super::super::path::{LEVELS_MAX, is_journal, is_shown};
use super::{Limits, Run, RunFile, Tree};

/// What is in one directory, directories by name.
pub(super) struct Found {
    pub(super) directories: Vec<String>,
    files: Vec<RunFile>,
}

pub(super) struct Reader {
    limits: Limits,
    /// What was read of them.
    pub(super) used: Limits,
    /// Whether one of them was in the way.
    pub(super) is_over: bool,
    pub(super) tree: Tree,
}

impl Reader {
    pub(super) fn new(limits: Limits) -> Self {
        Self { limits, used: Limits::default(), is_over: false, tree: Tree::default() }
    }

    /// Reads the directory of a target, which is in `root`.
    pub(super) fn read_target(&mut self, root: &Dir, target: &str) {
        let Some((at_target, sets)) = self.enter(root, target) else { return };
        self.add(Run::new(target, "", ""), sets.files, None);
        for set in sets.directories {
            let Some((at_set, found)) = self.enter(&at_target, &set) else { continue };
            self.add(Run::new(target, &set, ""), found.files, None);
            // The newest have the greatest numbers, or the latest dates in their names.
            for folder in found.directories.iter().rev() {
                self.read_run(&at_set, Run::new(target, &set, folder));
            }
        }
    }

    fn read_run(&mut self, above: &Dir, run: Run) {
        let Some((directory, found)) = self.enter(above, &run.folder) else { return };
        let changed = directory.dir_metadata().ok().and_then(|status| status.modified().ok());
        let mut files = Vec::new();
        self.take_files(&directory, found, &mut Vec::new(), &mut files);
        self.add(run, files, changed.map(cap_std::time::SystemTime::into_std));
    }

    /// Takes the files of a directory of a run, and those of directories below it.
    fn take_files(&mut self, at: &Dir, found: Found, above: &mut Vec<String>, files: &mut Vec<RunFile>) {
        files.extend(found.files.into_iter().map(|mut file| {
            file.path.splice(..0, above.iter().cloned());
            file
        }));
        // Above these are the names of target, set and run, and below them that of a file.
        let is_deep = above.len() + 5 > LEVELS_MAX;
        self.tree.is_cut |= is_deep && !found.directories.is_empty();
        for name in found.directories.into_iter().filter(|_| !is_deep) {
            let Some((directory, below)) = self.enter(at, &name) else { continue };
            above.push(name);
            self.take_files(&directory, below, above, files);
            above.pop();
        }
    }

    fn add(&mut self, mut run: Run, mut files: Vec<RunFile>, changed: Option<SystemTime>) {
        if files.is_empty() && run.folder.is_empty() {
            return;
        }
        files.sort_unstable_by(|one, other| one.path.cmp(&other.path));
        run.bytes = files.iter().map(|file| file.bytes).fold(0, u64::saturating_add);
        run.modified = files.iter().filter_map(|file| file.modified).max().or(changed);
        run.files = files;
        self.tree.bytes = self.tree.bytes.saturating_add(run.bytes);
        self.tree.files += run.files.len();
        self.tree.runs.push(run);
    }

    /// Opens and lists a directory; one at a time on each level, so that few descriptors are open.
    fn enter(&mut self, above: &Dir, name: &str) -> Option<(Dir, Found)> {
        if self.used.folders == self.limits.folders {
            self.is_over = true;
            return None;
        }
        self.used.folders += 1;
        let entered = open_directory(above, name).and_then(|directory| {
            let found = self.list(&directory)?;
            Ok((directory, found))
        });
        match entered {
            Ok(entered) => Some(entered),
            // Somebody removed or replaced it since it was listed.
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(_) => {
                self.tree.unreadable += 1;
                None
            }
        }
    }

    pub(super) fn list(&mut self, directory: &Dir) -> io::Result<Found> {
        let mut found = Found { directories: Vec::new(), files: Vec::new() };
        for entry in directory.entries()? {
            let entry = entry?;
            if self.used.entries == self.limits.entries {
                self.is_over = true;
                break;
            }
            self.used.entries += 1;
            let name = entry.file_name().into_string().ok().filter(|name| is_shown(name));
            let (Some(name), Ok(kind)) = (name, entry.file_type()) else { continue };
            if kind.is_dir() {
                found.directories.push(name);
            } else if !kind.is_file() || is_journal(&name) {
                // Nothing that readers could use.
            } else if self.used.files == self.limits.files {
                self.is_over = true;
            } else {
                // It may be gone since it was listed.
                let Ok(status) = entry.metadata() else { continue };
                self.used.files += 1;
                let modified = status.modified().ok().map(cap_std::time::SystemTime::into_std);
                found.files.push(RunFile { path: vec![name], bytes: status.len(), modified });
            }
        }
        found.directories.sort_unstable();
        Ok(found)
    }
}
