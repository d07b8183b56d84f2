//! Which runs and files there are below the configured directory, read within limits.

use std::io;
use std::path::Path;
use std::time::SystemTime;

use cap_std::ambient_authority;
use cap_std::fs::Dir;

use super::open::open_directory;
use super::path::{LEVELS_MAX, is_journal, is_shown};

/// Directories that are read.
pub(crate) const FOLDERS_MAX: usize = 10_000;
/// Files that are listed.
pub(crate) const FILES_MAX: usize = 100_000;

/// How much of a directory is read.
#[derive(Clone, Copy, Debug)]
struct Limits {
    folders: usize,
    files: usize,
    /// Entries of all kinds that are looked at, hidden ones and links among them.
    entries: usize,
}

const LIMITS: Limits = Limits { folders: FOLDERS_MAX, files: FILES_MAX, entries: 2 * FILES_MAX };

/// What is in the configured directory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tree {
    /// The newest first.
    pub(crate) runs: Vec<Run>,
    /// Of all files of all runs.
    pub(crate) bytes: u64,
    pub(crate) files: usize,
    /// There is more than is read, or a part of it cannot be read.
    pub(crate) is_cut: bool,
    pub(crate) unreadable: usize,
}

/// The files of one run of a set, or those that are beside runs or sets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Run {
    /// As the directory has it: see [`path_component::component`].
    pub(crate) target: String,
    /// As the directory has it; empty for files of the target itself.
    pub(crate) set: String,
    /// The directory of the run; empty for files of the set or the target itself.
    pub(crate) folder: String,
    /// By their paths below the run.
    pub(crate) files: Vec<RunFile>,
    pub(crate) bytes: u64,
    /// When its newest file was written last; of a run without files, the directory.
    pub(crate) modified: Option<SystemTime>,
}

/// A file of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RunFile {
    /// Names of directories below the run's, and of the file.
    pub(crate) path: Vec<String>,
    pub(crate) bytes: u64,
    pub(crate) modified: Option<SystemTime>,
}

/// Reads the directory. What cannot be read below it is counted. Blocks.
///
/// # Errors
/// When the directory itself cannot be read.
pub(crate) fn read(directory: &Path) -> io::Result<Tree> {
    read_within(directory, LIMITS)
}

fn read_within(directory: &Path, limits: Limits) -> io::Result<Tree> {
    let root = Dir::open_ambient_dir(directory, ambient_authority())?;
    let mut reader = Reader { limits, tree: Tree::default(), folders: 0, entries: 0, files: 0 };
    for target in reader.list(&root)?.directories {
        let Some((at_target, sets)) = reader.enter(&root, &target) else { continue };
        reader.add(Run::new(&target, "", ""), sets.files, None);
        for set in sets.directories {
            let Some((at_set, found)) = reader.enter(&at_target, &set) else { continue };
            reader.add(Run::new(&target, &set, ""), found.files, None);
            // The newest have the greatest numbers, or the latest dates in their names.
            for folder in found.directories.iter().rev() {
                reader.read_run(&at_set, Run::new(&target, &set, folder));
            }
        }
    }
    let mut tree = reader.tree;
    tree.runs.sort_by(|one, other| {
        let newest_first = other.modified.cmp(&one.modified);
        let by_name = || (&one.target, &one.set).cmp(&(&other.target, &other.set));
        newest_first.then_with(by_name).then_with(|| other.folder.cmp(&one.folder))
    });
    Ok(tree)
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
    tree: Tree,
    folders: usize,
    /// Entries that were looked at.
    entries: usize,
    /// Files that were found.
    files: usize,
}

