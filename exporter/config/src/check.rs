//! What no single section can see: names that must exist elsewhere, and hosts against the identities' lists.

use std::collections::{BTreeMap, BTreeSet};

use safe_text::nearest::{nearest, suggestion};

use super::document::Config;
use super::identity::Identity;
use super::node::{Node, Position, Value};
use super::plugins::Plugins;
use super::problem::{Problem, Problems};
use super::target::Target;
use super::transport::Transport;

/// Reports every reference of `config` that leads nowhere.
pub(super) fn references(config: &Config, root: &Node, problems: &Problems) {
    // Names are taken from the file, not from what could be read of it: a broken identity is one problem, and
    // not another one for each target that uses it.
    let names = Names {
        identities: declared(root, "identities"),
        transports: declared(root, "transports"),
        modules: declared(root, "modules"),
        known: &config.identities,
    };
    check_plugins(config, problems);
    check_realms(&config.identities, problems);
    names.check_defaults(config, root, problems);
    let mut seen: BTreeMap<&str, Position> = BTreeMap::new();
    let indices = target_indices(root);
    for (index, target) in config.targets.iter().enumerate() {
        let index = indices.get(&target.position).copied().unwrap_or(index);
        let at = |field: &str| root.locate(&format!("/targets/{index}/{field}"));
        let path = format!("targets[{index}]");
        names.check_target(target, config, &path, &at, problems);
        if let Some(first) = seen.insert(&target.name, target.position) {
            let message = format!("target `{}` is already defined, on line {}", target.name, first.line);
            let hint = Some("give one of them another `name`".to_owned());
            problems.push_hint(target.position, &path, message, hint);
        }
        names.check_host(target, |message, hint| problems.push_hint(at("host"), &path, message, hint));
    }
}

/// A realm has one list of KDCs in this process.
fn check_realms(identities: &BTreeMap<String, Identity>, problems: &Problems) {
    let mut known: BTreeMap<&str, (&str, &[String])> = BTreeMap::new();
    for (name, identity) in identities {
        let Some(kerberos) = identity.kerberos().filter(|kerberos| !kerberos.kdc.is_empty()) else {
            continue;
        };
        let (first, kdc) = *known.entry(&identity.domain).or_insert((name, &kerberos.kdc));
        if kdc != kerberos.kdc {
            let message = format!("realm `{}` has other KDCs at identity `{first}`", identity.domain);
            let hint = Some("list all of them at both, or leave `kdc` out of one".to_owned());
            problems.push_hint(identity.position, &format!("identities.{name}.kdc"), message, hint);
        }
    }
}

/// Checks that each module's plugin is loaded; a misspelt name is reported with a suggestion.
fn check_plugins(config: &Config, problems: &Problems) {
    let loaded = || config.plugins.load.iter().map(|plugin| plugin.name.as_str());
    let mut installed = Installed::of(&config.plugins);
    let mut blamed = BTreeSet::new();
    for (name, module) in &config.modules {
        let wanted = module.plugin.as_str();
        if loaded().any(|plugin| plugin == wanted) {
            continue;
        }
        let misspelt = nearest(wanted, loaded()).filter(|_| installed.has(wanted));
        let entries = config.plugins.load.iter().enumerate();
        let misspelt = misspelt.and_then(|near| entries.into_iter().find(|(_, plugin)| plugin.name == near));
        if let Some((index, plugin)) = misspelt {
            if blamed.insert(index) {
                let message =
                    format!("module `{name}` uses plugin `{wanted}`, and `{}` is loaded", plugin.name);
                let hint = Some(format!("did you mean `{wanted}`?"));
                problems.push_hint(plugin.position, &format!("plugins.load[{index}]"), message, hint);
            }
            continue;
        }
        let hint =
            suggestion(wanted, loaded()).or_else(|| Some(format!("write `plugins: {{load: [{wanted}]}}`")));
        let message = format!("plugin `{wanted}` is not in `plugins.load`");
        problems.push_hint(module.source.locate("/plugin"), &format!("modules.{name}"), message, hint);
    }
}

/// The installed plugins, read on first use.
struct Installed<'a> {
    plugins: &'a Plugins,
    names: Option<Vec<String>>,
}

impl<'a> Installed<'a> {
    fn of(plugins: &'a Plugins) -> Self {
        Self { plugins, names: None }
    }

