//! The settings of a module, as the exporter passes them.

use std::path::PathBuf;

use serde::Deserialize;

/// Keys whose values are not secret: all of them.
pub(crate) const SHOWN: &[&str] = &["directories", "include_dead", "max_connections", "max_operations"];

/// What is read, and how much is shown of it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, default, expecting = "a mapping such as `max_connections: 256`")]
pub(crate) struct Settings {
    /// The run directories to read. Empty for the exporter's own.
    pub(crate) directories: Vec<PathBuf>,
    /// Whether the objects of processes that have ended are shown, too.
    pub(crate) include_dead: bool,
    /// Connections at most.
    pub(crate) max_connections: u32,
    /// Operations at most.
    pub(crate) max_operations: u32,
}

impl Default for Settings {
    fn default() -> Self {
        Self { directories: Vec::new(), include_dead: false, max_connections: 256, max_operations: 256 }
    }
}
