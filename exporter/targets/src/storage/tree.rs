//! Which runs and files there are below the configured directory, read within limits.

mod reader;
#[cfg(test)]
mod tests;

use std::io;
use std::path::Path;
use std::time::SystemTime;

use cap_std::ambient_authority;
use cap_std::fs::Dir;

use self::reader::Reader;

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
