use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use ::alerts::AlertOptions;
use ::otlp::push::OtlpEndpoint;
use parking_lot::RwLock;
use series::pipeline::Normalize;
use support::telemetry::log::check_filter;

use super::alerts::alerts;
use super::file_pattern::FilePattern;
use super::hosts::AllowHosts;
use super::identity::{Credentials, Identity, credentials, identity};
use super::item::Item;
use super::normalize::{NormalizeSection, joined, normalize};
use super::otlp;
use super::plugins::{Module, Plugins, module, plugins};
use super::scrape::{DEADLINES, Scrape, scrape};
use super::section::{ReservedKeys, set};
use super::shown::{Shown, Tree};
use super::storage::{Storage, storage};
use super::target::{self, Target, TargetDefaults};
use super::transport::{Transport, transport};
use super::web::{Web, web};

/// The whole configuration, checked: every name in it exists, every number is within its limits.
#[derive(Clone, Debug)]
pub struct Config {
    /// What is served, and where.
    pub web: Web,
    /// Which plugins are loaded, and from where.
    pub plugins: Plugins,
    /// When targets are asked.
    pub scrape: Scrape,
    pub probe: Probe,
    /// How secrets are guarded.
    pub credentials: Credentials,
    /// Which state of the RPC run time is kept.
    pub rpc_state: RpcState,
    /// Where sources keep files of their targets. Default: nowhere.
    pub storage: Option<Storage>,
    pub identities: BTreeMap<String, Identity>,
    /// How targets are reached; `default` always exists.
    pub transports: BTreeMap<String, Transport>,
    /// How all series get their names and labels.
    pub normalize: NormalizeSection,
    pub modules: BTreeMap<String, Module>,
    /// The modules whose plugins log on, so that their targets need an identity. It is not in the file; it is set
    /// after the plugins were asked.
    pub logs_on: BTreeSet<String>,
    /// What a target has that does not say otherwise, in this file and in target files.
    pub target_defaults: TargetDefaults,
    /// Whom we ask, in the order of the file; names are unique.
    pub targets: Vec<Target>,
    /// Where more of them are listed, in files that may change at any time.
    pub target_files: Vec<FilePattern>,
    /// Which collectors are pushed to.
    pub otlp: Vec<Arc<OtlpEndpoint>>,
    /// The receivers of the alerts of targets.
    pub alerts: AlertOptions,
    /// Where the exporter's own figures go besides `/metrics`.
    pub telemetry: Option<Arc<OtlpEndpoint>>,
    /// The file as it is shown on a page: without its secrets, which takes [`Config::set_schemas`].
    pub shown: Shown,
    /// The file's tree for as long as it is not known what of it may be shown.
    pub tree: Tree,
    /// `config.watch` and `config.watch_interval`: how often the file is looked at for changes. Default not at all.
    pub watch: Option<Duration>,
    /// `log.level`: the log level, unless the command line sets it. Default `info`.
    pub log_level: Option<String>,
}

impl Config {
    /// Whether all that `target` names is here.
    #[must_use]
    pub fn knows_names_of(&self, target: &Target) -> bool {
        target.identity.as_ref().is_none_or(|name| self.identities.contains_key(name))
            && self.transports.contains_key(&target.transport)
            && target.modules.iter().all(|name| self.modules.contains_key(name))
    }

    /// The rules for series without rules of their target or module.
    #[must_use]
    pub fn normalize_all(&self) -> Normalize {
        joined(&[&self.normalize], self.scrape.max_series)
    }

    /// What holds for the series of a module on a target.
    #[must_use]
    pub fn normalize(&self, target: &Target, module: &str) -> Normalize {
        let of_module = self.modules.get(module).map(|module| &module.normalize);
        let sections: Vec<&NormalizeSection> =
            of_module.into_iter().chain([&target.normalize, &self.normalize]).collect();
        joined(&sections, target.max_series)
    }
}

const RESERVED: ReservedKeys = &["profiles", "sd"];

