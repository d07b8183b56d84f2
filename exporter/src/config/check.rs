//! What no single section can see: names that must exist elsewhere, and hosts against the identities' lists.

use std::collections::BTreeMap;

use super::nearest::suggestion;
use super::problem::Problems;
use super::tree::{Node, Position, Value};
use super::types::{Config, Target};

/// Reports every reference of `config` that leads nowhere.
pub(super) fn references(config: &Config, root: &Node, problems: &Problems) {
    // Names are taken from the file, not from what could be read of it: a broken identity is one problem, and
    // not another one for each target that uses it.
    let names = Names {
        identities: declared(root, "identities"),
        transports: declared(root, "transports"),
        modules: declared(root, "modules"),
    };
    for (name, module) in &config.modules {
        let loaded = config.plugins.load.iter().map(|plugin| plugin.name.as_str());
        if !loaded.clone().any(|plugin| plugin == module.plugin) {
            let hint = suggestion(&module.plugin, loaded)
                .or_else(|| Some(format!("write `plugins: {{load: [{}]}}`", module.plugin)));
            let message = format!("plugin `{}` is not in `plugins.load`", module.plugin);
            problems.push_hint(module.source.locate("/plugin"), &format!("modules.{name}"), message, hint);
        }
    }
    let mut seen: BTreeMap<&str, Position> = BTreeMap::new();
    for (index, target) in config.targets.iter().enumerate() {
        let index = target_index(root, target.position).unwrap_or(index);
        let at = |field: &str| root.locate(&format!("/targets/{index}/{field}"));
        let path = format!("targets[{index}]");
        names.check_target(target, &path, &at, problems);
        if let Some(first) = seen.insert(&target.name, target.position) {
            let message = format!("target `{}` is there already, on line {}", target.name, first.line);
            let hint = Some("give one of them another `name`".to_owned());
            problems.push_hint(target.position, &path, message, hint);
        }
        let identity = target.identity.as_ref().and_then(|name| Some((name, config.identities.get(name)?)));
        if let Some((name, identity)) = identity
            && !identity.allow_hosts.is_empty()
            && !identity.allow_hosts.allows_host(&target.host)
        {
            let allowed = &identity.allow_hosts;
            let message = format!("identity `{name}` may not be shown to `{}`", target.host);
            let hint = Some(format!("its `allow_hosts` has {allowed}"));
            problems.push_hint(at("host"), &path, message, hint);
        }
    }
}

struct Names<'a> {
    identities: Vec<&'a str>,
    transports: Vec<&'a str>,
    modules: Vec<&'a str>,
}

impl Names<'_> {
    fn check_target(&self, target: &Target, path: &str, at: &dyn Fn(&str) -> Position, problems: &Problems) {
        let unknown = |field: &str, what: &str, name: &str, known: &[&str]| {
            let hint = suggestion(name, known.iter().copied());
            problems.push_hint(at(field), path, format!("there is no {what} `{name}`"), hint);
        };
        if let Some(identity) = &target.identity
            && !self.identities.contains(&identity.as_str())
        {
            unknown("identity", "identity", identity, &self.identities);
        }
        if target.transport != "default" && !self.transports.contains(&target.transport.as_str()) {
            unknown("transport", "transport", &target.transport, &self.transports);
        }
        for (index, module) in target.modules.iter().enumerate() {
            if !self.modules.contains(&module.as_str()) {
                unknown(&format!("modules/{index}"), "module", module, &self.modules);
            } else if target.modules[..index].contains(module) {
                problems.push(
                    at(&format!("modules/{index}")),
                    path,
                    format!("module `{module}` is here twice"),
                );
            }
        }
    }
}

fn declared<'a>(root: &'a Node, section: &str) -> Vec<&'a str> {
    match child(root, section).map(|node| &node.value) {
        Some(Value::Map(entries)) => entries.iter().map(|entry| entry.key.as_str()).collect(),
        _ => Vec::new(),
    }
}

/// Where a target stands in the file's list; those that could not be read are not in ours.
fn target_index(root: &Node, position: Position) -> Option<usize> {
    match child(root, "targets").map(|node| &node.value) {
        Some(Value::List(items)) => items.iter().position(|item| item.position == position),
        _ => None,
    }
}

fn child<'a>(root: &'a Node, key: &str) -> Option<&'a Node> {
    match &root.value {
        Value::Map(entries) => entries.iter().find(|entry| entry.key == key).map(|entry| &entry.node),
        _ => None,
    }
}
