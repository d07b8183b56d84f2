//! From a file, or an entry function, to a library whose declarations were checked.
#![expect(unsafe_code, reason = "opens shared libraries and calls their entry")]
// UNSAFETY: opening a library runs its initialisers, and calling its entry runs its code: that is what loading a
// plugin means, and the header speaks of the trust in it. The library is never closed, so that what its table points to
// lives as long as the process.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use libloading::os::unix::{Library as Opened, RTLD_LOCAL, RTLD_NOW};
use plugin_abi::{
    self as abi, ABI_MAJOR, ENTRY_SYMBOL, EntryFn, HostApi, OK, PLUGIN_SIZE_V1_0, PluginApi, Str, Text,
    VERSION, read_struct, struct_size,
};

use crate::calls::{MESSAGE_BYTES_MAX, message, status_name};
use crate::error::LoadError;
use crate::image::Image;
use crate::info::{AbiVersion, CommandInfo, Mode, OptionInfo, PluginInfo, SourceInfo};
use crate::limits::Limits;
use plugin_contract::DeclaredReason;

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
    let mut table = empty_table();
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
    unsafe { read_struct(&raw const table, PLUGIN_SIZE_V1_0) }.map_err(|_| LoadError::Declaration {
        file,
        field: "size".to_owned(),
        expected: "the size of a version 1.0 table or more",
        found: table.size.to_string(),
    })
}

/// Checks and copies what the table declares.
pub(crate) fn declared(
    table: &PluginApi,
    file: Option<&Path>,
    name: &Path,
    host_minor: u16,
    limits: &Limits,
) -> Result<PluginInfo, LoadError> {
    let reader = Reader { file: name, limits };
    let sources = reader.sources(table)?;
    let commands = reader.commands(table)?;
    let functions =
        [table.create.is_some(), table.collect.is_some(), table.cancel.is_some(), table.destroy.is_some()];
    if !sources.is_empty() && functions.contains(&false) {
        return Err(reader.wrong("create, collect, cancel, destroy", "functions", "a null pointer"));
    }
    if !commands.is_empty() && table.run.is_none() {
        return Err(reader.wrong("run", "a function", "a null pointer"));
    }
    Ok(PluginInfo {
        name: reader.name("name", table.name)?,
        version: reader.text("version", table.version)?,
        description: reader.text("description", table.description)?,
        abi: AbiVersion { major: ABI_MAJOR, minor: table.abi_minor.min(host_minor) },
        file: file.map(Path::to_owned),
        sources,
        commands,
    })
}

/// Reads declarations; every error names the file and the field.
struct Reader<'a> {
    file: &'a Path,
    limits: &'a Limits,
}