/// Reads the document. A wrong value is reported and replaced by its default, so that reading goes on and the next
/// problem is found too. `base` is the folder that relative paths start from.
pub(super) fn config(root: &Item<'_>, base: &Path) -> Option<Config> {
    let mut top = root.section(RESERVED)?;
    let web = top.get("web").map(|item| web(&item, base)).unwrap_or_default();
    let plugins = top.get("plugins").map(|item| plugins(&item, base)).unwrap_or_default();
    let scrape = top.get("scrape").map(|item| scrape(&item)).unwrap_or_default();
    let probe = top.get("probe").map(|item| probe(&item)).unwrap_or_default();
    let credentials = top.get("credentials").map(|item| credentials(&item, base)).unwrap_or_default();
    let rpc_state = top.get("rpc_state").map(|item| rpc_state(&item, base)).unwrap_or_default();
    let identities = named(top.get("identities"), |item| identity(item, base));
    let storage = top.get("storage").and_then(|item| {
        let mut others = vec![
            ("credentials.state_dir".to_owned(), credentials.state_dir.as_deref()),
            ("rpc_state.directory".to_owned(), rpc_state.directory.as_deref()),
            ("web.config_file".to_owned(), web.config_file.as_deref()),
        ];
        others.extend(identities.iter().map(|(name, identity)| {
            (format!("identities.{name}.{}", identity.secret.key()), identity.secret.file())
        }));
        storage(&item, base, &others)
    });
    let mut transports = named(top.get("transports"), transport);
    transports.entry("default".to_owned()).or_default();
    let normalize = top.get("normalize").map(|item| normalize(&item, None, base)).unwrap_or_default();
    let modules = named(top.get("modules"), |item| module(item, &normalize, base));
    let target_defaults = top.get("target_defaults");
    let target_defaults =
        target_defaults.map(|item| target::defaults(&item, &normalize, base)).unwrap_or_default();
    let targets = top.get("targets").map(|item| item.list()).unwrap_or_default();
    let targets = targets
        .iter()
        .filter_map(|item| target::target(item, &scrape, &target_defaults, &normalize, base))
        .collect();
    let target_files = top.get("target_files").map(|item| FilePattern::read_list(&item, base));
    let otlp = otlp::endpoints(top.get("otlp"), base);
    let alerts = top.get("alerts").map(|item| alerts(&item, base)).unwrap_or_default();
    let telemetry = top.get("telemetry").and_then(|item| otlp::telemetry(&item, base));
    let watch = top.get("config").and_then(|item| config_section(&item));
    let log_level = top.get("log").and_then(|item| log_section(&item));
    top.finish();
    Some(Config {
        web,
        plugins,
        scrape,
        probe,
        credentials,
        rpc_state,
        storage,
        identities,
        transports,
        normalize,
        modules,
        logs_on: BTreeSet::new(),
        target_defaults,
        targets,
        target_files: target_files.unwrap_or_default(),
        otlp,
        alerts,
        telemetry,
        shown: Shown::default(),
        tree: Tree::default(),
        watch,
        log_level,
    })
}

fn named<T>(item: Option<Item<'_>>, read: impl Fn(&Item<'_>) -> Option<T>) -> BTreeMap<String, T> {
    let entries = item.map(|item| item.named()).unwrap_or_default();
    entries.iter().filter_map(|(entry, item)| Some((entry.key.clone(), read(item)?))).collect()
}

/// The configuration in use, which changes with a reload. Readers get a consistent copy.
#[derive(Debug)]
pub struct InUse(RwLock<Arc<Config>>);

impl InUse {
    #[must_use]
    pub fn new(config: Arc<Config>) -> Self {
        Self(RwLock::new(config))
    }

    #[must_use]
    pub fn get(&self) -> Arc<Config> {
        Arc::clone(&self.0.read())
    }

    /// This one from now on.
    pub fn set(&self, config: Arc<Config>) {
        *self.0.write() = config;
    }
}

// `config:` and `log:`, about the process itself.

const WATCH_INTERVALS: RangeInclusive<Duration> = Duration::from_secs(1)..=Duration::from_secs(3600);
const WATCH_INTERVAL: Duration = Duration::from_secs(5);

/// `config:` about this file; returns how often it is checked.
fn config_section(item: &Item<'_>) -> Option<Duration> {
    let mut section = item.section(&[])?;
    let watch = section.flag("watch").unwrap_or(false);
    let interval = section.duration("watch_interval", WATCH_INTERVALS);
    section.finish();
    watch.then(|| interval.unwrap_or(WATCH_INTERVAL))
}

