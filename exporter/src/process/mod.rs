//! The command line, and the life of the process: configuration, plugins, listeners, schedule, signal, drain.

mod blocking;
mod check;
mod cli;
mod command;
mod engine;
mod explain;
mod init;
mod metrics;
mod online;
mod otlp;
mod plugins;
mod probe;
mod reload;
mod reload_counts;
mod reloadable;
mod rpc_state;
mod secrets;
mod serve;
mod systemd;
mod target_files;
mod watch;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

use ::otlp::push::EventRouter;
use alerts::Notifier;
use clap::error::ErrorKind;
use config::{Config, Problem, Target, plugin_file};
use plugin_host::{Host, Library};
use series::model;
use series::pipeline::{Catalog, Limits, Normalize, Scope};
use support::errln;
use support::input::file::Stamp;
use support::telemetry::{log, output};
use targets::Reporter;
use targets::storage::{Makes, check};
use tokio::runtime::Handle;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::oneshot;
use tokio::time::Instant;
use tracing::{info, warn};
use transport::resolver::{LookupError, Resolver as Names};

pub use self::metrics::own_metrics;

use self::cli::{Cli, Command, PluginCommand};
use crate::credentials::{Resolved, Resolver, name_realms};
use crate::process::plugins::Libraries;

const OK: u8 = 0;
/// The configuration, a plugin or the machine does not allow it; the reason is printed.
const FAILED: u8 = 1;
/// The command line makes no sense.
const USAGE: u8 = 2;
/// A command was ended by a signal.
const CANCELLED: u8 = 130;

/// The first argument of a process that loads a plugin, the last one, to see whether that goes well.
const TRY_PLUGIN: &str = "--try-plugin";

/// Does what the command line asks for.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    support::telemetry::remember_start();
    name_realms();
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    if let [_, first, parent, file] = &arguments[..]
        && first == TRY_PLUGIN
    {
        plugin_host::run_trial(&parent.to_string_lossy(), Path::new(file));
    }
    let _guard = plugin_host::guard_exit();
    let code = run(arguments);
    support::telemetry::log::flush();
    if output::is_incomplete() { ExitCode::from(FAILED) } else { code }
}

fn run(arguments: Vec<OsString>) -> ExitCode {
    let cli = match Cli::read(arguments) {
        Ok(cli) => cli,
        Err(error) => {
            let asked_for = matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
            // Nowhere to print is nothing to tell.
            let _ = error.print();
            return ExitCode::from(if asked_for { OK } else { USAGE });
        }
    };
    if let Some(Command::OfPlugin(words)) = cli.command {
        let builtin = Cli::builtin();
        let builtin: Vec<&str> = builtin.iter().map(String::as_str).collect();
        return ExitCode::from(command::run(
            words,
            cli.config.as_deref(),
            cli.log_level.as_deref(),
            &builtin,
        ));
    }
    // Who checks reads the findings, not how they came about.
    let default_level = if cli.command.is_some() { "warn" } else { "info" };
    if let Err(error) =
        support::telemetry::log::init(cli.log_level.as_deref().unwrap_or(default_level), cli.log_format)
    {
        errln!("--log.level: {error}; write `info`, `debug`, or `info,web=debug`");
        return ExitCode::from(USAGE);
    }
    let code = match (cli.command, cli.config) {
        (Some(Command::CheckConfig { file, online, web_file }), _) => {
            let web_file = web_file.or(cli.web_file);
            let check = if online { online::check_config } else { check::check_config };
            check(&file, web_file.as_deref())
        }
        (Some(Command::Plugin { command: PluginCommand::Check { file } }), _) => check::check_plugin(&file),
        (Some(Command::Init(options)), _) => init::init(options),
        (Some(Command::Compat { words }), _) => {
            let words: Vec<_> = words.iter().map(|word| word.to_string_lossy()).collect();
            let words = if words.is_empty() { "FILE…".to_owned() } else { words.join(" ") };
            errln!("compat is a command of perfmon-tool now: perfmon-tool compat {words}");
            USAGE
        }
        (Some(Command::RpcState(options)), config) => rpc_state::show(&options, config.as_deref()),
        (Some(Command::Explain { reason }), config) => explain::explain(reason.as_deref(), config.as_deref()),
        (None, Some(file)) => serve::serve(&file, cli.log_level.is_some(), cli.web_file.as_deref()),
        (Some(Command::OfPlugin(_)), _) | (None, None) => {
            errln!("name the configuration: perfmon-exporter --config FILE (--help shows more)");
            USAGE
        }
    };
    ExitCode::from(code)
}

