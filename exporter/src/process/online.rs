//! `check-config FILE --online`: what a server would see at its first collection, target by target.

mod sink;

use std::collections::{BTreeMap, VecDeque};
use std::fmt::Write;
use std::path::Path;
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use config::{Config, Node, Position, Target, Value};
use http_server::Gate;
use plugin_abi::{CredentialBroker, Failure, GeneralReason, Stage};
use plugin_host::{CommandOutput, Host, HostOptions, Instance, monotonic_ns};
use support::errln;
use support::telemetry::log::PluginLog;
use support::telemetry::output;
use targets::{TargetHealth, begin, count_by_health, failure_of, help, next_step};
use tokio::runtime::Runtime;

use self::sink::{Collected, OnceSink};
use super::command::console::Console;
use super::command::lender::Lender;
use super::plugins::{Libraries, configure, instance_config, source_of};
use super::{FAILED, OK, check};

/// Targets that are asked at a time.
const RUNNING_MAX: usize = 64;
/// Deadlines are looked at so often at least.
const LOOK_AGAIN: Duration = Duration::from_millis(100);

pub(super) fn check_config(file: &Path, web_file: Option<&Path>) -> u8 {
    let runtime = match Runtime::new() {
        Ok(runtime) => runtime,
        Err(error) => {
            errln!("start the async runtime: {error}");
            return FAILED;
        }
    };
    // The identities are in the file that is being checked, so the lender comes after the first look at it.
    let code = match config::load(file) {
        Ok(config) => match check::gate(&config, web_file) {
            Ok(gate) => ask_all(file, config, &gate, &runtime),
            Err(report) => Err(report.to_string()),
        },
        Err(report) => Err(report.to_string()),
    };
    runtime.shutdown_timeout(Duration::ZERO);
    code.unwrap_or_else(|message| {
        errln!("{message}");
        FAILED
    })
}

fn ask_all(file: &Path, config: Config, gate: &Gate, runtime: &Runtime) -> Result<u8, String> {
    let lender = Arc::new(Lender::of_config(&config, runtime.handle())?);
    let broker = Arc::clone(&lender) as Arc<dyn CredentialBroker>;
    let options = HostOptions { broker, log: Some(Arc::new(PluginLog)), ..HostOptions::default() };
    let host = Host::new(options);
    let checked = config::libraries::check(file, config, &host).map_err(|report| report.to_string())?;
    let (config, libraries) = (&checked.config, &checked.libraries);
    let refused = |problems| config::Report::new(&file.display().to_string(), problems).to_string();
    configure(libraries, config).map_err(refused)?;
    check::secrets(file, config).map_err(|report| report.to_string())?;
    check::print_good(file, &checked, gate);
    let shown = file.display().to_string();
    let console = Console::default();
    let mut tally = Tally::default();
    let mut fared: BTreeMap<usize, Fared> = BTreeMap::new();
    let mut next_line = 0;
    let (asking, ended) = Asking::new(config, libraries, &host);
    asking.run(&ended, |done, target, result| {
        fared.insert(target, result);
        // In the order of the file, so that two runs can be compared.
        while let Some(result) = fared.remove(&next_line) {
            let line = tally.add(&shown, config, &config.targets[next_line], &result);
            console.out(output::shown(&line).as_bytes());
            next_line += 1;
        }
        console.progress(&format!("{done} of {} targets…", config.targets.len()));
    });
    lender.finish();
    console.progress("");
    console.out(tally.line().as_bytes());
    Ok(if tally.is_good() { OK } else { FAILED })
}

/// All targets on their way, each with its modules one after the other.
struct Asking<'a> {
    config: &'a Config,
    libraries: &'a Libraries,
    host: &'a Host,
    waiting: VecDeque<usize>,
    running: BTreeMap<usize, Running>,
    ends: mpsc::Sender<(usize, Collected)>,
}

struct Running {
    /// Kept while it collects.
    instance: Option<Instance>,
    started: Instant,
    modules: Vec<(String, Collected)>,
}

impl<'a> Asking<'a> {
    fn new(config: &'a Config, libraries: &'a Libraries, host: &'a Host) -> (Self, Ends) {
        let (ends, ended) = mpsc::channel();
        let waiting = (0..config.targets.len()).collect();
        (Self { config, libraries, host, waiting, running: BTreeMap::new(), ends }, ended)
    }

