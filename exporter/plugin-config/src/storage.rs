use std::path::PathBuf;

use config::{Config, Module, Target};
use serde_json::{Value, json};

/// The key of the settings that a source with files has its directory in.
pub(crate) const SETTING: &str = "storage";

/// Where a module's source keeps the files of a target: nothing if it keeps none, or no directory is configured.
#[must_use]
pub fn directory_of(config: &Config, module: &Module, target: &str) -> Option<PathBuf> {
    let storage = config.storage.as_ref().filter(|_| module.schema.keeps_files)?;
    Some(storage.directory.join(safe_text::component(target)))
}

/// The same as sources get it.
pub(crate) fn setting_of(config: &Config, module: &Module, target: Option<&Target>) -> Option<Value> {
    let name = target.map_or("", |target| &target.name);
    // What came from a configuration in UTF-8 is UTF-8.
    let directory = directory_of(config, module, name)?.into_os_string().into_string().ok()?;
    let interval_ms = target.and_then(|target| u64::try_from(target.interval.as_millis()).ok());
    Some(json!({"directory": directory, "interval_ms": interval_ms}))
}
