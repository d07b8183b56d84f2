//! `plugins:`, which libraries are loaded, and from where.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::item::Item;
use super::node::{Node, Position};

/// The plugins that come with the program; for suggestions only.
pub(super) const PLUGINS_SHIPPED: &[&str] = &["pcq"];

/// `plugins:`
#[derive(Clone, Debug, Default)]
pub struct Plugins {
    /// `path`: the folder of the libraries. Default: beside the program.
    pub path: Option<PathBuf>,
    /// `load`: names; `pcq` is the file `libplugin_pcq.so`.
    pub load: Vec<PluginName>,
    /// `settings`: what plugins are told as a whole, by their names.
    pub settings: BTreeMap<String, PluginSettings>,
}

/// One entry of `plugins.settings`.
#[derive(Clone, Debug)]
pub struct PluginSettings {
    /// As JSON.
    pub values: serde_json::Value,
    /// As the file has them, to find the place that a plugin complains of.
    pub source: Node,
}

/// One entry of `plugins.load`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PluginName {
    /// The name.
    pub name: String,
    /// Where the file names it.
    pub position: Position,
}

/// Reads `plugins:`.
pub(super) fn plugins(item: &Item<'_>, base: &Path) -> Plugins {
    let mut plugins = Plugins::default();
    let Some(mut section) = item.section(&["reload"]) else { return plugins };
    plugins.path = section.file("path", base);
    for item in section.get("load").map(|item| item.list()).unwrap_or_default() {
        let Some(name) = item.text() else { continue };
        let valid = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '_');
        if !name.chars().all(valid) {
            let hint =
                "give the name, not the file: `pcq` is `libplugin_pcq.so` in `plugins.path`".to_owned();
            item.problem(format!("`{name}` is no plugin's name"), Some(hint));
        } else if plugins.load.iter().any(|known: &PluginName| known.name == name) {
            item.problem(format!("`{name}` is here twice"), None);
        } else {
            plugins.load.push(PluginName { name: name.to_owned(), position: item.position() });
        }
    }
    for (entry, item) in section.get("settings").map(|item| item.named()).unwrap_or_default() {
        if plugins.load.iter().any(|known| known.name == entry.key) {
            let settings = PluginSettings { values: item.node.to_json(), source: item.node.clone() };
            plugins.settings.insert(entry.key.clone(), settings);
        } else {
            item.problem(format!("plugin `{}` is not in `plugins.load`", entry.key), None);
        }
    }
    section.finish();
    plugins
}
