//! What an exported set logs.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use counter_types::CounterPath;
use jiff::civil;
use jiff::tz::TimeZone;
use ms_pla::xml::{
    DataCollectorSet, DataManager, Date, FolderAction, PerformanceCounterDataCollector, Schedule,
};
use ms_pla::{AutoPathFormat, FileFormat, FolderActionSteps};
use pla_engine::{NameFormat, StartSchedule};

use super::logs::{
    COLUMN_PATHS_MAX, CounterCollector, Destination, LogFormat, Logs, Name, Segment, check_path,
};
use super::{Neglected, ProblemKind, SampleInterval, Set, clean};

/// What the settings say about the logs of an exported set.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct LogOverrides {
    /// The format, instead of what the set says.
    pub(crate) format: Option<LogFormat>,
    /// The format of logs that the set wants in the binary format.
    pub(crate) binary: Option<LogFormat>,
    /// The database, instead of the data source that the set names.
    pub(crate) database: Option<String>,
    /// The databases that there are.
    pub(crate) databases: HashSet<String>,
    pub(crate) zone: Option<TimeZone>,
    /// For how long a run lasts, instead of the set's own time.
    pub(crate) duration: Option<Duration>,
    /// Whether there is a folder to which cabinet files are sent.
    pub(crate) sends_cabinets: bool,
}

/// Why a collector is not run.
type Refusal = (ProblemKind, String);

impl LogOverrides {
    /// For a set that no configuration names: logs go wherever the set says.
    pub(crate) fn of_set(document: &DataCollectorSet, binary: Option<LogFormat>) -> Self {
        let sources = document.counters.iter().map(|collector| collector.data_source_name.as_deref());
        let databases = sources.map(|source| data_source(source.unwrap_or_default()).0).collect();
        Self { binary, databases, ..Self::default() }
    }
}

impl Set {
    /// Takes the data collectors of performance counters. What cannot be logged is among the set's problems; a set with a
    /// format that there is not logs nothing.
    pub(crate) fn add_logs(&mut self, document: &DataCollectorSet, overrides: &LogOverrides) {
        if document.counters.is_empty() {
            return;
        }
        let mut collectors: Vec<Arc<CounterCollector>> = Vec::new();
        if document.counters.len() > COLLECTORS_MAX {
            let count = document.counters.len();
            let message = format!(
                "it has {count} data collectors of counters, and at most {COLLECTORS_MAX} log: make several sets of it"
            );
            self.report("", ProblemKind::Limit, message);
        }
        for (index, collector) in document.counters.iter().take(COLLECTORS_MAX).enumerate() {
            // As Windows names them.
            let own = collector.name.as_deref().map(clean).filter(|name| !name.is_empty());
            let name = own.unwrap_or_else(|| format!("DataCollector{:02}", index + 1));
            let name = distinct(name, |name| collectors.iter().any(|other| other.name == name));
            match self.collector(&name, collector, overrides) {
                Ok(collector) => collectors.push(Arc::new(collector)),
                Err((kind, message)) => self.report(&name, kind, message),
            }
        }
        let folder = match name_of(
            document.subdirectory.as_deref(),
            document.subdirectory_format,
            document.subdirectory_format_pattern.as_deref(),
        ) {
            Ok(folder) => folder,
            Err(reason) => {
                let message = format!("no data are logged: the names of folders: {reason}");
                return self.report("", ProblemKind::Value, message);
            }
        };
        let is_refused = self.problems.iter().any(|problem| problem.kind == ProblemKind::LogFormat);
        if collectors.is_empty() || is_refused {
            return;
        }
        if let Some(manager) = document.data_manager.as_ref().filter(|_| !overrides.sends_cabinets) {
            self.report_unsent_cabinets(manager);
        }
        if overrides.zone.is_none() {
            self.report_time_zone(document, &folder, &collectors);
        }
        let seconds = |seconds: Option<u32>| {
            seconds.filter(|seconds| *seconds > 0).map(|seconds| Duration::from_secs(seconds.into()))
        };
        let megabytes = document.segment_size_max_mb.filter(|megabytes| *megabytes > 0);
        self.logs = Some(Arc::new(Logs {
            description: document.description.as_deref().map(description).unwrap_or_default(),
            collectors,
            schedules: self.schedules(document),
            are_schedules_enabled: document.are_schedules_enabled.unwrap_or_default(),
            zone: overrides.zone.clone().unwrap_or(TimeZone::UTC),
            duration: overrides
                .duration
                .or_else(|| seconds(document.duration_s))
                .filter(|time| !time.is_zero()),
            segment: Segment {
                is_continued: document.is_segmented.unwrap_or_default(),
                duration_max: seconds(document.segment_duration_max_s),
                bytes_max: megabytes.map(|megabytes| u64::from(megabytes) << 20),
            },
            stops_on_completion: document.stops_on_completion.unwrap_or_default(),
            folder,
            serial_number: document.serial_number.unwrap_or_default(),
            manager: document.data_manager.clone().unwrap_or_default(),
            task: self.task_of_set(document),
            remarks: remarks(document, overrides),
        }));
    }

