//! What a set of the configuration logs, and the databases of a module.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use counter_types::{CounterPath, PathError};
use jiff::tz::TimeZone;
use ms_pla::xml::DataManager;
use ms_pla::{AutoPathFormat, ResourcePolicy};
use pla_engine::{NameFormat, StartSchedule};

use super::log_settings::{
    DatabaseSettings, DeleteFirst, KeepSettings, PostgresqlSettings, ScheduleSettings, SegmentSettings,
    TlsWord,
};
use super::settings::{Interval, SetSettings};
use super::{Settings, actions, check_name};
use crate::model::{
    COLUMN_PATHS_MAX, CounterCollector, Destination, LogFormat, LogOverrides, Logs, Name, Segment, check_path,
};

/// The key below the set that is wrong, and why.
type Refusal = (String, String);

/// A database of a module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Database {
    /// A file of this name beside the folders of the target's sets.
    Sqlite(String),
    /// A server.
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
    pub(crate) password_file: Option<std::path::PathBuf>,
    /// Whether TLS is required, where the settings say so.
    pub(crate) tls: Option<bool>,
    pub(crate) ca_file: Option<std::path::PathBuf>,
}

/// The databases of a module by name.
pub(crate) type Databases = BTreeMap<String, Database>;

/// What the settings say about the logs of an exported set.
pub(super) fn overrides(settings: &Settings, set: &SetSettings) -> Result<LogOverrides, Refusal> {
    Ok(LogOverrides {
        format: set.log_format,
        binary: settings.log_format,
        database: set.database.clone(),
        databases: settings.databases.keys().cloned().collect::<HashSet<_>>(),
        zone: set.time_zone.as_deref().map(zone).transpose()?,
        duration: set.duration.map(|time| time.0),
    })
}

/// What a set of the configuration logs.
pub(super) fn logs(
    settings: &Settings,
    set: &SetSettings,
    name: &str,
    counters: &[String],
) -> Result<Logs, Refusal> {
    let SegmentSettings { every, size, records } =
        set.segment.unwrap_or(SegmentSettings { every: None, size: None, records: None });
    let of_database = set.database.as_ref().map(|_| LogFormat::Sql);
    let format = set.log_format.or(of_database).or(settings.log_format).unwrap_or(LogFormat::Csv);
    let collector = CounterCollector {
        name: COLLECTOR.to_owned(),
        paths: paths(counters)?,
        interval: set
            .sample_interval
            .map_or(crate::model::SampleInterval::DEFAULT, |Interval(interval)| interval),
        destination: destination(settings, set, name, format)?,
        records_max: records.filter(|records| *records > 0).map(Into::into),
    };
    let pattern = NameFormat::new((AutoPathFormat::PATTERN | AutoPathFormat::COMPUTER).0.into(), FOLDERS);
    let task = actions::call(set.task.as_ref(), set.task_arguments.as_ref(), set.task_text.as_ref());
    Ok(Logs {
        collectors: vec![Arc::new(collector)],
        schedules: set.schedules.iter().flatten().map(schedule).collect(),
        are_schedules_enabled: set.schedules.is_some(),
        zone: set.time_zone.as_deref().map_or(Ok(TimeZone::UTC), zone)?,
        duration: set.duration.map(|time| time.0).filter(|time| !time.is_zero()),
        segment: Segment {
            is_continued: set.segment.is_some(),
            duration_max: every.map(|time| time.0),
            bytes_max: size.map(|size| u64::from(size.0) << 20),
        },
        stops_on_completion: false,
        folder: Name {
            base: String::new(),
            format: pattern.map_err(|error| (String::new(), error.to_string()))?,
        },
        serial_number: 0,
        manager: manager(set.keep.unwrap_or_default()),
        task: task.map_err(|(key, message)| (key.to_owned(), message))?,
    })
}

