//! Commands: what a plugin adds to the exporter's command line.

use std::future::Future;
use std::sync::Arc;

use plugin_abi::{OUTPUT_ERR, OUTPUT_OUT, OUTPUT_PROGRESS};

use crate::credential::{self, Credential};
use crate::failure::Failure;
use crate::host;
use crate::token::Signal;

/// One option, for the help; the command parses its arguments itself.
///
/// The program knows some names. What its configuration says of the target that `target` names is filled in, where
/// nobody gave it, as `target-name`, `port`, `identity`, `connect-timeout` and `smb-encryption`, as far as they are declared. `config`,
/// `username`, `password-file`, `password-env`, `log.level` and `help` are the program's own and never arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommandOption {
    /// Without dashes; empty for arguments that are no option.
    pub name: &'static str,
    /// What stands for its value; empty where it takes none.
    pub value_name: &'static str,
    /// One line for people. What stands in single quotes at its end, behind a colon, is shown as an example.
    pub help: &'static str,
    /// Whether the command needs it.
    pub required: bool,
    /// Whether it may be given more than once.
    pub repeated: bool,
}

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// It did what it was asked for.
    Success,
    /// It did not; it has said why.
    Failure,
    /// The arguments are wrong; it has said how.
    Usage,
    /// It was cancelled.
    Cancelled,
}

impl Exit {
    pub(crate) fn code(self) -> i32 {
        match self {
            Self::Success => 0,
            Self::Failure => 1,
            Self::Usage => 2,
            Self::Cancelled => 130,
        }
    }
}

/// `perfmon-exporter PLUGIN COMMAND`.
pub trait Command: 'static {
    /// `[a-z][a-z0-9_-]*`, unique in the library.
    const NAME: &'static str;
    /// One line for people.
    const HELP: &'static str;
    /// Other names, also directly under the program.
    const ALIASES: &'static [&'static str] = &[];
    /// For the help.
    const OPTIONS: &'static [CommandOption] = &[];

    /// Runs it inside the library's tokio run time. The future is dropped when the run is cancelled.
    fn run(run: Run) -> impl Future<Output = Exit> + Send;
}

/// One run of a command.
#[derive(Clone, Debug)]
pub struct Run {
    pub(crate) token: u64,
    pub(crate) args: Vec<String>,
    pub(crate) terminal_width: Option<u32>,
    pub(crate) wake: Arc<Signal>,
}

impl Run {
    /// What stands behind the command's name.
    #[must_use]
    pub fn args(&self) -> &[String] {
        &self.args
    }

    /// Columns of the terminal; nothing where the output is none.
    #[must_use]
    pub fn terminal_width(&self) -> Option<u32> {
        self.terminal_width
    }

    /// Writes to the standard output.
    pub fn out(&self, text: &str) {
        host::output(self.token, OUTPUT_OUT, text.as_bytes());
    }

    /// Writes to the standard error.
    pub fn err(&self, text: &str) {
        host::output(self.token, OUTPUT_ERR, text.as_bytes());
    }

    /// Shows a line in the place of the one before, where there is a terminal; empty clears it.
    pub fn progress(&self, line: &str) {
        host::output(self.token, OUTPUT_PROGRESS, line.as_bytes());
    }

    /// Leases the secret of `identity`, to be proven to `host`. Waits while another target tries it.
    ///
    /// # Errors
    /// When the exporter withholds it.
    pub async fn credential(&self, host: &str, identity: &str) -> Result<Credential, Failure> {
        credential::acquire(self.token, &self.wake, host, identity).await
    }
}
