//! Commands that plugins add to the command line: `perfmon-exporter PLUGIN COMMAND`, or an alias such as `discover`.
//!
//! The program does not know what they do. It finds them, prints their help, leases them secrets as to targets,
//! adds the configuration of `--target`, and prints their output.

pub(super) mod console;
mod help;
pub(super) mod lender;
mod offers;
mod own;
mod words;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use config::{Config, Report, Target};
use plugin_abi::CredentialBroker;
use plugin_host::{
    CommandOutput, CommandRequest, ConfiguredModule, HostOptions, Library, Limits, MetricNames,
    RunningCommand,
};
use series::pipeline::Normalize;
use support::errln;
use support::telemetry::log::PluginLog;
use tokio::runtime::Runtime;
use tokio::signal::unix::{SignalKind, signal};

use self::console::Console;
use self::lender::Lender;
use self::offers::{Found, Offer, Offers};
use self::own::Own;
use self::words::Words;
use super::plugins::{self, instance_config, source_of};
use super::{CANCELLED, FAILED, OK, USAGE, output, rpc_state};

/// Where the configuration is looked for when no `--config` is given.
const DEFAULT_CONFIG: &str = "/etc/perfmon-exporter/perfmon.yml";
const CONFIG_VARIABLE: &str = "PERFMON_EXPORTER_CONFIG";
/// How long a command may take to end after Ctrl-C.
const CANCEL_MAX: Duration = Duration::from_secs(3);

/// The plugins' commands for the program's help. Never fails: plugins that cannot be loaded are not listed.
pub(super) fn list() -> String {
    let config = default_config().and_then(|file| config::load(&file).ok());
    let mut text = help::list(&Offers::load(config.as_ref(), HostOptions::default()));
    if text.is_empty() && config.is_some() {
        text = help::list(&Offers::load(None, HostOptions::default()));
    }
    text
}

/// Runs the command that `words` name. `config` and `log_level` stood before it; `builtin` are the program's own.
pub(super) fn run(
    words: Vec<OsString>,
    config: Option<&Path>,
    log_level: Option<&str>,
    builtin: &[&str],
) -> u8 {
    match prepare_and_run(words, config, log_level, builtin) {
        Ok(code) => code,
        Err(Stop { code, message }) => {
            errln!("{message}");
            code
        }
    }
}

/// Why a command does not run.
struct Stop {
    code: u8,
    message: String,
}

fn usage(message: String) -> Stop {
    Stop { code: USAGE, message }
}

fn failed(message: String) -> Stop {
    Stop { code: FAILED, message }
}

fn prepare_and_run(
    words: Vec<OsString>,
    config: Option<&Path>,
    log_level: Option<&str>,
    builtin: &[&str],
) -> Result<u8, Stop> {
    let words: Vec<String> = words
        .into_iter()
        .map(|word| word.into_string().map_err(|word| usage(format!("{}: is not UTF-8", word.display()))))
        .collect::<Result<_, _>>()?;
    let (mut own, rest) = own::split(words).map_err(usage)?;
    own.config = own.config.or_else(|| config.map(Path::to_owned));
    own.log_level = own.log_level.or_else(|| log_level.map(str::to_owned));
    start_log(own.log_level.as_deref())?;
    let account = own.account().map_err(usage)?;
    let account_name = account.as_ref().map(|account| account.shown.clone());
    let (file, mut config) = find_config(&own, account.is_some())?.unzip();
    if let Some(named) = named_target(&rest) {
        words::check_host(named, config.as_ref()).map_err(usage)?;
    }
    let runtime = Runtime::new().map_err(|error| failed(format!("start the async runtime: {error}")))?;
    let lender = match (account, &config) {
        (Some(account), _) => {
            // A command without a target reports that itself, and gets no secret.
            let named = named_target(&rest).unwrap_or("nowhere.invalid");
            let host = words::host_of(named, config.as_ref());
            Some(
                Lender::of_account(account, host, own.service_principal.as_deref(), runtime.handle())
                    .map_err(usage)?,
            )
        }
        (None, Some(config)) => Some(Lender::of_config(config, runtime.handle()).map_err(failed)?),
        (None, None) => None,
    };
    let lender = lender.map(Arc::new);
    let offers = Offers::load(config.as_ref(), host_options(lender.clone(), config.as_ref()));
    let (offer, named_by) = match offers.find(&rest, builtin).map_err(usage)? {
        Found::Command(offer, named_by) => (offer, named_by),
        Found::Plugin(plugin) => {
            output::out(help::plugin(&offers, &plugin));
            return Ok(if own.wants_help { OK } else { USAGE });
        }
    };
    if own.wants_help {
        output::out(help::command(&offer));
        return Ok(OK);
    }
    if let (Some(file), Some(config)) = (&file, &mut config) {
        check_transports(&offers, file, config)?;
    }
    let mut words = Words::new(&offer.command, rest.into_iter().skip(named_by).collect());
    let (modules, metric_names) = configured_of(&offer, words.value("target"), config.as_ref());
    let schema = offer.schema();
    words::fill_in(&mut words, config.as_ref(), &schema, account_name.as_deref()).map_err(usage)?;
    let request = CommandRequest {
        command: offer.command.name.clone(),
        args: words.into_words(),
        terminal_width: console::terminal_width(),
        configured: modules,
        metric_names: Some(metric_names),
    };
    let code = execute(&offer, &request, &runtime)?;
    if let Some(lender) = lender {
        lender.finish();
    }
    runtime.shutdown_timeout(Duration::ZERO);
    Ok(code)
}

