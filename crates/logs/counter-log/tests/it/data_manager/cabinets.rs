use std::fs;
use std::io::{Cursor, Read as _};

use counter_log::data_manager::cabinet::{Cabinet, NewFile, PartLimits, Plan, name_to_cabinet, write};
use counter_log::data_manager::{Error, ExtractLimits, extract};
use jiff::Timestamp;

use crate::data_manager::place::{Place, noise, tree};

type Files = Vec<(String, Vec<u8>)>;

/// Files whose sizes are at the borders of blocks, some of which cannot be compressed.
fn files() -> Files {
    let sizes = [0, 1, 32_767, 32_768, 32_769, 0, 65_536, 100_000, 3];
    let files = sizes.into_iter().enumerate().map(|(at, size)| {
        let bytes = if at % 2 == 0 {
            noise(at as u64, size)
        } else {
            b"0,1\r\n".iter().copied().cycle().take(size).collect()
        };
        (format!("folder {}/Datei {at} ü.csv", at % 3), bytes)
    });
    files.collect()
}

fn cabinet(files: &Files) -> Vec<u8> {
    let new = files.iter().map(|(path, bytes)| NewFile {
        path: path.clone(),
        bytes: bytes.len() as u64,
        modified: Timestamp::from_second(1_767_225_599).expect("a date"),
    });
    let mut plan = Plan::new(new.collect(), &PartLimits::default());
    assert_eq!((plan.parts.len(), plan.left_out.len()), (1, 0));
    let part = plan.parts.pop().expect("there is one");
    let mut open = |file: &NewFile| {
        let (_, bytes) = files.iter().find(|(path, _)| *path == file.path).expect("it is one of them");
        Ok(Cursor::new(bytes))
    };
    write(Cursor::new(Vec::new()), "a.cab", &part, &mut open, &|| false)
        .expect("memory has room")
        .into_inner()
}

#[test]
fn a_cabinet_has_the_bytes_names_and_times_of_its_files() {
    let files = files();
    let bytes = cabinet(&files);
    let mut cabinet = Cabinet::open(Cursor::new(&bytes), "a.cab", &ExtractLimits::default()).unwrap();
    let mut read: Vec<Vec<u8>> = vec![Vec::new(); files.len()];
    cabinet
        .read(&|| false, &mut |index, bytes| {
            read[index].extend_from_slice(bytes);
            Ok(())
        })
        .unwrap();
    for (entry, read) in cabinet.entries().iter().zip(read) {
        let (_, bytes) = files.iter().find(|(path, _)| *path == entry.path).unwrap();
        assert!(read == *bytes, "{}", entry.path);
        // Two seconds are the unit of the format.
        assert_eq!(entry.modified.unwrap().to_string(), "2025-12-31T23:59:58Z");
    }
    // The reader of the `cab` crate says the same.
    let mut other = cab::Cabinet::new(Cursor::new(&bytes)).unwrap();
    for (path, bytes) in &files {
        let mut read = Vec::new();
        other.read_file(&name_to_cabinet(path).unwrap()).unwrap().read_to_end(&mut read).unwrap();
        assert!(read == *bytes, "{path}");
    }
}

#[test]
fn a_cabinet_is_unpacked_with_its_folders_and_times() {
    let place = Place::new();
    let files = files();
    fs::write(place.path("set/a.cab"), cabinet(&files)).unwrap();
    let extracted =
        extract(&place.root(), "a.cab", &place.dir("outside"), &ExtractLimits::default(), &|| false).unwrap();
    assert_eq!(extracted.files, files.len() as u64);
    assert_eq!(extracted.bytes, files.iter().map(|(_, bytes)| bytes.len() as u64).sum::<u64>());
    assert_eq!(tree(&place.path("outside")), files.iter().cloned().collect());
    let modified = fs::metadata(place.path("outside").join(&files[3].0)).unwrap().modified().unwrap();
    assert_eq!(Timestamp::try_from(modified).unwrap().to_string(), "2025-12-31T23:59:58Z");
}

#[test]
fn nothing_is_overwritten_and_nothing_is_left_after_a_failure() {
    let place = Place::new();
    fs::write(place.path("set/a.cab"), cabinet(&files())).unwrap();
    fs::create_dir(place.path("outside/folder 1")).unwrap();
    fs::write(place.path("outside/folder 1/Datei 4 ü.csv"), b"mine").unwrap();
    let failed = extract(&place.root(), "a.cab", &place.dir("outside"), &ExtractLimits::default(), &|| false);
    assert!(failed.unwrap_err().to_string().starts_with("create \"folder 1/Datei 4 ü.csv\": File exists"));
    let left = tree(&place.path("outside"));
    assert_eq!(
        left.into_iter().collect::<Vec<_>>(),
        [("folder 1/Datei 4 ü.csv".to_owned(), b"mine".to_vec())]
    );
}

#[test]
fn a_link_in_the_target_is_not_followed() {
    let place = Place::new();
    fs::write(place.path("set/a.cab"), cabinet(&files())).unwrap();
    std::os::unix::fs::symlink(place.path("sent"), place.path("outside/folder 0")).unwrap();
    let failed = extract(&place.root(), "a.cab", &place.dir("outside"), &ExtractLimits::default(), &|| false);
    assert!(matches!(failed, Err(Error::Io { .. })), "{failed:?}");
    assert!(place.names("sent").is_empty());
    assert_eq!(place.names("outside"), ["folder 0"]);
}

#[test]
fn unpacking_stops_when_the_caller_says_so() {
    let place = Place::new();
    fs::write(place.path("set/a.cab"), cabinet(&files())).unwrap();
    let asked = std::cell::Cell::new(0);
    let stop = || {
        asked.set(asked.get() + 1);
        asked.get() > 15
    };
    let failed = extract(&place.root(), "a.cab", &place.dir("outside"), &ExtractLimits::default(), &stop);
    assert!(matches!(failed, Err(Error::Stopped)));
    assert!(place.names("outside").is_empty());
}

#[test]
fn a_file_that_becomes_shorter_makes_no_cabinet() {
    let file = NewFile { path: "a".to_owned(), bytes: 10, modified: Timestamp::UNIX_EPOCH };
    let written = write(Cursor::new(Vec::new()), "a.cab", &[file], &mut |_| Ok(&b"123"[..]), &|| false);
    assert!(matches!(written, Err(Error::LeftAlone { .. })));
}
