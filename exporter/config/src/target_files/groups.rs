//! The file_sd format of Prometheus: a list of groups, each with hosts and what holds for all of them.

use std::path::Path;

use safe_text::nearest::suggestion;

use super::TargetList;
use crate::check::Names;
use crate::document::Config;
use crate::item::Item;
use crate::node::{Entry, Node, Position, SyntaxError, Value};
use crate::problem::{Problem, Problems, Report};
use crate::scrape::{INTERVALS, SERIES, deadline};
use crate::target::{MODULES_MAX, Target, TargetOverrides, host_name, label, name_of};

/// Labels that say something to the exporter. Every other one with `__` in front is a mistake, but for those that
/// Prometheus or its discoveries put there.
const SETTINGS: [&str; 8] =
    [MODULE, IDENTITY, AUTH, TRANSPORT, NAME, MAX_SERIES, "__scrape_interval__", "__scrape_timeout__"];
const MODULE: &str = "__param_module";
const IDENTITY: &str = "__param_identity";
const AUTH: &str = "__param_auth";
const TRANSPORT: &str = "__param_transport";
const NAME: &str = "__param_name";
const MAX_SERIES: &str = "__param_max_series";
const OF_PROMETHEUS: [&str; 3] = ["__address__", "__scheme__", "__metrics_path__"];

/// Reads the text of a target file: YAML, or JSON where `file` ends in `.json`. Labels say how the group's targets
/// are asked:
///
/// | label | meaning |
/// | --- | --- |
/// | `__param_module` | modules, with commas between them |
/// | `__param_identity` (or `__param_auth`) | identity |
/// | `__param_transport` | transport |
/// | `__param_name` | the target's name, where the group has one target |
/// | `__param_max_series` | limit of series |
/// | `__scrape_interval__`, `__scrape_timeout__` | interval and deadline |
/// | `__meta_…`, `__address__`, `__scheme__`, `__metrics_path__` | nothing: they are Prometheus' |
/// | any other | a label of the targets' series |
///
/// What a group does not say is that of `target_defaults` and `scrape`. What is wrong with one entry costs that entry:
/// see [`TargetList::skipped`].
///
/// # Errors
/// When the file as a whole is no list.
pub fn parse_target_file(file: &str, text: &str, config: &Config) -> Result<TargetList, Report> {
    let root = read(file, text)?;
    let groups = match &root.value {
        Value::List(groups) => groups,
        Value::Null => {
            let hint = Some("write `[]` for no targets".to_owned());
            return Err(Report::of_file(file, "the file is empty".to_owned(), hint));
        }
        _ => {
            let message = format!("expected a list of groups, found {}", root.kind());
            let hint = Some("write `- targets: [web1.corp.example.com]`".to_owned());
            let (position, path) = (Some(root.position), String::new());
            return Err(Report::new(file, vec![Problem { position, path, message, hint }]));
        }
    };
    let names = Names::of_config(config);
    let mut list = TargetList::default();
    for (index, node) in groups.iter().enumerate() {
        read_group(node, index, config, &names, &mut list);
    }
    Ok(list)
}

fn read(file: &str, text: &str) -> Result<Node, Report> {
    let refused = |position, message| {
        Report::new(file, vec![Problem { position, path: String::new(), message, hint: None }])
    };
    let is_json = Path::new(file).extension().is_some_and(|extension| extension == "json");
    let spaced;
    let text = if is_json {
        serde_json::from_str::<serde::de::IgnoredAny>(text).map_err(|error| {
            let position = json_position(&error, text);
            let message = error.to_string();
            let message = message.split(" at line ").next().unwrap_or(&message).to_owned();
            refused(Some(position), message)
        })?;
        // JSON is YAML but for tabs, which JSON has between its tokens only.
        spaced = text.replace('\t', " ");
        &spaced
    } else {
        text
    };
    Node::parse(text).map_err(|SyntaxError { position, message }| refused(position, message))
}

/// Where a JSON text is wrong. The parser counts the bytes of a line, a person its characters.
fn json_position(error: &serde_json::Error, text: &str) -> Position {
    let line = text.split('\n').nth(error.line().saturating_sub(1)).unwrap_or_default();
    let before = line.char_indices().take_while(|(at, _)| *at < error.column()).count();
    Position { line: error.line() as u64, column: before as u64 }
}

/// Reads one group: its targets, or what is wrong with it, or with single ones of them.
fn read_group(node: &Node, index: usize, config: &Config, names: &Names<'_>, list: &mut TargetList) {
    let of_group = Problems::default();
    let group = Item { node, path: format!("[{index}]"), problems: &of_group };
    let targets = read_targets(&group, config, names);
    let mut problems = of_group.into_vec();
    if problems.is_empty() {
        for read in targets {
            match read.target {
                Ok(target) => list.targets.push(*target),
                Err(problems) => list.skip_target(read.name, problems),
            }
        }
    } else {
        let of_targets = targets.iter().filter_map(|read| read.target.as_ref().err());
        problems.extend(of_targets.flatten().cloned());
        list.skip_group(problems, targets.into_iter().map(|read| read.name).collect());
    }
}

/// One of a group's targets, or what is wrong with it.
struct ReadTarget {
    name: String,
    target: Result<Box<Target>, Vec<Problem>>,
}

