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
        file: PathBuf,
        folder: PathBuf,
        /// The plugin files in that folder.
        found: Vec<String>,
    },
    /// It is something else than a file.
    #[error("load plugin {file}: is {kind}, not a file; install the plugin there or correct `plugins.load` or `plugins.path`", file = .file.display())]
    NotRegular {
        /// What is in the place of the file.
        file: PathBuf,
        kind: &'static str,
    },
    /// The dynamic linker refused it.
    #[error("load plugin {file}: the dynamic linker refuses it: {reason}; build it as a shared library for this machine, with its libraries installed", file = .file.display())]
    Open { file: PathBuf, reason: String },
    /// It cannot be read.
    #[error("load plugin {file}: {error}; correct its permissions, or install it again", file = .file.display())]
    Unreadable { file: PathBuf, error: std::io::Error },
    /// The file is shorter than its headers say.
    #[error("load plugin {file}: the file is truncated: {part} ends at byte {expected_bytes}, the file has {found_bytes}; install it again", file = .file.display())]
    Truncated {
        file: PathBuf,
        part: &'static str,
        /// Where that part ends.
        expected_bytes: u64,
        /// The size of the file.
        found_bytes: u64,
    },
    /// It hung, crashed or ended the process when it was loaded in a separate process.
    #[error("load plugin {file}: tried in a process of its own: {outcome}; report it to the plugin's author", file = .file.display())]
    Trial {
        file: PathBuf,
        /// How that process ended.
        outcome: String,
    },
    /// It is some other library.
    #[error("load plugin {file}: expected the symbol `{symbol}`, found none; it is not a plugin for this program, or was built without exporting its sources", file = .file.display())]
    NoEntry {
        file: PathBuf,
        /// The symbol that plugins export.
        symbol: &'static str,
    },
    /// It has another ABI version.
    #[error("load plugin {file}: expected plugin ABI {expected}, found {found}; install the plugin that was built for this version of the program", file = .file.display())]
    Major { file: PathBuf, expected: crate::info::AbiVersion, found: crate::info::AbiVersion },
    /// Its entry function failed.
    #[error("load plugin {file}: its entry function failed with status {status}: {message}; see what the plugin asks for", file = .file.display())]
    Entry {
        file: PathBuf,
        /// Its status, by name.
        status: String,
        message: String,
    },
    /// The process has loaded more libraries than it can number.
    #[error("load plugin {file}: 65535 plugins were loaded before; restart the program", file = .file.display())]
    TooMany { file: PathBuf },
    /// Its declaration violates the contract.
    #[error("load plugin {file}: `{field}`: expected {expected}, found {found}; report it to the plugin's author", file = .file.display())]
    Declaration {
        file: PathBuf,
        /// The field of the declaration.
        field: String,
        expected: &'static str,
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
        plugin: String,
        source_name: String,
        /// The names that it has.
        found: Vec<String>,
    },
    /// The library has no such command.
    #[error("plugin {plugin} has no command `{command}`; it has {}", names(.found))]
    NoCommand {
        plugin: String,
        command: String,
        /// The names that it has.
        found: Vec<String>,
    },
    /// The source does not accept the settings. At least one.
    #[error("the settings have {} problem(s), the first is: {}", .0.len(), first(.0))]
    Problems(Vec<Problem>),
    #[error("{plugin}: {call} failed with status {status}: {message}")]
    Failed {
        plugin: String,
        call: &'static str,
        /// Its status, by name.
        status: String,
        message: String,
    },
    /// The library cannot answer the call.
    #[error("plugin {plugin} does not support {call}")]
    Unsupported { plugin: String, call: &'static str },
    /// The source did not answer in time.
    #[error("{plugin}: {call} did not return within {waited_ms} ms")]
    Hung { plugin: String, call: &'static str, waited_ms: u64 },
    /// The library has other settings already, which it keeps as long as the process runs.
    #[error("plugin {plugin} has other settings already; they change when the program is restarted")]
    OtherSettings { plugin: String },
    /// A limit of the host.
    #[error("{plugin}: more than {limit} {what}")]
    Limit { plugin: String, what: &'static str, limit: u64 },
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

/// A collection that could not begin. [`plugin_abi::DataSink::complete`] is not called for it.
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
        left_s: u64,
        why: crate::state::QuarantineCause,
    },
    /// Too many collections of other plugins run against this target.
    #[error("{limit} collections run against this target")]
    TargetBusy { limit: u32 },
    /// Destroyed, or the host is stopping.
    #[error("the instance is stopped")]
    Stopped,
}
