//! The plugin host of the process, and its libraries.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use plugin_abi::raw::{END_PROCESS, EntryFn, SOURCE_LIBRARY};
use plugin_abi::{FamilyKey, Problem, Selects, Sinks};
use serde_json::Value;

use super::command::{CommandOutput, CommandRequest};
use super::configure;
use super::load::Image;
use crate::calls::{Calls, SettingsCall};
use crate::cells::CellCounts;
use crate::error::{ConfigureError, LoadError};
use crate::info::PluginInfo;
use crate::instance::{Instance, InstanceShared};
use crate::library::{self, HostShared, LibraryShared};
use crate::options::HostOptions;
use crate::run::{self, RunningCommand};
use crate::state::{InstanceConfig, InstanceState};
use crate::violation::Violations;
use crate::{declared, load, table, tokens};

/// The process's plugin host. Clones are the same host.
#[derive(Clone)]
pub struct Host(Arc<HostShared>);

impl Host {
    /// A host without libraries.
    #[must_use]
    pub fn new(options: HostOptions) -> Self {
        Self(Arc::new(HostShared::new(options)))
    }

    /// Loads a plugin file. Once loaded it stays for the life of the process.
    ///
    /// # Errors If it is not a plugin, or not one for this version.
    pub fn load(&self, file: &Path) -> Result<Library, LoadError> {
        if !file.is_file() {
            return Err(load::missing(file));
        }
        let image = Image::read(file)?;
        if let Some(trial) = &self.0.options.trial {
            trial.run(&image, file)?;
        }
        self.load_image(image, file)
    }

    pub(crate) fn load_image(&self, image: Image, file: &Path) -> Result<Library, LoadError> {
        let entry = load::open(image, file)?;
        self.enter(entry, Some(file), file)
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
    /// # Errors As [`Host::load`], with `name` instead of the file.
    pub fn link(&self, name: &str, entry: EntryFn) -> Result<Library, LoadError> {
        self.enter(entry, None, Path::new(name))
    }

    fn enter(&self, entry: EntryFn, file: Option<&Path>, name: &Path) -> Result<Library, LoadError> {
        let options = &self.0.options;
        // The library's token contains its number, which is known only after it was added.
        let mut failure = None;
        let library = library::add(|number| match self.make(number, entry, file, name) {
            Ok(library) => Some(Arc::new(library)),
            Err(error) => {
                failure = Some(error);
                None
            }
        });
        match (library, failure) {
            (Some(library), _) => {
                self.0.libraries.lock().push(Arc::clone(&library));
                let info = &library.info;
                tracing::debug!(plugin = %info.name, version = %info.version, abi = %info.abi, program = %options.program, "Plugin loaded");
                Ok(Library(library))
            }
            (None, Some(error)) => Err(error),
            (None, None) => Err(LoadError::TooMany { file: name.to_owned() }),
        }
    }

    fn make(
        &self,
        number: u16,
        entry: EntryFn,
        file: Option<&Path>,
        name: &Path,
    ) -> Result<LibraryShared, LoadError> {
        let options = &self.0.options;
        let api = table::leak(tokens::new_token(number), options);
        let calls = Calls(load::enter(entry, name, api)?);
        let info = declared::read(&calls.0, file, name, options.abi_minor, &options.limits)?;
        Ok(LibraryShared::new(number, calls, info, &self.0))
    }

    /// Cancels collections after their deadline, aborts them after the grace period, and detects calls that do not
    /// return. Returns the time by which it must be called again, if anything is in progress. The host has no
    /// timer: call this at that time, or every few milliseconds while collections run.
    pub fn poll_deadlines(&self, now_ns: u64) -> Option<u64> {
        let libraries = self.0.libraries.lock().clone();
        let pools = libraries.iter().flat_map(|library| [&library.control, &library.blocking]);
        let next_call = pools.filter_map(|pool| pool.check(now_ns)).min();
        loop {
            let due = {
                let mut deadlines = self.0.deadlines.lock();
                match deadlines.first_entry() {
                    Some(first) if first.key().0 <= now_ns => first.remove_entry(),
                    first => {
                        let next_deadline = first.map(|first| first.key().0);
                        return next_call.into_iter().chain(next_deadline).min();
                    }
                }
            };
            let ((_, collection), instance) = due;
            if let Some(instance) = instance.upgrade() {
                instance.look(collection, now_ns);
            }
        }
    }

    /// Returns STOPPED to every call from now on, and destroys all instances, which have `end_max` to end.
    pub fn stop(&self, end_max: Duration) {
        self.0.stopping.store(true, Ordering::Release);
        let end_max_ns = u64::try_from(end_max.as_nanos()).unwrap_or(u64::MAX);
        for library in self.0.libraries.lock().clone() {
            let deadline_ns = library.now_ns().saturating_add(end_max_ns);
            library.alive().iter().for_each(|instance| instance.destroy(END_PROCESS, deadline_ns));
        }
    }

    /// Waits until all destroyed instances have ended. Returns the number of instances that have not (including
    /// those that were not destroyed).
    #[must_use]
    pub fn wait_destroyed(&self, timeout: Duration) -> usize {
        let until = Instant::now() + timeout;
        let mut guard = self.0.waiting.lock();
        loop {
            let libraries = self.0.libraries.lock().clone();
            let left: usize = libraries.iter().map(|library| library.instances.lock().len()).sum();
            let pause = until.saturating_duration_since(Instant::now());
            if left == 0 || pause.is_zero() {
                return left;
            }
            // An ending instance does not take this lock, so a wake-up may be missed: check again soon.
            self.0.ended.wait_for(&mut guard, pause.min(LOOK_AGAIN));
        }
    }

    /// Removes the files in which libraries keep the state of their RPC run time. Their memory stays valid. No new files
    /// are made after this; call it when all instances have ended.
    pub fn remove_cell_files(&self) {
        self.0.libraries.lock().iter().for_each(|library| library.cells.remove_file());
    }
}

const LOOK_AGAIN: Duration = Duration::from_millis(50);

/// A loaded plugin. Clones are the same library.
#[derive(Clone)]
pub struct Library(Arc<LibraryShared>);

impl Library {
    /// What it declares about itself.
    #[must_use]
    pub fn info(&self) -> &PluginInfo {
        &self.0.info
    }

