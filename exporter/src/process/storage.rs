//! The directory for files of targets, before it is used.

use config::{Config, Problem};

use targets::storage::{Makes, check};

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
