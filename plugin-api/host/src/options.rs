//! The options of a host.

use std::ffi::OsString;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::time::Duration;

use plugin_abi::raw::ABI_MINOR;
use plugin_abi::{CredentialBroker, LibraryLog, ListeningSockets, NoCredentials, NoSockets};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open};
use tracing::warn;

use super::error::LoadError;
use super::load::Image;
use crate::cells::CellFiles;

/// The options of a host.
#[derive(Clone)]
pub struct HostOptions {
    /// The limits of every library.
    pub limits: Limits,
    pub broker: Arc<dyn CredentialBroker>,
    /// Keeps the sockets that were opened for plugins; none by default.
    pub sockets: Arc<dyn ListeningSockets>,
    /// Where libraries keep the state of their RPC run time; nowhere by default.
    pub cells: Option<Arc<CellFiles>>,
    /// Receives log records that belong to no instance; by default they go to `tracing`.
    pub log: Option<Arc<dyn LibraryLog>>,
    /// How many threads a library's runtime should have.
    pub worker_threads: u32,
    /// The program's name and version, for the plugin's log.
    pub program: String,
    /// The monotonic clock in nanoseconds; tests hand in their own.
    pub clock: Arc<dyn Fn() -> u64 + Send + Sync>,
    /// How libraries are tested before they are loaded; `None` by default.
    pub trial: Option<Trial>,
    /// The minor version that the host declares; tests of compatibility change it.
    pub abi_minor: u16,
}

impl Default for HostOptions {
    fn default() -> Self {
        Self {
            limits: Limits::default(),
            broker: Arc::new(NoCredentials),
            sockets: Arc::new(NoSockets),
            cells: None,
            log: None,
            worker_threads: 2,
            program: concat!("perfmon-exporter ", env!("CARGO_PKG_VERSION")).to_owned(),
            clock: Arc::new(crate::monotonic_ns),
            trial: None,
            abi_minor: ABI_MINOR,
        }
    }
}

/// Every limit of the host, with its default.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Families of one instance.
    pub families_max: u32,
    /// Live series of one instance.
    pub series_max: u32,
    /// Labels of one series.
    pub labels_max: u32,
    /// Bytes of a label's name, an object, an item, a unit and the like.
    pub name_bytes_max: u32,
    /// Bytes of a label's value.
    pub label_value_bytes_max: u32,
    /// Bytes of a help text, an origin, a message, an event's body.
    pub text_bytes_max: u32,
    /// Families, series or ids in one call to register or retire.
    pub register_rows_max: u32,
    /// Rows of one batch; more are answered with FULL.
    pub batch_rows_max: u32,
    /// Fields of a log record or an event.
    pub fields_max: u32,
    /// Bytes of log records of one instance in a second; more are dropped and counted.
    pub log_bytes_per_second_max: u32,
    /// Bytes that a command may print.
    pub command_output_bytes_max: u64,
    /// Leases that one instance or command may hold.
    pub leases_max: u32,
    /// Problems that one configure call may report.
    pub problems_max: u32,
    /// Sources of one library.
    pub sources_max: u32,
    /// Commands of one library.
    pub commands_max: u32,
    /// Instances of one library.
    pub instances_max: u32,
    /// How long an async source may stay inside one call.
    pub async_call_ms_max: u64,
    /// How long validate, create and reconfigure may take.
    pub configure_ms_max: u64,
    /// Time after its deadline until a collection is aborted.
    pub deadline_grace_ms: u64,
    /// Threads for blocking sources, per library.
    pub blocking_threads_max: u32,
    /// Threads of one library that may hang before the library gets no more calls.
    pub lost_threads_max: u32,
    /// Faults in a row after which an instance is put into quarantine; a hang or a panic is enough alone.
    pub faults_max: u32,
    /// Violations within one collection that count as a fault.
    pub violations_max: u32,
    /// The first quarantine; each one that follows is twice as long.
    pub quarantine_s: u64,
    pub quarantine_s_max: u64,
    /// Collections in flight on one host name, over all plugins.
    pub collections_per_target_max: u32,
    /// How long an instance may take to end.
    pub end_ms_max: u64,
    /// Maximum interval that an instance may ask for; longer ones are refused.
    pub min_interval_ms_max: u64,
    /// Maximum pause that a failure may ask for; longer ones are reduced to it.
    pub retry_after_ms_max: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            families_max: 20_000,
            series_max: 200_000,
            labels_max: 16,
            name_bytes_max: 512,
            label_value_bytes_max: 1_024,
            text_bytes_max: 8_192,
            register_rows_max: 65_536,
            batch_rows_max: 65_536,
            fields_max: 32,
            log_bytes_per_second_max: 65_536,
            command_output_bytes_max: 1 << 30,
            leases_max: 16,
            problems_max: 100,
            sources_max: 64,
            commands_max: 64,
            instances_max: 100_000,
            async_call_ms_max: 10,
            configure_ms_max: 5_000,
            deadline_grace_ms: 250,
            blocking_threads_max: 8,
            lost_threads_max: 8,
            faults_max: 3,
            violations_max: 100,
            quarantine_s: 30,
            quarantine_s_max: 3_600,
            collections_per_target_max: 8,
            end_ms_max: 10_000,
            min_interval_ms_max: 24 * 3_600_000,
            retry_after_ms_max: 24 * 3_600_000,
        }
    }
}

