//! A private copy of a library's file, so that the mapped file cannot change.
//!
//! `cp` over a loaded library changes code while threads run it. So the file is copied into memory that is sealed
//! against changes, and the dynamic linker opens the copy.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};

use object::elf::{DT_RPATH, DT_RUNPATH, ELFMAG, FileHeader64, SHT_NOBITS};
use object::read::elf::{Dyn as _, FileHeader as _, ProgramHeader as _, SectionHeader as _};
use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create};
use tracing::warn;

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
        check_extents(&bytes).map_err(|Truncated { part, expected_bytes }| LoadError::Truncated {
            file: file.to_owned(),
            part,
            expected_bytes,
            found_bytes,
        })?;
        if needs_its_folder(&bytes) {
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

// Checks a library's file before the dynamic linker reads it.

type Header = FileHeader64<object::Endianness>;

/// The file is shorter than its headers say. The linker would map the missing part, and a read of it would end the
/// process with SIGBUS.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Truncated {
    /// The part that exceeds the file.
    pub(crate) part: &'static str,
    pub(crate) expected_bytes: u64,
}

/// Checks that all headers, segments and sections are in the file. Files other than 64-bit ELF are left to the
/// linker, which refuses them.
pub(crate) fn check_extents(file: &[u8]) -> Result<(), Truncated> {
    let end_of = |part, offset: u64, bytes: u64| match offset.saturating_add(bytes) {
        end if end <= file.len() as u64 => Ok(()),
        expected_bytes => Err(Truncated { part, expected_bytes }),
    };
    if !file.starts_with(&ELFMAG) {
        return Ok(());
    }
    end_of("header", 0, size_of::<Header>() as u64)?;
    let Ok(header) = Header::parse(file) else { return Ok(()) };
    let Ok(endian) = header.endian() else { return Ok(()) };
    let table = |count: u16, entry_bytes: u16| u64::from(count) * u64::from(entry_bytes);
    let segments_bytes = table(header.e_phnum(endian), header.e_phentsize(endian));
    end_of("program headers", header.e_phoff(endian), segments_bytes)?;
    let sections_bytes = table(header.e_shnum(endian), header.e_shentsize(endian));
    end_of("section headers", header.e_shoff(endian), sections_bytes)?;
    for segment in header.program_headers(endian, file).unwrap_or_default() {
        end_of("a segment", segment.p_offset(endian), segment.p_filesz(endian))?;
    }
    for section in header.section_headers(endian, file).unwrap_or_default() {
        if section.sh_type(endian) != SHT_NOBITS {
            end_of("a section", section.sh_offset(endian), section.sh_size(endian))?;
        }
    }
    Ok(())
}

/// Whether the library needs others from its own folder (`$ORIGIN`), so that it must be opened there.
pub(crate) fn needs_its_folder(file: &[u8]) -> bool {
    run_paths(file).is_some_and(|mut paths| paths.any(contains_origin))
}

fn run_paths(file: &[u8]) -> Option<impl Iterator<Item = &[u8]>> {
    let header = Header::parse(file).ok()?;
    let endian = header.endian().ok()?;
    let sections = header.sections(endian, file).ok()?;
    let (entries, link) = sections.dynamic(endian, file).ok()??;
    let strings = sections.strings(endian, file, link).ok()?;
    let is_path = move |tag| tag == DT_RUNPATH || tag == DT_RPATH;
    let paths = entries.iter().filter(move |entry| is_path(entry.d_tag(endian)));
    Some(paths.filter_map(move |entry| entry.string(endian, strings).ok()))
}

fn contains_origin(path: &[u8]) -> bool {
    [b"$ORIGIN".as_slice(), b"${ORIGIN}"]
        .iter()
        .any(|word| path.windows(word.len()).any(|part| part == *word))
}
