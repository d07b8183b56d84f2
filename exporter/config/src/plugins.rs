//! `plugins:`, which libraries are loaded, and from where.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::item::Item;
use super::module::from_folder;
use super::node::{Node, Position};

#[derive(Clone, Debug, Default)]
pub struct Plugins {
    /// `path`: the folder of the libraries. Default: beside the program.
    pub path: Option<PathBuf>,
    /// `load`: names; `pcq` is the file `libplugin_pcq.so`.
    pub load: Vec<PluginName>,
    /// `settings`: library settings of plugins, by their names.
    pub settings: BTreeMap<String, PluginSettings>,
}

impl Plugins {
    /// The folder of the plugins: the configured one, or the program's own.
    #[must_use]
    pub fn folder(&self) -> PathBuf {
        self.path.clone().unwrap_or_else(beside_program)
    }

    /// The names of those that are in the folder, sorted. Reads the folder.
    #[must_use]
    pub fn installed(&self) -> Vec<String> {
        plugin_files(&self.folder()).iter().filter_map(|file| name_of(file).map(str::to_owned)).collect()
    }
}

/// The program's own folder.
#[must_use]
pub fn beside_program() -> PathBuf {
    let program = std::env::current_exe().ok();
    program.and_then(|program| Some(program.parent()?.to_owned())).unwrap_or_else(|| PathBuf::from("."))
}

/// The file of a plugin.
#[must_use]
pub fn plugin_file(folder: &Path, name: &str) -> PathBuf {
    folder.join(file_name(name))
}

/// The files of a folder that are named like plugins, sorted. Reads the folder.
#[must_use]
pub fn plugin_files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> =
        entries.map(|entry| entry.path()).filter(|path| name_of(path).is_some()).collect();
    files.sort();
    files.truncate(PLUGINS_MAX);
    files
}

fn file_name(plugin: &str) -> String {
    format!("libplugin_{}.so", plugin.replace('-', "_"))
}

fn name_of(file: &Path) -> Option<&str> {
    file.file_name()?.to_str()?.strip_prefix("libplugin_")?.strip_suffix(".so")
}

/// More plugins than anybody has.
const PLUGINS_MAX: usize = 64;

/// One entry of `plugins.settings`.
#[derive(Clone, Debug)]
pub struct PluginSettings {
    /// As JSON, with paths from the root.
    pub values: serde_json::Value,
    /// As the file has them, to find the place that a plugin complains of.
    pub source: Node,
}

/// One entry of `plugins.load`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PluginName {
    pub name: String,
    /// Where the file names it.
    pub position: Position,
}

pub(super) fn plugins(item: &Item<'_>, base: &Path) -> Plugins {
    let mut plugins = Plugins::default();
    let Some(mut section) = item.section(&["reload"]) else { return plugins };
    plugins.path = section.file("path", base);
    for item in section.get("load").map(|item| item.list()).unwrap_or_default() {
        let Some(name) = item.text() else { continue };
        let valid = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '_');
        if !name.chars().all(valid) {
            let named = name_of(Path::new(name)).unwrap_or("NAME");
            let hint =
                format!("give the name, not the file: `{named}` is `{}` in `plugins.path`", file_name(named));
            item.problem(format!("`{name}` is not a valid plugin name"), Some(hint));
        } else if plugins.load.iter().any(|known: &PluginName| known.name == name) {
            item.problem(format!("`{name}` is listed twice"), None);
        } else {
            plugins.load.push(PluginName { name: name.to_owned(), position: item.position() });
        }
    }
    for (entry, item) in section.get("settings").map(|item| item.named()).unwrap_or_default() {
        if plugins.load.iter().any(|known| known.name == entry.key) {
            let mut values = item.node.to_json();
            from_folder("", &mut values, base);
            let settings = PluginSettings { values, source: item.node.clone() };
            plugins.settings.insert(entry.key.clone(), settings);
        } else {
            item.problem(format!("plugin `{}` is not in `plugins.load`", entry.key), None);
        }
    }
    section.finish();
    plugins
}
