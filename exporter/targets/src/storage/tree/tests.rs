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
            format!("{} {} {}: {} ({} bytes)", run.target, run.set, run.folder, files.join(" "), run.bytes)
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
    let files = |run: &Run| run.files.iter().map(|file| file.path.join("/")).collect::<Vec<_>>().join(" ");
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
fn a_target_with_very_many_files_hides_no_other_target() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    for number in 0..30 {
        write(folder.path(), &format!("all/s/r/{number}.csv"), 1, 1);
        write(folder.path(), &format!("full/s/r{number}/f"), 1, 1);
    }
    write(folder.path(), "web1/s/r/a.csv", 1, 1);
    let files = |limits| {
        let tree = read_within(folder.path(), limits).expect("it can be read");
        let of = |target: &str| {
            let runs = tree.runs.iter().filter(|run| run.target == target);
            runs.map(|run| run.files.len()).sum::<usize>()
        };
        (["all", "full", "web1"].map(of), tree.is_cut)
    };
    assert_eq!(files(LIMITS), ([30, 30, 1], false));
    // A share is 12. The others leave 11 of it, which the first one has too, and it may be all that it needs.
    assert_eq!(files(Limits { files: 36, ..LIMITS }), ([23, 12, 1], true));
    assert_eq!(files(Limits { files: 61, ..LIMITS }), ([30, 30, 1], false));
    assert_eq!(files(Limits { folders: 12, ..LIMITS }), ([30, 4, 1], true));
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