/// The scope of a target, and the rules of each of its modules. `named` is the target without its labels.
fn scope_of(
    catalog: &Arc<Catalog>,
    config: &Config,
    target: &Target,
    named: model::Target,
) -> (Arc<Scope>, Vec<Normalize>) {
    let labels = target.labels.iter();
    let labelled = labels.fold(named, |labelled, (name, value)| labelled.with_label(name, value));
    let normalize: Vec<Normalize> =
        target.modules.iter().map(|module| config.normalize(target, module)).collect();
    let widest = normalize.iter().map(|normalize| &normalize.profile).find(|profile| profile.is_utf8());
    let limits = Limits {
        series_max: target.max_series as usize,
        keeps_stale: !target.stale_after.is_zero(),
        ..Limits::default()
    };
    let scope =
        Scope::with_profile(Arc::clone(catalog), labelled, limits, widest.cloned().unwrap_or_default());
    (scope, normalize)
}

/// Tells these collectors what comes from a plugin.
fn reporter_of(event_router: &Arc<EventRouter>, libraries: &Libraries, plugin: &str) -> Reporter {
    let version = libraries.get(plugin).map_or("", |library| &library.info().version);
    Reporter {
        event_router: Arc::clone(event_router),
        scope: Arc::new(::otlp::encode::Scope::new(plugin, version)),
    }
}

const TIMEOUT: Duration = Duration::from_secs(5);

/// Finds the addresses of names. Clones share look-ups and their limit.
#[derive(Clone, Debug, Default)]
struct Lookups(Names);

impl Lookups {
    /// Those that go by other files than this machine's.
    #[cfg(test)]
    fn by(names: Names) -> Self {
        Self(names)
    }

    /// The addresses of a name; never none. Gives up at `deadline`, or earlier.
    async fn find(&self, host: &str, deadline: Instant) -> Result<Vec<IpAddr>, LookupError> {
        self.0.lookup(host, deadline.min(Instant::now() + TIMEOUT)).await
    }
}

/// Resolves names for the broker.
struct SystemResolver {
    runtime: Handle,
    lookups: Lookups,
}

impl SystemResolver {
    fn new(runtime: Handle, lookups: Lookups) -> Self {
        Self { runtime, lookups }
    }
}

impl Resolver for SystemResolver {
    fn resolve(&self, host: &str, done: Box<dyn FnOnce(Resolved) + Send>) {
        let (host, lookups) = (host.to_owned(), self.lookups.clone());
        self.runtime.spawn(async move {
            let found = lookups.find(&host, Instant::now() + TIMEOUT).await;
            done(found.map_err(|error| error.to_string()));
        });
    }
}

/// Every plugin that was loaded, for the life of the process: a library is never closed, so one that a configuration
/// names again is the one that is there.
struct LibraryCache {
    host: Host,
    libraries: BTreeMap<String, Loaded>,
}

struct Loaded {
    library: Library,
    file: PathBuf,
    stamp: Option<Stamp>,
}

impl LibraryCache {
    fn new(host: Host) -> Self {
        Self { host, libraries: BTreeMap::new() }
    }

    /// The plugins of `config`, loaded where they are new. What was loaded stays loaded even if the rest fails.
    fn load(&mut self, config: &Config) -> Result<Libraries, Vec<Problem>> {
        let folder = config.plugins.folder();
        plugins::load_by(config, |name| {
            if let Some(known) = self.libraries.get(name) {
                return Ok(known.library.clone());
            }
            let file = plugin_file(&folder, name);
            // Before it is opened: what is written in between is seen as a change.
            let stamp = Stamp::look(&file, SystemTime::now());
            // On the disk before anything of the plugin runs.
            info!(plugin = name, file = %file.display(), "Loading plugin");
            log::flush();
            let library = self.host.load(&file)?;
            let plugin = library.info();
            info!(plugin = name, version = plugin.version, abi = %plugin.abi, "Plugin loaded");
            let loaded = Loaded { library: library.clone(), file, stamp };
            self.libraries.insert(name.to_owned(), loaded);
            Ok(library)
        })
    }