    /// When it starts. All schedules are searched for each start, so that there is a limit.
    fn schedules(&mut self, document: &DataCollectorSet) -> Vec<StartSchedule> {
        let count = document.schedules.len();
        if count > SCHEDULES_MAX {
            let message = format!(
                "it has {count} schedules, and at most {SCHEDULES_MAX} start it: join those that differ in their days only"
            );
            self.report("", ProblemKind::Limit, message);
        }
        // One that cannot be read never starts the set; without any it would run always.
        let schedules = document.schedules.iter().take(SCHEDULES_MAX);
        schedules.map(|one| schedule(one).unwrap_or_default()).collect()
    }

    /// The file does not say where the host is.
    fn report_time_zone(
        &mut self,
        document: &DataCollectorSet,
        folder: &Name,
        collectors: &[Arc<CounterCollector>],
    ) {
        let is_scheduled = document.are_schedules_enabled == Some(true) && !document.schedules.is_empty();
        let has_date = |collector: &Arc<CounterCollector>| matches!(&collector.destination, Destination::File { name, .. } if name.format.has_time());
        let what = match (is_scheduled, folder.format.has_time() || collectors.iter().any(has_date)) {
            (true, true) => {
                "the times of its schedules and of the names of its folders and files count as UTC"
            }
            (true, false) => "the times of its schedules count as UTC",
            (false, true) => "the times in the names of its folders and files are UTC",
            (false, false) => return,
        };
        let message = format!("{what}: write `time_zone: Europe/Berlin`, for example, or `UTC` at the set");
        self.report("", ProblemKind::TimeZone, message);
    }

    /// A share of Windows is no folder of this machine.
    fn report_unsent_cabinets(&mut self, manager: &DataManager) {
        let sends = |action: &&FolderAction| {
            let steps = action.actions.unwrap_or(FolderActionSteps(0));
            manager.is_enabled == Some(true) && steps.contains(FolderActionSteps::SEND_CAB)
        };
        if let Some(action) = manager.folder_actions.iter().find(sends) {
            let share = clean(action.send_cab_to.as_deref().unwrap_or_default());
            let message = format!(
                "cabinet files for `{share}` are not sent: write `cabinets: DIRECTORY` at the module for a directory of this machine"
            );
            self.report("", ProblemKind::Storage, message);
        }
    }

    fn collector(
        &mut self,
        name: &str,
        collector: &PerformanceCounterDataCollector,
        overrides: &LogOverrides,
    ) -> Result<CounterCollector, Refusal> {
        let destination = destination((&self.name, name), collector, overrides)?;
        let mut paths: Vec<CounterPath> = Vec::new();
        for text in &collector.counters {
            match text.trim().parse::<CounterPath>() {
                Ok(path) => match check_path(&path) {
                    Ok(()) if paths.contains(&path) => {}
                    Ok(()) => paths.push(path),
                    Err(reason) => self.report(name, ProblemKind::Counter, format!("`{path}`: {reason}")),
                },
                Err(error) => {
                    let shown = clean(text);
                    self.report(name, ProblemKind::Counter, format!("`{shown}`: {error}"));
                }
            }
            if paths.len() > COLUMN_PATHS_MAX {
                let message = format!("it has more than {COLUMN_PATHS_MAX} counter paths");
                return Err((ProblemKind::Limit, message));
            }
        }
        if paths.is_empty() {
            return Err((ProblemKind::Collector, "it names no counter".to_owned()));
        }
        Ok(CounterCollector {
            name: name.to_owned(),
            paths,
            interval: collector.sample_interval_s.map_or(SampleInterval::DEFAULT, SampleInterval::of_seconds),
            destination,
            records_max: collector.segment_records_max.filter(|records| *records > 0).map(Into::into),
        })
    }
}

fn destination(
    (set, name): (&str, &str),
    collector: &PerformanceCounterDataCollector,
    overrides: &LogOverrides,
) -> Result<Destination, Refusal> {
    // The document says nothing of a default; without a format Windows writes the binary one.
    let own = match collector.log_file_format.unwrap_or(FileFormat::BINARY) {
        FileFormat::COMMA_SEPARATED => Some(LogFormat::Csv),
        FileFormat::TAB_SEPARATED => Some(LogFormat::Tsv),
        FileFormat::SQL => Some(LogFormat::Sql),
        _ => None,
    };
    let Some(format) = overrides.format.or(own).or(overrides.binary) else {
        let message = "LogFileFormat: 0x80300101 PLA_E_PROPERTY_CONFLICT: the binary format has no public description: \
                       write `log_format: csv` (or `tsv`, `parquet`, `sql`) at the set or the module";
        return Err((ProblemKind::LogFormat, message.to_owned()));
    };
    if format == LogFormat::Sql {
        return database(
            &format!("{set}: {name}"),
            collector.data_source_name.as_deref().unwrap_or_default(),
            overrides,
        );
    }
    let base = collector.file_name.as_deref().filter(|base| !base.trim().is_empty()).unwrap_or(name);
    let name = name_of(Some(base), collector.file_name_format, collector.file_name_format_pattern.as_deref());
    Ok(Destination::File {
        format,
        name: name.map_err(|reason| {
            (ProblemKind::Value, format!("it does not log: the name of its file: {reason}"))
        })?,
        overwrites: collector.overwrites.unwrap_or_default(),
        is_circular: collector.is_circular.unwrap_or_default(),
    })
}

