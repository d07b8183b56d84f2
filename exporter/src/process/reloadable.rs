//! What a reload changes, and what needs a restart.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use alerts::Notifier;
use config::{Config, InUse, Report, RpcState};
use http_server::{Limits, Settings};
use otlp::push::{OtlpEndpoint, OwnTelemetry, Pusher, Supply};
use parking_lot::Mutex;
use prometheus_client::registry::Registry;
use support::input::file;
use support::telemetry::log::{self, DEFAULT_FILTER};
use support::telemetry::unix_seconds;
use targets::schedule::{self, Schedule};
use targets::{PluginSource, Plugins, TargetRegistry};
use tracing::{info, warn};
use web::{Site, SiteSettings};

use super::engine::Changes;
use super::otlp::{SnapshotSupply, own_telemetry, stop_telemetry};
use super::plugins::{self, Libraries};
use super::reload_counts::ReloadCounts;
use super::target_files::Targets;
use super::{LibraryCache, secrets};
use crate::credentials::Broker;

/// A pipe whose writer is not there when a reload reads it is not waited for long: others wait for the reload.
const PIPE_TIME_MAX: Duration = Duration::from_secs(5);

/// Linux has no longer names for machines.
const HOST_NAME_BYTES_MAX: usize = 255;

/// A configuration that can be had: read, checked, its plugins loaded and asked.
pub(super) struct Prepared {
    pub(super) config: Arc<Config>,
    pub(super) libraries: Libraries,
    /// What of it will hardly be meant, or is not done, as `check-config` says it; a line each.
    pub(super) warnings: Vec<String>,
    /// Changes that need a restart of the process.
    needs_restart: Vec<String>,
}

/// What the process was begun with and keeps to its end.
pub(super) struct Fixed {
    listen: Vec<String>,
    web_file: Option<PathBuf>,
    state_dir: Option<PathBuf>,
    rpc_state: RpcState,
}

/// What a new configuration came to.
#[derive(Clone, Debug, Default)]
pub(super) struct Applied {
    targets: usize,
    changes: Changes,
    warnings: Vec<String>,
    needs_restart: Vec<String>,
}

/// Everything that a configuration can change while the process runs.
pub(super) struct ReloadableState {
    pub(super) file: PathBuf,
    pub(super) fixed: Arc<Fixed>,
    pub(super) library_cache: Arc<Mutex<LibraryCache>>,
    pub(super) in_use: Arc<InUse>,
    pub(super) broker: Arc<Broker>,
    pub(super) targets: Arc<Mutex<Targets>>,
    pub(super) schedule: Schedule,
    pub(super) site: Arc<Site>,
    pub(super) server: Arc<Settings>,
    pub(super) target_registry: Arc<TargetRegistry>,
    /// The exporter's own metrics.
    pub(super) registry: Arc<Registry>,
    pub(super) plugins: Arc<Plugins>,
    pub(super) supply: Arc<SnapshotSupply>,
    pub(super) pusher: Pusher,
    pub(super) alert_notifier: Notifier,
    pub(super) own: Option<OwnTelemetry>,
    pub(super) reloads: Arc<ReloadCounts>,
    /// The command line sets the log level.
    pub(super) log_is_fixed: bool,
}

/// The names by which browsers may ask for pages: those of the configuration, and what the kernel calls this machine.
pub(super) fn page_hosts(web: &config::Web) -> config::AllowedHosts {
    let machine = file::read(Path::new("/proc/sys/kernel/hostname"), HOST_NAME_BYTES_MAX);
    let machine = machine.ok().and_then(|bytes| String::from_utf8(bytes.to_vec()).ok());
    web.page_hosts(machine.as_deref().map(str::trim).filter(|name| !name.is_empty()))
}

/// How much the schedule does at a time.
pub(super) fn schedule_limits(scrape: &config::Scrape) -> schedule::Limits {
    schedule::Limits {
        running_max: scrape.max_concurrent as usize,
        connecting_max: scrape.max_connecting as usize,
        connect_rate: scrape.connect_rate,
    }
}

