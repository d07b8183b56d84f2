//! Where the logs of a module may go: the folder of the target, databases, and the folder for cabinet files.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use safe_text::secret::{ODDITY_NEXT_STEP, oddity, secret_of};

use super::log_settings::{DatabaseSettings, PostgresqlSettings, TlsWord};
use super::{Settings, check_name};

/// Where logs of a target go.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct StorageSettings {
    /// The folder of the target.
    pub(crate) directory: Option<PathBuf>,
    /// The databases that logs name.
    pub(crate) databases: Databases,
    /// The folder to which cabinet files of all targets are sent.
    pub(crate) cabinets: Option<PathBuf>,
}

impl StorageSettings {
    /// Those of settings that compile. A source that is asked on demand writes nothing: two do not write the same files.
    pub(crate) fn new(settings: &Settings, is_on_demand: bool) -> Self {
        let storage = settings.storage.as_ref().filter(|_| !is_on_demand);
        Self {
            directory: storage.map(|storage| storage.directory.clone()),
            databases: databases(&settings.databases),
            cabinets: settings.cabinets.clone(),
        }
    }
}

/// A database of a module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Database {
    /// A file of this name beside the folders of the target's sets.
    Sqlite(String),
    Postgresql(Arc<Postgresql>),
}

/// How a database of PostgreSQL is reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Postgresql {
    pub(crate) host: String,
    pub(crate) port: u16,
    pub(crate) database: String,
    pub(crate) user: String,
    /// The file that has its password.
    pub(crate) password_file: Option<PathBuf>,
    /// Whether TLS is required, where the settings say so.
    pub(crate) tls: Option<bool>,
    pub(crate) ca_file: Option<PathBuf>,
}

/// The databases of a module by name.
pub(crate) type Databases = BTreeMap<String, Database>;

/// What is wrong with the databases and the folder for cabinet files, each with its place.
pub(super) fn check(settings: &Settings) -> Vec<(String, String)> {
    let Settings { databases, cabinets, .. } = settings;
    let mut wrong = Vec::new();
    if cabinets.as_ref().is_some_and(|directory| !directory.is_absolute()) {
        wrong.push(("/cabinets".to_owned(), "write an absolute path, such as `/mnt/cabinets`".to_owned()));
    }
    if databases.len() > DATABASES_MAX {
        wrong.push(("/databases".to_owned(), format!("name at most {DATABASES_MAX} databases")));
    }
    for (name, settings) in databases.iter().take(DATABASES_MAX) {
        let place = format!("/databases/{}", plugin_sdk::pointer_token(name));
        let mut refuse = |key: &str, message: &str| wrong.push((format!("{place}{key}"), message.to_owned()));
        if let Err(message) = check_name(name) {
            refuse("", &message);
        }
        match settings {
            DatabaseSettings { sqlite: Some(file), postgresql: None } => {
                if safe_text::component(file) != *file {
                    refuse("/sqlite", "write the name of a file without a folder, such as `archive.db`");
                }
            }
            DatabaseSettings { sqlite: None, postgresql: Some(server) } => {
                if server.host.is_empty() || server.database.is_empty() || server.user.is_empty() {
                    refuse("/postgresql", "write a `host`, a `database` and a `user`");
                }
                if server.port == Some(0) {
                    refuse("/postgresql/port", "write a port from 1 to 65535");
                }
                for (key, file) in [("password_file", &server.password_file), ("ca_file", &server.ca_file)] {
                    if file.as_ref().is_some_and(|file| !file.is_absolute()) {
                        refuse(&format!("/postgresql/{key}"), "write an absolute path");
                    }
                }
            }
            _ => refuse("", "write `sqlite` or `postgresql`"),
        }
    }
    wrong
}

/// The databases of settings that were checked.
fn databases(settings: &BTreeMap<String, DatabaseSettings>) -> Databases {
    let database = |(name, settings): (&String, &DatabaseSettings)| {
        let database = match (&settings.sqlite, &settings.postgresql) {
            (Some(file), _) => Database::Sqlite(file.clone()),
            (None, Some(server)) => Database::Postgresql(Arc::new(postgresql(server))),
            (None, None) => return None,
        };
        Some((name.clone(), database))
    };
    settings.iter().filter_map(database).collect()
}

fn postgresql(server: &PostgresqlSettings) -> Postgresql {
    let PostgresqlSettings { host, port, database, user, password_file, tls, ca_file } = server.clone();
    let tls = tls.map(|word| word == TlsWord::Require);
    Postgresql { host, port: port.unwrap_or(5432), database, user, password_file, tls, ca_file }
}

/// The password in a file.
///
/// # Errors
/// Why there is none, without a word of it.
pub(crate) fn password(path: &Path) -> Result<String, String> {
    let said = |reason: &dyn fmt::Display| format!("password file {} {reason}", path.display());
    let unreadable = |error: io::Error| said(&format_args!("cannot be read: {error}"));
    let found = fs::metadata(path).map_err(unreadable)?;
    // A pipe would keep the reader waiting.
    if !found.is_file() {
        return Err(said(&"is not a file"));
    }
    if found.len() > PASSWORD_BYTES_MAX {
        return Err(said(&format_args!("has more than {PASSWORD_BYTES_MAX} bytes")));
    }
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(unreadable)?;
    file.take(PASSWORD_BYTES_MAX).read_to_end(&mut bytes).map_err(unreadable)?;
    secret_of(&bytes).map(str::to_owned).map_err(|reason| said(&reason))
}

/// What of the passwords of databases was hardly meant: the place in the settings, and what is said. One that cannot be read now
/// may be there when it is needed.
pub(crate) fn odd_passwords(settings: &Settings) -> Vec<(String, String)> {
    let odd = |(name, database): (&String, &DatabaseSettings)| {
        let path = database.postgresql.as_ref()?.password_file.as_ref()?;
        let odd = oddity(&password(path).ok()?)?;
        let place = format!("/databases/{}/postgresql/password_file", plugin_sdk::pointer_token(name));
        let path = path.display();
        Some((place, format!("database `{name}`: password file {path} {odd}; {ODDITY_NEXT_STEP}")))
    };
    settings.databases.iter().filter_map(odd).collect()
}

const PASSWORD_BYTES_MAX: u64 = 4_096;
const DATABASES_MAX: usize = 16;