    /// Collects until all targets have answered; reports each one with its health and the number of answers.
    fn run(mut self, ended: &Ends, mut report: impl FnMut(usize, usize, Fared)) {
        let mut done = 0;
        loop {
            while self.running.len() < RUNNING_MAX
                && let Some(target) = self.waiting.pop_front()
            {
                let running = Running { instance: None, started: Instant::now(), modules: Vec::new() };
                self.running.insert(target, running);
                self.ask_next(target);
            }
            if self.running.is_empty() {
                return;
            }
            let now_ns = monotonic_ns();
            let next_ns = self.host.poll_deadlines(now_ns);
            let pause = next_ns.map(|next_ns| Duration::from_nanos(next_ns.saturating_sub(now_ns)));
            let Ok((target, collected)) = ended.recv_timeout(pause.unwrap_or(LOOK_AGAIN).min(LOOK_AGAIN))
            else {
                continue;
            };
            if let Some(running) = self.running.get_mut(&target) {
                let module = &self.config.targets[target].modules[running.modules.len()];
                running.modules.push((module.clone(), collected));
                running.instance = None;
            }
            if !self.ask_next(target)
                && let Some(Running { started, modules, .. }) = self.running.remove(&target)
            {
                done += 1;
                report(done, target, Fared { modules, took: started.elapsed() });
            }
        }
    }

    /// Starts the target's next module; false where it has no more.
    fn ask_next(&mut self, index: usize) -> bool {
        let Some(running) = self.running.get_mut(&index) else { return false };
        let target = &self.config.targets[index];
        let Some(module) = target.modules.get(running.modules.len()) else { return false };
        let module = &self.config.modules[module];
        let sink = Arc::new(OnceSink::new(index, self.ends.clone()));
        let mut settings = instance_config(self.config, Some(target), module, &target.transport);
        // It asks once, and must neither write files nor leave anything on the target.
        settings.is_on_demand = true;
        let library = &self.libraries[&module.plugin];
        let started = source_of(module, library)
            .map_err(|unknown| unknown.to_string())
            .and_then(|source| {
                library.create(&source.name, &settings, sink).map_err(|error| error.to_string())
            })
            .map_err(|message| Failure::new(Stage::Plugin, GeneralReason::Internal, message))
            .and_then(|instance| match begin(&instance, target.deadline) {
                Ok(_) => Ok(instance),
                Err(error) => Err(failure_of(&error)),
            });
        match started {
            Ok(instance) => running.instance = Some(instance),
            Err(failure) => {
                // The receiver is ours.
                let _ = self.ends.send((index, Collected::failed(failure)));
            }
        }
        true
    }
}

type Ends = mpsc::Receiver<(usize, Collected)>;

/// The outcome of one target: that of each of its modules.
struct Fared {
    modules: Vec<(String, Collected)>,
    took: Duration,
}

/// How many targets are in which state.
#[derive(Debug, Default)]
struct Tally(Vec<TargetHealth>);

impl Tally {
    /// Whether every target is up.
    fn is_good(&self) -> bool {
        self.0.iter().all(|state| *state == TargetHealth::Up)
    }

    fn line(&self) -> String {
        let [down, partial, _, up] = count_by_health(self.0.iter().copied());
        let counts = [up, partial, down].map(|(state, count)| format!("{count} {}", state.as_str()));
        format!("{} asked: {}\n", targets(self.0.len()), counts.join(", "))
    }