/// Reads and checks a file, loads its new plugins, and asks all plugins what they think of it. Blocks; changes nothing
/// that anybody would notice, so that a file in which something is wrong is no trouble.
fn prepare(file: &Path, library_cache: &Mutex<LibraryCache>, fixed: &Fixed) -> Result<Prepared, Report> {
    // A panic elsewhere leaves it whole: a plugin is entered when it is loaded.
    let mut library_cache = library_cache.lock();
    let mut prepared = check(file, config::load_within(file, PIPE_TIME_MAX)?, &mut library_cache)?;
    prepared.needs_restart.extend(fixed.differs_from(&prepared.config));
    let replaced = library_cache.replaced(&prepared.config).into_iter();
    prepared.needs_restart.extend(replaced.map(|name| format!("plugin `{name}`, whose file has changed")));
    Ok(prepared)
}

/// Loads the plugins of a configuration where they are new, and asks all of them what they think of it. Blocks.
pub(super) fn check(
    file: &Path,
    mut config: Config,
    library_cache: &mut LibraryCache,
) -> Result<Prepared, Report> {
    let refused = |problems| Report::new(&file.display().to_string(), problems);
    let libraries = library_cache.load(&config).map_err(refused)?;
    let mut problems = plugins::set_schemas(&libraries, &mut config);
    let (of_plugins, of_accepted) = plugins::validate(&libraries, &config);
    problems.extend(of_plugins);
    config.logs_on = plugins::modules_that_log_on(&libraries, &config);
    problems.extend(config.without_identity());
    problems.extend(super::prepare_storage(&config));
    if !problems.is_empty() {
        return Err(refused(problems));
    }
    let needs_restart = plugins::configure(&libraries, &config).map_err(refused)?;
    let suspicious = refused([config.repeated_hosts(config.targets.len()), of_accepted].concat());
    let warnings = suspicious.to_string().lines().map(str::to_owned).collect();
    Ok(Prepared { config: Arc::new(config), libraries, warnings, needs_restart })
}

impl Fixed {
    pub(super) fn of(config: &Config) -> Self {
        Self {
            listen: config.web.listen.clone(),
            web_file: config.web.config_file.clone(),
            state_dir: config.credentials.state_dir.clone(),
            rpc_state: config.rpc_state.clone(),
        }
    }

    fn differs_from(&self, config: &Config) -> Vec<String> {
        let listen = (self.listen != config.web.listen).then_some("`web.listen`");
        let state_dir = (self.state_dir != config.credentials.state_dir).then_some("`credentials.state_dir`");
        let web_file = (self.web_file != config.web.config_file).then_some("`web.config_file`");
        let rpc_state = (self.rpc_state != config.rpc_state).then_some("`rpc_state`");
        listen.into_iter().chain(web_file).chain(state_dir).chain(rpc_state).map(str::to_owned).collect()
    }
}