/// Commands print their own messages; the log is for debugging, and for what an audit needs.
fn start_log(level: Option<&str>) -> Result<(), Stop> {
    let format = support::telemetry::log::LogFormat::default();
    support::telemetry::log::init(&support::telemetry::log::with_audit(level.unwrap_or("off")), format)
        .map_err(|error| usage(format!("--log.level: {error}; write `info` or `debug`")))
}

/// The configuration: the one that is named has to be good; without an account on the command line, so has the one
/// where configurations are.
fn find_config(own: &Own, has_account: bool) -> Result<Option<(PathBuf, Config)>, Stop> {
    let file = match &own.config {
        Some(file) => Some(file.clone()),
        None if has_account => None,
        None => default_config(),
    };
    let Some(file) = file else { return Ok(None) };
    match config::load_with_target_files(&file) {
        Ok(config) => Ok(Some((file, config))),
        Err(report) => Err(failed(report.to_string())),
    }
}

/// Whether the plugins have the transports that the configuration has; one of them may be missing here.
fn check_transports(offers: &Offers, file: &Path, config: &mut Config) -> Result<(), Stop> {
    let problems = plugins::set_schemas(&offers.libraries, config);
    if problems.is_empty() {
        return Ok(());
    }
    let mut message = Report::new(&file.display().to_string(), problems).to_string();
    for broken in &offers.broken {
        message += &format!("\nnote: {broken}");
    }
    Err(failed(message))
}

fn default_config() -> Option<PathBuf> {
    match std::env::var_os(CONFIG_VARIABLE) {
        Some(file) if !file.is_empty() => Some(file.into()),
        _ => Some(PathBuf::from(DEFAULT_CONFIG)).filter(|file| file.exists()),
    }
}

/// `--target` as it was written, before anybody knows the command.
fn named_target(words: &[String]) -> Option<&str> {
    let at = words.iter().position(|word| word == "--target" || word.starts_with("--target="))?;
    words[at].strip_prefix("--target=").or_else(|| words.get(at + 1).map(String::as_str))
}

fn host_options(lender: Option<Arc<Lender>>, config: Option<&Config>) -> HostOptions {
    let mut options = HostOptions {
        cells: config.and_then(|config| rpc_state::open_for_command(&config.rpc_state)),
        log: Some(Arc::new(PluginLog)),
        // Live values can be watched without a limit.
        limits: Limits { command_output_bytes_max: u64::MAX, ..Limits::default() },
        ..HostOptions::default()
    };
    if let Some(lender) = lender {
        options.broker = lender as Arc<dyn CredentialBroker>;
    }
    options
}

/// What the configuration has for the target, and how its metrics are named.
fn configured_of(
    offer: &Offer,
    target: Option<&str>,
    config: Option<&Config>,
) -> (Vec<ConfiguredModule>, MetricNames) {
    let Some(config) = config else {
        return (Vec::new(), config::libraries::names_of(Vec::new(), Normalize::default()));
    };
    let target = target.and_then(|named| words::target_of(named, Some(config)));
    let modules = target.map(|target| modules_of(config, target, &offer.library));
    let (modules, rules) = modules.unwrap_or_default();
    (modules, config::libraries::names_of(rules, config.normalize_all()))
}

