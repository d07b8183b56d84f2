//! Running a plugin's commands.

use std::sync::Arc;

/// What to run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommandRequest {
    /// Its name or one of its aliases.
    pub command: String,
    /// The arguments after it.
    pub args: Vec<String>,
    /// Columns of the terminal; nothing where the output is none.
    pub terminal_width: Option<u16>,
}

/// Where a command's output goes.
pub trait CommandOutput: Send + Sync {
    /// Bytes for the standard output.
    fn out(&self, bytes: &[u8]);

    /// Bytes for the standard error.
    fn err(&self, bytes: &[u8]);

    /// A line that replaces the progress line before it; empty to clear it. Shown only on a terminal.
    fn progress(&self, line: &str);
}

/// Ends a running command. Cheap to clone; cancelling twice, or late, does nothing.
#[derive(Clone)]
pub struct CommandCancel(pub(crate) Arc<dyn Fn() + Send + Sync>);

impl CommandCancel {
    /// Asks the command to end.
    pub fn cancel(&self) {
        (self.0)();
    }
}

impl std::fmt::Debug for CommandCancel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("CommandCancel")
    }
}
