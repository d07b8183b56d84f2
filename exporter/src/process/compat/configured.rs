//! The metrics of a configuration, and what its modules collect as their plugins say.

use std::collections::BTreeMap;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use config::{Config, Position, Report, Target};
use plugin_contract::{Display, FamilyDef, ValueKind};
use plugin_host::{FamilyKey, Host, HostOptions, InstanceConfig, Library, Problem, Selects};
use series::model;
use series::pipeline::{MappedSource, Normalize, Profile, Rules, metric_name};

use super::view::{Collects, View};
use crate::process::check::{self, Checked};
use crate::process::plugins::{Libraries, instance_config, path_of, source_of};

/// What a configuration has.
pub(super) struct Configured {
    pub(super) views: Vec<View>,
    /// For people.
    pub(super) described: String,
}

/// Reads a configuration, and asks its plugins.
///
/// # Errors
/// Everything that is wrong with it.
pub(super) fn read(file: &Path) -> Result<Configured, Report> {
    let host = Host::new(HostOptions::default());
    let Checked { config, libraries, .. } = check::load(file, config::load(file)?, &host)?;
    Ok(of(file, &config, &libraries))
}

fn of(file: &Path, config: &Config, libraries: &Libraries) -> Configured {
    let (targets, count) = match config.targets.len() {
        0 => (vec![nobody(config)], "no targets: all modules".to_owned()),
        count => (config.targets.clone(), format!("{count} target{}", if count == 1 { "" } else { "s" })),
    };
    let mut seen: Vec<(&str, &str, Normalize)> = Vec::new();
    let mut views = Vec::new();
    for target in &targets {
        for name in &target.modules {
            let normalize = config.normalize(target, name);
            let is_same = |(module, transport, own): &(&str, &str, Normalize)| {
                (*module, *transport) == (name.as_str(), target.transport.as_str())
                    && is_same_profile(&own.profile, &normalize.profile)
                    && own.rules == normalize.rules
            };
            if seen.iter().any(is_same) {
                continue;
            }
            let Some(module) = config.modules.get(name) else { continue };
            let Some(library) = libraries.get(&module.plugin) else { continue };
            let Ok(source) = source_of(module, library) else { continue };
            let asked = Rc::new(Asked {
                module: name.clone(),
                library: library.clone(),
                source: source.name.clone(),
                config: instance_config(config, None, module, &target.transport),
            });
            views.push(View::new(named(&normalize), move |source| asked.collects(source)));
            seen.push((name, &target.transport, normalize));
        }
    }
    Configured { views, described: format!("configuration {}, {count}", file.display()) }
}

/// What is not a host's: all modules, for probes.
fn nobody(config: &Config) -> Target {
    Target {
        name: String::new(),
        host: String::new(),
        identity: None,
        transport: config.target_defaults.transport.clone(),
        modules: config.modules.keys().cloned().collect(),
        interval: Duration::ZERO,
        deadline: Duration::ZERO,
        max_series: config.scrape.max_series,
        stale_after: Duration::ZERO,
        labels: BTreeMap::new(),
        normalize: config.target_defaults.normalize.clone(),
        position: Position { line: 0, column: 0 },
    }
}

/// Whether both make the same names.
fn is_same_profile(one: &Profile, other: &Profile) -> bool {
    match (one, other) {
        (Profile::Mapped(one), Profile::Mapped(other)) => Arc::ptr_eq(one, other),
        (Profile::Mapped(_), _) | (_, Profile::Mapped(_)) => false,
        _ => one == other,
    }
}

/// The metrics that a profile names, by the names that rules leave them.
fn named(normalize: &Normalize) -> Vec<(String, MappedSource)> {
    // Other names depend on counters that only a host knows.
    let Profile::Mapped(map) = &normalize.profile else { return Vec::new() };
    let name_of = |source: &MappedSource| {
        if normalize.rules == Rules::default() {
            return Some(source.metric.clone());
        }
        let family = FamilyDef {
            namespace: &source.namespace,
            object: source.objects.first()?,
            item: &source.item,
            part: &source.part,
            kind: source.kind,
            unit: "",
            help: "",
            origin: "",
            value: ValueKind::F64,
            bounds: &[],
            display: Display::default(),
        };
        metric_name(normalize.clone(), model::Target::new("target"), &family).ok()
    };
    map.sources().iter().filter_map(|source| Some((name_of(source)?, source.clone()))).collect()
}

/// A module and the plugin that is asked about it.
struct Asked {
    module: String,
    library: Library,
    source: String,
    config: InstanceConfig,
}

impl Asked {
    fn collects(&self, source: &MappedSource) -> Collects {
        let answers = source.objects.iter().map(|object| self.answer(source, object));
        answers.min_by_key(Collects::rank).unwrap_or(Collects::Never)
    }

