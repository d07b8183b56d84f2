//! A running command.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, mpsc};

use super::command::{CommandCancel, CommandOutput, CommandRequest, MetricNames};
use super::tokens::{self, Tokens};
use crate::error::ConfigureError;
use crate::lease::Leases;
use crate::library::LibraryShared;
use crate::thread_pool::{Job, Limit};
use crate::violation::Violation;

/// The runs whose tokens are valid.
pub(crate) static RUNS: Tokens<RunShared> = Tokens::new();

/// A run while its token is valid.
pub(crate) struct RunShared {
    pub(crate) library: Arc<LibraryShared>,
    pub(crate) leases: Arc<Leases>,
    pub(crate) metric_names: Option<MetricNames>,
    /// The number of configured modules of its target.
    pub(crate) modules: usize,
    output: Arc<dyn CommandOutput>,
    written: AtomicU64,
}

/// Where a command writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stream {
    Out,
    Err,
    Progress,
}

impl RunShared {
    /// Writes, up to the limit.
    pub(crate) fn write(&self, stream: Stream, bytes: &[u8]) -> bool {
        let before = self.written.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        if before.saturating_add(bytes.len() as u64) > self.library.limits().command_output_bytes_max {
            self.library.violations.count(Violation::OverLimit);
            return false;
        }
        match stream {
            Stream::Out => self.output.out(bytes),
            Stream::Err => self.output.err(bytes),
            Stream::Progress => self.output.progress(&String::from_utf8_lossy(bytes)),
        }
        true
    }
}

#[derive(Debug)]
pub struct RunningCommand {
    pub cancel: CommandCancel,
    exit: mpsc::Receiver<i32>,
}

impl RunningCommand {
    /// Waits for its end: 0 success, 1 failure, 2 wrong usage, 130 cancelled.
    #[must_use]
    pub fn wait(self) -> i32 {
        self.exit.recv().unwrap_or(1)
    }
}

/// Starts a command on its own thread.
pub(crate) fn start(
    library: &Arc<LibraryShared>,
    request: &CommandRequest,
    output: Arc<dyn CommandOutput>,
) -> Result<RunningCommand, ConfigureError> {
    let commands = &library.info.commands;
    let named = |name: &String| *name == request.command;
    let Some(index) = commands.iter().position(|c| named(&c.name) || c.aliases.iter().any(named)) else {
        return Err(ConfigureError::NoCommand {
            plugin: library.name(),
            command: request.command.clone(),
            found: commands.iter().map(|command| command.name.clone()).collect(),
        });
    };
    let modules = request.configured.iter();
    let sources = modules.map(|module| library.source(&module.source)).collect::<Result<Vec<u32>, _>>()?;
    let token = tokens::new_token(library.number);
    let run = Arc::new(RunShared {
        library: Arc::clone(library),
        leases: Arc::default(),
        metric_names: request.metric_names.clone(),
        modules: sources.len(),
        output,
        written: AtomicU64::new(0),
    });
    RUNS.insert(token, Arc::clone(&run));
    let (sender, exit) = mpsc::channel();
    let request = request.clone();
    let command = u32::try_from(index).unwrap_or(u32::MAX);
    let worker = move || {
        let code = run.library.calls.run(command, token, &request, &sources);
        RUNS.remove(token);
        run.leases.end_all();
        // Nobody waits any more when this fails.
        let _ = sender.send(code);
    };
    let spawned = std::thread::Builder::new().name(format!("plugin-{}-run", library.info.name)).spawn(worker);
    if let Err(error) = spawned {
        RUNS.remove(token);
        let (status, message) = ("no thread".to_owned(), error.to_string());
        return Err(ConfigureError::Failed { plugin: library.name(), call: "run", status, message });
    }
    let cancel = {
        let library = Arc::clone(library);
        CommandCancel(Arc::new(move || {
            let calls = library.calls;
            let work = Box::new(move || calls.cancel(token));
            let limit = Limit::Within { ns: library.limits().async_call_ms_max * 1_000_000 };
            library.control.submit(Job { limit, work, overrun: Box::new(|| {}) });
        }))
    };
    Ok(RunningCommand { cancel, exit })
}
