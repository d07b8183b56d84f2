//! Where logs go: the folder of the target, and the memory for records that wait.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use counter_log::database::{Log, SqliteFile, SqliteSink};
use counter_log::writer::{
    Existing, FileFormat, FileLog, FileOptions, MemoryPool, OpenFolder, QueueMemory, QueueOptions,
};
use counter_log::{LogHeader, SinkError, SinkErrorKind};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use pla_engine::NameParts;
use plugin_sdk::{LibrarySettings, Problem};
use safe_files::WeakMap;
use safe_text::component;
use serde::Deserialize;

use super::folder::SetFolder;
use super::open_log::OpenLog;
use super::state::StateStore;
use super::turns::Turn;
use super::{AnySink, Server};
use crate::config::{Database, Megabytes, Postgresql, StorageSettings};
use crate::model::{CounterCollector, Destination, LogFormat};

/// What the logs of a target are opened with.
#[derive(Debug)]
pub(crate) struct LogFactory {
    /// The host in the names of columns, folders and files.
    pub(super) machine: String,
    settings: StorageSettings,
    /// That all logs of the target share for records that wait, those of segments that have ended among them.
    memory: Arc<QueueMemory>,
    /// How many logs there are. None of them takes the part of another one.
    logs: AtomicUsize,
}

impl LogFactory {
    pub(crate) fn new(machine: String, settings: StorageSettings) -> Self {
        let make = || QueueMemory::of_pool(BYTES_WAITING_MAX, log_memory());
        let memory = MEMORY.get_or_insert_with(machine.clone(), make);
        Self { machine, settings, memory, logs: AtomicUsize::new(1) }
    }

    /// Other places for the logs of the same target.
    pub(super) fn reconfigured(&self, settings: StorageSettings) -> Self {
        Self::new(self.machine.clone(), settings)
    }

    /// Whether these are its settings.
    pub(super) fn has_settings(&self, settings: &StorageSettings) -> bool {
        self.settings == *settings
    }

    /// There are so many logs.
    pub(super) fn share(&self, logs: usize) {
        self.logs.store(logs.max(1), Ordering::Relaxed);
    }

    /// What one log may keep in memory.
    fn queue(&self) -> QueueOptions {
        let options = QueueOptions::default();
        let part = BYTES_WAITING_MAX / self.logs.load(Ordering::Relaxed);
        QueueOptions { bytes_max: options.bytes_max.min(part), memory: Arc::clone(&self.memory), ..options }
    }

    /// The folder of a set.
    pub(crate) fn folder(&self, set: &str) -> Option<SetFolder> {
        self.settings.directory.clone().map(|directory| SetFolder::new(directory, set))
    }

    /// What is stored of a set that has not run.
    pub(crate) fn state(&self, set: &str) -> Option<Arc<StateStore>> {
        self.folder(set).map(|folder| Arc::new(StateStore::new(folder, (&self.machine, set), None)))
    }

    /// The folder to which cabinet files of a set are sent. It is of this set alone: names of folders are unique in a set only.
    pub(super) fn cabinets(&self, set: &str) -> Option<SetFolder> {
        let target = self.settings.cabinets.as_ref()?.join(component(&self.machine));
        Some(SetFolder::new(target, set))
    }

    /// Whether a log can be written.
    pub(super) fn has(&self, destination: &Destination) -> bool {
        match destination {
            Destination::File { .. } => self.settings.directory.is_some(),
            Destination::Database { database, .. } => match self.settings.databases.get(database) {
                Some(Database::Sqlite(_)) => self.settings.directory.is_some(),
                Some(Database::Postgresql(_)) => true,
                None => false,
            },
        }
    }

