//! A configuration and its plugins, as the daemon and the tool beside it have them: [`check`] loads the plugins of a
//! configuration and asks what they think of it; [`instance_config`] is what an instance of a source gets.
mod check;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

use plugin_abi::TargetInfo;
use plugin_host::{ConfigureError, Host, InstanceConfig, Library, LoadError, MetricNames, SourceInfo};
use safe_text::nearest::nearest;
use serde_json::{Map, Value, json};
use series::model;
use series::pipeline::{Normalize, metric_name};

pub use self::check::{Checked, check};
use crate::{Config, Module, Plugins, Position, Problem, Schemas, Target, plugin_file};

/// The libraries of the configuration's plugins, by name.
pub type Libraries = BTreeMap<String, Library>;

/// Loads every plugin of the configuration.
fn load(host: &Host, config: &Config) -> Result<Libraries, Vec<Problem>> {
    let folder = config.plugins.folder();
    load_by(config, |name| host.load(&plugin_file(&folder, name)))
}

/// Has `load` give every plugin of the configuration.
pub fn load_by(
    config: &Config,
    mut load: impl FnMut(&str) -> Result<Library, LoadError>,
) -> Result<Libraries, Vec<Problem>> {
    let (mut libraries, mut problems) = (Libraries::new(), Vec::new());
    for (index, plugin) in config.plugins.load.iter().enumerate() {
        match load(&plugin.name) {
            Ok(library) => {
                libraries.insert(plugin.name.clone(), library);
            }
            Err(error) => problems.push(Problem {
                position: Some(plugin.position),
                path: format!("plugins.load[{index}]"),
                message: error.to_string(),
                hint: hint(&config.plugins, &plugin.name),
            }),
        }
    }
    if problems.is_empty() { Ok(libraries) } else { Err(problems) }
}

/// The probable plugin for a name without a file.
fn hint(plugins: &Plugins, name: &str) -> Option<String> {
    if plugin_file(&plugins.folder(), name).exists() {
        return None;
    }
    let installed = plugins.installed();
    let near = nearest(name, installed.iter().map(String::as_str))?;
    Some(format!("did you mean `{near}`?"))
}

/// The modules whose plugins log on to their targets, so that those need an identity.
pub fn modules_that_log_on(libraries: &Libraries, config: &Config) -> BTreeSet<String> {
    // A name that nobody has: nothing is asked of it.
    let nobody =
        TargetInfo { name: "check".to_owned(), host: "check.invalid".to_owned(), ..TargetInfo::default() };
    let logs_on = |module: &Module| {
        let library = libraries.get(&module.plugin)?;
        let settings =
            InstanceConfig { target: nobody.clone(), ..instance_config(config, None, module, "default") };
        let found = match library.validate(&source_of(module, library).ok()?.name, &settings) {
            Ok(found) | Err(ConfigureError::Problems(found)) => found,
            Err(_) => return None,
        };
        found.iter().any(|problem| is_about_identity(&problem.pointer, module)).then_some(())
    };
    config
        .modules
        .iter()
        .filter(|(_, module)| logs_on(module).is_some())
        .map(|(name, _)| name.clone())
        .collect()
}

/// Whether a plugin's problem is that the target has no identity.
fn is_about_identity(pointer: &str, module: &Module) -> bool {
    pointer == NO_IDENTITY && !module.settings.contains_key("target")
}

const NO_IDENTITY: &str = "/target/identity";

/// Asks the plugins what they think of every module's settings, for each transport that the module is used with: what they refuse,
/// and what they accept and do not do.
pub fn validate(libraries: &Libraries, config: &Config) -> (Vec<Problem>, Vec<Problem>) {
    let mut uses: BTreeMap<(&str, &str), Option<&Target>> = BTreeMap::new();
    for target in &config.targets {
        for module in &target.modules {
            let used = uses.entry((module, &target.transport)).or_insert(Some(target));
            // Whatever comes too rarely comes most rarely there.
            *used = used.filter(|used| used.interval >= target.interval).or(Some(target));
        }
    }
    let used: BTreeSet<&str> = uses.keys().map(|(module, _)| *module).collect();
    let unused = config.modules.keys().filter(|name| !used.contains(name.as_str()));
    let unused: Vec<_> = unused.map(|name| ((name.as_str(), "default"), None)).collect();
    let all = uses.into_iter().chain(unused);
    let of_libraries = libraries.iter().flat_map(|(name, library)| settings_problems(config, name, library));
    let of_modules = all
        .flat_map(|((name, transport), target)| validate_module(libraries, config, name, transport, target));
    let (mut problems, mut warnings) = (Vec::new(), Vec::new());
    for (problem, is_warning) in of_libraries.chain(of_modules) {
        let said = if is_warning { &mut warnings } else { &mut problems };
        // One module behind two transports has its own mistakes once.
        if !said.contains(&problem) {
            said.push(problem);
        }
    }
    (problems, warnings)
}