/// A description as one line.
fn description(text: &str) -> String {
    let line = text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty());
    line.collect::<Vec<_>>().join(" ").chars().take(DESCRIPTION_CHARS_MAX).collect()
}

fn remarks(document: &DataCollectorSet, overrides: &LogOverrides) -> Vec<String> {
    let neglected = Neglected::of(document, overrides.format.or(overrides.binary));
    let mut remarks: Vec<String> = neglected.iter().filter_map(Neglected::remark).collect();
    if remarks.len() > REMARKS_MAX {
        let more = remarks.len() - REMARKS_MAX;
        remarks.truncate(REMARKS_MAX);
        remarks
            .push(format!("{more} more properties are ignored or in conflict: `pla validate` lists them."));
    }
    remarks
}

/// `SQL:DSN-Name!LogsetName` of [MS-PLA] 3.2.4.6.2.
fn database(name: &str, source: &str, overrides: &LogOverrides) -> Result<Destination, Refusal> {
    let (own, log) = data_source(source);
    let database = overrides.database.clone().unwrap_or(own);
    if !overrides.databases.contains(&database) {
        let message = format!(
            "DataSourceName: 0x80300101 PLA_E_PROPERTY_CONFLICT: `databases` names no `{database}`: add it there, or write \
             `database` at the set"
        );
        return Err((ProblemKind::LogFormat, message));
    }
    let log = Some(log).filter(|log| !log.is_empty()).unwrap_or_else(|| name.to_owned());
    Ok(Destination::Database { database, log })
}

/// The database and the log of a data source.
fn data_source(source: &str) -> (String, String) {
    let text = source.trim();
    let text = text.get(..4).filter(|start| start.eq_ignore_ascii_case("SQL:")).map_or(text, |_| &text[4..]);
    let (database, log) = text.split_once('!').unwrap_or((text, ""));
    (clean(database), clean(log))
}

fn name_of(
    base: Option<&str>,
    format: Option<AutoPathFormat>,
    pattern: Option<&str>,
) -> Result<Name, String> {
    let bits = format.unwrap_or(AutoPathFormat::NONE).0;
    let format =
        NameFormat::new(bits.into(), pattern.unwrap_or_default()).map_err(|error| error.to_string())?;
    Ok(Name { base: base.map(clean).unwrap_or_default(), format })
}

/// A schedule of a set. None of one with a value that cannot be read, or a date that no calendar has.
pub(crate) fn schedule(schedule: &Schedule) -> Option<StartSchedule> {
    if !schedule.unread().is_empty() {
        return None;
    }
    let time = |time: ms_pla::xml::Time| {
        civil::Time::new(number(time.hour)?, number(time.minute)?, number(time.second)?, 0).ok()
    };
    Some(StartSchedule {
        first: day(schedule.start_date)?,
        last: day(schedule.end_date)?,
        time: schedule.start_time.map_or(Some(civil::Time::midnight()), time)?,
        week_days: schedule.days.unwrap_or_default().0,
    })
}

fn day(date: Option<Date>) -> Option<Option<civil::Date>> {
    let Some(Date { year, month, day }) = date else { return Some(None) };
    civil::Date::new(year.try_into().ok()?, number(month)?, number(day)?).ok().map(Some)
}

fn number(number: u8) -> Option<i8> {
    number.try_into().ok()
}

/// A name that is not taken, with a number where it has to be.
pub(super) fn distinct(name: String, is_taken: impl Fn(&str) -> bool) -> String {
    if !is_taken(&name) {
        return name;
    }
    let numbered = (2_u32..).map(|number| format!("{name} ({number})"));
    numbered.into_iter().find(|name| !is_taken(name)).unwrap_or(name)
}

/// In the header of each file.
const DESCRIPTION_CHARS_MAX: usize = 1_024;
/// Data collectors of a set that log. Each has files of its own, and a name that is compared with all before it.
const COLLECTORS_MAX: usize = 256;
/// Schedules of a set: one for each quarter of an hour, and more.
const SCHEDULES_MAX: usize = 128;
const REMARKS_MAX: usize = 20;
