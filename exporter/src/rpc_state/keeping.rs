//! Whether the exporter keeps the state of its calls, and where.

use std::fmt;
use std::path::PathBuf;

/// Where the state of this process is, or why it is not kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Keeping {
    Kept {
        directory: PathBuf,
        /// Whether calls of hosts are kept, too: level `full`.
        has_client_calls: bool,
    },
    /// It is not kept.
    Not(NotKept),
}

/// Why the state of this process is not kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotKept {
    /// The configuration says so.
    ByLevel,
    /// Neither the configuration nor the system names a directory.
    NoDirectory,
    /// The directory cannot be used; the reason.
    Refused(String),
}

impl Default for Keeping {
    fn default() -> Self {
        Self::Not(NotKept::ByLevel)
    }
}

impl NotKept {
    /// What the operator can do about it.
    #[must_use]
    pub fn next_step(&self) -> &'static str {
        match self {
            Self::ByLevel => "set `rpc_state.level: full`, and start the exporter again",
            Self::NoDirectory => "set `rpc_state.directory`, or `rpc_state.level: none`",
            Self::Refused(_) => "correct `rpc_state.directory`, or set `rpc_state.level: none`",
        }
    }
}

impl fmt::Display for NotKept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ByLevel => f.write_str("`rpc_state.level` is `none`"),
            Self::NoDirectory => f.write_str("there is no directory for it"),
            Self::Refused(error) => f.write_str(error),
        }
    }
}
