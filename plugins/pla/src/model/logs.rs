//! What a set logs: its collectors of performance counters, and when they run, [MS-PLA] 3.2.4.1 and 3.2.4.6.

use std::sync::Arc;
use std::time::Duration;

use counter_types::CounterPath;
use jiff::tz::TimeZone;
use ms_pla::xml;
use pla_engine::{Collector, NameFormat, SetDefinition, StartSchedule};
use serde::Deserialize;

use super::{SampleInterval, TaskCall};

/// What of a set is logged, and when.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Logs {
    /// The description of the set; may be empty.
    pub(crate) description: String,
    /// There is at least one.
    pub(crate) collectors: Vec<Arc<CounterCollector>>,
    /// When it starts; without any it runs always, unless alerts start it.
    pub(crate) schedules: Vec<StartSchedule>,
    /// Whether these are in force.
    pub(crate) are_schedules_enabled: bool,
    /// Of schedules, names of files, and times in logs.
    pub(crate) zone: TimeZone,
    /// How long a run lasts; without it, until it is stopped.
    pub(crate) duration: Option<Duration>,
    /// When files are full.
    pub(crate) segment: Segment,
    /// Whether a run ends when nothing is left to log.
    pub(crate) stops_on_completion: bool,
    /// The names of the folders of runs.
    pub(crate) folder: Name,
    /// That of the first run.
    pub(crate) serial_number: u32,
    /// What happens to the folders.
    pub(crate) manager: xml::DataManager,
    /// The task that is started when a run has ended.
    pub(crate) task: Option<TaskCall>,
    /// What reports say of the set: which of its properties are ignored.
    pub(crate) remarks: Vec<String>,
}

/// [MS-PLA] 3.2.4.6: a data collector of performance counters.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct CounterCollector {
    /// Its name, unique in the set.
    pub(crate) name: String,
    /// There is at least one.
    pub(crate) paths: Vec<CounterPath>,
    /// The time between two records.
    pub(crate) interval: SampleInterval,
    pub(crate) destination: Destination,
    /// Records of a file.
    pub(crate) records_max: Option<u64>,
}

impl CounterCollector {
    /// Whether its file has no end.
    pub(crate) const fn is_circular(&self) -> bool {
        matches!(self.destination, Destination::File { is_circular: true, .. })
    }
}

/// Where the records of a collector go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Destination {
    /// Files of the set's folders.
    File {
        /// What is in them.
        format: LogFormat,
        /// Their names, without an ending.
        name: Name,
        /// Whether a file of that name is replaced.
        overwrites: bool,
        /// Whether the oldest records of a file that is full are overwritten.
        is_circular: bool,
    },
    /// Tables of a database.
    Database {
        /// Its name in the settings.
        database: String,
        /// The name of the log in its tables.
        log: String,
    },
}

/// When a file is full, [MS-PLA] 3.2.4.1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Segment {
    /// Whether the next file follows; otherwise the run ends.
    pub(crate) is_continued: bool,
    pub(crate) duration_max: Option<Duration>,
    pub(crate) bytes_max: Option<u64>,
}

/// How a name is made, [MS-PLA] 2.2.3.1.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Name {
    /// What it begins with.
    pub(crate) base: String,
    pub(crate) format: NameFormat,
}

/// The format of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case", expecting = "`csv`, `tsv`, `parquet` or `sql`")]
pub(crate) enum LogFormat {
    Csv,
    Tsv,
    /// Apache Parquet, which Windows does not have.
    Parquet,
    Sql,
}

impl LogFormat {
    /// Its name in the settings.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Csv => "csv",
            Self::Tsv => "tsv",
            Self::Parquet => "parquet",
            Self::Sql => "sql",
        }
    }
}

impl std::str::FromStr for LogFormat {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, &'static str> {
        match text {
            "csv" => Ok(Self::Csv),
            "tsv" => Ok(Self::Tsv),
            "parquet" => Ok(Self::Parquet),
            "sql" => Ok(Self::Sql),
            _ => Err("write `csv`, `tsv`, `parquet` or `sql`"),
        }
    }
}

impl Logs {
    /// What of it decides when it runs.
    pub(crate) fn definition(&self) -> SetDefinition {
        let collectors =
            self.collectors.iter().map(|one| Collector::Counters { records_max: one.records_max });
        SetDefinition {
            schedules: self.schedules.clone(),
            are_schedules_enabled: self.are_schedules_enabled,
            zone: self.zone.clone(),
            duration: self.duration,
            is_segmented: self.segment.is_continued,
            segment_duration_max: self.segment.duration_max,
            segment_bytes_max: self.segment.bytes_max,
            collectors: collectors.collect(),
            stops_on_completion: self.stops_on_completion,
            is_managed: self.manager.is_enabled.unwrap_or_default(),
            serial_number: self.serial_number,
        }
    }

    /// Whether a log of it is a file that has to be brought to an end.
    pub(crate) fn has_parquet(&self) -> bool {
        let is_one = |one: &Destination| matches!(one, Destination::File { format: LogFormat::Parquet, .. });
        self.collectors.iter().any(|one| is_one(&one.destination))
    }

    /// Whether schedules start it.
    pub(crate) fn is_scheduled(&self) -> bool {
        self.are_schedules_enabled && !self.schedules.is_empty()
    }

    /// Whether it needs the folder of the exporter: for its own files, or for a database that is one.
    pub(crate) fn needs_storage(&self, is_file: impl Fn(&str) -> bool) -> bool {
        self.collectors.iter().any(|one| match &one.destination {
            Destination::File { .. } => true,
            Destination::Database { database, .. } => is_file(database),
        })
    }
}

/// What a counter path of a log must not be, beyond its syntax. Its counter may have `*` and `?`, too.
///
/// # Errors
/// What is wrong, for people.
pub(crate) fn check_path(path: &CounterPath) -> Result<(), &'static str> {
    if path.counterset.contains(['*', '?']) {
        return Err("name one counterset: only instances and counters may have `*` and `?`");
    }
    if path.to_string().len() > PATH_BYTES_MAX {
        return Err("the path is longer than 1,024 bytes");
    }
    Ok(())
}

/// Columns of one log; what is above is left out.
pub(crate) const COLUMNS_MAX: usize = 20_000;
/// Counter paths of one collector.
pub(crate) const COLUMN_PATHS_MAX: usize = 10_000;
const PATH_BYTES_MAX: usize = 1_024;
