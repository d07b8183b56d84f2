//! Where a source keeps files.

use std::path::PathBuf;

use serde::Deserialize;

/// Where a source keeps the files of its target: the member `storage` of the settings of a source with
/// [`Source::KEEPS_FILES`](crate::Source::KEEPS_FILES). It is missing if no directory is configured, in the settings of
/// commands, and for instances on demand, which must not write what another instance writes.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Storage {
    /// An absolute path. It may not exist yet; the directory above it does. Sources of one target share it.
    pub directory: PathBuf,
    /// How often the target is collected, in milliseconds: files get no more records.
    #[serde(default)]
    pub interval_ms: Option<u64>,
}