impl Reader {
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
        if self.folders == self.limits.folders {
            self.tree.is_cut = true;
            return None;
        }
        self.folders += 1;
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
            if self.entries == self.limits.entries {
                self.tree.is_cut = true;
                break;
            }
            self.entries += 1;
            let name = entry.file_name().into_string().ok().filter(|name| is_shown(name));
            let (Some(name), Ok(kind)) = (name, entry.file_type()) else { continue };
            if kind.is_dir() {
                found.directories.push(name);
            } else if !kind.is_file() || is_journal(&name) {
                // Nothing that readers could use.
            } else if self.files == self.limits.files {
                self.tree.is_cut = true;
            } else {
                // It may be gone since it was listed.
                let Ok(status) = entry.metadata() else { continue };
                self.files += 1;
                let modified = status.modified().ok().map(cap_std::time::SystemTime::into_std);
                found.files.push(RunFile { path: vec![name], bytes: status.len(), modified });
            }
        }
        found.directories.sort_unstable();
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;
    use std::time::Duration;

    use super::*;

    fn write(root: &Path, path: &str, bytes: usize, modified_s: u64) {
        let path = root.join(path);
        fs::create_dir_all(path.parent().expect("it is below the root")).expect("the root is ours");
        fs::write(&path, "x".repeat(bytes)).expect("the root is ours");
        let file = fs::File::options().append(true).open(&path).expect("it was written");
        file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(modified_s)).expect("it is ours");
    }

    #[test]
    fn runs_come_newest_first_with_their_files() {
        let folder = tempfile::tempdir().expect("a folder can be made");
        let root = folder.path();
        write(root, "web1/set/000001/a.csv", 3, 100);
        write(root, "web1/set/000001/more/b.csv", 4, 50);
        write(root, "web1/set/000002/a.csv", 5, 300);
        write(root, "web1/set/000001.cab", 7, 200);
        write(root, "db1/other/r/report.html", 1, 250);
        fs::create_dir_all(root.join("db1/none")).expect("the root is ours");
        let tree = read(root).expect("it can be read");
        let runs: Vec<_> = tree
            .runs
            .iter()
            .map(|run| {
                let files: Vec<_> = run.files.iter().map(|file| file.path.join("/")).collect();
                format!(
                    "{} {} {}: {} ({} bytes)",
                    run.target,
                    run.set,
                    run.folder,
                    files.join(" "),
                    run.bytes
                )
            })
            .collect();
        assert_eq!(
            runs,
            [
                "web1 set 000002: a.csv (5 bytes)",
                "db1 other r: report.html (1 bytes)",
                "web1 set : 000001.cab (7 bytes)",
                "web1 set 000001: a.csv more/b.csv (7 bytes)"
            ]
        );
        assert_eq!((tree.bytes, tree.files, tree.is_cut, tree.unreadable), (20, 5, false, 0));
    }

    #[test]
    fn links_journals_hidden_files_and_files_elsewhere_are_not_listed() {
        let folder = tempfile::tempdir().expect("a folder can be made");
        let root = folder.path();
        write(root, "web1/set/r/a.csv", 1, 1);
        write(root, "web1/set/r/.report.html.new", 1, 1);
        write(root, "web1/set/r/a.parquet", 1, 1);
        write(root, "web1/set/r/a.parquet.part", 1, 1);
        write(root, "web1/set/r/a.parquet.part.new", 1, 1);
        write(root, "web1/set/.lock", 1, 1);
        write(root, "credentials.json", 1, 1);
        write(root, "web1/archive.db", 1, 1);
        write(root, ".git/config/x", 1, 1);
        symlink("a.csv", root.join("web1/set/r/link")).expect("the root is ours");
        symlink("/etc", root.join("web1/set/etc")).expect("the root is ours");
        symlink("set", root.join("web1/again")).expect("the root is ours");
        let tree = read(root).expect("it can be read");
        let files =
            |run: &Run| run.files.iter().map(|file| file.path.join("/")).collect::<Vec<_>>().join(" ");
        let found: Vec<_> = tree.runs.iter().map(|run| (&*run.set, files(run))).collect();
        assert_eq!(found, [("", "archive.db".to_owned()), ("set", "a.csv a.parquet".to_owned())]);
    }

    #[test]
    fn what_is_deeper_or_more_than_is_read_is_said() {
        let folder = tempfile::tempdir().expect("a folder can be made");
        write(folder.path(), "t/s/r/1/2/3/4/f", 1, 1);
        let tree = read(folder.path()).expect("it can be read");
        assert_eq!((tree.files, tree.is_cut), (1, false), "a path of that many names can be asked for");
        write(folder.path(), "t/s/r/1/2/3/4/5/f", 1, 1);
        let tree = read(folder.path()).expect("it can be read");
        assert_eq!((tree.files, tree.is_cut), (1, true));
        for number in 0..10 {
            write(folder.path(), &format!("t/s/{number:06}/f"), 1, 1);
        }
        let runs = |limits| {
            let tree = read_within(folder.path(), limits).expect("it can be read");
            let folders = tree.runs.iter().map(|run| run.folder.clone()).collect::<Vec<_>>();
            (folders.len(), folders.contains(&"000009".to_owned()), tree.is_cut)
        };
        fs::remove_dir_all(folder.path().join("t/s/r")).expect("the folder is ours");
        assert_eq!(runs(LIMITS), (10, true, false));
        // Those of the target and of the set are two.
        assert_eq!(runs(Limits { folders: 12, ..LIMITS }), (10, true, false));
        assert_eq!(runs(Limits { folders: 5, ..LIMITS }), (3, true, true), "the newest are there");
        let tree = read_within(folder.path(), Limits { files: 4, ..LIMITS }).expect("it can be read");
        assert_eq!((tree.files, tree.is_cut), (4, true));
        assert!(runs(Limits { entries: 4, ..LIMITS }).2);
        assert!(read(&folder.path().join("none")).is_err());
    }

    #[test]
    fn a_run_with_100_000_files_is_read_and_one_more_is_said() {
        let memory = Path::new("/dev/shm");
        let place = if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() };
        let folder = tempfile::tempdir_in(place).expect("a folder can be made");
        let run = folder.path().join("web1/set/000001");
        fs::create_dir_all(&run).expect("the folder is ours");
        for number in 0..FILES_MAX {
            fs::write(run.join(format!("{number}.csv")), "1").expect("the folder is ours");
        }
        let tree = read(folder.path()).expect("it can be read");
        assert_eq!(
            (tree.runs.len(), tree.files, tree.bytes, tree.is_cut),
            (1, FILES_MAX, FILES_MAX as u64, false)
        );
        fs::write(run.join("more.csv"), "1").expect("the folder is ours");
        let tree = read(folder.path()).expect("it can be read");
        assert_eq!((tree.files, tree.is_cut), (FILES_MAX, true));
    }
}