// Loads a library in a separate process first, so that it cannot hang, crash or end this one.

/// How a library is tested before it is loaded.
#[derive(Clone, Debug)]
pub struct Trial {
    /// A program that calls [`crate::run_trial`] with the last two of its arguments.
    pub program: PathBuf,
    /// The arguments before these two.
    pub arguments: Vec<OsString>,
    /// How long loading may take.
    pub time_max: Duration,
}

/// The library was loaded.
pub(crate) const LOADED: i32 = 99;
/// It was refused; loading it in this process reports why.
pub(crate) const REFUSED: i32 = 98;

impl Trial {
    /// Tests the library; the error says how the process ended.
    pub(crate) fn run(&self, image: &Image, file: &Path) -> Result<(), LoadError> {
        let mut child = match self.begin(image) {
            Ok(child) => child,
            Err(error) => {
                warn!(file = %file.display(), %error, "Plugin cannot be tested in a separate process");
                return Ok(());
            }
        };
        let outcome = match self.wait(&mut child) {
            Ok(Some(status)) if matches!(status.code(), Some(LOADED | REFUSED)) => return Ok(()),
            Ok(Some(status)) => ended(status),
            Ok(None) => format!("it was not loaded within {} s", self.time_max.as_secs()),
            Err(error) => format!("it cannot be waited for: {error}"),
        };
        Err(LoadError::Trial { file: file.to_owned(), outcome })
    }

    fn begin(&self, image: &Image) -> std::io::Result<Child> {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).arg(std::process::id().to_string()).stdout(Stdio::null());
        match image {
            Image::Copy(copy) => command.stdin(copy.try_clone()?).arg("/proc/self/fd/0"),
            Image::InPlace(file) => command.stdin(Stdio::null()).arg(file),
        };
        command.spawn()
    }

    /// Its exit status; `None` if it had to be killed.
    fn wait(&self, child: &mut Child) -> std::io::Result<Option<ExitStatus>> {
        let has_ended = has_ended_within(child, self.time_max);
        if !matches!(has_ended, Ok(true)) {
            child.kill()?;
        }
        let status = child.wait()?;
        Ok(has_ended?.then_some(status))
    }
}

fn has_ended_within(child: &Child, time_max: Duration) -> std::io::Result<bool> {
    let process = pidfd_open(Pid::from_child(child), PidfdFlags::empty())?;
    let timeout = Timespec::try_from(time_max).map_err(std::io::Error::other)?;
    loop {
        match poll(&mut [PollFd::new(&process, PollFlags::IN)], Some(&timeout)) {
            Ok(ready) => return Ok(ready > 0),
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

fn ended(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("it ended its process with exit status {code}"),
        (None, Some(signal)) => format!("its process was ended by {}", signal_name(signal)),
        (None, None) => "its process ended".to_owned(),
    }
}

fn signal_name(signal: i32) -> String {
    let known = [
        (Signal::SEGV, "SIGSEGV"),
        (Signal::BUS, "SIGBUS"),
        (Signal::ABORT, "SIGABRT"),
        (Signal::ILL, "SIGILL"),
        (Signal::FPE, "SIGFPE"),
        (Signal::KILL, "SIGKILL"),
        (Signal::SYS, "SIGSYS"),
    ];
    let name = known.iter().find(|(known, _)| known.as_raw() == signal);
    name.map_or_else(|| format!("signal {signal}"), |(_, name)| (*name).to_owned())
}
