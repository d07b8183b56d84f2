//! The process from its start to its end.

use std::io;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use config::{Config, InUse, Report};
use http_server::{self, Gate, Server, Settings};
use otlp::push::{Pusher, Supply};
use parking_lot::Mutex;
use plugin_host::{Host, HostOptions};
use support::telemetry::Timings;
use support::telemetry::log::{self, PluginLog};
use targets::schedule::{Driver, HostDeadlines, Planner};
use targets::{Costs, Plugins, TargetRegistry};
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio::signal::unix::Signal;
use tokio::sync::{oneshot, watch};
use tracing::{error, info, warn};
use web::rpc_state::Keeping;
use web::{self, Scrapes, Site, SiteSettings};

use super::blocking::Blocking;
use super::engine::Engine;
use super::metrics::SelfMetrics;
use super::otlp::{SnapshotSupply, own_telemetry, stop_telemetry};
use super::plugins::{limits as plugin_limits, trial as plugin_trial};
use super::probe::{Dependencies, Probes};
use super::reload::{self, Reloads};
use super::reload_counts::ReloadCounts;
use super::reloadable::{self, Fixed, Prepared, ReloadableState};
use super::rpc_state::{self, RemoveFiles};
use super::systemd::{self, Notifier};
use super::target_files::{self, Targets};
use super::watch::Watch;
use super::{Ending, FAILED, LibraryCache, Lookups, OK, Signals, SystemResolver, secrets};
use crate::credentials::{Broker, SystemClock, SystemKerberos, VerdictFile};

/// The exporter's own work is small: the plugins have threads of their own.
const WORKERS: usize = 2;
/// For files and the like.
const BLOCKING_THREADS_MAX: usize = 16;
/// For files, listeners, collectors and the like.
const OTHER_DESCRIPTORS: u64 = 64;
/// How long plugins may take to let go of their targets at the end.
const DESTROY_MAX: Duration = Duration::from_secs(3);

/// `--config FILE`: serves until a signal. A log level of the command line overrides that of the file.
pub(super) fn serve(file: &Path, log_is_fixed: bool, web_file: Option<&Path>) -> u8 {
    match start_and_run(file, log_is_fixed, web_file) {
        Ok(()) => OK,
        Err(Trouble::Configuration(report)) => {
            for problem in report.to_string().lines() {
                error!(problem, "Configuration refused");
            }
            FAILED
        }
        Err(Trouble::Machine { doing, error }) => {
            error!(%error, "Cannot {doing}");
            FAILED
        }
    }
}

enum Trouble {
    Configuration(Report),
    Machine { doing: &'static str, error: io::Error },
}

fn machine(doing: &'static str) -> impl FnOnce(io::Error) -> Trouble {
    move |error| Trouble::Machine { doing, error }
}

fn start_and_run(file: &Path, log_is_fixed: bool, web_file: Option<&Path>) -> Result<(), Trouble> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(WORKERS)
        .max_blocking_threads(BLOCKING_THREADS_MAX)
        .thread_name("exporter")
        .enable_all()
        .build()
        .map_err(machine("start the async runtime"))?;
    let (hangup, ending) = {
        let _within = runtime.enter();
        Signals::new().map_err(machine("listen to signals"))?.listen()
    };
    // What changes after this is seen.
    let watch = Watch::new(file.to_owned());
    if std::fs::metadata(file).is_ok_and(|metadata| metadata.file_type().is_fifo()) {
        info!(file = %file.display(), "Configuration is a pipe; waiting for it, at most 30 s");
    }
    let config = config::load(file).map_err(Trouble::Configuration)?;
    if !log_is_fixed && let Some(level) = &config.log_level {
        // It was read as one when the file was.
        let _ = log::set_filter(level);
    }
    let gate = gate(&config, web_file)?;
    raise_descriptor_limit(&config);
    secrets::log_problems(&config);
    let lookups = Lookups::default();
    let broker = Arc::new(broker(&config, &runtime, &lookups)?);
    let handed = systemd::listeners().map_err(machine("serve"))?;
    let (cells, keeping) = rpc_state::open(&config.rpc_state);
    let options = HostOptions {
        broker: Arc::clone(&broker) as Arc<_>,
        sockets: Arc::new(handed.plugins),
        cells,
        log: Some(Arc::new(PluginLog)),
        limits: plugin_limits(),
        trial: Some(plugin_trial()),
        ..HostOptions::default()
    };
    let host = Host::new(options);
    // After the instances have ended, and also if there is no beginning.
    let _remove_files = RemoveFiles(host.clone());
    let mut library_cache = LibraryCache::new(host.clone());
    let first = reloadable::check(file, config, &mut library_cache).map_err(Trouble::Configuration)?;
    reloadable::log_warnings(&first.warnings);
    let verdicts = Arc::clone(&broker);
    let begin = Begin {
        file: file.to_owned(),
        first,
        host,
        library_cache,
        broker,
        lookups,
        handed: handed.web,
        gate,
        hangup,
        ending,
        watch,
        log_is_fixed,
        keeping,
    };
    let outcome = runtime.block_on(begin.run());
    // A plugin's thread that hangs must not keep the process.
    runtime.shutdown_timeout(Duration::from_secs(1));
    // No more verdicts are added.
    verdicts.finish_writes();
    outcome
}