/// `log:` returns its `level`.
fn log_section(item: &Item<'_>) -> Option<String> {
    let mut section = item.section(&["format"])?;
    let level = section.get("level");
    section.finish();
    let level = level?;
    let text = level.text()?;
    match check_filter(text) {
        Ok(()) => Some(text.to_owned()),
        Err(error) => {
            let hint = "write `info`, `debug`, or `'info,perfmon_exporter::web=debug'`".to_owned();
            level.problem(error, Some(hint));
            None
        }
    }
}

// `rpc_state:`, which state of the RPC run time is kept, and where.

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RpcState {
    /// `level`: what is kept.
    pub level: RpcStateLevel,
    /// `directory`: where the files are. Default: where the system keeps such for the process.
    pub directory: Option<PathBuf>,
}

/// Which state of the RPC run time is kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RpcStateLevel {
    None,
    /// Servers: endpoints, connections and calls of hosts that call back.
    Server,
    /// Calls of hosts, too.
    #[default]
    Full,
}

fn rpc_state(item: &Item<'_>, base: &Path) -> RpcState {
    let mut state = RpcState::default();
    let Some(mut section) = item.section(&[]) else { return state };
    set(&mut state.level, section.choice("level", RPC_STATE_LEVELS));
    state.directory = section.file("directory", base);
    section.finish();
    state
}

const RPC_STATE_LEVELS: &[(&str, RpcStateLevel)] =
    &[("none", RpcStateLevel::None), ("server", RpcStateLevel::Server), ("full", RpcStateLevel::Full)];

// `probe:` who may be asked for by URL, and how much of it there may be.

const PROBE_CACHES: RangeInclusive<Duration> = Duration::ZERO..=Duration::from_secs(300);
const PROBE_OFFSETS: RangeInclusive<Duration> = Duration::ZERO..=Duration::from_secs(30);
const PROBE_IDLE: RangeInclusive<Duration> = Duration::from_secs(1)..=Duration::from_secs(24 * 3600);

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Probe {
    /// `enabled`: whether `/probe` is served. Default true.
    pub enabled: bool,
    /// `allow_targets`: hosts that may be asked for besides those of the configured targets. Default none.
    pub allow_targets: AllowHosts,
    /// `deadline`: of one probe, where Prometheus does not say less. Default 10 s.
    pub deadline: Duration,
    /// `timeout_offset`: how long before Prometheus' timeout it answers. Default 500 ms.
    pub timeout_offset: Duration,
    /// `cache`: an answer that is younger is given again. Default 0, never.
    pub cache: Duration,
    /// `max_concurrent`: collections for probes at a time; more are answered 503. Default 64.
    pub max_concurrent: u32,
    /// `max_targets`: hosts that are not configured and kept connected; more are answered 503. Default 1000.
    pub max_targets: u32,
    /// `idle`: hosts without requests for this time are dropped. Default 5 min.
    pub idle: Duration,
}

impl Default for Probe {
    fn default() -> Self {
        Self {
            enabled: true,
            allow_targets: AllowHosts::default(),
            deadline: Duration::from_secs(10),
            timeout_offset: Duration::from_millis(500),
            cache: Duration::ZERO,
            max_concurrent: 64,
            max_targets: 1000,
            idle: Duration::from_secs(300),
        }
    }
}

fn probe(item: &Item<'_>) -> Probe {
    let default = Probe::default();
    let Some(mut section) = item.section(&[]) else { return default };
    let allow_targets = section.get("allow_targets").map(|item| AllowHosts::read(&item)).unwrap_or_default();
    let probe = Probe {
        enabled: section.flag("enabled").unwrap_or(default.enabled),
        allow_targets,
        deadline: section.duration("deadline", DEADLINES).unwrap_or(default.deadline),
        timeout_offset: section.duration("timeout_offset", PROBE_OFFSETS).unwrap_or(default.timeout_offset),
        cache: section.duration("cache", PROBE_CACHES).unwrap_or(default.cache),
        max_concurrent: section.count("max_concurrent", 1..=65_536).unwrap_or(default.max_concurrent),
        max_targets: section.count("max_targets", 1..=65_536).unwrap_or(default.max_targets),
        idle: section.duration("idle", PROBE_IDLE).unwrap_or(default.idle),
    };
    section.finish();
    probe
}
