use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::SystemTime;

use config::{Config, Problem, plugin_file};
use plugin_host::{Host, Library};
use support::input::file::Stamp;
use support::telemetry::log;
use tracing::info;

use super::plugins::{self, Libraries};

/// Every plugin that was loaded, for the life of the process: a library is never closed, so one that a configuration
/// names again is the one that is there.
pub(super) struct LibraryCache {
    host: Host,
    libraries: BTreeMap<String, Loaded>,
}

struct Loaded {
    library: Library,
    file: PathBuf,
    stamp: Option<Stamp>,
}

impl LibraryCache {
    pub(super) fn new(host: Host) -> Self {
        Self { host, libraries: BTreeMap::new() }
    }

    /// The plugins of `config`, loaded where they are new. What was loaded stays loaded even if the rest fails.
    pub(super) fn load(&mut self, config: &Config) -> Result<Libraries, Vec<Problem>> {
        let folder = config.plugins.folder();
        plugins::load_by(config, |name| {
            if let Some(known) = self.libraries.get(name) {
                return Ok(known.library.clone());
            }
            let file = plugin_file(&folder, name);
            // Before it is opened: what is written in between is seen as a change.
            let stamp = Stamp::look(&file, SystemTime::now());
            // On the disk before anything of the plugin runs.
            info!(plugin = name, file = %file.display(), "Loading plugin");
            log::flush();
            let library = self.host.load(&file)?;
            let plugin = library.info();
            info!(plugin = name, version = plugin.version, abi = %plugin.abi, "Plugin loaded");
            let loaded = Loaded { library: library.clone(), file, stamp };
            self.libraries.insert(name.to_owned(), loaded);
            Ok(library)
        })
    }

    /// The plugins of `config` whose file is another one by now than was loaded.
    pub(super) fn replaced(&self, config: &Config) -> Vec<&str> {
        let folder = config.plugins.folder();
        let known = self
            .libraries
            .iter()
            .filter(|(name, _)| config.plugins.load.iter().any(|one| one.name == **name));
        let replaced = known.filter(|(name, loaded)| {
            let file = plugin_file(&folder, name);
            let now = Stamp::look(&file, SystemTime::now());
            file != loaded.file || Stamp::was_replaced(loaded.stamp.as_ref(), now.as_ref())
        });
        replaced.map(|(name, _)| name.as_str()).collect()
    }
}
