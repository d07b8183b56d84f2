//! `modules:`, what is asked of a target by which plugin.

use std::path::Path;
use std::sync::Arc;

use plugin_abi::SettingsSchema;
use safe_text::nearest::nearest;
use serde_json::Value;

use super::item::Item;
use super::node::{Entry, Node};
use super::normalize::{NormalizeSection, normalize};
use super::section::Section;

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
pub(super) fn from_folder(key: &str, value: &mut Value, base: &Path) {
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