    /// The plugins of `config` whose file is another one by now than was loaded.
    fn replaced(&self, config: &Config) -> Vec<&str> {
        let folder = config.plugins.folder();
        let known = self
            .libraries
            .iter()
            .filter(|(name, _)| config.plugins.load.iter().any(|one| one.name == **name));
        let replaced = known.filter(|(name, loaded)| {
            let file = plugin_file(&folder, name);
            let now = Stamp::look(&file, SystemTime::now());
            file != loaded.file || Stamp::was_replaced(loaded.stamp.as_ref(), now.as_ref())
        });
        replaced.map(|(name, _)| name.as_str()).collect()
    }
}

// The directory for files of targets, before it is used.

/// Makes the configured directory if it is missing. Says why files cannot be kept there. Blocks.
fn prepare_storage(config: &Config) -> Vec<Problem> {
    storage_problems(config, Makes::Directory)
}

/// The same without making it, for people who check a configuration, perhaps as another user or on another machine.
fn storage_suspicions(config: &Config) -> Vec<Problem> {
    storage_problems(config, Makes::Nothing)
}

fn storage_problems(config: &Config, makes: Makes) -> Vec<Problem> {
    let Some(storage) = &config.storage else { return Vec::new() };
    let unusable = check(&storage.directory, makes).err();
    unusable.into_iter().map(|unusable| storage.problem(unusable.message, unusable.hint)).collect()
}

// Receivers of alerts, as the configuration has them.

/// From now on the receivers are those of `config`. Those that are let go have `grace` to take what waits.
fn set_receivers(notifier: &mut Notifier, config: &Config, grace: Duration) {
    let url = config.web.external_url.as_ref().map(|url| {
        let scheme = if url.is_secure { "https" } else { "http" };
        format!("{scheme}://{}{}", url.address, url.path)
    });
    notifier.set(&config.alerts, url, grace);
}

/// The receivers of the first configuration.
fn start_notifier(config: &Config) -> Notifier {
    let mut notifier = Notifier::new();
    set_receivers(&mut notifier, config, Duration::ZERO);
    notifier
}

// Signals.

/// The signals of the process. Created first, because an unhandled signal ends the process.
struct Signals {
    hangup: Signal,
    terminate: Signal,
    interrupt: Signal,
}

impl Signals {
    /// To be called within the run time.
    fn new() -> io::Result<Self> {
        Ok(Self {
            hangup: signal(SignalKind::hangup())?,
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
        })
    }

    /// Handles signals from now on. The first SIGTERM or SIGINT is reported by name. One before the program is up,
    /// or a second one, ends the program at once, as by default.
    fn listen(self) -> (Signal, Ending) {
        let Self { hangup, mut terminate, mut interrupt } = self;
        let (sender, receiver) = oneshot::channel();
        let is_up = Arc::new(AtomicBool::new(false));
        let ending = Ending { receiver, is_up: Arc::clone(&is_up) };
        tokio::spawn(async move {
            let (name, _) = next_signal(&mut terminate, &mut interrupt).await;
            if !is_up.load(Ordering::SeqCst) {
                info!(signal = name, "Stopped before it was ready");
                log::flush();
                plugin_host::leave(0);
            }
            // The receiver is gone only if the process ends for another reason.
            let _ = sender.send(name);
            let (name, number) = next_signal(&mut terminate, &mut interrupt).await;
            warn!(signal = name, "Stopped at once");
            log::flush();
            plugin_host::leave(128 + number);
        });
        (hangup, ending)
    }
}

/// Notifies the program that it should end.
struct Ending {
    receiver: oneshot::Receiver<&'static str>,
    is_up: Arc<AtomicBool>,
}

impl Ending {
    /// Lets the first signal end the program in order from now on.
    fn begin_orderly(self) -> oneshot::Receiver<&'static str> {
        self.is_up.store(true, Ordering::SeqCst);
        self.receiver
    }
}

async fn next_signal(terminate: &mut Signal, interrupt: &mut Signal) -> (&'static str, i32) {
    tokio::select! {
        _ = terminate.recv() => ("SIGTERM", SignalKind::terminate().as_raw_value()),
        _ = interrupt.recv() => ("SIGINT", SignalKind::interrupt().as_raw_value()),
    }
}