fn paths(counters: &[String]) -> Result<Vec<CounterPath>, Refusal> {
    if counters.is_empty() || counters.len() > COLUMN_PATHS_MAX {
        return Err(("/counters".to_owned(), format!("list 1 to {COLUMN_PATHS_MAX} counters")));
    }
    let mut paths: Vec<CounterPath> = Vec::new();
    for (index, text) in counters.iter().enumerate() {
        let place = || format!("/counters/{index}");
        let path: CounterPath =
            text.trim().parse().map_err(|error: PathError| (place(), error.to_string()))?;
        check_path(&path).map_err(|reason| (place(), reason.to_owned()))?;
        if paths.contains(&path) {
            return Err((place(), "this counter is in the list already".to_owned()));
        }
        paths.push(path);
    }
    Ok(paths)
}

fn destination(
    settings: &Settings,
    set: &SetSettings,
    name: &str,
    format: LogFormat,
) -> Result<Destination, Refusal> {
    match (format, &set.database) {
        (LogFormat::Sql, Some(database)) if settings.databases.contains_key(database) => {
            Ok(Destination::Database { database: database.clone(), log: name.to_owned() })
        }
        (LogFormat::Sql, Some(database)) => {
            Err(("/database".to_owned(), format!("`databases` of the module names no `{database}`")))
        }
        (LogFormat::Sql, None) => {
            Err((String::new(), "`database` is missing, the name of a database".to_owned()))
        }
        (_, Some(_)) => {
            Err(("/database".to_owned(), "a set with a database has `log_format: sql`".to_owned()))
        }
        (format, None) => {
            let name = Name { base: COLLECTOR.to_owned(), format: NameFormat::default() };
            Ok(Destination::File { format, name, overwrites: false, is_circular: false })
        }
    }
}

/// A time zone by its name in the IANA database.
fn zone(name: &str) -> Result<TimeZone, Refusal> {
    TimeZone::get(name).map_err(|_| {
        let message = format!("there is no time zone `{name}`: write one such as `Europe/Berlin` or `UTC`");
        ("/time_zone".to_owned(), message)
    })
}

fn schedule(settings: &ScheduleSettings) -> StartSchedule {
    let ScheduleSettings { days, at, from, to } = settings;
    let bits = days.iter().fold(0, |bits, day| bits | day.bit());
    StartSchedule {
        first: from.map(|date| date.0),
        last: to.map(|date| date.0),
        time: at.0,
        week_days: if bits == 0 { ms_pla::WeekDays::EVERYDAY.0 } else { bits },
    }
}

/// A set of the configuration has a report of each run, and limits where it says so.
fn manager(keep: KeepSettings) -> DataManager {
    let KeepSettings { folders, size, free, delete } = keep;
    DataManager {
        is_enabled: Some(true),
        folders_max: folders,
        size_max_mb: size.map(|size| size.0),
        free_disk_min_mb: free.map(|free| free.0),
        resource_policy: Some(match delete {
            DeleteFirst::Oldest => ResourcePolicy::DELETE_OLDEST,
            DeleteFirst::Largest => ResourcePolicy::DELETE_LARGEST,
        }),
        ..DataManager::default()
    }
}

/// What is wrong with the databases, each with its place.
pub(super) fn check(databases: &BTreeMap<String, DatabaseSettings>) -> Vec<(String, String)> {
    let mut wrong = Vec::new();
    if databases.len() > DATABASES_MAX {
        wrong.push(("/databases".to_owned(), format!("name at most {DATABASES_MAX} databases")));
    }
    for (name, settings) in databases.iter().take(DATABASES_MAX) {
        let place = format!("/databases/{}", name.replace('~', "~0").replace('/', "~1"));
        let mut refuse = |key: &str, message: &str| wrong.push((format!("{place}{key}"), message.to_owned()));
        if let Err(message) = check_name(name) {
            refuse("", &message);
        }
        match settings {
            DatabaseSettings { sqlite: Some(file), postgresql: None } => {
                if pla_engine::component(file) != *file {
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
pub(super) fn databases(settings: &BTreeMap<String, DatabaseSettings>) -> Databases {
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

/// The name of the data collector of a set that is written in the configuration, and of its files.
const COLLECTOR: &str = "counters";
/// As Windows names folders.
const FOLDERS: &str = r"yyyyMMdd\-NNNNNN";
const DATABASES_MAX: usize = 16;
