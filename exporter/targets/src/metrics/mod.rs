//! What is read of targets and plugins when a page is asked for.

mod files;
mod memory;
mod plugins;
mod targets;

use std::fmt;

use support::telemetry::Writer;

use super::registry::{TargetRegistry, TargetStatus};

pub use self::files::METRICS as FILE_METRICS;
pub use self::memory::METRICS as MEMORY_METRICS;
pub use self::plugins::METRICS as PLUGIN_METRICS;
pub use self::plugins::{PluginSource, Plugins};
pub use self::targets::METRICS as TARGET_METRICS;

impl TargetRegistry {
    /// What the exporter says of its targets and of the files that they come from.
    pub fn write(&self, out: &mut Writer<'_, '_>) -> fmt::Result {
        let entries = self.targets();
        let statuses: Vec<TargetStatus> = entries.iter().map(|entry| entry.status()).collect();
        let targets: Vec<targets::TargetWithStatus<'_>> =
            entries.iter().map(|entry| &**entry).zip(&statuses).collect();
        targets::write(out, &targets)?;
        memory::write(out, &targets)?;
        files::write(out, &self.files())
    }
}