impl ReloadableState {
    /// Reads and checks the file without changing anything, so the caller may stop waiting for it. Call it where
    /// blocking is allowed.
    pub(super) fn preparation(&self) -> impl FnOnce() -> Result<Prepared, Report> + Send + 'static {
        let (file, library_cache, fixed) =
            (self.file.clone(), Arc::clone(&self.library_cache), Arc::clone(&self.fixed));
        move || prepare(&file, &library_cache, &fixed)
    }

    /// Has what was prepared, all of it or nothing.
    pub(super) async fn reload(&mut self, prepared: Result<Prepared, Report>) -> Result<Applied, Report> {
        match prepared {
            Ok(prepared) => Ok(self.apply(prepared).await),
            Err(report) => {
                self.reloads.failed();
                Err(report)
            }
        }
    }

    /// Applies each key of the configuration; targets belong to the engine.
    async fn apply(&mut self, prepared: Prepared) -> Applied {
        let Prepared { config, libraries, warnings, needs_restart } = prepared;
        let before = self.in_use.get();
        let Config {
            web,
            plugins: _,
            scrape,
            // The engine updates the probes.
            probe: _,
            credentials,
            // Plugins have their memory for the life of the process.
            rpc_state: _,
            storage,
            identities,
            transports: _,
            normalize: _,
            modules: _,
            logs_on: _,
            target_defaults: _,
            targets: _,
            target_files: _,
            otlp,
            // With the external URL, which is of `web`.
            alerts: _,
            telemetry,
            shown: _,
            tree: _,
            watch: _,
            log_level,
        } = &*config;
        if !self.log_is_fixed {
            let level = log_level.as_deref().unwrap_or(DEFAULT_FILTER);
            if let Err(error) = log::set_filter(level) {
                warn!(level, error, "Failed to change the log level");
            }
        }
        if before.identities != *identities {
            let new = Arc::clone(&config);
            // It reads files; nothing waits for its result.
            tokio::task::spawn_blocking(move || secrets::log_problems(&new));
        }
        // Before the targets, so that new ones have their identities.
        self.broker.set_identities(identities.clone(), credentials.cooldown);
        self.broker.retry_refused();
        self.schedule.set_limits(schedule_limits(scrape));
        self.server.set(Limits::from(web), page_hosts(web));
        self.site.set(SiteSettings::from(web));
        self.site.set_storage(storage.as_ref());
        self.supply.set_config(&config, &libraries);
        show(&self.plugins, &libraries);
        self.in_use.set(Arc::clone(&config));
        let (targets, wanted) = (Arc::clone(&self.targets), Arc::clone(&config));
        let changing = tokio::task::spawn_blocking(move || targets.lock().set_config(wanted, libraries));
        let changes = changing.await.unwrap_or_else(|error| {
            warn!(%error, "Change of the targets not completed");
            Changes::default()
        });
        let supply: Arc<dyn Supply> = Arc::<SnapshotSupply>::clone(&self.supply);
        self.pusher.set_endpoints(otlp, &supply, before.scrape.drain);
        super::set_receivers(&mut self.alert_notifier, &config, before.scrape.drain);
        self.change_telemetry(before.telemetry.as_ref(), telemetry.as_ref()).await;
        self.reloads.succeeded(unix_seconds(), !needs_restart.is_empty());
        Applied { targets: self.target_registry.targets().len(), changes, warnings, needs_restart }
    }

    async fn change_telemetry(
        &mut self,
        before: Option<&Arc<OtlpEndpoint>>,
        now: Option<&Arc<OtlpEndpoint>>,
    ) {
        if before != now {
            stop_telemetry(self.own.take()).await;
            self.own = now.and_then(|endpoint| own_telemetry(endpoint, &self.registry, &self.pusher));
        }
    }
}

/// Writes the warnings of a configuration to the log.
pub(super) fn log_warnings(warnings: &[String]) {
    warnings.iter().for_each(|warning| warn!(warning, "Configuration"));
}

/// Has metrics and pages show these plugins.
pub(super) fn show(plugins: &Plugins, libraries: &Libraries) {
    let shown = libraries.iter();
    let shown = shown.map(|(name, library)| PluginSource { name: name.clone(), library: library.clone() });
    plugins.set(shown.collect());
}

impl Applied {
    /// Writes it to the log.
    pub(super) fn log(&self, cause: &str) {
        let Self { targets, changes: Changes { added, changed, removed }, warnings, needs_restart } = self;
        info!(cause, targets, added, changed, removed, "Configuration reloaded");
        log_warnings(warnings);
        for part in needs_restart {
            warn!(part, "This part of the configuration needs a restart");
        }
    }
}

impl fmt::Display for Applied {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { targets, changes: Changes { added, changed, removed }, needs_restart, .. } = self;
        writeln!(f, "reloaded: {targets} targets, {added} added, {changed} changed, {removed} removed")?;
        needs_restart.iter().try_for_each(|part| writeln!(f, "needs a restart: {part}"))
    }
}
