use std::fs::{self, File, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;

use rpc_cells::{
    CELL_BYTES, Capacity, Error, Level, Memory, Problem, ReadLimits, RunDirectory, SectionFileOptions,
    SigbusGuard, Thread, Writer, read_directory, read_files,
};

fn options(sections_max: u16) -> SectionFileOptions<'static> {
    let capacity = Capacity { cells_per_section: 4096, sections_max };
    SectionFileOptions { name: "comt@host-a.example", level: Level::FULL, capacity, now_ms: 1 }
}

fn guard() -> SigbusGuard {
    SigbusGuard::install().expect("handlers can be installed")
}

fn refusal(path: &Path) -> String {
    let error = RunDirectory::open(path).expect_err("refused");
    assert!(matches!(error, Error::Refused { .. }), "{error:?}");
    error.to_string()
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).expect("it is there").permissions().mode() & 0o777
}

#[test]
fn the_directory_and_its_files_are_private() {
    let parent = tempfile::tempdir().expect("a directory");
    let path = parent.path().join("cells");
    let directory = RunDirectory::open(&path).expect("it is made");
    assert_eq!(mode(&path), 0o700);
    let file = directory.create(guard(), &options(1)).expect("there is room");
    assert_eq!(mode(file.path()), 0o600);
    let left = file.path().to_owned();
    drop(file);
    assert!(!left.exists(), "a file is removed with its owner");
}

#[test]
fn a_symbolic_link_is_refused() {
    let parent = tempfile::tempdir().expect("a directory");
    let (path, elsewhere) = (parent.path().join("cells"), parent.path().join("elsewhere"));
    fs::create_dir(&elsewhere).expect("it is made");
    symlink(&elsewhere, &path).expect("it is made");
    let message = refusal(&path);
    assert!(message.contains("it is a symbolic link"), "{message}");
    symlink(parent.path().join("nowhere"), parent.path().join("dangling")).expect("it is made");
    assert!(refusal(&parent.path().join("dangling")).contains("symbolic link"));
}

#[test]
fn what_is_not_a_directory_is_refused() {
    let parent = tempfile::tempdir().expect("a directory");
    let path = parent.path().join("cells");
    File::create(&path).expect("it is made");
    assert!(refusal(&path).ends_with("it is not a directory: remove it, or set another"));
    let error = RunDirectory::open(&parent.path().join("absent/cells")).expect_err("no parent");
    assert!(error.to_string().contains("No such file"), "{error}");
}

#[test]
fn a_directory_that_others_can_write_is_refused() {
    let parent = tempfile::tempdir().expect("a directory");
    for (mode, is_refused) in [(0o700, false), (0o755, false), (0o770, true), (0o702, true), (0o1777, true)] {
        fs::set_permissions(parent.path(), Permissions::from_mode(mode)).expect("it is ours");
        let opened = RunDirectory::open(parent.path());
        assert_eq!(opened.is_err(), is_refused, "{mode:o}");
        if let Err(error) = opened {
            assert!(error.to_string().contains("other users can write it"), "{error}");
        }
    }
}

#[test]
fn a_directory_of_another_user_is_refused() {
    let user = rustix::process::geteuid().as_raw();
    let parent = tempfile::tempdir().expect("a directory");
    let foreign = if user == 0 {
        std::os::unix::fs::chown(parent.path(), Some(65_534), None).expect("root may");
        parent.path()
    } else {
        Path::new("/proc/1")
    };
    let message = refusal(foreign);
    assert!(message.contains(&format!("and this process runs as user {user}")), "{message}");
}

#[test]
fn a_disk_that_is_full_is_an_error_and_what_has_room_is_kept() {
    let parent = tempfile::tempdir().expect("a directory");
    let path = parent.path().join("cells");
    // The limit of a file's size stands for the disk. The shell ignores the signal that comes with it.
    let script = r#"trap '' XFSZ; exec "$0" full "$1""#;
    let child = env!("CARGO_BIN_EXE_rpc-cells-child");
    let output = Command::new("sh").args(["-c", script, child]).arg(&path).output().expect("a shell");
    let said = String::from_utf8_lossy(&output.stdout);
    let mut lines = said.lines();
    // Two sections of 63 objects each, and the header and 200 - 126 objects that have none.
    assert_eq!(lines.next(), Some("126 shown, 74 hidden"), "{output:?}");
    let error = lines.next().expect("a second file is tried");
    assert!(error.starts_with("reserve space for ") && error.contains("File too large"), "{error}");
    assert_eq!(fs::read_dir(&path).expect("it is readable").count(), 0, "no file is left");
}

