//! The plugins that a command line can reach, and the commands that they have.

use std::path::PathBuf;

use config::{Config, beside_program, plugin_file, plugin_files};
use plugin_abi::SettingsSchema;
use plugin_host::{CommandInfo, Host, HostOptions, Library};
use safe_text::nearest::suggestion;

use crate::process::plugins::Libraries;

/// A command of a plugin.
#[derive(Clone)]
pub(super) struct Offer {
    pub(super) library: Library,
    pub(super) command: CommandInfo,
}

impl Offer {
    pub(super) fn plugin(&self) -> &str {
        &self.library.info().name
    }

    /// How it is called: by its first alias, else by plugin and name.
    pub(super) fn call(&self) -> String {
        match self.command.aliases.first() {
            Some(alias) => alias.clone(),
            None => format!("{} {}", self.plugin(), self.command.name),
        }
    }

    /// What the sources of its plugin declare of settings.
    pub(super) fn schema(&self) -> SettingsSchema {
        let mut schema = SettingsSchema::default();
        for transport in self.library.info().sources.iter().flat_map(|source| &source.schema.transports) {
            if schema.transports.iter().all(|known| known.kind != transport.kind) {
                schema.transports.push(transport.clone());
            }
        }
        schema
    }

    fn is_called(&self, name: &str) -> bool {
        self.command.name == name || self.command.aliases.iter().any(|alias| alias == name)
    }
}

/// What the plugins offer.
pub(super) struct Offers {
    all: Vec<Offer>,
    /// Plugins that could not be loaded, in words.
    pub(super) broken: Vec<String>,
    folder: PathBuf,
    /// By the names that the configuration has for them.
    pub(super) libraries: Libraries,
    plugins: Vec<String>,
    host: Host,
}

/// The command has ended.
impl Drop for Offers {
    fn drop(&mut self) {
        self.host.remove_cell_files();
    }
}

/// What the first words of a command line mean.
pub(super) enum Found {
    /// A command, and how many words name it.
    Command(Box<Offer>, usize),
    /// A plugin's name alone.
    Plugin(String),
}

impl Offers {
    /// Loads the plugins of a configuration; without one, all that are beside the program. Loading starts nothing.
    pub(super) fn load(config: Option<&Config>, options: HostOptions) -> Self {
        let host = Host::new(options);
        let folder = config.map_or_else(beside_program, |config| config.plugins.folder());
        let files: Vec<(Option<&str>, PathBuf)> = match config {
            Some(config) => {
                let names = config.plugins.load.iter().map(|plugin| plugin.name.as_str());
                names.map(|name| (Some(name), plugin_file(&folder, name))).collect()
            }
            None => plugin_files(&folder).into_iter().map(|file| (None, file)).collect(),
        };
        let (all, libraries, plugins) = (Vec::new(), Libraries::new(), Vec::new());
        let mut offers = Self { all, broken: Vec::new(), folder, libraries, plugins, host };
        for (name, file) in files {
            match offers.host.load(&file) {
                Ok(library) => offers.add(name, &library),
                Err(error) => offers.broken.push(error.to_string()),
            }
        }
        offers
    }

    fn add(&mut self, name: Option<&str>, library: &Library) {
        self.plugins.push(library.info().name.clone());
        self.libraries.insert(name.unwrap_or(&library.info().name).to_owned(), library.clone());
        let commands = library.info().commands.iter();
        self.all.extend(commands.map(|command| Offer { library: library.clone(), command: command.clone() }));
    }

    /// What the first of `words` mean: PLUGIN COMMAND, or an alias.
    ///
    /// # Errors
    /// When they mean nothing; the sentence names what is near.
    pub(super) fn find(&self, words: &[String], builtin: &[&str]) -> Result<Found, String> {
        let Some(first) = words.first() else { return Err("no command is given".to_owned()) };
        if let Some(plugin) = self.plugins.iter().find(|plugin| *plugin == first) {
            let Some(second) = words.get(1).filter(|word| !word.starts_with('-')) else {
                return Ok(Found::Plugin(plugin.clone()));
            };
            let found = self.of(plugin).find(|offer| offer.is_called(second));
            return found.map(|offer| Found::Command(Box::new(offer.clone()), 2)).ok_or_else(|| {
                let names = self.of(plugin).map(|offer| offer.command.name.as_str()).collect::<Vec<_>>();
                with_hint(format!("plugin {plugin} has no command `{second}`"), second, &names)
            });
        }
        let is_alias = |offer: &&Offer| offer.command.aliases.contains(first);
        if let Some(offer) = self.all.iter().find(is_alias) {
            return Ok(Found::Command(Box::new(offer.clone()), 1));
        }
        let mut names: Vec<&str> = builtin.to_vec();
        names.extend(self.all.iter().flat_map(|offer| offer.command.aliases.iter().map(String::as_str)));
        names.extend(self.plugins.iter().map(String::as_str));
        let mut message = with_hint(format!("there is no command `{first}`"), first, &names);
        for broken in &self.broken {
            message += &format!("\nnote: {broken}");
        }
        if self.plugins.is_empty() {
            message +=
                &format!("\nnote: {} holds no plugin, whose commands there could be", self.folder.display());
        }
        Err(message)
    }

    /// The commands of one plugin.
    pub(super) fn of(&self, plugin: &str) -> impl Iterator<Item = &Offer> {
        self.all.iter().filter(move |offer| offer.plugin() == plugin)
    }

    pub(super) fn all(&self) -> &[Offer] {
        &self.all
    }
}

fn with_hint(message: String, word: &str, names: &[&str]) -> String {
    match suggestion(word, names.iter().copied()) {
        Some(hint) => format!("{message}; {hint}"),
        None => message,
    }
}