fn read_targets(group: &Item<'_>, config: &Config, names: &Names<'_>) -> Vec<ReadTarget> {
    let Some(mut section) = group.section(&[]) else { return Vec::new() };
    let hosts = section.require("targets", "list the hosts").map(|item| item.list()).unwrap_or_default();
    let mut read = Group { config, names, overrides: TargetOverrides::default(), name: None };
    if let Some(labels) = section.get("labels") {
        read.read_labels(&labels);
    }
    if read.overrides.modules.is_none() && config.target_defaults.modules.is_empty() && !hosts.is_empty() {
        let hint = Some(format!("write the label `{MODULE}`, or `target_defaults: {{modules: […]}}`"));
        group.problem("says no modules", hint);
    }
    section.finish();
    if let (Some((position, _)), 2..) = (&read.name, hosts.len()) {
        let message = format!("`{NAME}` names one target, and there are {}", hosts.len());
        group.problem_at(*position, message, Some("give it a group of its own".to_owned()));
    }
    hosts.iter().map(|item| read.target(item)).collect()
}

struct Group<'a> {
    config: &'a Config,
    names: &'a Names<'a>,
    overrides: TargetOverrides,
    name: Option<(Position, String)>,
}

impl Group<'_> {
    fn target(&self, item: &Item<'_>) -> ReadTarget {
        let problems = Problems::default();
        let item = &Item { problems: &problems, ..item.clone() };
        let target = host_name(item, || self.config.port_key()).map(|host| {
            let name = self.name.as_ref().map_or(host, |(_, name)| name.as_str());
            let Config { scrape, target_defaults, .. } = self.config;
            let target = self.overrides.clone().target(name, host, item.position(), scrape, target_defaults);
            self.names.check_host(&target, |message, hint| item.problem(message, hint));
            Names::check_has_identity(&target, self.config, |message, hint| item.problem(message, hint));
            target
        });
        let name = target.as_ref().map_or_else(|| item.path.clone(), |target| target.name.clone());
        match (target, problems.into_vec()) {
            (Some(target), problems) if problems.is_empty() => {
                ReadTarget { name, target: Ok(Box::new(target)) }
            }
            (_, problems) => ReadTarget { name, target: Err(problems) },
        }
    }

    fn read_labels(&mut self, labels: &Item<'_>) {
        let entries = labels.named();
        for (entry, value) in &entries {
            if entry.key.starts_with("__") {
                self.read_setting(labels, entry, value);
            } else if let Some(text) = label(labels, entry, value) {
                self.overrides.labels.insert(entry.key.clone(), text.to_owned());
            }
        }
        // The deadline is measured by the interval, wherever that is.
        if let Some((_, value)) = entries.iter().find(|(entry, _)| entry.key == "__scrape_timeout__") {
            self.overrides.deadline = deadline(value, self.overrides.interval(&self.config.scrape));
        }
    }

    fn read_setting(&mut self, labels: &Item<'_>, entry: &Entry, value: &Item<'_>) {
        let key = entry.key.as_str();
        match key {
            MODULE => self.overrides.modules = self.modules(value),
            IDENTITY | AUTH => self.identity(value),
            TRANSPORT => {
                if let Some(transport) = value.text() {
                    self.names.check_transport(transport, |message, hint| value.problem(message, hint));
                    self.overrides.transport = Some(transport.to_owned());
                }
            }
            NAME => self.name = name_of(value).map(|name| (entry.position, name.to_owned())),
            MAX_SERIES => self.overrides.max_series = max_series(value),
            "__scrape_interval__" => self.overrides.interval = value.duration(INTERVALS),
            "__scrape_timeout__" => {}
            _ if key.starts_with("__meta_") || OF_PROMETHEUS.contains(&key) => {}
            _ => {
                let hint = suggestion(key, SETTINGS);
                labels.problem_at(entry.position, format!("label `{key}` has no meaning here"), hint);
            }
        }
    }

    fn identity(&mut self, value: &Item<'_>) {
        let Some(identity) = value.text() else { return };
        self.names.check_identity(identity, |message, hint| value.problem(message, hint));
        let before = self.overrides.identity.replace(identity.to_owned());
        if before.is_some_and(|before| before != identity) {
            let hint = Some("keep one of them".to_owned());
            value.problem(format!("`{IDENTITY}` and `{AUTH}` name two identities"), hint);
        }
    }

    fn modules(&self, value: &Item<'_>) -> Option<Vec<String>> {
        let mut modules: Vec<String> = Vec::new();
        for name in value.text()?.split(',').map(str::trim).filter(|name| !name.is_empty()) {
            if modules.len() == MODULES_MAX {
                value.problem(format!("names more than {MODULES_MAX} modules, which is the limit"), None);
                break;
            }
            self.names.check_module(name, |message, hint| value.problem(message, hint));
            if modules.iter().any(|module| module == name) {
                value.problem(format!("module `{name}` is listed twice"), None);
            } else {
                modules.push(name.to_owned());
            }
        }
        if modules.is_empty() {
            value.problem("is empty", Some("name at least one of `modules`".to_owned()));
        }
        Some(modules)
    }
}

fn max_series(value: &Item<'_>) -> Option<u32> {
    let text = value.text()?;
    let number = text.parse().ok().filter(|number| SERIES.contains(number));
    if number.is_none() {
        value.problem(
            format!("`{text}` is not a whole number from {} to {}", SERIES.start(), SERIES.end()),
            None,
        );
    }
    number
}