    fn answer(&self, source: &MappedSource, object: &str) -> Collects {
        let family = FamilyKey {
            namespace: source.namespace.clone(),
            object: object.to_owned(),
            item: source.item.clone(),
            part: source.part.clone(),
        };
        match self.library.selects(&self.source, &self.config, &family) {
            Ok(Selects::Yes) => Collects::Yes,
            Ok(Selects::No(problems)) if problems.is_empty() => Collects::Never,
            Ok(Selects::No(problems)) => Collects::After(self.next_steps(&problems)),
            Ok(Selects::Unknown) | Err(_) => Collects::Unknown,
        }
    }

    /// What a plugin says to do.
    fn next_steps(&self, problems: &[Problem]) -> Vec<String> {
        let step = |Problem { pointer, message, suggestion, .. }: &Problem| {
            let place = path_of(format!("modules.{}", self.module), pointer);
            let value = if suggestion.is_empty() { String::new() } else { format!(": `{suggestion}`") };
            format!("{place}: {message}{value}")
        };
        problems.iter().map(step).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::plugins::set_schemas;

    /// What the modules of a configuration say of a metric.
    fn check(text: &str, metric: &str, expected: &[&str]) {
        let mut config = config::parse("a.yml", text, Path::new(".")).unwrap();
        let library = Host::new(HostOptions::default()).link("pcq", plugin_pcq::entry).unwrap();
        let libraries = Libraries::from([("pcq".to_owned(), library)]);
        assert_eq!(set_schemas(&libraries, &mut config), []);
        let views = of(Path::new("a.yml"), &config, &libraries).views;
        let said = views.iter().map(|view| match view.has(metric) {
            None => "no such metric".to_owned(),
            Some(Collects::After(steps)) => steps.join("; "),
            Some(collects) => format!("{collects:?}"),
        });
        assert_eq!(said.collect::<Vec<_>>(), expected, "{metric}");
    }

    const CONFIG: &str = "plugins: {load: [pcq]}
normalize: {naming: windows_exporter@0.31}
modules:
  os:
    plugin: pcq
    countersets:
    - {name: {wildcard: 'Logical*'}}
    - {name: Processor Information, counters: {include: ['% C[12] Time']}}
  facts: {plugin: pcq, host_info: true, countersets: [{name: System}]}
  plain: {plugin: pcq, countersets: [{name: System}], normalize: {naming: native}}
  other:
    plugin: pcq
    countersets: [{name: Memory}]
    normalize: {rename: [{from: 'windows_memory_(.*)', to: 'my_$1'}], drop: [windows_memory_cache_bytes]}
";

    #[test]
    fn a_plugin_says_which_settings_of_which_module_a_metric_needs() {
        let config = format!("{CONFIG}targets: [{{host: web1, modules: [os, facts]}}]");
        let add = |module: &str, object: &str| {
            format!("modules.{module}.countersets: add this counterset: `{{name: {object}}}`")
        };
        check(&config, "windows_logical_disk_free_bytes", &["Yes", &add("facts", "LogicalDisk")]);
        check(&config, "windows_system_threads", &[&add("os", "System"), "Yes"]);
        let host_info = "modules.os.host_info: read facts of the host: `true`";
        check(&config, "windows_os_info", &[host_info, "Yes"]);
        let counter = "modules.os.countersets[1].counters: select this counter, too: `'% C3 Time'`";
        check(
            &config,
            "windows_cpu_cstate_seconds_total",
            &[counter, &add("facts", "Processor Information")],
        );
        check(&config, "windows_none", &["no such metric", "no such metric"]);
    }

    #[test]
    fn names_are_those_of_each_module_and_its_rules() {
        let config = format!("{CONFIG}targets: [{{host: web1, modules: [other, plain]}}]");
        check(&config, "my_available_bytes", &["Yes", "no such metric"]);
        check(&config, "windows_memory_available_bytes", &["no such metric", "no such metric"]);
        check(&config, "my_cache_bytes", &["no such metric", "no such metric"]);
    }

    #[test]
    fn many_targets_are_asked_about_once_and_without_any_all_modules_are() {
        let targets = (0..50).map(|index| format!("- {{host: web{index}, modules: [other]}}\n"));
        let config = format!("{CONFIG}targets:\n{}", targets.collect::<String>());
        check(&config, "my_available_bytes", &["Yes"]);
        let config = format!("{CONFIG}target_defaults: {{modules: [os]}}\ntargets: []");
        let none = "no such metric";
        check(&config, "my_available_bytes", &[none, none, "Yes", none]);
    }
}
