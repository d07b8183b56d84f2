//! `check-config FILE --online`: what a server would see at its first collection, target by target.

mod report;
mod sink;

use std::collections::{BTreeMap, VecDeque};
use std::path::Path;
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use config::Config;
use http_server::Gate;
use plugin_abi::{CredentialBroker, Failure, GeneralReason, Stage};
use plugin_host::{CommandOutput, Host, HostOptions, Instance, monotonic_ns};
use support::errln;
use support::telemetry::log::PluginLog;
use support::telemetry::output;
use tokio::runtime::Runtime;

use self::report::{Fared, Tally};
use self::sink::{Collected, OnceSink};
use super::command::console::Console;
use super::command::lender::Lender;
use super::plugins::{Libraries, configure, instance_config, source_of};
use super::{FAILED, OK, check};
use targets::{begin, failure_of};

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
