//! The declarations of a library, checked and copied.
#![expect(unsafe_code, reason = "reads what a plugin's table points to")]
// UNSAFETY: what a plugin's table points to lives as long as the process, as the header says; what can be checked is.

mod schema;

use std::path::Path;
use std::sync::Arc;

use plugin_abi::raw::{self, ABI_MAJOR, PluginApi, Str};
use plugin_abi::{DeclaredReason, GeneralReason, SettingsSchema};

use super::options::Limits;
use crate::error::LoadError;
use crate::info::{AbiVersion, CommandInfo, Mode, OptionInfo, PluginInfo, SourceInfo};

/// Checks and copies what the table declares.
pub(crate) fn read(
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
        has_settings: table.configure.is_some(),
    })
}

/// Reads declarations; every error names the file and the field.
pub(crate) struct Reader<'a> {
    file: &'a Path,
    limits: &'a Limits,
}

impl Reader<'_> {
    fn sources(&self, table: &PluginApi) -> Result<Vec<SourceInfo>, LoadError> {
        // SAFETY: what a plugin's table points to lives as long as the process.
        let rows = unsafe { table.sources.structs::<raw::Source>(self.limits.sources_max as usize) }
            .map_err(|error| self.wrong("sources", "an array within the limits", &error.to_string()))?;
        let mut sources: Vec<SourceInfo> = Vec::with_capacity(rows.len());
        for (index, row) in rows.enumerate() {
            let field = |member: &str| format!("sources[{index}].{member}");
            let mode = match row.mode {
                raw::MODE_ASYNC => Mode::Async,
                raw::MODE_BLOCKING => Mode::Blocking,
                other => {
                    return Err(self.wrong(&field("mode"), "1 (async) or 2 (blocking)", &other.to_string()));
                }
            };
            let name = self.name(&field("name"), row.name)?;
            if sources.iter().any(|source| source.name == name) {
                return Err(self.wrong(&field("name"), "a name that no other source has", &name));
            }
            let reasons = self.reasons(&row, index)?;
            let help = self.text(&field("help"), row.help)?;
            let shown = self.keys(&field("shown"), row.shown)?;
            let transports = self.transports(&field("transports"), row.transports)?;
            let keeps_files = row.flags & raw::SOURCE_KEEPS_FILES != 0;
            let schema = Arc::new(SettingsSchema { shown, transports, keeps_files });
            sources.push(SourceInfo { name, help, mode, reasons, schema });
        }
        Ok(sources)
    }

    fn reasons(&self, source: &raw::Source, index: usize) -> Result<Vec<Arc<DeclaredReason>>, LoadError> {
        // SAFETY: what a plugin's table points to lives as long as the process.
        let rows = unsafe { source.reasons.structs::<raw::Reason>(raw::DECLARED_REASONS_MAX as usize) }
            .map_err(|error| {
                self.wrong(&format!("sources[{index}].reasons"), "at most 64 reasons", &error.to_string())
            })?;
        let mut reasons: Vec<Arc<DeclaredReason>> = Vec::with_capacity(rows.len());
        for (number, row) in rows.enumerate() {
            let field = format!("sources[{index}].reasons[{number}]");
            let word = self.name(&field, row.word)?;
            let general = GeneralReason::ALL.iter().any(|reason| reason.as_str() == word);
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
        let rows = unsafe { table.commands.structs::<raw::Command>(self.limits.commands_max as usize) }
            .map_err(|error| self.wrong("commands", "an array within the limits", &error.to_string()))?;
        let mut commands: Vec<CommandInfo> = Vec::with_capacity(rows.len());
        for (index, row) in rows.enumerate() {
            let field = |member: &str| format!("commands[{index}].{member}");
            let name = self.name(&field("name"), row.name)?;
            if commands.iter().any(|command| command.name == name) {
                return Err(self.wrong(&field("name"), "a name that no other command has", &name));
            }
            let malformed = |member: &str, error: raw::Malformed| {
                self.wrong(&field(member), "an array", &error.to_string())
            };
            // SAFETY: as above.
            let aliases =
                unsafe { row.aliases.column::<Str>(ALIASES_MAX) }.map_err(|e| malformed("aliases", e))?;
            let aliases =
                aliases.iter().map(|alias| self.name(&field("aliases"), *alias)).collect::<Result<_, _>>()?;
            // SAFETY: as above.
            let options = unsafe { row.options.structs::<raw::CommandOption>(OPTIONS_MAX) }
                .map_err(|error| malformed("options", error))?;
            let options =
                options.map(|option| self.option(&field("options"), &option)).collect::<Result<_, _>>()?;
            commands.push(CommandInfo { name, help: self.text(&field("help"), row.help)?, aliases, options });
        }
        Ok(commands)
    }

    fn option(&self, field: &str, row: &raw::CommandOption) -> Result<OptionInfo, LoadError> {
        Ok(OptionInfo {
            name: if row.name.len == 0 { String::new() } else { self.name(field, row.name)? },
            value_name: self.text(field, row.value_name)?,
            help: self.text(field, row.help)?,
            required: row.flags & raw::OPTION_REQUIRED != 0,
            repeated: row.flags & raw::OPTION_REPEATED != 0,
        })
    }

    pub(crate) fn name(&self, field: &str, text: Str) -> Result<String, LoadError> {
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

    pub(crate) fn text(&self, field: &str, text: Str) -> Result<String, LoadError> {
        // SAFETY: what a plugin's table points to lives as long as the process.
        unsafe { text.read(self.limits.text_bytes_max as usize) }
            .map(str::to_owned)
            .map_err(|error| self.wrong(field, "text within the limits", &error.to_string()))
    }

    pub(crate) fn wrong(&self, field: &str, expected: &'static str, found: &str) -> LoadError {
        let (file, field, found) = (self.file.to_owned(), field.to_owned(), found.to_owned());
        LoadError::Declaration { file, field, expected, found }
    }
}

const NAME_BYTES_MAX: usize = 64;
const ALIASES_MAX: usize = 16;
const OPTIONS_MAX: usize = 64;