/// The access rules of the web server.
fn gate(config: &Config, web_file: Option<&Path>) -> Result<Arc<Gate>, Trouble> {
    let gate = super::check::gate(config, web_file).map_err(Trouble::Configuration)?;
    gate.warnings(SystemTime::now()).iter().for_each(|warning| warn!(warning, "Web configuration"));
    Ok(Arc::new(gate))
}

/// Each target takes a descriptor, and so does each connection of a reader. What the system allows us is more than what
/// we begin with, often by far.
fn raise_descriptor_limit(config: &Config) {
    use rustix::process::{Resource, getrlimit, setrlimit};
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    if let Err(error) = setrlimit(Resource::Nofile, limit) {
        warn!(%error, "Failed to raise the limit of file descriptors");
    }
    let needed = u64::from(config.web.max_connections) + config.targets.len() as u64 + OTHER_DESCRIPTORS;
    if let Some(limit) = getrlimit(Resource::Nofile).current.filter(|limit| *limit < needed) {
        let next_step = "raise it (LimitNOFILE=, ulimit -n), or lower `web.max_connections`";
        warn!(limit, needed, next_step, "File descriptors may run out");
    }
}

fn broker(config: &Config, runtime: &Runtime, lookups: &Lookups) -> Result<Broker, Trouble> {
    let credentials = &config.credentials;
    let file = credentials.state_dir.as_deref().map(VerdictFile::open).transpose();
    let file = file.map_err(machine(
        "open the credential state; correct `credentials.state_dir`, or remove the file to forget it",
    ))?;
    if file.is_none() && !config.identities.is_empty() {
        info!("No credentials.state_dir: after a restart a refused password is tried once more");
    }
    let resolver = Arc::new(SystemResolver::new(runtime.handle().clone(), lookups.clone()));
    let clock = Arc::new(SystemClock);
    let tickets = Arc::new(SystemKerberos);
    Broker::new(config.identities.clone(), credentials.cooldown, file, clock, resolver, tickets)
        .map_err(machine("draw random bytes"))
}

/// What there is before anything runs.
struct Begin {
    file: PathBuf,
    first: Prepared,
    host: Host,
    library_cache: LibraryCache,
    broker: Arc<Broker>,
    lookups: Lookups,
    handed: Vec<std::net::TcpListener>,
    gate: Arc<Gate>,
    hangup: Signal,
    ending: Ending,
    watch: Watch,
    log_is_fixed: bool,
    keeping: Keeping,
}

