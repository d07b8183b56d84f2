//! What plugins may do in a process that serves, and what [`config::libraries`] makes of them.

use std::path::PathBuf;
use std::time::Duration;

use plugin_host::Trial;

pub(super) use config::libraries::{
    Libraries, configure, instance_config, load_by, modules_that_log_on, set_schemas, source_of,
    storing_config, validate,
};

/// A plugin that takes longer to load is not loaded.
const LOAD_TIME_MAX: Duration = Duration::from_secs(10);

/// Loads every plugin in a separate process of this program first, so that failures there affect no collection.
pub(super) fn trial() -> Trial {
    Trial {
        // This program also when its file was replaced.
        program: PathBuf::from("/proc/self/exe"),
        arguments: vec![super::TRY_PLUGIN.into()],
        time_max: LOAD_TIME_MAX,
    }
}

/// What a plugin may ask for. How many series a target may have is the store's to say.
pub(super) fn limits() -> plugin_host::Limits {
    plugin_host::Limits { series_max: config::SERIES_MAX, ..plugin_host::Limits::default() }
}