    /// Adds a target, and writes its outcome: one line, and one for each next step.
    fn add(&mut self, file: &str, config: &Config, target: &Target, fared: &Fared) -> String {
        let series: u64 = fared.modules.iter().map(|(_, collected)| collected.series).sum();
        let took = fared.took.as_secs_f64();
        let state = TargetHealth::of_modules(fared.modules.iter().map(|(_, collected)| collected.state));
        self.0.push(state);
        let (name, word) = (&target.name, state.as_str());
        let mut text = match state {
            TargetHealth::Down | TargetHealth::Waiting => {
                let port = config.port(target).map(|port| format!(", port {port}")).unwrap_or_default();
                format!("{name}: {word} ({}{port})\n", target.host)
            }
            TargetHealth::Partial | TargetHealth::Up => {
                format!("{name}: {word}, {series} series in {took:.2} s{}\n", by_module(fared))
            }
        };
        for (Trouble { message, next_step, help }, modules) in grouped(target, fared) {
            let place = modules.iter().find_map(|module| place(file, config, module, &message));
            let modules = modules.join(", ");
            let place = place.unwrap_or_else(|| format!("module {modules}: "));
            let _ = writeln!(text, "  {place}{message}");
            for (what, advice) in [("next", next_step), ("help", help)] {
                if !advice.is_empty() {
                    let _ = writeln!(text, "  {what}: {advice}");
                }
            }
        }
        for (module, collected) in &fared.modules {
            for (word, messages) in [("warning", &collected.warnings), ("note", &collected.notes)] {
                for message in &messages.first {
                    let place = place(file, config, module, message);
                    let place = place.unwrap_or_else(|| format!("module {module}: "));
                    let _ = writeln!(text, "  {place}{word}: {message}");
                }
                if messages.more > 0 {
                    let _ = writeln!(text, "  module {module}: {word}: and {} more", messages.more);
                }
            }
        }
        text
    }
}

fn targets(count: usize) -> String {
    if count == 1 { "1 target".to_owned() } else { format!("{count} targets") }
}

/// ` (os 400; iis 12, partial)` if there are several.
fn by_module(fared: &Fared) -> String {
    if fared.modules.len() < 2 {
        return String::new();
    }
    let part = |(module, collected): &(String, Collected)| match collected.state {
        TargetHealth::Up => format!("{module} {}", collected.series),
        state => format!("{module} {}, {}", collected.series, state.as_str()),
    };
    let parts = fared.modules.iter().map(part);
    format!(" ({})", parts.collect::<Vec<_>>().join("; "))
}

/// Why modules of a target are not up.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Trouble {
    message: String,
    next_step: String,
    /// The command for more help, named as in the log; empty if there is none.
    help: String,
}

/// The troubles, each once with the modules that it befell.
fn grouped<'a>(target: &Target, fared: &'a Fared) -> BTreeMap<Trouble, Vec<&'a str>> {
    let mut troubles: BTreeMap<Trouble, Vec<&str>> = BTreeMap::new();
    for (module, collected) in
        fared.modules.iter().filter(|(_, collected)| collected.state != TargetHealth::Up)
    {
        let trouble = match &collected.failure {
            Some(failure) => Trouble {
                message: shown(failure),
                next_step: next_step(failure, target.deadline, true),
                help: help(failure.reason.as_str()),
            },
            None if collected.series == 0 => Trouble {
                message: "the module matches nothing on the target".to_owned(),
                next_step: "compare its names and patterns with what the target offers: `perfmon-exporter --help` shows the commands that list it"
                    .to_owned(),
                help: String::new(),
            },
            None => Trouble {
                message: "something is missing, and the plugin does not say what".to_owned(),
                next_step: String::new(),
                help: String::new(),
            },
        };
        troubles.entry(trouble).or_default().push(module);
    }
    troubles
}

fn shown(failure: &Failure) -> String {
    let message = if failure.message.is_empty() { failure.reason.sentence() } else { &failure.message };
    format!("{}: {}: {message}", failure.stage, failure.reason.as_str())
}

/// The place of the text that a message quotes: `FILE:LINE:COLUMN: modules.NAME: `.
fn place(file: &str, config: &Config, module: &str, message: &str) -> Option<String> {
    let source = &config.modules.get(module)?.source;
    let mut quoted = message.split('`').skip(1).step_by(2);
    let Position { line, column } = quoted.find_map(|text| find(source, text))?;
    Some(format!("{file}:{line}:{column}: modules.{module}: "))
}

/// The first text in a tree that equals `wanted`.
fn find(node: &Node, wanted: &str) -> Option<Position> {
    match &node.value {
        Value::Text(text) => (text.to_lowercase() == wanted.to_lowercase()).then_some(node.position),
        Value::List(items) => items.iter().find_map(|item| find(item, wanted)),
        Value::Map(entries) => entries.iter().find_map(|entry| find(&entry.node, wanted)),
        _ => None,
    }
}
