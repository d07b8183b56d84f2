#![expect(unsafe_code, reason = "maps a file into memory and unmaps it")]
// UNSAFETY: the memory is only accessed as atomic words, which other processes may change at any time; it is unmapped when
// nobody borrows it any more. Access beyond the end of the file, after somebody cut it, is caught by `SigbusGuard`.

use std::os::fd::OwnedFd;
use std::ptr::{self, NonNull};
use std::slice;
use std::sync::atomic::AtomicU64;

use rustix::fs::{FallocateFlags, fallocate};
use rustix::io::Errno;
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};

use super::sigbus::SigbusGuard;
use super::{Range, Registration};
use crate::Memory;
use crate::error::Error;
use crate::header::{FileHeader, format};

/// A new file, mapped into memory with room for all its sections.
///
/// The file grows section by section, and its blocks are reserved before a section is used, so that a full disk is an
/// error of [`Memory::grow`] and no signal.
#[derive(Debug)]
pub struct MappedFile {
    file: OwnedFd,
    /// INVARIANT: the begin of a mapping of `bytes` bytes, which lives as long as this.
    begin: NonNull<AtomicU64>,
    bytes: usize,
    section_bytes: usize,
    registration: Registration,
}

// SAFETY: the mapping belongs to no thread.
unsafe impl Send for MappedFile {}
// SAFETY: the mapping is only accessed as atomic words.
unsafe impl Sync for MappedFile {}

/// What failed when a file was made.
#[derive(Debug)]
pub(crate) enum CreateError {
    Reserve(Errno),
    Map(Errno),
    Other(Error),
}

impl MappedFile {
    /// Gives an empty file its first section with the header. The guard is the proof that there is one.
    pub(crate) fn create(file: OwnedFd, header: &FileHeader, _: SigbusGuard) -> Result<Self, CreateError> {
        let capacity = header.capacity;
        if !capacity.is_valid() {
            return Err(CreateError::Other(Error::Capacity(capacity)));
        }
        let (bytes, section_bytes) = (capacity.bytes_max(), capacity.section_bytes());
        reserve(&file, 0, section_bytes).map_err(CreateError::Reserve)?;
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: the address is the system's choice, so nothing else is there.
        let begin = unsafe { mmap(ptr::null_mut(), bytes, protection, MapFlags::SHARED, &file, 0) };
        let begin = NonNull::new(begin.map_err(CreateError::Map)?.cast::<AtomicU64>())
            .ok_or(CreateError::Map(Errno::NOMEM))?;
        let range = Range { begin: begin.addr().get(), bytes };
        let registration = match Registration::new(range) {
            Ok(registration) => registration,
            Err(error) => {
                // SAFETY: the mapping was made above, and nobody has it.
                let _ = unsafe { munmap(begin.as_ptr().cast(), bytes) };
                return Err(CreateError::Other(error));
            }
        };
        let mapped = Self { file, begin, bytes, section_bytes, registration };
        format(mapped.words(), header).map_err(CreateError::Other)?;
        Ok(mapped)
    }

    /// How many of its pages were missing when they were written, because somebody had cut the file. What is written
    /// there is not in the file.
    #[must_use]
    pub fn pages_lost(&self) -> u64 {
        self.registration.pages_lost()
    }
}

impl Memory for MappedFile {
    fn words(&self) -> &[AtomicU64] {
        // SAFETY: per the invariant of `begin`; each bit pattern is an atomic word, and pages are aligned.
        unsafe { slice::from_raw_parts(self.begin.as_ptr(), self.bytes / size_of::<AtomicU64>()) }
    }

    fn grow(&self, sections: u16) -> bool {
        let end = usize::from(sections) * self.section_bytes;
        let Some(begin) = end.checked_sub(self.section_bytes).filter(|_| end <= self.bytes) else {
            return false;
        };
        reserve(&self.file, begin, self.section_bytes).is_ok()
    }
}

impl Drop for MappedFile {
    fn drop(&mut self) {
        // Before the address can be another mapping's.
        self.registration.end();
        // SAFETY: per the invariant of `begin`; nobody borrows it any more.
        let _ = unsafe { munmap(self.begin.as_ptr().cast(), self.bytes) };
    }
}

/// Reserves blocks, which are zero.
fn reserve(file: &OwnedFd, begin: usize, bytes: usize) -> Result<(), Errno> {
    match fallocate(file, FallocateFlags::empty(), begin as u64, bytes as u64) {
        // The file system does not have it; writing reserves, too.
        Err(Errno::OPNOTSUPP | Errno::NOSYS) => write_zeros(file, begin, bytes),
        done => done,
    }
}

fn write_zeros(file: &OwnedFd, begin: usize, bytes: usize) -> Result<(), Errno> {
    let zeros = [0; 4096];
    let mut written = 0;
    while written < bytes {
        let length = zeros.len().min(bytes - written);
        match rustix::io::pwrite(file, &zeros[..length], (begin + written) as u64) {
            Ok(0) => return Err(Errno::NOSPC),
            Ok(length) => written += length,
            Err(Errno::INTR) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
