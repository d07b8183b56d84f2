//! What a library declares about itself, checked and copied once at load.

use std::path::PathBuf;
use std::sync::Arc;

use plugin_abi::{DeclaredReason, SettingsSchema};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PluginInfo {
    pub name: String,
    /// Its version, any text.
    pub version: String,
    /// One line for people.
    pub description: String,
    /// The version of the ABI that host and library agreed on.
    pub abi: AbiVersion,
    /// The file; nothing for a library linked into the program.
    pub file: Option<PathBuf>,
    /// What it can collect.
    pub sources: Vec<SourceInfo>,
    pub commands: Vec<CommandInfo>,
    /// Whether the library has settings.
    pub has_settings: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AbiVersion {
    /// Must be the same on both sides.
    pub major: u16,
    /// The smaller one is used.
    pub minor: u16,
}

impl std::fmt::Display for AbiVersion {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

/// How a source collects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mode {
    /// `collect` starts the work and returns at once.
    Async,
    /// `collect` does the work, on a thread of the host.
    Blocking,
}

/// One source of a library.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceInfo {
    pub name: String,
    /// One line for people.
    pub help: String,
    pub mode: Mode,
    /// The failure reasons that it adds to the general ones.
    pub reasons: Vec<Arc<DeclaredReason>>,
    /// The schema of its settings.
    pub schema: Arc<SettingsSchema>,
}

/// One command of a library: `perfmon-exporter PLUGIN COMMAND`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandInfo {
    pub name: String,
    /// One line for people.
    pub help: String,
    /// Other names, also usable without the plugin's name: `discover`.
    pub aliases: Vec<String>,
    /// Its options, for `--help`; the command parses them itself.
    pub options: Vec<OptionInfo>,
}

/// One option of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OptionInfo {
    /// Its name without dashes; empty for positional arguments.
    pub name: String,
    /// The name of its value in the help; empty if it takes none.
    pub value_name: String,
    /// One line for people.
    pub help: String,
    /// Whether the command needs it.
    pub required: bool,
    /// Whether it may be given more than once.
    pub repeated: bool,
}