/// What a plugin does not accept of its settings as a whole, and, as warnings, what it accepts and does not do.
fn settings_problems(config: &Config, name: &str, library: &Library) -> Vec<(Problem, bool)> {
    let Some(settings) = config.plugins.settings.get(name) else { return Vec::new() };
    let at = |pointer: &str, message: String, hint: Option<String>| {
        let path = path_of(format!("plugins.settings.{name}"), pointer);
        Problem { position: Some(settings.source.locate(pointer)), path, message, hint }
    };
    match library.validate_settings(&settings.values) {
        Ok(problems) => problems
            .into_iter()
            .map(|problem| {
                let hint = Some(problem.suggestion).filter(|suggestion| !suggestion.is_empty());
                (at(&problem.pointer, problem.message, hint), problem.is_warning)
            })
            .collect(),
        Err(error) => vec![(at("", error.to_string(), None), false)],
    }
}

/// Gives plugins their library settings, if they do not have them yet, before any of their instances are made.
/// Returns the plugins that have other settings, which they keep as long as the process runs.
pub fn configure(libraries: &Libraries, config: &Config) -> Result<Vec<String>, Vec<Problem>> {
    let (mut others, mut problems) = (Vec::new(), Vec::new());
    for (name, library) in libraries {
        let settings = config.plugins.settings.get(name);
        let values = settings.map_or_else(|| json!({}), |settings| settings.values.clone());
        match library.configure(&values) {
            Ok(()) => {}
            Err(ConfigureError::OtherSettings { .. }) => others.push(format!("`plugins.settings.{name}`")),
            Err(error) => problems.push(Problem {
                position: settings.map(|settings| settings.source.position),
                path: format!("plugins.settings.{name}"),
                message: error.to_string(),
                hint: None,
            }),
        }
    }
    if problems.is_empty() { Ok(others) } else { Err(problems) }
}

fn validate_module(
    libraries: &Libraries,
    config: &Config,
    name: &str,
    transport: &str,
    target: Option<&Target>,
) -> Vec<(Problem, bool)> {
    let module = &config.modules[name];
    let Some(library) = libraries.get(&module.plugin) else { return Vec::new() };
    let whole = |message: String, hint: Option<String>| {
        vec![(problem_at(name, module.source.locate("/plugin"), "", message, hint), false)]
    };
    if module.settings.contains_key("transport") {
        let position = module.source.locate("/transport");
        let message = "`transport` belongs to the target".to_owned();
        let hint = Some("write `transport: NAME` at the target".to_owned());
        return vec![(problem_at(name, position, "", message, hint), false)];
    }
    if module.schema.keeps_files && module.settings.contains_key(STORAGE) {
        let position = module.source.locate("/storage");
        let message = "`storage` belongs to the configuration as a whole".to_owned();
        let hint = Some("write `storage: {directory: …}` beside `modules`".to_owned());
        return vec![(problem_at(name, position, "", message, hint), false)];
    }
    let source = match source_of(module, library) {
        Ok(source) => source,
        Err(UnknownSource { message, hint }) => {
            let key = if module.source_name.is_some() { "/source" } else { "/plugin" };
            return vec![(problem_at(name, module.source.locate(key), "", message, Some(hint)), false)];
        }
    };
    let settings = storing_config(config, target, module, transport);
    let found = match library.validate(&source.name, &settings) {
        Ok(found) | Err(ConfigureError::Problems(found)) => found,
        Err(error) => return whole(error.to_string(), None),
    };
    // That is the target's trouble: see `Config::without_identity`.
    let of_settings = found.into_iter().filter(|problem| !is_about_identity(&problem.pointer, module));
    let problems = of_settings.map(|problem| {
        let position = module.source.locate(&problem.pointer);
        let hint = Some(problem.suggestion).filter(|suggestion| !suggestion.is_empty());
        (problem_at(name, position, &problem.pointer, problem.message, hint), problem.is_warning)
    });
    problems.collect()
}

fn problem_at(
    module: &str,
    position: Position,
    pointer: &str,
    message: String,
    hint: Option<String>,
) -> Problem {
    let path = path_of(format!("modules.{module}"), pointer);
    Problem { position: Some(position), path, message, hint }
}

/// The path of a key below `path`, as people write it.
pub fn path_of(mut path: String, pointer: &str) -> String {
    for token in pointer.split('/').skip(1) {
        let is_index = !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_digit());
        let token = token.replace("~1", "/").replace("~0", "~");
        path += &if is_index { format!("[{token}]") } else { format!(".{token}") };
    }
    path
}

