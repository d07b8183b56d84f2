//! What somebody else may have put into a folder is never followed, waited for or written to.

use std::fs;
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::os::unix::net::UnixListener;
use std::path::Path;

use rustix::fs::{CWD, FileType, Mode, OFlags, mknodat};
use safe_files::{Error, create, open_file, open_folder, open_to_write, replace, sync_folder};
use tempfile::TempDir;

/// A folder with one of each kind, and its handle.
struct Folder {
    place: TempDir,
    handle: fs::File,
    _socket: UnixListener,
}

impl Folder {
    fn new() -> Self {
        let place = tempfile::tempdir().expect("there is room for a folder");
        let at = |name: &str| place.path().join(name);
        fs::write(at("file"), "text").expect("the folder is ours");
        fs::write(at("first"), "shared").expect("the folder is ours");
        fs::hard_link(at("first"), at("second")).expect("the folder is ours");
        fs::create_dir(at("folder")).expect("the folder is ours");
        symlink("file", at("link")).expect("the folder is ours");
        symlink("folder", at("link to a folder")).expect("the folder is ours");
        symlink("nothing", at("link to nothing")).expect("the folder is ours");
        mknodat(CWD, at("pipe"), FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).expect("the folder is ours");
        let _socket = UnixListener::bind(at("socket")).expect("the folder is ours");
        let handle = fs::File::open(place.path()).expect("the folder is ours");
        Self { place, handle, _socket }
    }

    fn path(&self) -> &Path {
        self.place.path()
    }

    fn text(&self, name: &str) -> String {
        fs::read_to_string(self.path().join(name)).expect("it is there")
    }
}

fn refused<T>(result: Result<T, Error>) -> String {
    let error = result.err().expect("it is refused");
    assert!(matches!(error, Error::Refused { .. }), "not refused, but {error}");
    error.to_string()
}

fn failure<T>(result: Result<T, Error>) -> io::ErrorKind {
    io::Error::from(result.err().expect("it fails")).kind()
}

#[test]
fn a_file_is_opened_and_nothing_else_is() {
    let folder = Folder::new();
    for open in [open_file, open_to_write] {
        let mut text = String::new();
        open(&folder.handle, "file").expect("a file").read_to_string(&mut text).expect("it is read");
        assert_eq!(text, "text");
        for (name, found) in [
            ("link", "a link"),
            ("link to a folder", "a link"),
            ("link to nothing", "a link"),
            ("folder", "a folder"),
            ("pipe", "a pipe"),
            ("socket", "a socket"),
        ] {
            let said = format!("`{name}` is {found}, not a file: delete it");
            assert_eq!(refused(open(&folder.handle, name)), said);
        }
        assert_eq!(failure(open(&folder.handle, "nothing")), io::ErrorKind::NotFound);
    }
}

#[test]
fn a_device_is_no_file() {
    let devices = fs::File::open("/dev").expect("there are devices");
    assert_eq!(refused(open_file(&devices, "zero")), "`zero` is a device, not a file: delete it");
}

#[test]
fn a_file_with_a_second_name_is_read_and_not_written() {
    let folder = Folder::new();
    open_file(&folder.handle, "second").expect("it is only read");
    let said = "`second` has 2 names, which are hard links to it: delete this one";
    assert_eq!(refused(open_to_write(&folder.handle, "second")), said);
    fs::remove_file(folder.path().join("first")).expect("the folder is ours");
    open_to_write(&folder.handle, "second").expect("it is the only one");
}

#[test]
fn a_folder_is_opened_and_nothing_else_is() {
    let folder = Folder::new();
    let opened = open_folder(&folder.handle, "folder").expect("a folder");
    create(&opened, "inner").expect("it is empty");
    assert!(folder.path().join("folder/inner").is_file());
    for (name, found) in [
        ("link", "a link"),
        ("link to a folder", "a link"),
        ("link to nothing", "a link"),
        ("file", "a file"),
        ("pipe", "a pipe"),
        ("socket", "a socket"),
    ] {
        let said = format!("`{name}` is {found}, not a folder: delete it");
        assert_eq!(refused(open_folder(&folder.handle, name)), said);
    }
    assert_eq!(failure(open_folder(&folder.handle, "nothing")), io::ErrorKind::NotFound);
}

