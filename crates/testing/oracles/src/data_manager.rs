//! Laws of data managers: cabinet files, which anybody may have made.

use std::collections::HashSet;
use std::io::Cursor;

use counter_log::data_manager::ExtractLimits;
use counter_log::data_manager::cabinet::{
    Cabinet, NewFile, PartLimits, Plan, name_from_cabinet, name_to_cabinet, write,
};
use jiff::Timestamp;

use crate::INPUT_BYTES_MAX;

const LIMITS: ExtractLimits = ExtractLimits { files_max: 64, bytes_max: 1024 * 1024 };
const WORKS: &str = "memory of our own has room";

/// A cabinet file: its names stay in a folder and do not collide; it gives the bytes that it says, each file by itself and in
/// pieces; it can be cut off nowhere; what was read can be written, and is then read the same, by the `cab` crate's writer.
pub fn cabinet(bytes: &[u8]) {
    let bytes = &bytes[..bytes.len().min(INPUT_BYTES_MAX)];
    let Ok(mut cabinet) = Cabinet::open(Cursor::new(bytes), "fuzzed.cab", &LIMITS) else { return };
    let entries = cabinet.entries().to_vec();
    assert!(!entries.is_empty() && entries.len() <= usize::from(LIMITS.files_max));
    assert!(entries.iter().map(|entry| u64::from(entry.bytes)).sum::<u64>() <= LIMITS.bytes_max);
    let mut paths = HashSet::new();
    for entry in &entries {
        assert!(paths.insert(entry.path.to_lowercase()), "{} is there once", entry.path);
        let parts = entry.path.split('/');
        let is_harmless = |part: &str| !matches!(part, "" | "." | "..") && !part.contains(['\\', ':', '\0']);
        assert!(parts.clone().all(is_harmless), "{:?} stays in the folder", entry.path);
        let folders = entry.path.to_lowercase();
        let mut above = folders.match_indices('/').map(|(at, _)| &folders[..at]);
        assert!(above.all(|folder| entries.iter().all(|other| other.path.to_lowercase() != folder)));
        let name = name_to_cabinet(&entry.path).expect("what was read can be written");
        assert_eq!(name_from_cabinet(name.as_bytes()).as_ref(), Ok(&entry.path));
    }
    let Some(files) = read(&mut cabinet, entries.len()) else { return };
    for (entry, file) in entries.iter().zip(&files) {
        assert_eq!(file.len(), entry.bytes as usize, "{} has the bytes that it says", entry.path);
    }
    written_again(&entries, &files);
}

/// A cabinet file of three files, of which one takes two blocks.
#[must_use]
pub fn honest() -> Vec<u8> {
    let long: Vec<u8> = (0..33_000_u32).map(|at| (at / 7 % 11).to_le_bytes()[0]).collect();
    let contents =
        [("run/empty.csv", &b""[..]), ("run/log.csv", &long[..]), ("report.xml", &b"<report/>"[..])];
    let modified = Timestamp::from_second(1_800_000_000).expect("it is a date");
    let new =
        contents.map(|(path, bytes)| NewFile { path: path.to_owned(), bytes: bytes.len() as u64, modified });
    let mut sources = contents.iter();
    let mut open = |_: &NewFile| Ok(Cursor::new(sources.next().expect("each is opened once").1));
    write(Cursor::new(Vec::new()), "honest.cab", &new, &mut open, &|| false).expect(WORKS).into_inner()
}

/// The bytes of all files, unless their data are damaged.
fn read(cabinet: &mut Cabinet<Cursor<&[u8]>>, count: usize) -> Option<Vec<Vec<u8>>> {
    let mut files: Vec<Vec<u8>> = vec![Vec::new(); count];
    let mut last = 0;
    let read = cabinet.read(&|| false, &mut |index, piece| {
        assert!(index >= last && piece.len() <= 32 * 1024, "pieces come in the order of the files");
        last = index;
        files[index].extend_from_slice(piece);
        Ok(())
    });
    read.is_ok().then_some(files)
}

fn written_again(entries: &[counter_log::data_manager::cabinet::Entry], files: &[Vec<u8>]) {
    let new = entries.iter().map(|entry| NewFile {
        path: entry.path.clone(),
        bytes: entry.bytes.into(),
        modified: entry.modified.unwrap_or(Timestamp::UNIX_EPOCH),
    });
    let plan = Plan::new(new.collect(), &PartLimits::default());
    assert!(plan.left_out.is_empty() && plan.parts.len() == 1);
    let mut sources = files.iter();
    let mut open = |_: &NewFile| Ok(Cursor::new(sources.next().expect("each is opened once")));
    let written = write(Cursor::new(Vec::new()), "again.cab", &plan.parts[0], &mut open, &|| false);
    let written = written.expect(WORKS).into_inner();
    let mut again = Cabinet::open(Cursor::new(&written[..]), "again.cab", &LIMITS).expect("ours is read");
    // Files without bytes may stand elsewhere.
    let order: Vec<usize> = again
        .entries()
        .iter()
        .map(|entry| entries.iter().position(|other| other.path == entry.path).expect("it is one of them"))
        .collect();
    for (entry, at) in again.entries().iter().zip(&order) {
        let was = &entries[*at];
        assert_eq!(entry.bytes, was.bytes);
        assert!(was.modified.is_none() || entry.modified == was.modified, "{}: its time is kept", was.path);
    }
    let count = order.len();
    let read = read(&mut again, count).expect("ours is whole");
    assert!(read.iter().zip(&order).all(|(read, at)| *read == files[*at]), "the bytes are kept");
}