/// Which source of its library a module means: the one that it names, the only one, or the one that is named like the plugin.
pub fn source_of<'a>(module: &Module, library: &'a Library) -> Result<&'a SourceInfo, UnknownSource> {
    let sources = &library.info().sources;
    let by_name = |name: &str| sources.iter().find(|source| source.name == name);
    let found = match (&module.source_name, sources.as_slice()) {
        (Some(name), _) => by_name(name),
        (None, [only]) => Some(only),
        (None, _) => by_name(&module.plugin).or_else(|| by_name(&library.info().name)),
    };
    found.ok_or_else(|| {
        let names = || sources.iter().map(|source| source.name.as_str());
        let list = names().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
        let (plugin, name) = (&module.plugin, module.source_name.as_deref());
        let message = match name {
            Some(name) => format!("plugin `{plugin}` has no source `{name}`; it has {list}"),
            None => format!("plugin `{plugin}` has several sources and none of its own name: {list}"),
        };
        let near = name.and_then(|name| nearest(name, names()));
        let hint = match near {
            Some(near) => format!("did you mean `{near}`?"),
            None => "name one of them with `source`".to_owned(),
        };
        UnknownSource { message, hint }
    })
}

/// A module names no source of its plugin.
#[derive(Debug)]
pub struct UnknownSource {
    message: String,
    hint: String,
}

impl std::fmt::Display for UnknownSource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

/// Applies the plugins' declarations of transports and shown keys to the configuration. Returns its problems.
pub fn set_schemas(libraries: &Libraries, config: &mut Config) -> Vec<Problem> {
    let mut schemas = Schemas::default();
    for (name, library) in libraries {
        library.info().sources.iter().for_each(|source| schemas.add_source(name, &source.schema));
    }
    for (name, module) in &config.modules {
        let library = libraries.get(&module.plugin);
        if let Some(Ok(source)) = library.map(|library| source_of(module, library)) {
            schemas.set_module(name, &source.schema);
        }
    }
    config.set_schemas(&schemas)
}

/// The configuration of the one instance that keeps files of its target: [`instance_config`], and in `storage` where, if the
/// source keeps files.
///
/// # Panics
/// When the configuration does not have the transport.
pub fn storing_config(
    config: &Config,
    target: Option<&Target>,
    module: &Module,
    transport: &str,
) -> InstanceConfig {
    let mut made = instance_config(config, target, module, transport);
    let storage = storage_of(config, module, target);
    if let (Some(storage), Some(settings)) = (storage, made.settings.as_object_mut()) {
        settings.insert(STORAGE.to_owned(), storage);
    }
    made
}

/// The configuration of an instance: the module's settings of the file, and the target's transport in `transport`, if the
/// source declares one.
///
/// # Panics
/// When the configuration does not have the transport.
pub fn instance_config(
    config: &Config,
    target: Option<&Target>,
    module: &Module,
    transport: &str,
) -> InstanceConfig {
    let transport = config.transport_settings(transport, module);
    let mut settings: Map<String, Value> = module.settings.clone();
    if !module.schema.transports.is_empty() {
        let timeout_ms = u64::try_from(transport.connect_timeout.as_millis()).unwrap_or(u64::MAX);
        let mut of_transport = transport.by_kind;
        of_transport.insert("connect_timeout_ms".to_owned(), timeout_ms.into());
        settings.insert("transport".to_owned(), of_transport.into());
    }
    let target = target.map(|target| TargetInfo {
        name: target.name.clone(),
        host: target.host.trim_start_matches('[').trim_end_matches(']').to_owned(),
        port: transport.port,
        identity: target.identity.clone().unwrap_or_default(),
        service_principal: target.service_principal.clone(),
    });
    InstanceConfig {
        target: target.unwrap_or_default(),
        settings: Value::Object(settings),
        is_on_demand: false,
    }
}

/// Names metrics by the rules of each module, and by those for all.
#[must_use]
pub fn names_of(modules: Vec<Normalize>, for_all: Normalize) -> MetricNames {
    let (modules, for_all) = (Arc::new(modules), Arc::new(for_all));
    MetricNames::new(move |module, family| {
        let normalize = module.and_then(|module| modules.get(module)).unwrap_or(&for_all);
        metric_name(normalize.clone(), model::Target::new("target"), family)
    })
}

/// Where a module's source keeps the files of a target: nothing if it keeps none, or no directory is configured.
#[must_use]
pub fn directory_of(config: &Config, module: &Module, target: &str) -> Option<PathBuf> {
    let storage = config.storage.as_ref().filter(|_| module.schema.keeps_files)?;
    Some(storage.directory.join(safe_text::component(target)))
}

/// The same as sources get it.
fn storage_of(config: &Config, module: &Module, target: Option<&Target>) -> Option<Value> {
    let name = target.map_or("", |target| &target.name);
    // What came from a configuration in UTF-8 is UTF-8.
    let directory = directory_of(config, module, name)?.into_os_string().into_string().ok()?;
    let interval_ms = target.and_then(|target| u64::try_from(target.interval.as_millis()).ok());
    Some(json!({"directory": directory, "interval_ms": interval_ms}))
}

/// The key of the settings that a source with files has its directory in.
const STORAGE: &str = "storage";