impl Reader<'_> {
    fn sources(&self, table: &PluginApi) -> Result<Vec<SourceInfo>, LoadError> {
        // SAFETY: what a plugin's table points to lives as long as the process.
        let rows = unsafe { table.sources.structs::<abi::Source>(self.limits.sources_max as usize) }
            .map_err(|error| self.wrong("sources", "an array within the limits", &error.to_string()))?;
        let mut sources: Vec<SourceInfo> = Vec::with_capacity(rows.len());
        for (index, row) in rows.enumerate() {
            let field = |member: &str| format!("sources[{index}].{member}");
            let mode = match row.mode {
                abi::MODE_ASYNC => Mode::Async,
                abi::MODE_BLOCKING => Mode::Blocking,
                other => {
                    return Err(self.wrong(&field("mode"), "1 (async) or 2 (blocking)", &other.to_string()));
                }
            };
            let name = self.name(&field("name"), row.name)?;
            if sources.iter().any(|source| source.name == name) {
                return Err(self.wrong(&field("name"), "a name that no other source has", &name));
            }
            let reasons = self.reasons(&row, index)?;
            sources.push(SourceInfo { name, help: self.text(&field("help"), row.help)?, mode, reasons });
        }
        Ok(sources)
    }

    fn reasons(&self, source: &abi::Source, index: usize) -> Result<Vec<Arc<DeclaredReason>>, LoadError> {
        // SAFETY: what a plugin's table points to lives as long as the process.
        let rows = unsafe { source.reasons.structs::<abi::Reason>(abi::DECLARED_REASONS_MAX as usize) }
            .map_err(|error| {
                self.wrong(&format!("sources[{index}].reasons"), "at most 64 reasons", &error.to_string())
            })?;
        let mut reasons: Vec<Arc<DeclaredReason>> = Vec::with_capacity(rows.len());
        for (number, row) in rows.enumerate() {
            let field = format!("sources[{index}].reasons[{number}]");
            let word = self.name(&field, row.word)?;
            let general = abi::GeneralReason::ALL.iter().any(|reason| reason.word() == word);
            if general || word.contains('-') || reasons.iter().any(|reason| reason.word == word) {
                return Err(self.wrong(&field, "a word of [a-z0-9_] that no other reason has", &word));
            }
            let (sentence, next_step) = (self.text(&field, row.sentence)?, self.text(&field, row.next_step)?);
            reasons.push(Arc::new(DeclaredReason { word, sentence, next_step }));
        }
        Ok(reasons)
    }

    fn commands(&self, table: &PluginApi) -> Result<Vec<CommandInfo>, LoadError> {
        // SAFETY: what a plugin's table points to lives as long as the process.
        let rows = unsafe { table.commands.structs::<abi::Command>(self.limits.commands_max as usize) }
            .map_err(|error| self.wrong("commands", "an array within the limits", &error.to_string()))?;
        let mut commands: Vec<CommandInfo> = Vec::with_capacity(rows.len());
        for (index, row) in rows.enumerate() {
            let field = |member: &str| format!("commands[{index}].{member}");
            let name = self.name(&field("name"), row.name)?;
            if commands.iter().any(|command| command.name == name) {
                return Err(self.wrong(&field("name"), "a name that no other command has", &name));
            }
            let malformed = |member: &str, error: abi::Malformed| {
                self.wrong(&field(member), "an array", &error.to_string())
            };
            // SAFETY: as above.
            let aliases =
                unsafe { row.aliases.column::<Str>(ALIASES_MAX) }.map_err(|e| malformed("aliases", e))?;
            let aliases =
                aliases.iter().map(|alias| self.name(&field("aliases"), *alias)).collect::<Result<_, _>>()?;
            // SAFETY: as above.
            let options = unsafe { row.options.structs::<abi::CommandOption>(OPTIONS_MAX) }
                .map_err(|error| malformed("options", error))?;
            let options =
                options.map(|option| self.option(&field("options"), &option)).collect::<Result<_, _>>()?;
            commands.push(CommandInfo { name, help: self.text(&field("help"), row.help)?, aliases, options });
        }
        Ok(commands)
    }

    fn option(&self, field: &str, row: &abi::CommandOption) -> Result<OptionInfo, LoadError> {
        Ok(OptionInfo {
            name: if row.name.len == 0 { String::new() } else { self.name(field, row.name)? },
            value_name: self.text(field, row.value_name)?,
            help: self.text(field, row.help)?,
            required: row.flags & abi::OPTION_REQUIRED != 0,
            repeated: row.flags & abi::OPTION_REPEATED != 0,
        })
    }

    fn name(&self, field: &str, text: Str) -> Result<String, LoadError> {
        const EXPECTED: &str = "a name of [a-z][a-z0-9_-]* with at most 64 bytes";
        // SAFETY: what a plugin's table points to lives as long as the process.
        let name = unsafe { text.read(NAME_BYTES_MAX) }
            .map_err(|error| self.wrong(field, EXPECTED, &error.to_string()))?;
        let legal = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-');
        if name.starts_with(|first: char| first.is_ascii_lowercase()) && name.bytes().all(legal) {
            Ok(name.to_owned())
        } else {
            Err(self.wrong(field, EXPECTED, &format!("`{}`", name.escape_debug())))
        }
    }

    fn text(&self, field: &str, text: Str) -> Result<String, LoadError> {
        // SAFETY: what a plugin's table points to lives as long as the process.
        unsafe { text.read(self.limits.text_bytes_max as usize) }
            .map(str::to_owned)
            .map_err(|error| self.wrong(field, "text within the limits", &error.to_string()))
    }

    fn wrong(&self, field: &str, expected: &'static str, found: &str) -> LoadError {
        let (file, field, found) = (self.file.to_owned(), field.to_owned(), found.to_owned());
        LoadError::Declaration { file, field, expected, found }
    }
}

/// The plugin files of the folder where one was looked for.
pub(crate) fn missing(file: &Path) -> LoadError {
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

/// A plugin of another major version exports another symbol: then that is what is wrong with it.
fn no_entry(file: &Path, opened: &Opened) -> LoadError {
    let file = file.to_owned();
    for major in (0..MAJORS_TRIED).filter(|major| *major != ABI_MAJOR) {
        let symbol = format!("perfmon_plugin_entry_v{major}");
        // SAFETY: the symbol is looked for, but neither called nor kept.
        if unsafe { opened.get::<EntryFn>(symbol.as_bytes()) }.is_ok() {
            let expected = AbiVersion { major: ABI_MAJOR, minor: abi::ABI_MINOR };
            return LoadError::Major { file, expected, found: AbiVersion { major, minor: 0 } };
        }
    }
    LoadError::NoEntry { file, symbol: ENTRY_SYMBOL }
}

fn reason(error: &libloading::Error) -> String {
    use std::error::Error as _;
    error.source().map_or_else(|| error.to_string(), ToString::to_string)
}

fn empty_table() -> PluginApi {
    PluginApi {
        size: struct_size::<PluginApi>(),
        abi_major: 0,
        abi_minor: 0,
        name: Str::EMPTY,
        version: Str::EMPTY,
        description: Str::EMPTY,
        sources: abi::Array::EMPTY,
        commands: abi::Array::EMPTY,
        validate: None,
        create: None,
        reconfigure: None,
        collect: None,
        cancel: None,
        destroy: None,
        wake: None,
        run: None,
    }
}

const NAME_BYTES_MAX: usize = 64;
const ALIASES_MAX: usize = 16;
const OPTIONS_MAX: usize = 64;
const FOUND_MAX: usize = 64;
const MAJORS_TRIED: u16 = 16;
