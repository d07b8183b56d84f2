//! Which runs and files there are below the configured directory, read within limits.

use std::io;
use std::path::Path;
use std::time::SystemTime;

use cap_std::ambient_authority;
use cap_std::fs::Dir;

use super::open::open_directory;
use super::{LEVELS_MAX, is_journal, is_shown};

/// Directories that are read.
pub const FOLDERS_MAX: usize = 10_000;
/// Files that are listed.
pub const FILES_MAX: usize = 100_000;

/// How much of a directory is read.
#[derive(Clone, Copy, Debug, Default)]
struct Limits {
    folders: usize,
    files: usize,
    /// Entries of all kinds that are looked at, hidden ones and links among them.
    entries: usize,
}

const LIMITS: Limits = Limits { folders: FOLDERS_MAX, files: FILES_MAX, entries: 2 * FILES_MAX };

/// What is in the configured directory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tree {
    pub runs: Vec<Run>,
    /// Of all files of all runs.
    pub bytes: u64,
    pub files: usize,
    /// There is more than is read, or a part of it cannot be read.
    pub is_cut: bool,
    pub unreadable: usize,
}

/// The files of one run of a set, or those that are beside runs or sets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// As the directory has it: see [`safe_text::component`].
    pub target: String,
    /// As the directory has it; empty for files of the target itself.
    pub set: String,
    /// The directory of the run; empty for files of the set or the target itself.
    pub folder: String,
    /// By their paths below the run.
    pub files: Vec<RunFile>,
    pub bytes: u64,
    /// When its newest file was written last; of a run without files, the directory.
    pub modified: Option<SystemTime>,
}

/// A file of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunFile {
    /// Names of directories below the run's, and of the file.
    pub path: Vec<String>,
    pub bytes: u64,
    pub modified: Option<SystemTime>,
}

/// Reads the directory. What cannot be read below it is counted. Blocks.
///
/// # Errors
/// When the directory itself cannot be read.
pub fn read(directory: &Path) -> io::Result<Tree> {
    read_within(directory, LIMITS)
}

fn read_within(directory: &Path, limits: Limits) -> io::Result<Tree> {
    let root = Dir::open_ambient_dir(directory, ambient_authority())?;
    let mut top = Reader::new(limits);
    let targets = top.list(&root)?.directories;
    let mut left = limits.minus(top.used);
    // Each has the same share, so that none hides the others. What they leave is for those that have more.
    let share = left.share(targets.len());
    let mut parts = Vec::with_capacity(targets.len());
    for target in &targets {
        let mut part = Reader::new(share);
        part.read_target(&root, target);
        left = left.minus(part.used);
        parts.push(part);
    }
    for (part, target) in parts.iter_mut().zip(&targets).filter(|(part, _)| part.is_over) {
        left = left.plus(part.used);
        *part = Reader::new(left);
        part.read_target(&root, target);
        left = left.minus(part.used);
    }
    let mut tree = Tree { is_cut: top.is_over, ..top.tree };
    parts.into_iter().for_each(|part| tree.add(part));
    tree.runs.sort_by(|one, other| {
        let newest_first = other.modified.cmp(&one.modified);
        let by_name = || (&one.target, &one.set).cmp(&(&other.target, &other.set));
        newest_first.then_with(by_name).then_with(|| other.folder.cmp(&one.folder))
    });
    Ok(tree)
}

impl Limits {
    const fn minus(self, used: Self) -> Self {
        Self {
            folders: self.folders.saturating_sub(used.folders),
            files: self.files.saturating_sub(used.files),
            entries: self.entries.saturating_sub(used.entries),
        }
    }

    const fn plus(self, unused: Self) -> Self {
        Self {
            folders: self.folders + unused.folders,
            files: self.files + unused.files,
            entries: self.entries + unused.entries,
        }
    }

    /// One of so many equal parts.
    fn share(self, parts: usize) -> Self {
        let parts = parts.max(1);
        Self { folders: self.folders / parts, files: self.files / parts, entries: self.entries / parts }
    }
}

impl Tree {
    fn add(&mut self, Reader { tree, is_over, .. }: Reader) {
        self.runs.extend(tree.runs);
        self.bytes = self.bytes.saturating_add(tree.bytes);
        self.files += tree.files;
        self.is_cut |= tree.is_cut || is_over;
        self.unreadable += tree.unreadable;
    }
}

impl Run {
    fn new(target: &str, set: &str, folder: &str) -> Self {
        let (target, set, folder) = (target.to_owned(), set.to_owned(), folder.to_owned());
        Self { target, set, folder, files: Vec::new(), bytes: 0, modified: None }
    }
}

/// What is in one directory, directories by name.
struct Found {
    directories: Vec<String>,
    files: Vec<RunFile>,
}

struct Reader {
    limits: Limits,
    /// What was read of them.
    used: Limits,
    /// Whether one of them was in the way.
    is_over: bool,
    tree: Tree,
}

impl Reader {
    fn new(limits: Limits) -> Self {
        Self { limits, used: Limits::default(), is_over: false, tree: Tree::default() }
    }

    /// Reads the directory of a target, which is in `root`.
    fn read_target(&mut self, root: &Dir, target: &str) {
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

    fn list(&mut self, directory: &Dir) -> io::Result<Found> {
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

#[cfg(test)]
mod tests;
