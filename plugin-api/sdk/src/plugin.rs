//! A library: its declarations and its state.

use std::sync::{Arc, OnceLock};

use plugin_abi::raw::{MODE_ASYNC, MODE_BLOCKING};
use plugin_abi::{FamilyKey, Problem, Selects};
use tokio::runtime::Runtime;

use super::failure::DeclaredReason;
use super::schema::Transport;
use crate::arguments::{self, CommandOption};
use crate::command::{Command, Exit, Run};
use crate::settings::{checked, parse, problems};
use crate::slot::{AsyncSlot, BlockingSlot};
use crate::source::{BlockingSource, LibrarySettings, Setup, Source};
use crate::state::{Cancel, Slot, State};
use crate::{Target, runtime};

/// The trait that [`crate::export_plugin`] implements for a crate.
pub trait PluginDef: 'static {
    fn plugin() -> &'static Plugin;
}

/// A library. Made by [`crate::export_plugin`].
pub struct Plugin {
    pub(crate) name: &'static str,
    pub(crate) version: &'static str,
    pub(crate) description: &'static str,
    pub(crate) sources: &'static [SourceEntry],
    pub(crate) commands: &'static [CommandEntry],
    pub(crate) settings: Option<SettingsEntry>,
    pub(crate) state: OnceLock<State>,
}

/// An instance, or what is wrong with its settings.
type Created = Result<Arc<dyn Slot>, Vec<Problem>>;

/// A type-erased [`Source`] or [`BlockingSource`].
pub struct SourceEntry {
    pub(crate) name: &'static str,
    pub(crate) help: &'static str,
    pub(crate) reasons: &'static [DeclaredReason],
    pub(crate) shown: &'static [&'static str],
    pub(crate) transports: &'static [Transport],
    pub(crate) keeps_files: bool,
    pub(crate) mode: u32,
    pub(crate) validate: fn(&str, &Target) -> Vec<Problem>,
    pub(crate) selects: fn(&str, &FamilyKey) -> Result<Selects, Vec<Problem>>,
    pub(crate) create: fn(&str, Setup<()>) -> Created,
}

impl SourceEntry {
    /// The entry of an async source.
    #[must_use]
    pub const fn of<S: Source>() -> Self {
        Self {
            name: S::NAME,
            help: S::HELP,
            reasons: S::REASONS,
            shown: S::SHOWN,
            transports: S::TRANSPORTS,
            keeps_files: S::KEEPS_FILES,
            mode: MODE_ASYNC,
            validate: |text, target| problems(text, target, S::check),
            selects: |text, family| Ok(S::selects(&parse(text).map_err(|problem| vec![problem])?, family)),
            create: |text, setup| {
                let settings = checked(text, &setup.target, S::check)?;
                let slot: Arc<dyn Slot> = AsyncSlot::<S>::create(setup.with(settings))?;
                Ok(slot)
            },
        }
    }

    /// The entry of a blocking source.
    #[must_use]
    pub const fn blocking<S: BlockingSource>() -> Self {
        Self {
            name: S::NAME,
            help: S::HELP,
            reasons: S::REASONS,
            shown: S::SHOWN,
            transports: S::TRANSPORTS,
            keeps_files: S::KEEPS_FILES,
            mode: MODE_BLOCKING,
            validate: |text, target| problems(text, target, S::check),
            selects: |text, family| Ok(S::selects(&parse(text).map_err(|problem| vec![problem])?, family)),
            create: |text, setup| {
                let settings = checked(text, &setup.target, S::check)?;
                let slot: Arc<dyn Slot> = BlockingSlot::<S>::create(setup.with(settings))?;
                Ok(slot)
            },
        }
    }
}

#[derive(Clone, Copy)]
pub struct SettingsEntry {
    pub(crate) validate: fn(&str) -> Vec<Problem>,
    pub(crate) configure: fn(&str) -> Result<(), Vec<Problem>>,
}

impl SettingsEntry {
    /// The entry of the settings of a library.
    #[must_use]
    pub const fn of<S: LibrarySettings>() -> Self {
        Self {
            validate: |text| problems(text, &Target::default(), check_library::<S>),
            configure: |text| checked(text, &Target::default(), check_library::<S>)?.configure(),
        }
    }
}

fn check_library<S: LibrarySettings>(settings: &S, _: &Target) -> Vec<Problem> {
    settings.check()
}

pub struct CommandEntry {
    pub(crate) name: &'static str,
    pub(crate) help: &'static str,
    pub(crate) aliases: &'static [&'static str],
    pub(crate) options: fn() -> Vec<CommandOption>,
    pub(crate) run: fn(&Runtime, Run, &Cancel) -> Exit,
}

impl CommandEntry {
    /// The entry of a command.
    #[must_use]
    pub const fn of<C: Command>() -> Self {
        Self {
            name: C::NAME,
            help: C::HELP,
            aliases: C::ALIASES,
            options: arguments::options_of::<C::Arguments>,
            run: |runtime, run, cancel| {
                let arguments = match arguments::parse(&run.args) {
                    Ok(arguments) => arguments,
                    Err(message) => {
                        run.err(&format!("{message}\n"));
                        return Exit::Usage;
                    }
                };
                let work = crate::log::Scoped { owner: run.token, future: Box::pin(C::run(run, arguments)) };
                runtime.block_on(cancel.unless(work)).unwrap_or(Exit::Cancelled)
            },
        }
    }
}

impl Plugin {
    /// Used only by the macro.
    #[must_use]
    pub const fn new(
        name: &'static str,
        version: &'static str,
        description: &'static str,
        sources: &'static [SourceEntry],
        commands: &'static [CommandEntry],
    ) -> Self {
        Self { name, version, description, sources, commands, settings: None, state: OnceLock::new() }
    }

    /// The same with settings of the library. Used only by the macro.
    #[must_use]
    pub const fn with_settings(mut self, settings: SettingsEntry) -> Self {
        self.settings = Some(settings);
        self
    }

    /// Its state; the first call starts the runtime.
    pub(crate) fn state(&'static self, workers: u32) -> Result<&'static State, std::io::Error> {
        if let Some(state) = self.state.get() {
            return Ok(state);
        }
        let runtime = runtime::build(self.name, workers)?;
        // The runtime lives as long as the library, which is never closed.
        Ok(self.state.get_or_init(|| State::new(Box::leak(Box::new(runtime)))))
    }
}
