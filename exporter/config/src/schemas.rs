//! What plugins declare of settings.

use std::collections::BTreeMap;
use std::sync::Arc;

use plugin_abi::{SettingsSchema, TransportInfo};

/// What the sources of the loaded plugins declare of their settings.
#[derive(Clone, Debug, Default)]
pub struct Schemas {
    /// Of every source, with its plugin's name.
    all: Vec<(String, Arc<SettingsSchema>)>,
    /// Of the source of each module.
    pub(super) of_modules: BTreeMap<String, Arc<SettingsSchema>>,
}

impl Schemas {
    /// Adds what a source of a plugin declares.
    pub fn add_source(&mut self, plugin: &str, schema: &Arc<SettingsSchema>) {
        self.all.push((plugin.to_owned(), Arc::clone(schema)));
    }

    /// Says which source a module has.
    pub fn set_module(&mut self, module: &str, schema: &Arc<SettingsSchema>) {
        self.of_modules.insert(module.to_owned(), Arc::clone(schema));
    }

    /// The transports, each by its kind.
    pub(super) fn transports(&self) -> BTreeMap<&str, &TransportInfo> {
        let all = self.all.iter().rev().flat_map(|(_, schema)| &schema.transports);
        all.map(|transport| (transport.kind.as_str(), transport)).collect()
    }

    /// Whether values of this key may be shown, wherever they stand in the settings of `module`.
    pub(super) fn shows_setting(&self, module: &str, key: &str) -> bool {
        self.of_modules.get(module).is_some_and(|schema| schema.shown.iter().any(|shown| shown == key))
    }

    /// Whether values of this key may be shown, wherever they stand in the settings of a plugin as a whole.
    pub(super) fn shows_plugin_setting(&self, plugin: &str, key: &str) -> bool {
        let mut sources = self.all.iter().filter(|(of, _)| of == plugin);
        sources.any(|(_, schema)| schema.shown.iter().any(|shown| shown == key))
    }

    /// Whether the value of a transport's setting may be shown.
    pub(super) fn shows_transport(&self, kind: &str, key: &str) -> bool {
        let transports = self.all.iter().flat_map(|(_, schema)| &schema.transports);
        transports
            .filter(|transport| transport.kind == kind)
            .flat_map(|transport| &transport.settings)
            .any(|setting| setting.key == key && setting.is_shown)
    }

    /// The transports that are not declared as an earlier plugin declares them: with both plugins.
    pub(super) fn contradictions(&self) -> Vec<(&TransportInfo, &str, &str)> {
        let mut known: BTreeMap<&str, (&str, &TransportInfo)> = BTreeMap::new();
        let mut found = Vec::new();
        for (plugin, schema) in &self.all {
            for transport in &schema.transports {
                let (first, like) = *known.entry(&transport.kind).or_insert((plugin, transport));
                if !like.is_like(transport) {
                    found.push((transport, first, plugin.as_str()));
                }
            }
        }
        found
    }
}