    fn has(&mut self, name: &str) -> bool {
        let names = self.names.get_or_insert_with(|| self.plugins.installed());
        // Their files have no dashes.
        names.contains(&name.replace('-', "_"))
    }
}

/// The names that a target may use.
pub(super) struct Names<'a> {
    identities: BTreeSet<&'a str>,
    transports: BTreeSet<&'a str>,
    modules: BTreeSet<&'a str>,
    known: &'a BTreeMap<String, Identity>,
}

/// What is wrong with a target that needs an identity and has none, and what to do about it.
fn no_identity(target: &Target, config: &Config) -> Option<(String, Hint)> {
    let module = target.modules.iter().find(|name| config.logs_on.contains(*name))?;
    if target.identity.is_some() {
        return None;
    }
    let message = format!("has no identity, and module `{module}` logs on to its host");
    Some((message, Some(config.identity_hint(&target.host))))
}

impl Config {
    /// What is wrong with the targets of the file, now that it is known which modules log on.
    #[must_use]
    pub fn without_identity(&self) -> Vec<Problem> {
        let targets = self.targets.iter().enumerate();
        let problems = targets.filter_map(|(index, target)| {
            let (message, hint) = no_identity(target, self)?;
            let path = format!("targets[{index}] ({})", target.name);
            Some(Problem { position: Some(target.position), path, message, hint })
        });
        problems.collect()
    }

    /// Targets that ask a host which another one asks already: seldom meant, and no mistake. The first `of_config` are
    /// those of the file; the others are of target files.
    #[must_use]
    pub fn repeated_hosts(&self, of_config: usize) -> Vec<Problem> {
        let mut seen: BTreeMap<(String, Vec<u16>), usize> = BTreeMap::new();
        let mut found = Vec::new();
        for (index, target) in self.targets.iter().enumerate() {
            let ports = self.transports.get(&target.transport).map(Transport::ports).unwrap_or_default();
            let host = target.host.trim_end_matches('.').to_lowercase();
            let first = *seen.entry((host, ports)).or_insert(index);
            if first == index {
                continue;
            }
            let Target { name, position, .. } = &self.targets[first];
            let line = if first < of_config { format!(" on line {}", position.line) } else { String::new() };
            let (position, path) = match index < of_config {
                true => (Some(target.position), format!("targets[{index}] ({})", target.name)),
                false => (None, format!("target `{}` of a target file", target.name)),
            };
            let message = format!("collects from host `{}`, as target `{name}`{line} does", target.host);
            let hint = Some("name all modules at one of them, unless both are meant".to_owned());
            found.push(Problem { position, path, message, hint });
        }
        found
    }

    /// What to write where an identity for a host is missing.
    #[must_use]
    pub fn identity_hint(&self, host: &str) -> String {
        const LISTED_MAX: usize = 8;
        let fits = |identity: &Identity| identity.allow_hosts.allows_host(host);
        let fitting: Vec<&str> = self
            .identities
            .iter()
            .filter(|(_, identity)| fits(identity))
            .map(|(name, _)| name.as_str())
            .collect();
        match fitting.as_slice() {
            [] if self.identities.is_empty() => {
                "add one under `identities`, and write `identity: NAME` at the target or in `target_defaults`"
                    .to_owned()
            }
            [] => {
                let names: Vec<&str> = self.identities.keys().take(LISTED_MAX).map(String::as_str).collect();
                format!(
                    "add `{host}` to the `allow_hosts` of one of the identities (`{}`), and name that",
                    names.join("`, `")
                )
            }
            [only] => format!("write `identity: {only}` at the target or in `target_defaults`"),
            several => {
                let names = several[..several.len().min(LISTED_MAX)].join("`, `");
                format!(
                    "write `identity: …` at the target or in `target_defaults`; `{names}` may be used for it"
                )
            }
        }
    }
}

/// What to do about it, where that is known.
type Hint = Option<String>;

impl<'a> Names<'a> {
    /// Those of a configuration in which nothing is wrong.
    pub(super) fn of_config(config: &'a Config) -> Self {
        Self {
            identities: config.identities.keys().map(String::as_str).collect(),
            transports: config.transports.keys().map(String::as_str).collect(),
            modules: config.modules.keys().map(String::as_str).collect(),
            known: &config.identities,
        }
    }

    pub(super) fn check_identity(&self, name: &str, report: impl FnOnce(String, Hint)) {
        check_name("identity", name, &self.identities, report);
    }

