//! `plugins:`, which libraries are loaded, and from where.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use plugin_abi::SettingsSchema;
use safe_text::nearest::nearest;
use serde_json::Value;

use super::item::Item;
use super::node::{Entry, Node, Position};
use super::normalize::{NormalizeSection, normalize};
use super::section::Section;

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

// `modules:`, what is asked of a target by which plugin.

#[derive(Clone, Debug)]
pub struct Module {
    /// `plugin`: one of `plugins.load`.
    pub plugin: String,
    /// `source`: which source of the plugin, if it has several.
    pub source_name: Option<String>,
    pub normalize: NormalizeSection,
    /// Every other key: the plugin's own, as JSON.
    pub settings: serde_json::Map<String, serde_json::Value>,
    /// The module as the file has it, to find the place that a plugin complains of.
    pub source: Node,
    /// What its source declares of settings. The file does not say it: see [`Config::set_schemas`].
    ///
    /// [`Config::set_schemas`]: crate::Config::set_schemas
    pub schema: Arc<SettingsSchema>,
}

/// The key of a module that a person misspelt is taken for one of the plugin's, so that it is looked for among those.
fn report_missing(section: &mut Section<'_>) {
    let misspelt = section.rest().into_iter().find(|entry| nearest(&entry.key, ["plugin"]).is_some());
    let (position, message, hint) = match misspelt {
        Some(Entry { key, position, .. }) => {
            (*position, format!("unknown key `{key}`"), "did you mean `plugin`?")
        }
        None => (section.position, "`plugin` is missing".to_owned(), "name one of `plugins.load`"),
    };
    section.problems.push_hint(position, &section.path, message, Some(hint.to_owned()));
}

/// Lets relative paths start from the folder of the configuration, as all others do. Plugins do not know it: by the contract
/// with them, paths are what keys say that are called `file` or end so.
fn from_folder(key: &str, value: &mut Value, base: &Path) {
    match value {
        Value::String(text) if (key == "file" || key.ends_with("_file")) && !text.is_empty() => {
            let path = base.join(text.as_str());
            if let Some(path) = std::path::absolute(&path).unwrap_or(path).to_str() {
                path.clone_into(text);
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| from_folder(key, item, base)),
        Value::Object(object) => object.iter_mut().for_each(|(key, value)| from_folder(key, value, base)),
        _ => {}
    }
}

/// Reads one of `modules:`. `outer` is the process-wide `normalize:`.
pub(super) fn module(item: &Item<'_>, outer: &NormalizeSection, base: &Path) -> Option<Module> {
    let mut section = item.section(&[])?;
    let plugin = match section.get("plugin") {
        Some(plugin) => plugin.text(),
        None => {
            report_missing(&mut section);
            None
        }
    };
    let source_name = section.text("source");
    let normalize =
        section.get("normalize").map(|item| normalize(&item, Some(outer), base)).unwrap_or_default();
    let settings = section.rest();
    let settings = settings.iter().map(|entry| {
        let mut value = entry.node.to_json();
        from_folder(&entry.key, &mut value, base);
        (entry.key.clone(), value)
    });
    let settings = settings.collect();
    let (source, schema) = (item.node.clone(), Arc::default());
    Some(Module { plugin: plugin?.to_owned(), source_name, normalize, settings, source, schema })
}
