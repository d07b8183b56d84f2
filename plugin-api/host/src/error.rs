//! Errors between the exporter and a plugin, with the next step.

use std::path::PathBuf;

use plugin_abi::Problem;
use thiserror::Error;

/// A library that could not be loaded. Each message names the file, what was expected, what was found and what to do.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum LoadError {
    /// There is no such file.
    #[error("load plugin {file}: no such file; {folder} holds {}; install the plugin there or correct `plugins.load` or `plugins.path`", list(.found), file = .file.display(), folder = .folder.display())]
    Missing {
        /// The missing file.
        file: PathBuf,
        /// Its folder.
        folder: PathBuf,
        /// The plugin files in that folder.
        found: Vec<String>,
    },
    /// It is something else than a file.
    #[error("load plugin {file}: is {kind}, not a file; install the plugin there or correct `plugins.load` or `plugins.path`", file = .file.display())]
    NotRegular {
        /// What is in the place of the file.
        file: PathBuf,
        /// What it is.
        kind: &'static str,
    },
    /// The dynamic linker refused it.
    #[error("load plugin {file}: the dynamic linker refuses it: {reason}; build it as a shared library for this machine, with its libraries installed", file = .file.display())]
    Open {
        /// The file.
        file: PathBuf,
        /// The linker's message.
        reason: String,
    },
    /// It cannot be read.
    #[error("load plugin {file}: {error}; correct its permissions, or install it anew", file = .file.display())]
    Unreadable {
        /// The file.
        file: PathBuf,
        /// The system's error.
        error: std::io::Error,
    },
    /// The file is shorter than its headers say.
    #[error("load plugin {file}: the file is truncated: {part} ends at byte {expected_bytes}, the file has {found_bytes}; install it anew", file = .file.display())]
    Truncated {
        /// The file.
        file: PathBuf,
        /// The missing part.
        part: &'static str,
        /// Where that part ends.
        expected_bytes: u64,
        /// The size of the file.
        found_bytes: u64,
    },
    /// It hung, crashed or ended the process when it was loaded in a separate process.
    #[error("load plugin {file}: tried in a process of its own: {outcome}; report it to the plugin's author", file = .file.display())]
    Trial {
        /// The file.
        file: PathBuf,
        /// How that process ended.
        outcome: String,
    },
    /// It is some other library.
    #[error("load plugin {file}: expected the symbol `{symbol}`, found none; it is not a plugin for this program, or was built without exporting its sources", file = .file.display())]
    NoEntry {
        /// The file.
        file: PathBuf,
        /// The symbol that plugins export.
        symbol: &'static str,
    },
    /// It has another ABI version.
    #[error("load plugin {file}: expected plugin ABI {expected}, found {found}; install the plugin that was built for this version of the program", file = .file.display())]
    Major {
        /// The file.
        file: PathBuf,
        /// Our version.
        expected: crate::info::AbiVersion,
        /// Its version.
        found: crate::info::AbiVersion,
    },
    /// Its entry function failed.
    #[error("load plugin {file}: its entry function failed with status {status}: {message}; see what the plugin asks for", file = .file.display())]
    Entry {
        /// The file.
        file: PathBuf,
        /// Its status, by name.
        status: String,
        /// Its message.
        message: String,
    },
    /// The process has loaded more libraries than it can number.
    #[error("load plugin {file}: 65535 plugins were loaded before; restart the program", file = .file.display())]
    TooMany {
        /// The file.
        file: PathBuf,
    },
    /// Its declaration violates the contract.
    #[error("load plugin {file}: `{field}`: expected {expected}, found {found}; report it to the plugin's author", file = .file.display())]
    Declaration {
        /// The file.
        file: PathBuf,
        /// The field of the declaration.
        field: String,
        /// The rule.
        expected: &'static str,
        /// The declared value.
        found: String,
    },
}

fn list(found: &[String]) -> String {
    if found.is_empty() { "no plugin".to_owned() } else { found.join(", ") }
}

/// An instance that could not be made or changed.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ConfigureError {
    /// The library has no such source.
    #[error("plugin {plugin} has no source `{source_name}`; it has {}", names(.found))]
    NoSource {
        /// The library.
        plugin: String,
        /// The requested name.
        source_name: String,
        /// The names that it has.
        found: Vec<String>,
    },
    /// The library has no such command.
    #[error("plugin {plugin} has no command `{command}`; it has {}", names(.found))]
    NoCommand {
        /// The library.
        plugin: String,
        /// The requested name.
        command: String,
        /// The names that it has.
        found: Vec<String>,
    },
    /// The source does not accept the settings. At least one.
    #[error("the settings have {} problem(s), the first is: {}", .0.len(), first(.0))]
    Problems(Vec<Problem>),
    /// The source failed.
    #[error("{plugin}: {call} failed with status {status}: {message}")]
    Failed {
        /// The library.
        plugin: String,
        /// Which call.
        call: &'static str,
        /// Its status, by name.
        status: String,
        /// Its message.
        message: String,
    },
    /// The library cannot answer the call.
    #[error("plugin {plugin} does not support {call}")]
    Unsupported {
        /// The library.
        plugin: String,
        /// Which call.
        call: &'static str,
    },
    /// The source did not answer in time.
    #[error("{plugin}: {call} did not return within {waited_ms} ms")]
    Hung {
        /// The library.
        plugin: String,
        /// Which call.
        call: &'static str,
        /// The time limit.
        waited_ms: u64,
    },
    /// The library has other settings already, which it keeps as long as the process runs.
    #[error("plugin {plugin} has other settings already; they change when the program is restarted")]
    OtherSettings {
        /// The library.
        plugin: String,
    },
    /// A limit of the host.
    #[error("{plugin}: more than {limit} {what}")]
    Limit {
        /// The library.
        plugin: String,
        /// The limited thing.
        what: &'static str,
        /// The maximum.
        limit: u64,
    },
    /// The instance or the process is ending.
    #[error("the instance is stopped")]
    Stopped,
}

fn names(found: &[String]) -> String {
    if found.is_empty() { "none".to_owned() } else { found.join(", ") }
}

fn first(problems: &[Problem]) -> String {
    problems.first().map(ToString::to_string).unwrap_or_default()
}

/// A collection that could not begin. [`plugin_abi::InstanceSink::complete`] is not called for it.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum CollectError {
    /// The previous one has not ended.
    #[error("a collection is in flight")]
    InFlight,
    /// The previous one was aborted after its deadline, and the plugin still works on it.
    #[error("the plugin still works on a collection that was given up")]
    Hung,
    /// The instance is in quarantine.
    #[error("the instance is in quarantine for {left_s} s more: {why}")]
    Quarantined {
        /// The end of the pause on the monotonic clock.
        until_ns: u64,
        /// The remaining time.
        left_s: u64,
        /// The cause.
        why: crate::state::QuarantineCause,
    },
    /// Too many collections of other plugins run against this target.
    #[error("{limit} collections run against this target")]
    TargetBusy {
        /// The maximum.
        limit: u32,
    },
    /// Destroyed, or the host is stopping.
    #[error("the instance is stopped")]
    Stopped,
}
