//! Checks and copies a library's file, opens it, and calls its entry, which fills the table.
#![expect(unsafe_code, reason = "opens shared libraries and calls their entry")]

// UNSAFETY: opening a library runs its initialisers, and calling its entry runs its code: this is what loading a
// plugin means, and it requires trust, as the header says. The library is never closed, so that what its table
// points to lives as long as the process.

use std::ffi::OsStr;
use std::fs::{File, FileType};
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::FileTypeExt as _;
use std::path::{Path, PathBuf};

use libloading::os::unix::{Library as Opened, RTLD_LOCAL, RTLD_NOW};
use object::elf::{DT_RPATH, DT_RUNPATH, ELFMAG, FileHeader64, SHT_NOBITS};
use object::read::elf::{Dyn as _, FileHeader as _, ProgramHeader as _, SectionHeader as _};
use plugin_abi::raw::{
    self, ABI_MAJOR, ENTRY_SYMBOL, EntryFn, HostApi, OK, Plain as _, PluginApi, Text, VERSION, read_struct,
    struct_size,
};
use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create};
use rustix::io::Errno;
use tracing::warn;

use crate::calls::{MESSAGE_BYTES_MAX, message, status_name};
use crate::error::LoadError;
use crate::info::AbiVersion;

/// Opens the image of `file` and finds its entry.
pub(crate) fn open(image: Image, file: &Path) -> Result<EntryFn, LoadError> {
    // SAFETY: see UNSAFETY above.
    let opened = unsafe { Opened::open(Some(image.path()), RTLD_NOW | RTLD_LOCAL) }
        .map_err(|error| LoadError::Open { file: file.to_owned(), reason: reason(&error) })?;
    // Per the invariant of `Image::Copy` its descriptor stays open, whatever else is wrong with the library.
    std::mem::forget(image);
    // Never closed: a plugin's threads, thread locals and tables may be used until the process ends.
    let opened: &'static Opened = Box::leak(Box::new(opened));
    // SAFETY: the symbol's name holds the major version, and the header gives the symbol this type.
    let symbol = unsafe { opened.get::<EntryFn>(ENTRY_SYMBOL.as_bytes()) };
    match symbol {
        Ok(entry) => Ok(*entry),
        Err(_) => Err(no_entry(file, opened)),
    }
}

/// Calls the entry and reads the table that it fills.
pub(crate) fn enter(entry: EntryFn, file: &Path, host: &'static HostApi) -> Result<PluginApi, LoadError> {
    let mut room = [0_u8; MESSAGE_BYTES_MAX];
    let mut text = Text {
        size: struct_size::<Text>(),
        reserved: 0,
        ptr: room.as_mut_ptr(),
        capacity: room.len() as u64,
        len: 0,
    };
    let mut table = PluginApi { size: struct_size::<PluginApi>(), ..PluginApi::ZERO };
    // SAFETY: the host's table lives for ever, the two others until the call returns; see UNSAFETY above.
    let status = unsafe { entry(host, &raw mut table, &raw mut text) };
    let file = file.to_owned();
    let expected = AbiVersion { major: ABI_MAJOR, minor: host.abi_minor };
    let found = AbiVersion { major: table.abi_major, minor: table.abi_minor };
    if status == VERSION || (status == OK && found.major != expected.major) {
        return Err(LoadError::Major { file, expected, found });
    }
    if status != OK {
        return Err(LoadError::Entry {
            file,
            status: status_name(status),
            message: message(&room, text.len),
        });
    }
    // SAFETY: the table is ours; its first member is what the plugin says it wrote, at most what there is room for.
    unsafe { read_struct(&raw const table) }.map_err(|_| LoadError::Declaration {
        file,
        field: "size".to_owned(),
        expected: "the size of a version 1.0 table or more",
        found: table.size.to_string(),
    })
}

