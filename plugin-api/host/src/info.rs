//! What a library declares about itself, checked and copied once at load.

use std::path::PathBuf;
use std::sync::Arc;

use plugin_contract::DeclaredReason;

/// A loaded library.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PluginInfo {
    /// Its name: `[a-z][a-z0-9_-]*`.
    pub name: String,
    /// Its version, in its own words.
    pub version: String,
    /// One line for people.
    pub description: String,
    /// The version of the ABI that host and library agreed on.
    pub abi: AbiVersion,
    /// The file; nothing for a library linked into the program.
    pub file: Option<PathBuf>,
    /// What it can collect.
    pub sources: Vec<SourceInfo>,
    /// What it adds to the command line.
    pub commands: Vec<CommandInfo>,
    /// Whether it takes settings as a whole.
    pub has_settings: bool,
}

/// Major and minor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AbiVersion {
    /// Must be the same on both sides.
    pub major: u16,
    /// The smaller one counts.
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
    /// `collect` does the work and runs on a thread of the host's.
    Blocking,
}

/// One source of a library.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceInfo {
    /// Its name: `[a-z][a-z0-9_-]*`.
    pub name: String,
    /// One line for people.
    pub help: String,
    /// How it collects.
    pub mode: Mode,
    /// The failure reasons that it adds to the general ones.
    pub reasons: Vec<Arc<DeclaredReason>>,
    /// Keys of its settings whose values are no secrets, wherever in the settings they stand.
    pub shown: Vec<String>,
    /// How it can be reached.
    pub transports: Vec<TransportInfo>,
}

/// A way to reach a target: a section of a transport in the configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TransportInfo {
    /// The key of the section: `[a-z][a-z0-9_]*`.
    pub kind: String,
    /// One line for people.
    pub help: String,
    /// What can be set; one port at most.
    pub settings: Vec<SettingInfo>,
}

/// One setting of a transport.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingInfo {
    /// Its key: `[a-z][a-z0-9_]*`, unique in its transport.
    pub key: String,
    /// One line for people.
    pub help: String,
    /// What it can be.
    pub kind: SettingKind,
    /// What it is where nobody says anything; `kind` admits it.
    pub default: Option<serde_json::Value>,
    /// Whether its value is no secret.
    pub is_shown: bool,
}

/// What a setting can be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SettingKind {
    /// Any text.
    Text,
    /// One of these words.
    Word(Vec<String>),
    /// A whole number within these bounds.
    Integer {
        /// The least.
        min: i64,
        /// The greatest.
        max: i64,
    },
    /// True or false.
    Bool,
    /// A time, which the source gets in milliseconds.
    Duration {
        /// The shortest.
        min_ms: u64,
        /// The longest.
        max_ms: u64,
    },
    /// A port, which the source gets with the target.
    Port,
}

impl SettingKind {
    /// Whether a value, as the source gets it, is one of this kind.
    #[must_use]
    pub fn admits(&self, value: &serde_json::Value) -> bool {
        match self {
            Self::Text => value.is_string(),
            Self::Word(words) => value.as_str().is_some_and(|word| words.iter().any(|known| known == word)),
            Self::Integer { min, max } => value.as_i64().is_some_and(|value| (*min..=*max).contains(&value)),
            Self::Bool => value.is_boolean(),
            Self::Duration { min_ms, max_ms } => {
                value.as_u64().is_some_and(|value| (*min_ms..=*max_ms).contains(&value))
            }
            Self::Port => value.as_u64().is_some_and(|port| (1..=65_535).contains(&port)),
        }
    }
}

/// One command of a library: `perfmon-exporter PLUGIN COMMAND`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandInfo {
    /// Its name: `[a-z][a-z0-9_-]*`.
    pub name: String,
    /// One line for people.
    pub help: String,
    /// Other names, also directly under the program: `discover`.
    pub aliases: Vec<String>,
    /// Its options, for `--help`; the command parses them itself.
    pub options: Vec<OptionInfo>,
}

/// One option of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OptionInfo {
    /// Its name without dashes; empty for positional arguments.
    pub name: String,
    /// What stands for its value in the help; empty where it takes none.
    pub value_name: String,
    /// One line for people.
    pub help: String,
    /// Whether the command needs it.
    pub required: bool,
    /// Whether it may be given more than once.
    pub repeated: bool,
}