#[test]
fn hostile_files_are_refused_one_by_one() {
    let parent = tempfile::tempdir().expect("a directory");
    let directory = RunDirectory::open(&parent.path().join("cells")).expect("it is made");
    let file = directory.create(guard(), &options(1)).expect("there is room");
    let good = file.path().file_name().expect("a name").to_str().expect("UTF-8").to_owned();
    let at = |name: &str| directory.path().join(name);
    symlink(file.path(), at("link.cells")).expect("it is made");
    symlink("/dev/zero", at("zero.cells")).expect("it is made");
    fs::create_dir(at("folder.cells")).expect("it is made");
    rustix::fs::mknodat(
        rustix::fs::CWD,
        at("pipe.cells"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR,
        0,
    )
    .expect("it is made");
    fs::write(at("empty.cells"), []).expect("it is made");
    fs::write(at("noise.cells"), [0x5a; 4096]).expect("it is made");
    fs::write(at("other.txt"), []).expect("it is made");
    let files = read_directory(directory.path(), &ReadLimits::default()).expect("it is readable");
    let result = |name: &str| {
        let found = files.iter().find(|file| file.file == name).expect("it is listed");
        found.snapshot.as_ref().map(|snapshot| snapshot.header.name.as_str()).map_err(ToString::to_string)
    };
    assert_eq!(result(&good), Ok("comt@host-a.example"));
    let failed = |name: &str, reason: &str| {
        let error = result(name).expect_err("refused");
        assert!(error.contains(reason), "{name}: {error}");
    };
    failed("link.cells", "it is a symbolic link");
    failed("zero.cells", "it is a symbolic link");
    failed("folder.cells", "it is a directory");
    failed("pipe.cells", "it is a pipe");
    failed("empty.cells", "cut short");
    failed("noise.cells", "not a file of RPC cells");
    assert_eq!(files.len(), 7);
}

#[test]
fn files_are_read_one_by_one_and_those_left_are_counted() {
    let parent = tempfile::tempdir().expect("a directory");
    for name in ["b.cells", "a.cells", "c.cells"] {
        fs::write(parent.path().join(name), []).expect("it is made");
    }
    let limits = ReadLimits::default();
    let mut files = read_files(parent.path(), &limits).expect("it is readable");
    assert_eq!(files.next().map(|file| file.file).as_deref(), Some("a.cells"));
    assert_eq!(files.len(), 2);
    fs::remove_file(parent.path().join("b.cells")).expect("it is there");
    let gone = files.next().expect("it was listed").snapshot.expect_err("it is gone");
    assert!(gone.to_string().contains("No such file"), "{gone}");
}

#[test]
fn a_link_to_a_directory_is_not_read() {
    let parent = tempfile::tempdir().expect("a directory");
    let link = parent.path().join("link");
    symlink(parent.path(), &link).expect("it is made");
    let error = read_directory(&link, &ReadLimits::default()).expect_err("refused");
    assert!(error.to_string().contains("it is a symbolic link"), "{error}");
}

#[test]
fn a_directory_that_is_gone_is_an_error_and_a_writer_of_nothing_goes_on() {
    let parent = tempfile::tempdir().expect("a directory");
    let directory = RunDirectory::open(&parent.path().join("cells")).expect("it is made");
    fs::remove_dir(directory.path()).expect("it is empty");
    let error = directory.create(guard(), &options(1)).expect_err("nowhere to make it");
    assert!(error.to_string().starts_with("create "), "{error}");
    let writer = Writer::disabled();
    let mut thread = writer.thread(Thread::default());
    thread.update(|thread| thread.tid = 7);
    assert_eq!((thread.get().tid, thread.is_shown(), writer.hidden()), (7, false, 0));
}

#[test]
fn a_file_takes_only_the_blocks_of_its_sections() {
    let parent = tempfile::tempdir().expect("a directory");
    let directory = RunDirectory::open(&parent.path().join("cells")).expect("it is made");
    let file = directory.create(guard(), &options(8)).expect("there is room");
    let allocated =
        || std::os::unix::fs::MetadataExt::blocks(&fs::metadata(file.path()).expect("it is there")) * 512;
    let section = 4096 * CELL_BYTES as u64;
    assert!((section..2 * section).contains(&allocated()), "{}", allocated());
    assert!(file.grow(2));
    assert!((2 * section..3 * section).contains(&allocated()), "{}", allocated());
    assert!(!file.grow(9) && !file.grow(0));
}

#[test]
fn the_files_of_a_directory_share_a_limit() {
    let parent = tempfile::tempdir().expect("a directory");
    let directory = RunDirectory::open(&parent.path().join("cells")).expect("it is made");
    let files = [(); 3].map(|()| directory.create(guard(), &options(1)).expect("there is room"));
    let limits = ReadLimits { directory_cells_max: 4096 + 1000, ..ReadLimits::default() };
    let read = read_directory(directory.path(), &limits).expect("it can be read");
    let cells_max = |read: &rpc_cells::FileSnapshot| {
        let snapshot = read.snapshot.as_ref().expect("it has a header");
        snapshot.problems.listed().iter().find_map(|problem| match problem {
            Problem::TooManyCells { cells_max } => Some(*cells_max),
            _ => None,
        })
    };
    assert_eq!(read.iter().map(cells_max).collect::<Vec<_>>(), [None, Some(1000), Some(0)]);
    drop(files);
}