    /// Opens the log of a collector. `files` has the names that other collectors of the segment have.
    pub(crate) fn open(
        &self,
        state: Option<&Arc<StateStore>>,
        (zone, collector): (&TimeZone, &CounterCollector),
        (serial_number, folder, began, bytes_max): (u32, &str, Timestamp, Option<u64>),
        files: &mut Vec<String>,
        header: LogHeader,
    ) -> Option<OpenLog> {
        let header = Arc::new(header);
        let interval = collector.interval.period();
        match &collector.destination {
            Destination::File { format, name, overwrites, is_circular } => {
                let time = began.to_zoned_datetime(zone.clone());
                let parts =
                    NameParts { computer: &self.machine, base: &name.base, serial_number, time: &time };
                let stem = name.format.component(&parts).unwrap_or_else(|| component(&collector.name));
                let (format, ending) = match format {
                    LogFormat::Tsv => (FileFormat::Tsv, "tsv"),
                    LogFormat::Parquet => (FileFormat::Parquet, "parquet"),
                    LogFormat::Csv | LogFormat::Sql => (FileFormat::Csv, "csv"),
                };
                let file = format!("{stem}.{ending}");
                // A file of this very segment is never replaced.
                let is_taken = files.contains(&file);
                files.push(file.clone());
                let existing = if *overwrites && !is_taken { Existing::Replace } else { Existing::Keep };
                let circular_bytes_max = is_circular.then(|| bytes_max.unwrap_or(CIRCULAR_BYTES_MAX));
                let (state, folder) = (Arc::clone(state?), folder.to_owned());
                let place = self.folder(state.set_name()).map(|of_set| of_set.path_of(&folder));
                let place = place.map(|path| path.display().to_string()).unwrap_or_default();
                let open: OpenFolder = Arc::new(move || state.run(&folder));
                let options = FileOptions { format, existing, circular_bytes_max };
                let log = FileLog::new(open, &file, Arc::clone(&header), options);
                let progress = log.progress();
                Some(OpenLog::open(
                    header,
                    (place, AnySink::File(Box::new(log))),
                    Some(progress),
                    (interval, self.queue()),
                ))
            }
            Destination::Database { database, log } => {
                let sink = self.database((database, log), &header).unwrap_or_else(|message| {
                    AnySink::Refused(SinkError { kind: SinkErrorKind::Refused, message })
                });
                let place = format!("database `{database}`");
                Some(OpenLog::open(header, (place, sink), None, (interval, self.queue())))
            }
        }
    }
}

impl LogFactory {
    /// The tables of a log. The host is in the names of its counters, so that hosts may share a database.
    fn database(&self, (database, log): (&str, &str), header: &LogHeader) -> Result<AnySink, String> {
        let name = format!("{}: {log}", self.machine);
        let log = Log::new(&name, header.clone()).map_err(|error| error.to_string())?;
        match (self.settings.databases.get(database), &self.settings.directory) {
            (Some(Database::Sqlite(file)), Some(directory)) => {
                let file = SqliteFile::at(&directory.join(file)).map_err(|error| error.to_string())?;
                let turn = Turn::next(file.to_string(), &name);
                Ok(AnySink::Sqlite(Box::new(SqliteSink::new(file, log)), turn))
            }
            (Some(Database::Postgresql(settings)), _) => {
                let Postgresql { host, port, database, .. } = &**settings;
                let turn = Turn::next(format!("{host}:{port}/{database}"), &name);
                Ok(AnySink::Postgresql(Box::new(Server::new(Arc::clone(settings), log)), turn))
            }
            _ => Err(format!("there is no database `{database}`")),
        }
    }
}

static MEMORY: WeakMap<String, QueueMemory> = WeakMap::new();
/// Records of all logs of a target that wait.
const BYTES_WAITING_MAX: usize = 256 << 20;
/// A circular file of a set without a limit of its size.
const CIRCULAR_BYTES_MAX: u64 = 100 << 20;

// Memory for records that wait, of all targets together.

/// The settings of the whole plugin: `plugins.settings.pla`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default, expecting = "a mapping such as `{log_memory: 256MB}`")]
pub(crate) struct LibraryOptions {
    /// For records of all logs that wait. Without it, a part of what the process may have.
    log_memory: Option<Megabytes>,
}

static OPTIONS: OnceLock<LibraryOptions> = OnceLock::new();
static POOL: OnceLock<Arc<MemoryPool>> = OnceLock::new();

impl LibrarySettings for LibraryOptions {
    fn configure(self) -> Result<(), Vec<Problem>> {
        if *OPTIONS.get_or_init(|| self) == self {
            return Ok(());
        }
        Err(vec![Problem::new("", "the process has other settings of this plugin: restart it")])
    }
}

/// What all logs of the process share.
fn log_memory() -> Arc<MemoryPool> {
    let make = || {
        let configured = OPTIONS.get().and_then(|options| options.log_memory);
        let bytes =
            configured.map_or_else(|| part_of(memory_limit(Path::new("/"))), |size| u64::from(size.0) << 20);
        Arc::new(MemoryPool::new(usize::try_from(bytes).unwrap_or(usize::MAX)))
    };
    Arc::clone(POOL.get_or_init(make))
}

