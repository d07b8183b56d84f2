//! Cabinet files that somebody made to do harm, and damaged ones.

use std::io::{Cursor, Write as _};

use cab::{CabinetBuilder, CompressionType};
use counter_log::data_manager::{Error, ExtractLimits, extract};
use wire::HResult;

use crate::data_manager::place::{Place, noise};

fn cabinet(compression: CompressionType, files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut builder = CabinetBuilder::new();
    let folder = builder.add_folder(compression);
    for (name, _) in files {
        folder.add_file(*name);
    }
    let mut writer = builder.build(Cursor::new(Vec::new())).expect("memory has room");
    for (_, bytes) in files {
        let mut file = writer.next_file().expect("memory has room").expect("there are as many");
        file.write_all(bytes).expect("memory has room");
    }
    writer.finish().expect("memory has room").into_inner()
}

/// Tries to unpack, and returns what is said. Nothing may be there after that.
fn refused_with(bytes: &[u8], limits: &ExtractLimits) -> String {
    let place = Place::new();
    place.write("a.cab", bytes);
    let error =
        extract(&place.root(), "a.cab", &place.dir("outside"), limits, &|| false).expect_err("it is refused");
    assert!(place.names("outside").is_empty(), "{error}");
    assert_eq!(error.hresult(), HResult::PLA_E_CABAPI_FAILURE, "{error}");
    match error {
        Error::Cabinet { reason, .. } => reason,
        other => other.to_string(),
    }
}

fn refused(bytes: &[u8]) -> String {
    refused_with(bytes, &ExtractLimits::default())
}

/// A stored cabinet with two files, in which bytes are changed.
fn changed(changes: &[(usize, &[u8])]) -> Vec<u8> {
    let mut bytes = cabinet(CompressionType::None, &[("one.csv", b"0123456789"), ("two.csv", b"abcdef")]);
    for (at, new) in changes {
        bytes[*at..*at + new.len()].copy_from_slice(new);
    }
    bytes
}

/// Offsets in such a cabinet: the header is followed by a folder and by two files.
const FOLDER: usize = 36;
const FIRST_FILE: usize = 44;
const SECOND_FILE: usize = FIRST_FILE + 16 + 8;

#[test]
fn names_that_leave_the_folder_are_refused_before_anything_is_written() {
    let names = [
        "..\\up",
        "a\\..\\..\\up",
        "\\absolute",
        "/absolute",
        "C:\\drive",
        "C:drive",
        "\\\\server\\share\\x",
        "nul",
        "aux.csv",
        "a\\COM1.txt",
        "file:stream",
        "a\\",
        "trailing.",
        "new\nline",
        "a//b",
    ];
    for name in names {
        let bytes = cabinet(CompressionType::MsZip, &[("good.csv", b"1"), (name, b"2")]);
        let reason = refused(&bytes);
        assert!(reason.starts_with("the name "), "{name:?}: {reason}");
    }
}

#[test]
fn names_that_collide_are_refused() {
    let twice = cabinet(CompressionType::None, &[("a\\Log.csv", b"1"), ("a/log.CSV", b"2")]);
    assert_eq!(refused(&twice), r#"the name "a/log.CSV" is there twice"#);
    let below = cabinet(CompressionType::None, &[("a", b"1"), ("a\\b", b"2")]);
    assert_eq!(refused(&below), r#"the name "a/b" is below a file"#);
    let above = cabinet(CompressionType::None, &[("a\\b", b"1"), ("A", b"2")]);
    assert_eq!(refused(&above), r#"the name "A" is a file and a folder"#);
}

#[test]
fn bombs_are_refused_by_what_they_say() {
    let bytes = cabinet(CompressionType::MsZip, &[("a", &[0; 2000]), ("b", b"1")]);
    let limits = ExtractLimits { bytes_max: 2000, ..ExtractLimits::default() };
    assert_eq!(refused_with(&bytes, &limits), "its files have 2001 bytes, and at most 2000 are unpacked");
    let limits = ExtractLimits { files_max: 1, ..ExtractLimits::default() };
    assert_eq!(refused_with(&bytes, &limits), "it has 2 files, and from 1 to 1 are read");
    // Files that share their data would become many times as large.
    let shared = changed(&[(SECOND_FILE + 4, &[5, 0, 0, 0])]);
    assert_eq!(refused(&shared), r#"the files "one.csv" and "two.csv" have the same data"#);
    let long = changed(&[(SECOND_FILE, &[0xff, 0xff, 0xff, 0x7f])]);
    assert_eq!(refused(&long), r#"the file "two.csv" is longer than the data of its folder"#);
}

#[test]
fn parts_of_a_set_and_unknown_formats_are_refused() {
    let of_several = "it is one of several cabinet files that belong together, which are not read";
    assert_eq!(refused(&changed(&[(30, &[1])])), of_several);
    assert_eq!(refused(&changed(&[(30, &[2])])), of_several);
    assert_eq!(refused(&changed(&[(34, &[1])])), of_several);
    let from_previous = changed(&[(SECOND_FILE + 8, &[0xfd, 0xff])]);
    assert_eq!(refused(&from_previous), r#"the file "two.csv" is in no folder of it"#);
    assert!(refused(&changed(&[(0, b"PK")])).contains("no cabinet file"));
    assert!(refused(&changed(&[(24, &[0, 2])])).contains("version is 2.0"));
    assert!(refused(&changed(&[(FOLDER + 6, &[3, 15])])).contains("LZX"));
    assert!(refused(&changed(&[(FOLDER + 6, &[2])])).contains("Quantum"));
    assert!(refused(&changed(&[(FOLDER + 6, &[9])])).contains("unknown compression"));
}

#[test]
fn damaged_data_are_refused_before_anything_is_written() {
    let good = changed(&[]);
    let last = good.len() - 1;
    assert_eq!(refused(&changed(&[(last, b"x")])), "block 0 of its data has a wrong checksum");
    let data = SECOND_FILE + 16 + 8;
    // Without a checksum it is not checked; lengths are.
    let longer = changed(&[(data, &[0; 4]), (data + 6, &[17])]);
    assert_eq!(refused(&longer), "block 0 of its data has 16 bytes and says that it has 17");
    let shorter = changed(&[(data, &[0; 4]), (data + 4, &[15, 0, 15])]);
    assert_eq!(refused(&shorter), "block 1 of its data is missing");
    // The damage is in the last block; the files before it are good.
    let mut bytes =
        cabinet(CompressionType::MsZip, &[("good", &noise(1, 70_000)), ("bad", &noise(2, 70_000))]);
    let last = bytes.len() - 5;
    bytes[last] ^= 1;
    assert_eq!(refused(&bytes), "block 4 of its data has a wrong checksum");
}

#[test]
fn a_cabinet_that_is_cut_off_anywhere_is_refused() {
    let bytes = cabinet(CompressionType::MsZip, &[("one.csv", b"0123456789"), ("two.csv", &noise(1, 100))]);
    for end in 0..bytes.len() {
        refused(&bytes[..end]);
        // The same with a header that says so.
        if let Some(header) = bytes[..end].get(..36) {
            let length = u32::try_from(end).unwrap().to_le_bytes();
            let short = [&header[..8], &length[..], &header[12..], &bytes[36..end]].concat();
            refused(&short);
        }
    }
}
