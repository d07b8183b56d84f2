//! Opens a library and calls its entry, which fills the table.
#![expect(unsafe_code, reason = "opens shared libraries and calls their entry")]
// UNSAFETY: opening a library runs its initialisers, and calling its entry runs its code: this is what loading a
// plugin means, and it requires trust, as the header says. The library is never closed, so that what its table
// points to lives as long as the process.

use std::ffi::OsStr;
use std::fs::FileType;
use std::io::ErrorKind;
use std::os::unix::fs::FileTypeExt as _;
use std::path::{Path, PathBuf};

use libloading::os::unix::{Library as Opened, RTLD_LOCAL, RTLD_NOW};
use plugin_abi::raw::{
    self, ABI_MAJOR, ENTRY_SYMBOL, EntryFn, HostApi, OK, Plain as _, PluginApi, Text, VERSION, read_struct,
    struct_size,
};

use crate::calls::{MESSAGE_BYTES_MAX, message, status_name};
use crate::error::LoadError;
use crate::image::Image;
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