/// What records may take where the settings do not say it.
fn part_of(limit: Option<u64>) -> u64 {
    limit.map_or(UNKNOWN, |bytes| (bytes / PART).clamp(BYTES_MIN, BYTES_MAX))
}

/// The memory that this process may have: that of the machine, or of a control group that it is in.
fn memory_limit(root: &Path) -> Option<u64> {
    let read = |path: &Path| fs::read_to_string(root.join(path)).unwrap_or_default();
    let meminfo = read(Path::new("proc/meminfo"));
    let total = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:")?.strip_suffix("kB"));
    let machine = total.and_then(|kilobytes| kilobytes.trim().parse::<u64>().ok()?.checked_mul(1 << 10));
    let groups = read(Path::new("proc/self/cgroup"));
    let files = groups.lines().filter_map(|line| {
        let mut fields = line.splitn(3, ':').skip(1);
        let (controllers, group) = (fields.next()?, fields.next()?);
        let (base, file) = match controllers {
            "" => ("sys/fs/cgroup", "memory.max"),
            _ if controllers.split(',').any(|one| one == "memory") => {
                ("sys/fs/cgroup/memory", "memory.limit_in_bytes")
            }
            _ => return None,
        };
        let group = PathBuf::from(group.trim_start_matches('/'));
        // Each group is within the limits of those above.
        let all: Vec<PathBuf> =
            group.ancestors().map(|group| Path::new(base).join(group).join(file)).collect();
        Some(all)
    });
    let groups = files.flatten().filter_map(|file| read(&file).trim().parse().ok());
    machine.into_iter().chain(groups).min()
}

/// The rest is for the values of the targets, and for everything else.
const PART: u64 = 4;
const BYTES_MIN: u64 = 16 << 20;
const BYTES_MAX: u64 = 1 << 30;
/// Where the system says nothing.
const UNKNOWN: u64 = 256 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logs_of_all_modules_of_a_target_share_memory() {
        let of = |target: &str| LogFactory::new(target.to_owned(), StorageSettings::default());
        let (first, second, other) = (of("memory1"), of("memory1"), of("memory2"));
        let again = first.reconfigured(StorageSettings::default());
        let shares =
            |one: &LogFactory, other: &LogFactory| Arc::ptr_eq(&one.queue().memory, &other.queue().memory);
        assert_eq!(
            (shares(&first, &second), shares(&first, &again), shares(&first, &other)),
            (true, true, false)
        );
    }

    #[test]
    fn the_smallest_limit_of_machine_and_groups_counts_and_records_have_a_part_of_it() {
        for (groups, files, expected) in [
            ("", &[][..], Some(8 << 30)),
            ("0::/\n", &[("memory.max", "536870912\n")], Some(512 << 20)),
            ("0::/a/b\n", &[("a/b/memory.max", "max\n"), ("a/memory.max", "1073741824\n")], Some(1 << 30)),
            ("0::/../x\n", &[("memory.max", "max\n")], Some(8 << 30)),
            (
                "5:cpu,memory:/docker/1\n1:name=systemd:/\n",
                &[("memory/docker/1/memory.limit_in_bytes", "268435456\n")],
                Some(256 << 20),
            ),
        ] {
            let root = tempfile::tempdir().expect("a folder");
            let write = |path: &str, text: &str| {
                let path = root.path().join(path);
                fs::create_dir_all(path.parent().expect("it is below the root")).expect("a folder");
                fs::write(path, text).expect("a file");
            };
            write("proc/meminfo", "MemTotal:        8388608 kB\nMemFree:  1 kB\n");
            write("proc/self/cgroup", groups);
            files.iter().for_each(|(path, text)| write(&format!("sys/fs/cgroup/{path}"), text));
            assert_eq!(memory_limit(root.path()), expected, "{groups}");
        }
        assert_eq!(memory_limit(Path::new("/nowhere")), None);
        let parts = [None, Some(8 << 20), Some(512 << 20), Some(64 << 30)].map(part_of);
        assert_eq!(parts, [256 << 20, 16 << 20, 128 << 20, 1 << 30]);
    }
}
