use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::{Duration, SystemTime};

use plugin_host::{Host, HostOptions};
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::oneshot;
use tracing::{error, info, warn};

use super::engine::Engine;
use super::plugins::{self, Libraries};
use super::resolver::SystemResolver;
use super::{FAILED, OK};
use crate::config::{self, Config, Report};
use crate::credentials::{Broker, SystemClock, VerdictFile};
use crate::schedule::Driver;
use crate::telemetry::log::PluginLog;
use crate::telemetry::{Book, PluginSource, Scrapes, SelfMetrics};
use crate::web::{self, Server, Site};

/// The exporter's own work is small: the plugins have threads of their own.
const WORKERS: usize = 2;
/// How long plugins may take to let go of their targets at the end.
const DESTROY_MAX: Duration = Duration::from_secs(3);

/// `--config FILE`: serves until a signal.
pub(super) fn serve(file: &Path) -> u8 {
    match start_and_run(file) {
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

fn start_and_run(file: &Path) -> Result<(), Trouble> {
    let config = config::load(file).map_err(Trouble::Configuration)?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(WORKERS)
        .max_blocking_threads(16)
        .thread_name("exporter")
        .enable_all()
        .build()
        .map_err(machine("start the run time"))?;
    let broker = Arc::new(broker(&config, &runtime)?);
    let options = HostOptions {
        broker: Arc::clone(&broker) as Arc<_>,
        log: Some(Arc::new(PluginLog)),
        ..HostOptions::default()
    };
    let host = Host::new(options);
    let libraries = load(file, &host, &config)?;
    let outcome = runtime.block_on(run(&config, host, libraries, broker));
    // A plugin's thread that hangs must not keep the process.
    runtime.shutdown_timeout(Duration::from_secs(1));
    outcome
}

fn broker(config: &Config, runtime: &Runtime) -> Result<Broker, Trouble> {
    let credentials = &config.credentials;
    let file = credentials.state_dir.as_deref().map(VerdictFile::open).transpose();
    let file = file.map_err(machine("read the credential state; remove the file to forget it"))?;
    if file.is_none() && !config.identities.is_empty() {
        info!("No credentials.state_dir: after a restart a refused password is tried once more");
    }
    let resolver = Arc::new(SystemResolver(runtime.handle().clone()));
    let clock = Arc::new(SystemClock);
    Broker::new(config.identities.clone(), credentials.cooldown, file, clock, resolver)
        .map_err(machine("draw random bytes"))
}

fn load(file: &Path, host: &Host, config: &Config) -> Result<Libraries, Trouble> {
    let refused = |problems| Trouble::Configuration(Report::new(&file.display().to_string(), problems));
    let libraries = plugins::load(host, config).map_err(refused)?;
    let problems = plugins::validate(&libraries, config);
    if !problems.is_empty() {
        return Err(refused(problems));
    }
    for (name, library) in &libraries {
        let plugin = library.info();
        info!(plugin = name, version = plugin.version, abi = %plugin.abi, "Plugin loaded");
    }
    Ok(libraries)
}

async fn run(config: &Config, host: Host, libraries: Libraries, broker: Arc<Broker>) -> Result<(), Trouble> {
    let end = end_signal().map_err(machine("listen to signals"))?;
    let listeners = web::bind(&config.web.listen).await.map_err(machine("serve"))?;
    let book = Arc::new(Book::new(config));
    let skipped = Arc::new(AtomicU64::new(0));
    let (site, server) = serve_site(config, &book, broker, &libraries, &skipped, listeners);
    let (ends, ended) = Driver::ends();
    let engine = Engine::new(config, &book, &ends);
    let (config_there, libraries_there) = (config.clone(), libraries.clone());
    let engine = tokio::task::spawn_blocking(move || {
        engine.create_instances(&config_there, &libraries_there);
        engine
    });
    let engine = engine.await.map_err(|error| machine("make the plugin instances")(error.into()))?;
    site.set_ready(true);
    info!(targets = config.targets.len(), "Ready");
    let driver = engine.driver(host.clone(), ended, skipped);
    let stopping = Arc::clone(&site);
    let stop = async move {
        // A sender that is gone is a signal task that ended: end as well.
        let name = end.await.unwrap_or("signal task");
        info!(signal = name, "Ending: nothing new is started");
        stopping.set_ready(false);
    };
    let grace = config.scrape.drain;
    let drained = driver.run(stop, grace).await;
    if drained.left > 0 {
        warn!(collections = drained.left, "Collections did not end in time");
    }
    let destroy = tokio::task::spawn_blocking(move || {
        host.stop();
        host.wait_destroyed(DESTROY_MAX)
    });
    let (left, ()) = tokio::join!(destroy, server.stop(grace));
    match left {
        Ok(0) => {}
        Ok(instances) => warn!(instances, "Plugin instances did not end in time"),
        Err(error) => warn!(%error, "Plugin instances not ended"),
    }
    info!("Ended");
    Ok(())
}

fn serve_site(
    config: &Config,
    book: &Arc<Book>,
    broker: Arc<Broker>,
    libraries: &Libraries,
    skipped: &Arc<AtomicU64>,
    listeners: Vec<TcpListener>,
) -> (Arc<Site>, Server) {
    let plugins =
        libraries.iter().map(|(name, library)| PluginSource { name: name.clone(), library: library.clone() });
    let scrapes = Arc::new(Scrapes::default());
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let metrics = SelfMetrics {
        book: Arc::clone(book),
        broker,
        plugins: Arc::new(plugins.collect()),
        scrapes: Arc::clone(&scrapes),
        skipped: Arc::clone(skipped),
        config_read_unix_s: now.as_secs_f64(),
    };
    let limits = web::Limits::from(&config.web);
    let site = Arc::new(Site::new(Arc::clone(book), metrics.registry(), scrapes, limits));
    let server = Server::start(&site, limits, listeners);
    (site, server)
}

/// Tells of the first SIGTERM or SIGINT by name. A second one changes nothing, since the drain has its own end.
fn end_signal() -> io::Result<oneshot::Receiver<&'static str>> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let (told, hear) = oneshot::channel();
    tokio::spawn(async move {
        let name = tokio::select! {
            _ = terminate.recv() => "SIGTERM",
            _ = interrupt.recv() => "SIGINT",
        };
        // The hearer is gone only when the process ends for another reason.
        let _ = told.send(name);
    });
    Ok(hear)
}