    /// Its violations of the contract, over all its instances.
    #[must_use]
    pub fn violations(&self) -> &Violations {
        &self.0.violations
    }

    /// How many of its threads hang in a call.
    #[must_use]
    pub fn lost_threads(&self) -> usize {
        self.0.control.lost() + self.0.blocking.lost()
    }

    /// How many instances have not ended.
    #[must_use]
    pub fn instances(&self) -> usize {
        self.0.instances.lock().len()
    }

    /// Its memory for the state of its RPC run time.
    #[must_use]
    pub fn cells(&self) -> CellCounts {
        self.0.cells.counts()
    }

    /// How many of its instances are in quarantine now.
    #[must_use]
    pub fn quarantined(&self, now_ns: u64) -> usize {
        let states = self.0.alive().into_iter().map(|instance| instance.state_at(now_ns));
        states.filter(|state| matches!(state, InstanceState::Quarantined { .. })).count()
    }

    /// Checks settings of the library. Blocks up to `configure_ms_max`.
    ///
    /// # Errors If the check fails; problems are not an error here.
    pub fn validate_settings(&self, settings: &Value) -> Result<Vec<Problem>, ConfigureError> {
        if self.0.info.has_settings {
            let config = InstanceConfig { settings: settings.clone(), ..InstanceConfig::default() };
            return problems_of(configure::ask(&self.0, SettingsCall::Validate, SOURCE_LIBRARY, 0, &config));
        }
        let is_empty = settings.as_object().is_some_and(serde_json::Map::is_empty);
        let (pointer, suggestion) = (String::new(), "leave them out".to_owned());
        let problem = Problem {
            pointer,
            message: "the plugin takes no settings".to_owned(),
            suggestion,
            is_warning: false,
        };
        Ok(if is_empty { Vec::new() } else { vec![problem] })
    }

    /// Gives the library its settings, once in the process; the same settings again have no effect. A library
    /// without settings gets empty ones with its first instance. Blocks up to `configure_ms_max`.
    ///
    /// # Errors If it does not accept them, fails, or has others.
    pub fn configure(&self, settings: &Value) -> Result<(), ConfigureError> {
        configure::library(&self.0, settings)
    }

    /// The settings of the library.
    #[must_use]
    pub fn settings(&self) -> Option<Value> {
        self.0.settings().clone()
    }

    /// Checks settings of a source, without an instance. Blocks up to `configure_ms_max`.
    ///
    /// # Errors If the source is unknown or fails; problems are not an error here.
    pub fn validate(&self, source: &str, config: &InstanceConfig) -> Result<Vec<Problem>, ConfigureError> {
        let source = self.0.source(source)?;
        problems_of(configure::ask(&self.0, SettingsCall::Validate, source, 0, config))
    }

    /// Says whether settings of a source collect a family. Blocks up to `configure_ms_max`.
    ///
    /// # Errors If the source is unknown or fails.
    pub fn selects(
        &self,
        source: &str,
        config: &InstanceConfig,
        family: &FamilyKey,
    ) -> Result<Selects, ConfigureError> {
        let source = self.0.source(source)?;
        if !self.0.calls.tells_selections() {
            return Ok(Selects::Unknown);
        }
        match configure::ask_selects(&self.0, source, config, family) {
            Ok(()) => Ok(Selects::Yes),
            Err(ConfigureError::Problems(problems)) => Ok(Selects::No(problems)),
            Err(ConfigureError::Unsupported { .. }) => Ok(Selects::Unknown),
            Err(error) => Err(error),
        }
    }

    /// Makes an instance. Blocks up to `configure_ms_max`; does not use the network.
    ///
    /// # Errors If the source is unknown, does not accept the settings, or fails.
    pub fn create(
        &self,
        source: &str,
        config: &InstanceConfig,
        sinks: impl Into<Sinks>,
    ) -> Result<Instance, ConfigureError> {
        let source = self.0.source(source)?;
        configure::library_unless_done(&self.0)?;
        InstanceShared::create(&self.0, source, config, sinks.into()).map(Instance)
    }

    /// Runs a command on its own thread; the returned handle gets its exit code.
    ///
    /// # Errors If there is no such command.
    pub fn run(
        &self,
        request: &CommandRequest,
        output: Arc<dyn CommandOutput>,
    ) -> Result<RunningCommand, ConfigureError> {
        run::start(&self.0, request, output)
    }
}

fn problems_of(answer: Result<(), ConfigureError>) -> Result<Vec<Problem>, ConfigureError> {
    match answer {
        Ok(()) => Ok(Vec::new()),
        Err(ConfigureError::Problems(problems)) => Ok(problems),
        Err(error) => Err(error),
    }
}
