//! A private copy of a library's file, so that the mapped file cannot change.
//!
//! `cp` over a loaded library changes code while threads run it. So the file is copied into memory that is sealed
//! against changes, and the dynamic linker opens the copy.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create};
use tracing::warn;

use crate::elf::{self, Truncated};
use crate::error::LoadError;

/// The file that the dynamic linker opens.
#[derive(Debug)]
pub(crate) enum Image {
    /// A sealed copy.
    ///
    /// INVARIANT: the descriptor stays open as long as the library is loaded. Its number is in the path, and the
    /// linker identifies libraries by their paths: for another library with that number it would return this one
    /// again.
    Copy(OwnedFd),
    InPlace(PathBuf),
}

impl Image {
    /// Reads and checks a library's file.
    pub(crate) fn read(file: &Path) -> Result<Self, LoadError> {
        let unreadable = |error: io::Error| LoadError::Unreadable { file: file.to_owned(), error };
        let mut bytes = Vec::new();
        let opened = File::open(file).map_err(unreadable)?;
        opened.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes).map_err(unreadable)?;
        let found_bytes = bytes.len() as u64;
        if found_bytes > FILE_BYTES_MAX {
            let error = io::Error::other(format!("has more than {FILE_BYTES_MAX} bytes, which is the limit"));
            return Err(unreadable(error));
        }
        elf::check_extents(&bytes).map_err(|Truncated { part, expected_bytes }| LoadError::Truncated {
            file: file.to_owned(),
            part,
            expected_bytes,
            found_bytes,
        })?;
        if elf::needs_its_folder(&bytes) {
            warn!(file = %file.display(), "Plugin looks for libraries beside itself, so it is opened in place: do not overwrite it while it is loaded");
            return Ok(Self::InPlace(file.to_owned()));
        }
        match sealed_copy(file, &bytes) {
            Ok(copy) => Ok(Self::Copy(copy)),
            Err(error) => {
                warn!(file = %file.display(), %error, "Plugin cannot be copied, so it is opened in place: do not overwrite it while it is loaded");
                Ok(Self::InPlace(file.to_owned()))
            }
        }
    }

    /// The path at which this process opens it.
    pub(crate) fn path(&self) -> PathBuf {
        match self {
            Self::Copy(copy) => PathBuf::from(format!("/proc/self/fd/{}", copy.as_raw_fd())),
            Self::InPlace(file) => file.clone(),
        }
    }
}

fn sealed_copy(file: &Path, bytes: &[u8]) -> io::Result<OwnedFd> {
    // The name that /proc/PID/maps and debuggers show, after `memfd:`.
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let name: String = name.chars().filter(|c| *c != '\0').take(NAME_CHARS_MAX).collect();
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    // Kernels before 6.3 do not have this flag and do not need it.
    let copy = memfd_create(&name, flags | MemfdFlags::EXEC).or_else(|_| memfd_create(&name, flags))?;
    let mut writer = File::from(copy);
    writer.write_all(bytes)?;
    let copy = OwnedFd::from(writer);
    fcntl_add_seals(&copy, SealFlags::SHRINK | SealFlags::GROW | SealFlags::WRITE | SealFlags::SEAL)?;
    // Without /proc it has no path.
    std::fs::metadata(format!("/proc/self/fd/{}", copy.as_raw_fd()))?;
    Ok(copy)
}

/// Maximum size of a library; one with all its debug information has a tenth of it.
const FILE_BYTES_MAX: u64 = 1 << 30;
/// A name may have 249 bytes.
const NAME_CHARS_MAX: usize = 60;
