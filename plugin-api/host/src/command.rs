//! Running a plugin's commands.

use std::sync::Arc;

use plugin_abi::{DropReason, FamilyDef};

use crate::state::InstanceConfig;

#[derive(Clone, Debug, Default)]
pub struct CommandRequest {
    /// Its name or one of its aliases.
    pub command: String,
    /// The arguments after it.
    pub args: Vec<String>,
    /// Columns of the terminal; `None` if the output is not a terminal.
    pub terminal_width: Option<u16>,
    /// The configuration of the target that the arguments name, one for each of its modules of this library.
    pub configured: Vec<ConfiguredModule>,
    /// Names metrics; `None` by default.
    pub metric_names: Option<MetricNames>,
}

/// The configuration of a module on a target.
#[derive(Clone, Debug, PartialEq)]
pub struct ConfiguredModule {
    /// The name of its source.
    pub source: String,
    /// The target and the settings.
    pub config: InstanceConfig,
}

/// Names metrics. Cheap to clone.
#[derive(Clone)]
pub struct MetricNames(Arc<NameMetric>);

type NameMetric = dyn Fn(Option<usize>, &FamilyDef<'_>) -> Result<String, DropReason> + Send + Sync;

impl MetricNames {
    /// `name` returns the name of a family's samples: for the module at an index of [`CommandRequest::configured`],
    /// or by the general rules; or the reason why there is none.
    #[must_use]
    pub fn new(
        name: impl Fn(Option<usize>, &FamilyDef<'_>) -> Result<String, DropReason> + Send + Sync + 'static,
    ) -> Self {
        Self(Arc::new(name))
    }

    /// The name of a family's samples.
    ///
    /// # Errors The reason why there is none.
    pub fn name(&self, module: Option<usize>, family: &FamilyDef<'_>) -> Result<String, DropReason> {
        (self.0)(module, family)
    }
}

impl std::fmt::Debug for MetricNames {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("MetricNames")
    }
}

/// The output of a command.
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
