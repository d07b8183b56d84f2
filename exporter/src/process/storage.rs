//! The directory for files of targets, before it is used, and what sources are told of it.

use std::path::PathBuf;

use config::{Config, Module, Problem, Target};
use serde_json::{Value, json};

use crate::storage::{Makes, check};

/// Makes the configured directory if it is missing. Says why files cannot be kept there. Blocks.
pub(super) fn prepare(config: &Config) -> Vec<Problem> {
    problems(config, Makes::Directory)
}

/// The same without making it, for people who check a configuration, perhaps as another user or on another machine.
pub(super) fn suspicions(config: &Config) -> Vec<Problem> {
    problems(config, Makes::Nothing)
}

fn problems(config: &Config, makes: Makes) -> Vec<Problem> {
    let Some(storage) = &config.storage else { return Vec::new() };
    let unusable = check(&storage.directory, makes).err();
    unusable.into_iter().map(|unusable| storage.problem(unusable.message, unusable.hint)).collect()
}

/// The key of the settings that a source with files has its directory in.
pub(super) const SETTING: &str = "storage";

/// Where a module's source keeps the files of a target: nothing if it keeps none, or no directory is configured.
pub(super) fn directory_of(config: &Config, module: &Module, target: &str) -> Option<PathBuf> {
    let storage = config.storage.as_ref().filter(|_| module.schema.keeps_files)?;
    Some(storage.directory.join(safe_text::component(target)))
}

/// The same as sources get it.
pub(super) fn setting_of(config: &Config, module: &Module, target: Option<&Target>) -> Option<Value> {
    let name = target.map_or("", |target| &target.name);
    // What came from a configuration in UTF-8 is UTF-8.
    let directory = directory_of(config, module, name)?.into_os_string().into_string().ok()?;
    let interval_ms = target.and_then(|target| u64::try_from(target.interval.as_millis()).ok());
    Some(json!({"directory": directory, "interval_ms": interval_ms}))
}
