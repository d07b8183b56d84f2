use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use ::alerts::AlertOptions;
use ::otlp::push::OtlpEndpoint;
use series::pipeline::Normalize;
use support::input::secret::SecretSource;

use super::alerts::alerts;
use super::file_pattern::FilePattern;
use super::identity::{Credentials, Identity, credentials, identity};
use super::item::Item;
use super::module::{Module, module};
use super::normalize::{NormalizeSection, joined, normalize};
use super::operate;
use super::otlp;
use super::plugins::{Plugins, plugins};
use super::probe::{Probe, probe};
use super::rpc_state::{RpcState, rpc_state};
use super::scrape::{Scrape, scrape};
use super::section::ReservedKeys;
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
            let file = if let SecretSource::File(file) = &identity.secret { Some(&**file) } else { None };
            (format!("identities.{name}.password_file"), file)
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
    let watch = top.get("config").and_then(|item| operate::watch(&item));
    let log_level = top.get("log").and_then(|item| operate::log(&item));
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
