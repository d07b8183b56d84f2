//! The metrics of a configuration, and what its modules collect as their plugins say.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use config::libraries::{Checked, Libraries, instance_config, names_of, path_of, source_of};
use config::{Config, Position, Report, Target};
use parking_lot::Mutex;
use plugin_abi::{Display, FamilyDef, FamilyKey, Problem, Selects, ValueKind};
use plugin_host::{
    CommandOutput, CommandRequest, ConfiguredModule, Host, HostOptions, InstanceConfig, Library, MetricNames,
};
use serde::Deserialize;
use series::model;
use series::pipeline::{MappedSource, Normalize, Profile, Rules, metric_name};

use super::view::{Collects, Counterset, ModuleSelection, View};

/// What a configuration has.
pub(super) struct Configured {
    pub(super) views: Vec<View>,
    pub(super) described: String,
}

/// Reads a configuration, and asks its plugins.
///
/// # Errors
/// Everything that is wrong with it.
pub(super) fn read(file: &Path) -> Result<Configured, Report> {
    let host = Host::new(HostOptions::default());
    let Checked { config, libraries, .. } = config::libraries::check(file, config::load(file)?, &host)?;
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
            let module = PluginModule {
                module: name.clone(),
                library: library.clone(),
                source: source.name.clone(),
                config: instance_config(config, None, module, &target.transport),
                names: names_of(vec![normalize.clone()], config.normalize_all()),
                taken: RefCell::default(),
            };
            views.push(View::new(named(&normalize), module));
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
        service_principal: None,
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
struct PluginModule {
    module: String,
    library: Library,
    source: String,
    config: InstanceConfig,
    names: MetricNames,
    /// What was asked about instances: the arguments, and the answer.
    taken: RefCell<BTreeMap<Vec<String>, Collects>>,
}

impl ModuleSelection for PluginModule {
    fn collects(&self, source: &MappedSource) -> Collects {
        let answers = source.objects.iter().map(|object| self.answer(source, object));
        answers.min_by_key(Collects::rank).unwrap_or(Collects::Never)
    }

    fn takes(&self, of: Counterset<'_>, instance: &str) -> Collects {
        let (option, name) = match of {
            Counterset::Named(name) => ("--counterset", name),
            Counterset::OfMetric(metric) => ("--metric", metric),
        };
        // A name may begin like an option.
        let args = vec![format!("{option}={name}"), "--".to_owned(), instance.to_owned()];
        if let Some(known) = self.taken.borrow().get(&args) {
            return known.clone();
        }
        let answer = self.ask_of_instance(args.clone()).unwrap_or(Collects::Unknown);
        self.taken.borrow_mut().insert(args, answer.clone());
        answer
    }
}

/// What a command prints.
#[derive(Default)]
struct Printed(Mutex<Vec<u8>>);

impl CommandOutput for Printed {
    fn out(&self, bytes: &[u8]) {
        self.0.lock().extend(bytes);
    }

    fn err(&self, _: &[u8]) {}

    fn progress(&self, _: &str) {}
}

/// What the command [`SELECTS`] of a plugin says.
#[derive(Deserialize)]
struct Answer {
    selected: Option<bool>,
    problems: Vec<AnswerProblem>,
}

#[derive(Deserialize)]
struct AnswerProblem {
    pointer: String,
    message: String,
    suggestion: String,
}

/// The command of a plugin that tells which instances its modules collect. Plugins may lack it.
const SELECTS: &str = "selects";

impl PluginModule {
    /// Nothing where the plugin cannot tell.
    fn ask_of_instance(&self, args: Vec<String>) -> Option<Collects> {
        if !self.library.info().commands.iter().any(|command| command.name == SELECTS) {
            return None;
        }
        let module = ConfiguredModule { source: self.source.clone(), config: self.config.clone() };
        let request = CommandRequest {
            command: SELECTS.to_owned(),
            args,
            configured: vec![module],
            metric_names: Some(self.names.clone()),
            ..CommandRequest::default()
        };
        let printed = Arc::new(Printed::default());
        let running = self.library.run(&request, Arc::clone(&printed) as Arc<dyn CommandOutput>).ok()?;
        if running.wait() != 0 {
            return None;
        }
        let bytes = printed.0.lock();
        let Answer { selected, problems } = serde_json::from_slice(&bytes).ok()?;
        Some(match selected? {
            true => Collects::Yes,
            false if problems.is_empty() => Collects::Never,
            false => {
                let said = problems.into_iter().map(|AnswerProblem { pointer, message, suggestion }| {
                    self.next_step(&pointer, &message, &suggestion)
                });
                Collects::After(said.collect())
            }
        })
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
            self.next_step(pointer, message, suggestion)
        };
        problems.iter().map(step).collect()
    }

    fn next_step(&self, pointer: &str, message: &str, suggestion: &str) -> String {
        let place = path_of(format!("modules.{}", self.module), pointer);
        let value = if suggestion.is_empty() { String::new() } else { format!(": `{suggestion}`") };
        format!("{place}: {message}{value}")
    }
}

#[cfg(test)]
mod tests {
    use config::libraries::set_schemas;

    use super::*;

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
    fn a_plugin_says_which_instances_it_collects_of_metrics_with_any_name() {
        let config = "plugins: {load: [pcq]}
modules:
  disks:
    plugin: pcq
    normalize: {naming: windows_exporter@0.31}
    countersets: [{name: LogicalDisk, instances: {exclude: ['Harddisk.*']}}]
  native:
    plugin: pcq
    countersets: [{name: LogicalDisk}, {name: Processor Information, totals: keep}, {name: Process, totals: separate}]
targets: [{host: web1, modules: [disks, native]}]";
        let mut config = config::parse("a.yml", config, Path::new(".")).unwrap();
        let library = Host::new(HostOptions::default()).link("pcq", plugin_pcq::entry).unwrap();
        let libraries = Libraries::from([("pcq".to_owned(), library)]);
        assert_eq!(set_schemas(&libraries, &mut config), []);
        let views = of(Path::new("a.yml"), &config, &libraries).views;
        let keep = "countersets[0].totals: keep totals, which are left out: `keep`";
        let disk = "windows_logical_disk_free_bytes";
        let free = "perfmon_logical_disk_free_space_ratio";
        let load = "perfmon_processor_information_processor_time_ratio";
        for (view, metric, label, value, expected) in [
            // The profile leaves it out.
            (0, disk, "volume", "_Total", "Never"),
            (0, disk, "volume", "C:", "Yes"),
            (
                0,
                disk,
                "volume",
                "HarddiskVolume1",
                "modules.disks.countersets[0].instances: select this instance, too: `HarddiskVolume1`",
            ),
            (0, disk, "instance", "_Total", "Unknown"),
            (1, free, "counter_instance", "_Total", &*format!("modules.native.{keep}")),
            (1, free, "counter_instance", "--x", "Yes"),
            (1, free, "instance", "_Total", "Unknown"),
            (1, load, "counter_instance", "0,_Total", "Yes"),
            (
                1,
                "perfmon_process_thread_count",
                "process",
                "_Total",
                "modules.native.countersets[2].totals: keep totals among the instances, whose metrics they do not have: \
                 `keep`",
            ),
            (1, "perfmon_process_total_thread_count", "process", "_Total", "Unknown"),
            (1, "perfmon_memory_pages", "counter_instance", "_Total", "Unknown"),
        ] {
            let said = match views[view].has_with(metric, label, value) {
                Collects::After(steps) => steps.join("; "),
                collects => format!("{collects:?}"),
            };
            assert_eq!(said, expected, "{metric} {label} {value}");
        }
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