/// Why a path is no library's file, with the plugin files of the folder where one was looked for.
pub(crate) fn missing(file: &Path) -> LoadError {
    let not_regular = |kind| LoadError::NotRegular { file: file.to_owned(), kind };
    match std::fs::metadata(file) {
        Ok(metadata) => return not_regular(kind_of(metadata.file_type())),
        Err(error) if error.kind() != ErrorKind::NotFound => {
            return LoadError::Unreadable { file: file.to_owned(), error };
        }
        Err(_) if file.is_symlink() => return not_regular("a link to nothing"),
        Err(_) => {}
    }
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut found: Vec<String> = std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| PathBuf::from(entry.file_name()))
        .filter(|name| name.extension() == Some(OsStr::new("so")))
        .map(|name| name.display().to_string())
        .take(FOUND_MAX)
        .collect();
    found.sort();
    LoadError::Missing { file: file.to_owned(), folder: folder.to_owned(), found }
}

fn kind_of(kind: FileType) -> &'static str {
    match kind {
        _ if kind.is_dir() => "a folder",
        _ if kind.is_fifo() => "a pipe",
        _ if kind.is_socket() => "a socket",
        _ => "a device",
    }
}

/// The error for a library without the symbol: if it exports that of another major version, the version is wrong.
fn no_entry(file: &Path, opened: &Opened) -> LoadError {
    let file = file.to_owned();
    for major in (0..MAJORS_TRIED).filter(|major| *major != ABI_MAJOR) {
        let symbol = format!("perfmon_plugin_entry_v{major}");
        // SAFETY: the symbol is looked for, but neither called nor kept.
        if unsafe { opened.get::<EntryFn>(symbol.as_bytes()) }.is_ok() {
            let expected = AbiVersion { major: ABI_MAJOR, minor: raw::ABI_MINOR };
            return LoadError::Major { file, expected, found: AbiVersion { major, minor: 0 } };
        }
    }
    LoadError::NoEntry { file, symbol: ENTRY_SYMBOL }
}

fn reason(error: &libloading::Error) -> String {
    use std::error::Error as _;
    error.source().map_or_else(|| error.to_string(), ToString::to_string)
}

const FOUND_MAX: usize = 64;
const MAJORS_TRIED: u16 = 16;

// A private copy of a library's file, so that the mapped file cannot change.
//
// `cp` over a loaded library changes code while threads run it. So the file is copied into memory that is sealed
// against changes, and the dynamic linker opens the copy.

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
    let seals = SealFlags::SHRINK | SealFlags::GROW | SealFlags::WRITE | SealFlags::SEAL;
    let mut attempts = 1;
    while let Err(error) = fcntl_add_seals(&copy, seals) {
        if error != Errno::BUSY || attempts == SEAL_ATTEMPTS_MAX {
            return Err(error.into());
        }
        attempts += 1;
    }
    // Without /proc it has no path.
    std::fs::metadata(format!("/proc/self/fd/{}", copy.as_raw_fd()))?;
    Ok(copy)
}

/// Linux waits a while for others that hold a page of the file, as its own reclaim of memory does, and then answers EBUSY.
const SEAL_ATTEMPTS_MAX: u32 = 5;
/// Maximum size of a library; one with all its debug information has a tenth of it.
const FILE_BYTES_MAX: u64 = 1 << 30;
/// A name may have 249 bytes.
const NAME_CHARS_MAX: usize = 60;

// Checks a library's file before the dynamic linker reads it.

type Header = FileHeader64<object::Endianness>;

/// The file is shorter than its headers say. The linker would map the missing part, and a read of it would end the
/// process with SIGBUS.
#[derive(Debug, PartialEq, Eq)]
struct Truncated {
    /// The part that exceeds the file.
    pub(crate) part: &'static str,
    pub(crate) expected_bytes: u64,
}

/// Checks that all headers, segments and sections are in the file. Files other than 64-bit ELF are left to the
/// linker, which refuses them.
fn check_extents(file: &[u8]) -> Result<(), Truncated> {
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
fn needs_its_folder(file: &[u8]) -> bool {
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
