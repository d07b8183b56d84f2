//! Debian's cabextract and gcab unpack the cabinet files of a data manager; it unpacks those that gcab makes.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, UNIX_EPOCH};

use crate::Outcome;
use crate::Result;
use crate::peers::is_root;
use crate::workspace::{Workspace, capture, cargo, run as run_here};

/// Bytes of a block of a cabinet file.
const BLOCK: usize = 32 * 1024;
/// When all files were modified: an even second, as the format has them.
const MODIFIED: Duration = Duration::from_secs(1_772_600_768);

type Files = BTreeMap<String, Vec<u8>>;

pub(crate) fn run(workspace: &Workspace) -> Result<Outcome> {
    let folder = tempfile::tempdir()?;
    let at = |name: &str| folder.path().join(name);
    let files = files();
    write(&at("run1"), &files)?;
    ours(workspace, &["create".as_ref(), at("run1").as_os_str()])?;
    let cabinet = at("run1").join("run1.cab");

    capture(Command::new("cabextract").args(["--quiet", "--test"]).arg(&cabinet))?;
    let mut cabextract = Command::new("cabextract");
    cabextract.args(["--quiet", "--directory"]).arg(at("cabextract")).arg(&cabinet).env("TZ", "UTC");
    run_here(&mut cabextract)?;
    same("cabextract", &at("cabextract"), &files)?;
    for name in files.keys() {
        let modified = fs::metadata(at("cabextract").join(name))?.modified()?;
        if modified != UNIX_EPOCH + MODIFIED {
            return Err(format!("cabextract gives {name} the time {modified:?}").into());
        }
    }
    fs::create_dir(at("gcab"))?;
    run_here(Command::new("gcab").args(["--extract", "--directory"]).arg(at("gcab")).arg(&cabinet))?;
    same("gcab", &at("gcab"), &files)?;

    for (name, options) in [("stored", &["--create"][..]), ("mszip", &["--create", "--zip"])] {
        let (cabinet, to) = (at(&format!("{name}.cab")), at(name));
        let mut gcab = Command::new("gcab");
        // Names are those of the command line.
        run_here(gcab.current_dir(at("run1")).args(options).arg(&cabinet).args(files.keys()))?;
        fs::create_dir(&to)?;
        ours(workspace, &["extract".as_ref(), cabinet.as_os_str(), to.as_os_str()])?;
        same(&format!("our reading of gcab's {name}"), &to, &files)?;
    }
    let mounts = if is_root() { mounts(workspace, &at("mounts"))? } else { "mounts only as root" };
    Ok(Outcome::Ran(format!("{} files with {} bytes, 4 ways; {mounts}", files.len(), bytes(&files))))
}

/// What is mounted in a folder that is deleted stays as it is. The mounts are in a namespace of their own.
fn mounts(workspace: &Workspace, folder: &Path) -> Result<&'static str> {
    let (set, outside) = (folder.join("set"), folder.join("outside"));
    for path in ["run1", "run2/inner", "run3"] {
        fs::create_dir_all(set.join(path))?;
    }
    fs::create_dir(&outside)?;
    fs::write(outside.join("precious"), "kept")?;
    ours(workspace, &["keep".as_ref(), "3".as_ref(), set.as_os_str()])?;
    let mut unshare = Command::new("unshare");
    unshare.args(["--mount", "sh", "-c", MOUNTED]).arg(cargo().get_program()).arg(&set).arg(&outside);
    let output = unshare.current_dir(&workspace.root).output()?;
    let said = String::from_utf8_lossy(&output.stderr);
    if output.status.success() || !said.contains("is another file system that is mounted there") {
        return Err(format!("a mount is not reported: {said}").into());
    }
    if fs::read(outside.join("precious"))? != b"kept" || set.join("run3").exists() {
        return Err("the wrong folder was deleted".into());
    }
    Ok("mounts are kept")
}

/// Mounts $2 on a folder and below another one, and deletes all folders but one.
const MOUNTED: &str = r#"set -e; mount --bind "$2" "$1/run1"; mount --bind "$2" "$1/run2/inner"
exec "$0" run --quiet --locked -p counter-log --example cabinet -- keep 1 "$1""#;

/// What a run may leave, with sizes at the borders of blocks.
fn files() -> Files {
    let text: Vec<u8> = (0..40_000).flat_map(|line| format!("{line},\"0.5\"\r\n").into_bytes()).collect();
    [
        ("log.csv", text),
        ("empty.csv", Vec::new()),
        ("inner/Größe 1.csv", b"1".to_vec()),
        ("inner/deep/block.bin", noise(BLOCK)),
        ("inner/deep/less.bin", noise(BLOCK - 1)),
        ("inner/deep/more.bin", noise(2 * BLOCK + 1)),
        ("zeros.bin", vec![0; 5 * BLOCK]),
        ("report.xml", b"<Report/>".to_vec()),
    ]
    .map(|(name, bytes)| (name.to_owned(), bytes))
    .into()
}

/// Bytes that cannot be compressed, the same each time.
fn noise(len: usize) -> Vec<u8> {
    let mut state = 0x9e37_79b9_u32;
    let next = || {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        state.to_le_bytes()[1]
    };
    std::iter::repeat_with(next).take(len).collect()
}

fn bytes(files: &Files) -> usize {
    files.values().map(Vec::len).sum()
}

fn write(folder: &Path, files: &Files) -> Result<()> {
    for (name, bytes) in files {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().ok_or("a file is in a folder")?)?;
        fs::write(&path, bytes)?;
        fs::File::options().write(true).open(&path)?.set_modified(UNIX_EPOCH + MODIFIED)?;
    }
    Ok(())
}

fn ours(workspace: &Workspace, arguments: &[&std::ffi::OsStr]) -> Result<String> {
    let mut example = cargo();
    example.current_dir(&workspace.root).args(["run", "--quiet", "--locked", "-p", "counter-log"]);
    capture(example.args(["--example", "cabinet", "--"]).args(arguments))
}

/// Whether a folder has these files, and no others.
fn same(who: &str, folder: &Path, files: &Files) -> Result<()> {
    let mut found = Files::new();
    let mut open: Vec<PathBuf> = vec![folder.to_owned()];
    while let Some(path) = open.pop() {
        if path.is_dir() {
            for entry in fs::read_dir(&path)? {
                open.push(entry?.path());
            }
        } else {
            let name = path.strip_prefix(folder)?.to_str().ok_or("a name is not UTF-8")?;
            found.insert(name.to_owned(), fs::read(&path)?);
        }
    }
    if found == *files {
        return Ok(());
    }
    let names: Vec<&String> = files.keys().filter(|name| found.get(*name) != files.get(*name)).collect();
    Err(format!("{who}: {names:?} are not the same; there are {:?}", found.keys()).into())
}