impl Begin {
    async fn run(self) -> Result<(), Trouble> {
        let Self {
            file,
            first,
            host,
            library_cache,
            broker,
            lookups,
            handed,
            gate,
            hangup,
            ending,
            watch,
            log_is_fixed,
            keeping,
        } = self;
        let Prepared { config, libraries, .. } = first;
        let notifier = Notifier::from_environment();
        let listeners = listeners(&config, handed).await.map_err(machine("serve"))?;
        let target_registry = Arc::new(TargetRegistry::default());
        // A fixed seed: targets are spread by their names, equally in every run.
        let planner = Planner::new(reloadable::schedule_limits(&config.scrape), 0, Instant::now());
        let timings = Timings::default();
        let (driver, schedule) = Driver::timed(planner, Arc::new(HostDeadlines(host.clone())), &timings);
        let costs = Costs::new(&timings);
        let engine = Engine::new(
            libraries.clone(),
            Arc::clone(&target_registry),
            schedule.clone(),
            Arc::clone(&costs),
        );
        let supply = Arc::new(SnapshotSupply::new(Arc::clone(&target_registry), &config, &libraries));
        let pusher = Pusher::start(&config.otlp, &(Arc::clone(&supply) as Arc<dyn Supply>), &timings);
        let alert_notifier = super::start_notifier(&config);
        let dependencies = Dependencies {
            host: host.clone(),
            catalog: Arc::clone(engine.catalog()),
            costs: Arc::clone(&costs),
            event_router: Arc::clone(pusher.event_router()),
            lookups,
            runtime: tokio::runtime::Handle::current(),
        };
        let probes = Probes::start(&config, dependencies);
        let engine = engine.with_probes(&probes).with_event_router(pusher.event_router());
        let engine = engine.with_alerts(alert_notifier.registry());
        let scrapes = Arc::new(Scrapes::new(&timings));
        let (plugins, reloads) = (Arc::new(Plugins::default()), Arc::new(ReloadCounts::default()));
        reloadable::show(&plugins, &libraries);
        reloads.succeeded(support::telemetry::unix_seconds(), false);
        let metrics = SelfMetrics {
            target_registry: Arc::clone(&target_registry),
            broker: Arc::clone(&broker),
            plugins: Arc::clone(&plugins),
            scrapes: Arc::clone(&scrapes),
            schedule: Arc::clone(schedule.figures()),
            costs,
            timings,
            runtime: tokio::runtime::Handle::current(),
            reloads: Arc::clone(&reloads),
        };
        let mut registry = metrics.registry();
        registry.register_collector(Box::new(pusher.metrics()));
        registry.register_collector(Box::new(alert_notifier.metrics()));
        gate.register(&mut registry);
        registry.register_collector(Box::new(probes.counts().clone()));
        let registry = Arc::new(registry);
        let own = config.telemetry.as_ref();
        let own = own.and_then(|endpoint| own_telemetry(endpoint, &registry, &pusher));
        let (requests, asked) = reload::requests();
        let site = Arc::new(Site::new(web::Parts {
            target_registry: Arc::clone(&target_registry),
            registry: Arc::clone(&registry),
            scrapes,
            prober: Some(probes),
            settings: SiteSettings::from(&config.web),
            reloader: Some(requests),
            page_state: web::PageState::new(
                Arc::clone(&plugins),
                plugin_limits(),
                Arc::clone(pusher.counts()),
                keeping,
            )
            .with_alerts(Arc::clone(alert_notifier.registry()), Arc::clone(alert_notifier.counts()))
            .with_identities(Arc::clone(&broker) as Arc<dyn web::Identities>),
        }));
        site.set_storage(config.storage.as_ref());
        let settings =
            Settings::new(http_server::Limits::from(&config.web), reloadable::page_hosts(&config.web));
        let settings = Arc::new(settings);
        let server = Server::start(&site, &settings, &gate, listeners);
        let (config_there, book_there) = (Arc::clone(&config), Arc::clone(&target_registry));
        let named = file.clone();
        let targets = move || Targets::begin(named, config_there, engine, book_there);
        let targets = tokio::task::spawn_blocking(targets);
        let targets = targets.await.map_err(|error| machine("make the plugin instances")(error.into()))?;
        let targets = Arc::new(Mutex::new(targets));
        site.set_ready(true);
        info!(targets = target_registry.targets().len(), "Ready");
        notifier.ready(&systemd::status(&target_registry, &reloads));
        let state = ReloadableState {
            file,
            fixed: Arc::new(Fixed::of(&config)),
            library_cache: Arc::new(Mutex::new(library_cache)),
            in_use: Arc::new(InUse::new(config)),
            broker,
            targets,
            schedule,
            site,
            server: settings,
            target_registry,
            registry,
            plugins,
            supply,
            pusher,
            alert_notifier,
            own,
            reloads,
            log_is_fixed,
        };
        let (looking, preparing) = (Blocking::default(), Blocking::default());
        let watch = Arc::new(Mutex::new(watch));
        let reloads = Reloads { state, asked, hangup, notifier, watch, looking, preparing };
        let end = ending.begin_orderly();
        Running { driver, host, server, reloads, end }.until_end().await
    }
}

