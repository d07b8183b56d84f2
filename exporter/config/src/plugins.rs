//! `plugins:`, which libraries are loaded, and from where.

use std::path::{Path, PathBuf};

use super::item::Item;
use super::node::Position;

/// The plugins that come with the program; for suggestions only.
pub(super) const PLUGINS_SHIPPED: &[&str] = &["pcq"];

/// `plugins:`
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plugins {
    /// `path`: the folder of the libraries. Default: beside the program.
    pub path: Option<PathBuf>,
    /// `load`: names; `pcq` is the file `libplugin_pcq.so`.
    pub load: Vec<PluginName>,
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
    section.finish();
    plugins
}
