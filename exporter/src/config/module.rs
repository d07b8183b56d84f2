//! `modules:`, what is asked of a target by which plugin.

use super::item::Item;
use super::normalize::{NormalizeSection, normalize};
use super::tree::Node;

/// One of `modules:`
#[derive(Clone, Debug)]
pub struct Module {
    /// `plugin`: one of `plugins.load`.
    pub plugin: String,
    /// `normalize`
    pub normalize: NormalizeSection,
    /// Every other key: the plugin's own, as JSON.
    pub settings: serde_json::Map<String, serde_json::Value>,
    /// The module as the file has it, to find the place that a plugin complains of.
    pub source: Node,
}

/// Reads one of `modules:`. `outer` is the process-wide `normalize:`.
pub(super) fn module(item: &Item<'_>, outer: &NormalizeSection) -> Option<Module> {
    let mut section = item.section(&[])?;
    let plugin = section.require("plugin", "name one of `plugins.load`").and_then(|item| item.text());
    let normalize = section.get("normalize").map(|item| normalize(&item, Some(outer))).unwrap_or_default();
    let settings = section.rest();
    let settings = settings.iter().map(|entry| (entry.key.clone(), entry.node.to_json())).collect();
    Some(Module { plugin: plugin?.to_owned(), normalize, settings, source: item.node.clone() })
}
