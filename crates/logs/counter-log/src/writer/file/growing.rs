//! A file that whole records are added to.

use std::fs::File;
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};

/// Records as bytes, and where each of them ends.
#[derive(Debug, Default)]
pub(super) struct Encoded {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Encoded {
    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
    }

    pub(super) const fn bytes(&self) -> usize {
        self.bytes.len()
    }

    pub(super) const fn records(&self) -> usize {
        self.ends.len()
    }

    /// How many bytes the first so many records have.
    pub(super) fn bytes_of(&self, records: usize) -> usize {
        records.checked_sub(1).and_then(|last| self.ends.get(last)).copied().unwrap_or(0)
    }

    pub(super) fn add(&mut self, encode: impl FnOnce(&mut Vec<u8>)) {
        encode(&mut self.bytes);
        self.ends.push(self.bytes.len());
    }

    pub(super) fn remove_last(&mut self) {
        self.ends.pop();
        self.bytes.truncate(self.ends.last().copied().unwrap_or(0));
    }
}

/// What is needed of a file.
pub(super) trait Storage {
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<usize>;
    fn set_len(&self, length: u64) -> io::Result<()>;
}

impl Storage for File {
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<usize> {
        FileExt::write_at(self, bytes, offset)
    }

    fn set_len(&self, length: u64) -> io::Result<()> {
        Self::set_len(self, length)
    }
}

/// A file and the length that it has of whole records.
#[derive(Debug)]
pub(super) struct Growing<F = File> {
    file: F,
    length: u64,
    /// Whether a part of a record may be after that, because it could not be cut off.
    has_rest: bool,
}

impl<F: Storage> Growing<F> {
    pub(super) const fn new(file: F, length: u64) -> Self {
        Self { file, length, has_rest: false }
    }

    pub(super) const fn length(&self) -> u64 {
        self.length
    }

    pub(super) const fn file(&self) -> &F {
        &self.file
    }

    /// Adds records. Returns how many of them are whole in the file, and why the others are not: of a record that was cut off in
    /// the middle nothing stays.
    pub(super) fn append(&mut self, encoded: &Encoded) -> (usize, Option<io::Error>) {
        if self.has_rest
            && let Err(error) = self.file.set_len(self.length)
        {
            return (0, Some(error));
        }
        self.has_rest = false;
        let (written, failure) = write_all_at(&self.file, &encoded.bytes, self.length);
        let records = encoded.ends.partition_point(|end| *end <= written);
        let kept = encoded.bytes_of(records);
        self.length += kept as u64;
        self.has_rest = written > kept && self.file.set_len(self.length).is_err();
        (records, failure)
    }
}

impl Growing {
    /// Whether the file still has a name and the length that it was left with.
    pub(super) fn is_as_it_was(&self) -> bool {
        let is_right = |length: u64| length == self.length || self.has_rest && length > self.length;
        self.file.metadata().is_ok_and(|metadata| metadata.nlink() > 0 && is_right(metadata.len()))
    }
}

/// Writes as much as can be. Returns how much that is.
pub(super) fn write_all_at(file: &impl Storage, bytes: &[u8], offset: u64) -> (usize, Option<io::Error>) {
    let mut written = 0;
    while written < bytes.len() {
        match file.write_at(&bytes[written..], offset + written as u64) {
            Ok(0) => return (written, Some(io::ErrorKind::WriteZero.into())),
            Ok(more) => written += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return (written, Some(error)),
        }
    }
    (written, None)
}

#[cfg(test)]
mod tests {
    use std::cell::{Cell, RefCell};

    use super::*;

    /// A disk of so many bytes, on which files may perhaps not be cut.
    struct Disk {
        bytes: RefCell<Vec<u8>>,
        room: Cell<usize>,
        can_cut: Cell<bool>,
    }

    impl Storage for Disk {
        fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<usize> {
            let mut stored = self.bytes.borrow_mut();
            let offset = usize::try_from(offset).expect("a small file");
            // At most three bytes at a time, so that a write is interrupted anywhere.
            let length = bytes.len().min(3).min(self.room.get().saturating_sub(offset));
            let end = (offset + length).max(stored.len());
            stored.resize(end, 0);
            stored[offset..offset + length].copy_from_slice(&bytes[..length]);
            if length == 0 { Err(io::ErrorKind::StorageFull.into()) } else { Ok(length) }
        }

        fn set_len(&self, length: u64) -> io::Result<()> {
            let length = usize::try_from(length).expect("a small file");
            if self.can_cut.get() {
                self.bytes.borrow_mut().truncate(length);
                return Ok(());
            }
            Err(io::ErrorKind::Other.into())
        }
    }

    fn rows(texts: &[&str]) -> Encoded {
        let mut encoded = Encoded::default();
        for text in texts {
            encoded.add(|bytes| bytes.extend_from_slice(text.as_bytes()));
        }
        encoded
    }

    #[test]
    fn a_disk_that_is_full_in_the_middle_of_a_record_has_the_records_before() {
        let texts = ["one\r\n", "three\r\n", "five\r\n"];
        for room in 0..=texts.concat().len() {
            for can_cut in [true, false] {
                let disk =
                    Disk { bytes: RefCell::default(), room: Cell::new(room), can_cut: Cell::new(can_cut) };
                let mut file = Growing::new(disk, 0);
                let (records, failure) = file.append(&rows(&texts));
                let whole = texts[..records].concat();
                assert_eq!(
                    failure.map(|error| error.kind()),
                    (records < 3).then_some(io::ErrorKind::StorageFull)
                );
                assert!(records == 3 || whole.len() + texts[records].len() > room, "room for another");
                assert_eq!(file.length(), whole.len() as u64);
                assert!(file.file.bytes.borrow().starts_with(whole.as_bytes()));
                assert!(!can_cut || file.file.bytes.borrow().len() == whole.len());
                // With room again, the others follow, and nothing is left between.
                file.file.room.set(1000);
                if !can_cut && room > whole.len() {
                    assert!(file.append(&rows(&texts[records..])).1.is_some(), "a rest is in the way");
                }
                file.file.can_cut.set(true);
                assert!(matches!(file.append(&rows(&texts[records..])), (left, None) if left == 3 - records));
                assert_eq!(*file.file.bytes.borrow(), texts.concat().as_bytes());
            }
        }
    }
}