#[test]
fn a_file_is_created_only_where_nothing_is() {
    let folder = Folder::new();
    let mut created = create(&folder.handle, "new").expect("nothing has the name");
    created.write_all(b"new").expect("there is room");
    assert_eq!(folder.text("new"), "new");
    let mode = created.metadata().expect("it is open").permissions().mode();
    assert_eq!(mode & 0o137, 0, "others may not read it: {mode:o}");
    for name in ["new", "file", "folder", "link", "link to nothing", "pipe", "socket"] {
        assert_eq!(failure(create(&folder.handle, name)), io::ErrorKind::AlreadyExists, "{name}");
    }
    assert!(!folder.path().join("nothing").exists(), "a link was followed");
}

#[test]
fn whatever_has_the_name_is_replaced_and_what_it_leads_to_is_kept() {
    let folder = Folder::new();
    let before = fs::read_dir(folder.path()).expect("it is there").count();
    for name in ["file", "link", "link to nothing", "pipe", "socket", "second"] {
        replace(&folder.handle, name, name.as_bytes()).expect("it is replaced");
        assert_eq!(folder.text(name), name);
    }
    assert_eq!(folder.text("first"), "shared");
    assert_eq!(fs::read_dir(folder.path()).expect("it is there").count(), before, "nothing is left over");
    replace(&folder.handle, "fresh", b"1").expect("it is created");
    assert_eq!(folder.text("fresh"), "1");
}

#[test]
fn what_stands_where_the_new_contents_go_is_not_followed() {
    let folder = Folder::new();
    let new = folder.path().join(".state.json.new");
    symlink("file", &new).expect("the folder is ours");
    replace(&folder.handle, ".state.json", b"1").expect("the link is removed");
    fs::hard_link(folder.path().join("file"), &new).expect("the folder is ours");
    replace(&folder.handle, ".state.json", b"2").expect("the other name is removed");
    mknodat(CWD, &new, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).expect("the folder is ours");
    replace(&folder.handle, ".state.json", b"3").expect("the pipe is removed");
    assert_eq!((folder.text(".state.json"), folder.text("file")), ("3".to_owned(), "text".to_owned()));
}

#[test]
fn a_file_that_cannot_be_replaced_leaves_nothing_behind() {
    let folder = Folder::new();
    assert_eq!(failure(replace(&folder.handle, "folder", b"1")), io::ErrorKind::IsADirectory);
    assert!(!folder.path().join(".folder.new").exists());
}

#[test]
fn a_path_is_no_name() {
    let folder = Folder::new();
    let inner = open_folder(&folder.handle, "folder").expect("a folder");
    let absolute = folder.path().join("file");
    for name in ["", ".", "..", "../file", "./file", "a/b", "file\0", absolute.to_str().expect("a text")] {
        let said = format!("`{name}` is not the name of a file or folder");
        assert_eq!(refused(open_file(&inner, name)), said);
        assert_eq!(refused(open_to_write(&inner, name)), said);
        assert_eq!(refused(create(&inner, name)), said);
        assert_eq!(refused(replace(&inner, name, b"")), said);
        assert_eq!(refused(open_folder(&inner, name)), said);
    }
    assert_eq!(fs::read_dir(folder.path().join("folder")).expect("it is there").count(), 0);
}

#[test]
fn a_folder_whose_handle_is_only_for_paths_is_synced() {
    let folder = Folder::new();
    let handle = rustix::fs::open(folder.path(), OFlags::PATH | OFlags::DIRECTORY, Mode::empty());
    let handle = handle.expect("the folder is ours");
    sync_folder(&handle).expect("it is opened again");
    replace(&handle, "file", b"1").expect("the same");
    assert_eq!(folder.text("file"), "1");
}
