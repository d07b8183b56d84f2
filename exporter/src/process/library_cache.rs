use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use config::{Config, Problem};
use input::file::Stamp;
use plugin_host::{Host, Library};
use telemetry::log;
use tracing::info;

use super::plugins::{self, Libraries};

/// Every plugin that was loaded, for the life of the process: a library is never closed, so one that a configuration
/// names again is the one that is there.
pub(super) struct LibraryCache {
    host: Host,
    libraries: BTreeMap<String, Shelved>,
}

struct Shelved {
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
        let folder = plugins::folder(config);
        plugins::load_by(config, |name| {
            if let Some(known) = self.libraries.get(name) {
                return Ok(known.library.clone());
            }
            let file = plugins::file(&folder, name);
            // Before it is opened: what is written in between is seen as a change.
            let stamp = stamp(&file);
            // On the disk before anything of the plugin runs.
            info!(plugin = name, file = %file.display(), "Loading plugin");
            log::flush();
            let library = self.host.load(&file)?;
            let plugin = library.info();
            info!(plugin = name, version = plugin.version, abi = %plugin.abi, "Plugin loaded");
            let shelved = Shelved { library: library.clone(), file, stamp };
            self.libraries.insert(name.to_owned(), shelved);
            Ok(library)
        })
    }

    /// The plugins of `config` whose file is another one by now than was loaded.
    pub(super) fn replaced(&self, config: &Config) -> Vec<&str> {
        let folder = plugins::folder(config);
        let known = self
            .libraries
            .iter()
            .filter(|(name, _)| config.plugins.load.iter().any(|one| one.name == **name));
        let replaced = known.filter(|(name, shelved)| {
            let file = plugins::file(&folder, name);
            file != shelved.file || !is_same(shelved.stamp, stamp(&file))
        });
        replaced.map(|(name, _)| name.as_str()).collect()
    }
}

fn stamp(file: &Path) -> Option<Stamp> {
    let metadata = std::fs::metadata(file).ok()?;
    Some(Stamp::of(&metadata, SystemTime::now()))
}

fn is_same(before: Option<Stamp>, now: Option<Stamp>) -> bool {
    match (before, now) {
        (Some(before), Some(now)) => before.is_same(&now),
        (before, now) => before.is_none() && now.is_none(),
    }
}
