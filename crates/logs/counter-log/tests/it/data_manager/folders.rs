use std::cell::Cell;
use std::fs;
use std::os::unix::fs::symlink;
use std::time::{Duration, SystemTime};

use counter_log::data_manager::{DataManager, Error, FolderLimits, Folders, ManagerSettings, ScanLimits};
use jiff::Timestamp;

use crate::data_manager::place::{Place, enabled, now, texts};

fn scan(place: &Place) -> Folders {
    Folders::scan(&place.root(), &ScanLimits::default(), &|| false).expect("it can be read")
}

#[test]
fn folders_have_the_sizes_counts_and_times_of_their_files() {
    let place = Place::new();
    place.write("b/log.csv", &[1; 1000]);
    place.write("b/inner/deep/more.csv", &[1; 24]);
    place.write("a/empty.csv", b"");
    place.write("beside.txt", &[1; 7]);
    let later = SystemTime::UNIX_EPOCH + Duration::from_secs(4_000_000_000);
    fs::File::open(place.path("set/b/inner/deep/more.csv")).unwrap().set_modified(later).unwrap();
    let folders = scan(&place);
    let found: Vec<_> =
        folders.folders.iter().map(|folder| (&folder.name[..], folder.bytes, folder.files)).collect();
    assert_eq!(found, [("a", 0, 1), ("b", 1024, 2)]);
    assert_eq!((folders.other_bytes, folders.bytes()), (7, 1031));
    assert!(folders.failures.is_empty() && !folders.has_more);
    let b = &folders.folders[1];
    assert!(b.is_complete && b.created <= now());
    assert_eq!(b.modified, Timestamp::from_second(4_000_000_000).unwrap());
}

#[test]
fn sparse_files_count_by_length_and_linked_files_do_not_free_the_disk() {
    let place = Place::new();
    place.write("run/sparse", b"");
    fs::OpenOptions::new().write(true).open(place.path("set/run/sparse")).unwrap().set_len(1 << 30).unwrap();
    place.write("run/one", &[1; 8192]);
    fs::hard_link(place.path("set/run/one"), place.path("set/run/two")).unwrap();
    let folder = &scan(&place).folders[0];
    assert_eq!((folder.bytes, folder.files), ((1 << 30) + 2 * 8192, 3));
    assert!(folder.disk_bytes < 8192, "{}", folder.disk_bytes);
}

#[test]
fn links_are_not_followed() {
    let place = Place::new();
    fs::write(place.path("outside/large"), [1; 5000]).unwrap();
    place.write("run/log.csv", &[1; 10]);
    symlink(place.path("outside"), place.path("set/run/folder")).unwrap();
    symlink(place.path("outside/large"), place.path("set/run/file")).unwrap();
    symlink(place.path("outside"), place.path("set/linked")).unwrap();
    symlink("..", place.path("set/run/up")).unwrap();
    let folders = scan(&place);
    assert_eq!(folders.folders.len(), 1);
    assert_eq!(folders.bytes(), 10);
}

#[test]
fn what_is_above_the_limits_is_said() {
    let place = Place::new();
    for number in 0..5 {
        place.write(&format!("run{number}/a"), b"1");
    }
    for number in 0..20 {
        place.write(&format!("run0/{number}"), b"1");
    }
    place.write("run1/1/2/3/4", b"1");
    let limits = ScanLimits { folders_max: 3, ..ScanLimits::default() };
    let folders = Folders::scan(&place.root(), &limits, &|| false).unwrap();
    assert!(folders.has_more && folders.folders.len() == 3);
    let limits = ScanLimits { entries_max: 10, depth_max: 2, ..ScanLimits::default() };
    let folders = Folders::scan(&place.root(), &limits, &|| false).unwrap();
    let complete: Vec<bool> = folders.folders.iter().map(|folder| folder.is_complete).collect();
    assert_eq!(complete, [false, false, true, true, true]);
    let said = r#""run1/1/2" has folders too deep in it: delete them by hand"#;
    assert_eq!(texts(&folders.failures), [said]);
}

#[test]
fn a_folder_without_a_readable_name_is_named_and_counts() {
    use std::os::unix::ffi::OsStrExt as _;
    let place = Place::new();
    let name = std::ffi::OsStr::from_bytes(b"bad\xff");
    fs::create_dir(place.path("set").join(name)).unwrap();
    fs::write(place.path("set").join(name).join("a"), [1; 9]).unwrap();
    let folders = scan(&place);
    assert!(folders.folders.is_empty());
    assert_eq!(folders.bytes(), 9);
    // Neither the policy nor the check before a run counts it: the policy could never make room.
    place.write("run1/a", b"1");
    let limits = FolderLimits { folders_max: 1, ..FolderLimits::default() };
    let settings = ManagerSettings { checks_before_running: true, limits, ..enabled() };
    assert!(DataManager::new(settings).check_before_running(&place.root()).is_ok());
    assert_eq!(
        texts(&folders.failures),
        ["\"bad\u{fffd}\" has a name that is not UTF-8: rename or delete it"]
    );
}

#[test]
fn files_that_vanish_meanwhile_are_no_failure() {
    let place = Place::new();
    for number in 0..3000 {
        place.write(&format!("run/{number}"), b"1");
    }
    place.write("run/inner/x", b"1");
    let path = place.path("set/run");
    let asked = Cell::new(0);
    let stop = || {
        asked.set(asked.get() + 1);
        if asked.get() == 2 {
            fs::remove_dir_all(&path).unwrap();
        }
        false
    };
    let folders = Folders::scan(&place.root(), &ScanLimits::default(), &stop).unwrap();
    assert!(asked.get() >= 2, "it was asked between entries");
    assert_eq!(texts(&folders.failures), [""; 0]);
    assert!(folders.bytes() < 3001);
}

#[test]
fn a_scan_stops_when_the_caller_says_so() {
    // In the folder of a run, and beside the folders.
    for folder in ["run/", ""] {
        let place = Place::new();
        for number in 0..1100 {
            place.write(&format!("{folder}{number}"), b"1");
        }
        let scanned = Folders::scan(&place.root(), &ScanLimits::default(), &|| true);
        assert!(matches!(scanned, Err(Error::Stopped)), "{folder}");
    }
}