struct Running {
    driver: Driver,
    host: Host,
    server: Server,
    reloads: Reloads,
    end: oneshot::Receiver<&'static str>,
}

impl Running {
    async fn until_end(self) -> Result<(), Trouble> {
        let Self { driver, host, server, reloads, end } = self;
        let ReloadableState { site, in_use, targets, schedule, target_registry, reloads: figures, .. } =
            &reloads.state;
        let (site, in_use, notifier) = (Arc::clone(site), Arc::clone(in_use), reloads.notifier.clone());
        let following = tokio::spawn(target_files::follow(Arc::clone(targets)));
        let keeping =
            notifier.clone().keep(schedule.clone(), Arc::clone(target_registry), Arc::clone(figures));
        let keeping = tokio::spawn(keeping);
        let (stop_reloads, stopped) = watch::channel(false);
        let reloading = tokio::spawn(reloads.run(stopped));
        let stop = async move {
            // A sender that is gone is a signal task that ended: end as well.
            let name = end.await.unwrap_or("signal task");
            info!(signal = name, "Shutting down: nothing new is started");
            notifier.stopping();
            site.set_ready(false);
            // The reloads listen as long as we do.
            let _ = stop_reloads.send(true);
            in_use.get().scrape.drain
        };
        let drained = driver.run(stop).await;
        following.abort();
        keeping.abort();
        if drained.left > 0 {
            warn!(collections = drained.left, "Collections did not end in time");
        }
        let state = reloading.await.map_err(|error| machine("end the reloads")(error.into()))?;
        end_all(host, server, state).await;
        info!("Stopped");
        Ok(())
    }
}

/// The listeners of the service manager, or else those of the configuration.
async fn listeners(config: &Config, handed: Vec<std::net::TcpListener>) -> io::Result<Vec<TcpListener>> {
    if handed.is_empty() {
        return http_server::bind(&config.web.listen).await;
    }
    handed.into_iter().map(TcpListener::from_std).collect()
}

async fn end_all(host: Host, server: Server, state: ReloadableState) {
    let grace = state.in_use.get().scrape.drain;
    let destroy = tokio::task::spawn_blocking(move || {
        host.stop(DESTROY_MAX);
        host.wait_destroyed(DESTROY_MAX)
    });
    let (pushes, alerts) = (state.pusher.stop(grace), state.alert_notifier.stop(grace));
    let (left, (), (), (), ()) =
        tokio::join!(destroy, server.stop(grace), pushes, alerts, stop_telemetry(state.own));
    match left {
        Ok(0) => {}
        Ok(instances) => warn!(instances, "Plugin instances did not end in time"),
        Err(error) => warn!(%error, "Plugin instances not ended"),
    }
}
