use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicU64, Ordering, fence};

/// Bytes that another thread or process may change or cut off while they are read.
pub trait Source {
    /// Reads what is there at `offset`, at most as much as fits. Later reads find nothing older.
    ///
    /// # Errors
    /// When the bytes cannot be read. At the end there are none, which is no error.
    fn read_at(&self, offset: u64, bytes: &mut [u8]) -> io::Result<usize>;
}

/// Reads with `pread`, so that a file which is cut off is a short read and no signal.
impl Source for File {
    fn read_at(&self, offset: u64, bytes: &mut [u8]) -> io::Result<usize> {
        let mut filled = 0;
        while filled < bytes.len() {
            let read = FileExt::read_at(self, &mut bytes[filled..], offset + filled as u64);
            match read {
                Ok(0) => break,
                Ok(read) => filled += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        fence(Ordering::Acquire);
        Ok(filled)
    }
}

/// Bytes that nobody changes, such as a copy of a file.
impl Source for [u8] {
    fn read_at(&self, offset: u64, bytes: &mut [u8]) -> io::Result<usize> {
        let there = usize::try_from(offset).ok().and_then(|offset| self.get(offset..)).unwrap_or_default();
        let length = there.len().min(bytes.len());
        bytes[..length].copy_from_slice(&there[..length]);
        Ok(length)
    }
}

/// Memory of this process, at offsets of whole words.
impl Source for [AtomicU64] {
    fn read_at(&self, offset: u64, bytes: &mut [u8]) -> io::Result<usize> {
        let first = usize::try_from(offset / 8).unwrap_or(usize::MAX);
        let there = self.get(first..).unwrap_or_default();
        let mut filled = 0;
        for (bytes, word) in bytes.chunks_exact_mut(8).zip(there) {
            bytes.copy_from_slice(&word.load(Ordering::Relaxed).to_ne_bytes());
            filled += 8;
        }
        fence(Ordering::Acquire);
        Ok(filled)
    }
}
