//! The process's one host and the libraries in it.

use std::path::Path;
use std::sync::Arc;

use crate::command::{CommandCancel, CommandOutput, CommandRequest};
use crate::error::{ConfigureError, LoadError, Problem};
use crate::info::PluginInfo;
use crate::instance::{Instance, InstanceConfig};
use crate::limits::Limits;
use crate::sink::{CredentialBroker, InstanceSink, Level, NoCredentials};
use crate::violation::Violations;

/// Takes the log records that are about no instance.
pub trait LibraryLog: Send + Sync {
    /// Whether a record of this level would be kept.
    fn log_enabled(&self, plugin: &str, level: Level) -> bool;

    /// A log record.
    fn log(&self, plugin: &str, level: Level, message: &str, fields: &[(&str, &str)]);
}

/// What a host is made of.
#[derive(Clone)]
pub struct HostOptions {
    /// The limits of every library.
    pub limits: Limits,
    /// Keeps the secrets.
    pub broker: Arc<dyn CredentialBroker>,
    /// Takes log records that are about no instance; by default they go to `tracing`.
    pub log: Option<Arc<dyn LibraryLog>>,
    /// How many threads a library's run time should have.
    pub worker_threads: u32,
    /// The program's name and version, for the plugin's log.
    pub program: String,
    /// The monotonic clock in nanoseconds; tests hand in their own.
    pub clock: Arc<dyn Fn() -> u64 + Send + Sync>,
}

impl Default for HostOptions {
    fn default() -> Self {
        Self {
            limits: Limits::default(),
            broker: Arc::new(NoCredentials),
            log: None,
            worker_threads: 2,
            program: "perfmon-exporter".to_owned(),
            clock: Arc::new(crate::monotonic_ns),
        }
    }
}

/// The process's plugin host. Clones are the same host.
#[derive(Clone)]
pub struct Host(Arc<HostOptions>);

impl Host {
    /// A host without libraries.
    #[must_use]
    pub fn new(options: HostOptions) -> Self {
        Self(Arc::new(options))
    }

    /// Loads a plugin file. Once loaded it stays for the life of the process.
    ///
    /// # Errors
    /// When it is no plugin, or not one for this version.
    pub fn load(&self, file: &Path) -> Result<Library, LoadError> {
        let folder = file.parent().unwrap_or(Path::new("")).to_owned();
        Err(LoadError::Missing { file: file.to_owned(), folder, found: Vec::new() })
    }

    /// Loads `libplugin_<name>.so` (dashes become underscores) from `folder`.
    ///
    /// # Errors
    /// As [`Host::load`].
    pub fn load_named(&self, folder: &Path, name: &str) -> Result<Library, LoadError> {
        self.load(&folder.join(format!("libplugin_{}.so", name.replace('-', "_"))))
    }

    /// Takes a plugin that is linked into the program.
    ///
    /// # Errors
    /// As [`Host::load`], with `name` in the place of the file.
    pub fn link(&self, name: &str, _entry: ()) -> Result<Library, LoadError> {
        self.load(Path::new(name))
    }

    /// Cancels collections that passed their deadline, gives those up that passed the grace too, and notices calls
    /// that do not return. Answers when it wants to be called again (at the latest), if anything is under way.
    /// The host has no timer of its own: call this at that time, or every few milliseconds while collections run.
    pub fn poll_deadlines(&self, _now_ns: u64) -> Option<u64> {
        None
    }

    /// Answers STOPPED to every call from now on and destroys all instances.
    pub fn stop(&self) {}

    /// Waits until every destroyed instance has said so. Answers how many have not.
    pub fn wait_destroyed(&self, _timeout: std::time::Duration) -> usize {
        0
    }
}

/// A loaded plugin. Clones are the same library.
#[derive(Clone)]
pub struct Library(Arc<(PluginInfo, Violations)>);

impl Library {
    /// What it declares about itself.
    #[must_use]
    pub fn info(&self) -> &PluginInfo {
        &self.0.0
    }

    /// What it did that the contract forbids, over all its instances.
    #[must_use]
    pub fn violations(&self) -> &Violations {
        &self.0.1
    }

    /// How many of its threads hang in a call.
    #[must_use]
    pub fn lost_threads(&self) -> usize {
        0
    }

    /// How many of its instances are in quarantine now.
    #[must_use]
    pub fn quarantined(&self, _now_ns: u64) -> usize {
        0
    }

    /// Asks a source what it thinks of settings, without an instance. Blocks up to `configure_ms_max`.
    ///
    /// # Errors
    /// When the source is unknown or fails; problems are not an error here.
    pub fn validate(&self, _source: &str, _config: &InstanceConfig) -> Result<Vec<Problem>, ConfigureError> {
        Err(ConfigureError::Stopped)
    }

    /// Makes an instance. Blocks up to `configure_ms_max`; does no network.
    ///
    /// # Errors
    /// When the source is unknown, does not accept the settings, or fails.
    pub fn create(
        &self,
        _source: &str,
        _config: InstanceConfig,
        _sink: Arc<dyn InstanceSink>,
    ) -> Result<Instance, ConfigureError> {
        Err(ConfigureError::Stopped)
    }

    /// Runs a command on a thread of its own and answers its exit code through the returned handle.
    ///
    /// # Errors
    /// When there is no such command.
    pub fn run(
        &self,
        request: &CommandRequest,
        _output: Arc<dyn CommandOutput>,
    ) -> Result<RunningCommand, ConfigureError> {
        Err(ConfigureError::NoSource {
            plugin: self.info().name.clone(),
            source_name: request.command.clone(),
            found: Vec::new(),
        })
    }
}

/// A command at work.
#[derive(Debug)]
pub struct RunningCommand {
    /// Ends it.
    pub cancel: CommandCancel,
    exit: std::sync::mpsc::Receiver<i32>,
}

impl RunningCommand {
    /// Waits for its end: 0 success, 1 failure, 2 wrong usage, 130 cancelled.
    #[must_use]
    pub fn wait(self) -> i32 {
        self.exit.recv().unwrap_or(1)
    }
}