    pub(super) fn check_transport(&self, name: &str, report: impl FnOnce(String, Hint)) {
        if name != "default" {
            check_name("transport", name, &self.transports, report);
        }
    }

    pub(super) fn check_module(&self, name: &str, report: impl FnOnce(String, Hint)) {
        check_name("module", name, &self.modules, report);
    }

    /// Whether the target has the identity that it needs.
    pub(super) fn check_has_identity(target: &Target, config: &Config, report: impl FnOnce(String, Hint)) {
        if let Some((message, hint)) = no_identity(target, config) {
            report(message, hint);
        }
    }

    /// Whether the target's host may see its identity.
    pub(super) fn check_host(&self, target: &Target, report: impl FnOnce(String, Hint)) {
        let identity = target.identity.as_ref().and_then(|name| Some((name, self.known.get(name)?)));
        if let Some((name, identity)) = identity
            && !identity.allow_hosts.is_empty()
            && !identity.allow_hosts.allows_host(&target.host)
        {
            let allowed = &identity.allow_hosts;
            let message = format!("identity `{name}` may not be used for `{}`", target.host);
            report(message, Some(format!("its `allow_hosts` has {allowed}")));
        } else if let Some((_, identity)) = identity
            && let Some((message, hint)) =
                identity.refusal_of_address(&target.host, target.service_principal.as_deref())
        {
            report(message, Some(hint));
        }
    }

    fn check_defaults(&self, config: &Config, root: &Node, problems: &Problems) {
        let defaults = &config.target_defaults;
        let at = |field: &str| root.locate(&format!("/target_defaults/{field}"));
        let report = |field: String| {
            move |message, hint| problems.push_hint(at(&field), "target_defaults", message, hint)
        };
        if let Some(identity) = &defaults.identity {
            self.check_identity(identity, report("identity".to_owned()));
        }
        self.check_transport(&defaults.transport, report("transport".to_owned()));
        for (index, module) in defaults.modules.iter().enumerate() {
            let field = format!("modules/{index}");
            if defaults.modules[..index].contains(module) {
                report(field)(format!("module `{module}` is listed twice"), None);
            } else {
                self.check_module(module, report(field));
            }
        }
    }

    /// What a target has from the defaults was checked there.
    fn check_target(
        &self,
        target: &Target,
        config: &Config,
        path: &str,
        at: &dyn Fn(&str) -> Position,
        problems: &Problems,
    ) {
        let defaults = &config.target_defaults;
        let report = |field: String| move |message, hint| problems.push_hint(at(&field), path, message, hint);
        if let Some(identity) = target.identity.as_ref().filter(|_| target.identity != defaults.identity) {
            self.check_identity(identity, report("identity".to_owned()));
        }
        if target.transport != defaults.transport {
            self.check_transport(&target.transport, report("transport".to_owned()));
        }
        if target.modules == defaults.modules {
            return;
        }
        for (index, module) in target.modules.iter().enumerate() {
            let field = format!("modules/{index}");
            if self.modules.contains(module.as_str()) && target.modules[..index].contains(module) {
                report(field)(format!("module `{module}` is listed twice"), None);
            } else {
                self.check_module(module, report(field));
            }
        }
    }
}

fn check_name(what: &str, name: &str, known: &BTreeSet<&str>, report: impl FnOnce(String, Hint)) {
    if !known.contains(name) {
        report(format!("there is no {what} `{name}`"), suggestion(name, known.iter().copied()));
    }
}

fn declared<'a>(root: &'a Node, section: &str) -> BTreeSet<&'a str> {
    match child(root, section).map(|node| &node.value) {
        Some(Value::Map(entries)) => entries.iter().map(|entry| entry.key.as_str()).collect(),
        _ => BTreeSet::new(),
    }
}

/// Where each target is in the file's list; those that could not be read are not in ours.
fn target_indices(root: &Node) -> BTreeMap<Position, usize> {
    match child(root, "targets").map(|node| &node.value) {
        Some(Value::List(items)) => items.iter().map(|item| item.position).zip(0..).collect(),
        _ => BTreeMap::new(),
    }
}

fn child<'a>(root: &'a Node, key: &str) -> Option<&'a Node> {
    match &root.value {
        Value::Map(entries) => entries.iter().find(|entry| entry.key == key).map(|entry| &entry.node),
        _ => None,
    }
}
