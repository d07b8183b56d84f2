//! Commands: what a plugin adds to the exporter's command line.

use std::future::Future;
use std::sync::Arc;

use plugin_abi::FamilyDef;
use plugin_abi::raw::{OUTPUT_ERR, OUTPUT_OUT, OUTPUT_PROGRESS};

use super::failure::Failure;
use super::token::Signal;
use crate::credential::{self, Credential};
use crate::{Target, host};

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    Success,
    /// It failed, and has printed why.
    Failure,
    /// The arguments are wrong, and it has printed why.
    Usage,
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
///
/// ```
/// use plugin_sdk::{Command, Exit, Run};
///
/// #[derive(clap::Args)]
/// struct Arguments {
///     /// Who is greeted
///     #[arg(long, value_name = "NAME")]
///     target: String,
/// }
///
/// struct Greet;
///
/// impl Command for Greet {
///     const NAME: &'static str = "greet";
///     const HELP: &'static str = "Greets somebody";
///     type Arguments = Arguments;
///
///     async fn run(run: Run, arguments: Arguments) -> Exit {
///         run.out(&format!("Hello {}\n", arguments.target));
///         Exit::Success
///     }
/// }
/// ```
pub trait Command: 'static {
    /// `[a-z][a-z0-9_-]*`, unique in the library.
    const NAME: &'static str;
    /// One line for people.
    const HELP: &'static str;
    /// Other names, also usable without the plugin's name.
    const ALIASES: &'static [&'static str] = &[];

    /// Options and arguments. Words that do not fit end the run with [`Exit::Usage`].
    ///
    /// Options have long names only. The help of each is one line; the possible values and the default are added to
    /// it. Text in single quotes after a colon at its end is shown as an example.
    ///
    /// Some names are special. If they are declared and not given, the program adds them from its configuration of
    /// the target that `target` names: `target-name`, `port`, `identity`, `connect-timeout`, and the kind and the
    /// key of each setting of a transport, such as `smb-encryption`. `config`, `username`, `password-file`,
    /// `password-env`, `log.level` and `help` belong to the program and are never passed.
    type Arguments: clap::Args + Send + 'static;

    /// Runs it inside the library's tokio runtime. The future is dropped when the run is cancelled.
    fn run(run: Run, arguments: Self::Arguments) -> impl Future<Output = Exit> + Send;
}

/// The arguments of a command that takes none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::Args)]
pub struct NoArguments {}

/// The configuration of a module on the target of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Configured {
    /// The number of its source, in the order of [`crate::export_plugin`].
    pub source: usize,
    pub target: Target,
    /// The settings, as JSON: see [`crate::parse_settings`].
    pub settings: String,
}

/// One run of a command.
#[derive(Clone, Debug)]
pub struct Run {
    pub(crate) token: u64,
    pub(crate) args: Vec<String>,
    pub(crate) terminal_width: Option<u32>,
    pub(crate) configured: Arc<[Configured]>,
    pub(crate) wake: Arc<Signal>,
}

impl Run {
    /// Columns of the terminal; `None` if the output is not a terminal.
    #[must_use]
    pub fn terminal_width(&self) -> Option<u32> {
        self.terminal_width
    }

    /// The configuration of the target that `--target` names, one for each of its modules of this plugin. Empty if
    /// there is no such target.
    #[must_use]
    pub fn configured(&self) -> &[Configured] {
        &self.configured
    }

    /// The metric name of a family's samples: in the module at that index of [`Run::configured`], or by the general
    /// rules. `None` if a rule drops it. Rules on labels are applied
    /// to a series without labels.
    #[must_use]
    pub fn metric_name(&self, configured: Option<usize>, family: &FamilyDef<'_>) -> Option<String> {
        host::metric_name(self.token, configured, family)
    }

    /// Writes to the standard output.
    pub fn out(&self, text: &str) {
        host::output(self.token, OUTPUT_OUT, text.as_bytes());
    }

    /// Writes to the standard error.
    pub fn err(&self, text: &str) {
        host::output(self.token, OUTPUT_ERR, text.as_bytes());
    }

    /// Shows a line on a terminal, in place of the previous one; empty clears it.
    pub fn progress(&self, line: &str) {
        host::output(self.token, OUTPUT_PROGRESS, line.as_bytes());
    }

    /// Leases the secret of `identity`, to authenticate to `host`. Waits while another target tries it.
    ///
    /// # Errors If the exporter withholds it.
    pub async fn credential(&self, host: &str, identity: &str) -> Result<Credential, Failure> {
        credential::acquire(self.token, &self.wake, host, identity).await
    }
}