fn execute(offer: &Offer, request: &CommandRequest, runtime: &Runtime) -> Result<u8, Stop> {
    let console = Arc::new(Console::default());
    let output = Arc::clone(&console) as Arc<dyn CommandOutput>;
    let running = offer.library.run(request, output).map_err(|error| failed(error.to_string()))?;
    console.end_when_closed(running.cancel.clone());
    let code =
        runtime.block_on(wait(running)).map_err(|error| failed(format!("wait for signals: {error}")))?;
    match u8::try_from(code).unwrap_or(FAILED) {
        USAGE => {
            console.err(format!("{}\n", help::usage(offer)).as_bytes());
            Ok(USAGE)
        }
        // A closed pipe is not an error.
        CANCELLED if console.is_closed() => Ok(OK),
        code => Ok(code),
    }
}

/// Waits for the end of a command; Ctrl-C asks it to end, and a second one does not wait for that.
async fn wait(running: RunningCommand) -> std::io::Result<i32> {
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let cancel = running.cancel.clone();
    let mut ended = tokio::task::spawn_blocking(move || running.wait());
    tokio::select! {
        code = &mut ended => return Ok(code.unwrap_or_else(|_panicked| FAILED.into())),
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
    }
    cancel.cancel();
    tokio::select! {
        code = &mut ended => Ok(code.unwrap_or_else(|_panicked| FAILED.into())),
        _ = interrupt.recv() => Ok(CANCELLED.into()),
        () = tokio::time::sleep(CANCEL_MAX) => Ok(CANCELLED.into()),
    }
}

// What the configuration has for the target of a command: the settings of its modules, and the names of its metrics.

/// One for each of the target's modules of the library, with the rules of each.
fn modules_of(
    config: &Config,
    target: &Target,
    library: &Library,
) -> (Vec<ConfiguredModule>, Vec<Normalize>) {
    let of_library = target.modules.iter().filter_map(|name| {
        let module = config.modules.get(name).filter(|module| module.plugin == library.info().name)?;
        let source = source_of(module, library).ok()?.name.clone();
        let made_of = instance_config(config, Some(target), module, &target.transport);
        Some((ConfiguredModule { source, config: made_of }, config.normalize(target, name)))
    });
    of_library.unzip()
}

#[cfg(test)]
mod tests {
    use plugin_abi::{Display, FamilyDef, Kind, ValueKind};
    use plugin_host::{Host, HostOptions};
    use serde_json::json;

    use config::libraries::names_of;

    use super::*;

    #[test]
    fn a_command_gets_its_modules_of_the_target_and_names_by_their_rules() {
        let text = "plugins: {load: [pcq, another]}
normalize: {rename: [{from: 'perfmon_memory_(.*)', to: windows_$1}]}
modules:
  os: {plugin: pcq, countersets: [{name: Memory}], normalize: {naming: verbatim}}
  other: {plugin: another}
targets: [{host: web1, modules: [other, os]}]";
        let config = config::parse("a.yml", text, std::path::Path::new(".")).unwrap();
        let library = Host::new(HostOptions::default()).link("pcq", plugin_pcq::entry).unwrap();
        let (modules, rules) = modules_of(&config, &config.targets[0], &library);
        assert_eq!(modules.len(), 1);
        assert_eq!((modules[0].source.as_str(), modules[0].config.target.host.as_str()), ("pcq", "web1"));
        assert_eq!(modules[0].config.settings["countersets"], json!([{"name": "Memory"}]));
        let names = names_of(rules, config.normalize_all());
        let family = FamilyDef {
            namespace: "",
            object: "Memory",
            item: "Pages",
            part: "",
            kind: Kind::Counter,
            unit: "seconds",
            help: "",
            origin: "",
            value: ValueKind::F64,
            bounds: &[],
            display: Display::NONE,
        };
        assert!(names.name(None, &family).unwrap().starts_with("windows_pages"), "by the rule for all");
        assert_eq!(names.name(Some(0), &family).unwrap(), "perfmon.Memory.Pages_seconds_total");
    }
}
