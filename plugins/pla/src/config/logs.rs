//! What a set of the configuration logs.

use std::collections::HashSet;
use std::sync::Arc;

use counter_types::{CounterPath, PathError};
use jiff::tz::TimeZone;
use ms_pla::xml::{DataManager, FolderAction};
use ms_pla::{AutoPathFormat, FolderActionSteps, ResourcePolicy};
use pla_engine::{NameFormat, StartSchedule};

use super::log_settings::{
    ActionSettings, Days, DeleteFirst, KeepSettings, ScheduleSettings, SegmentSettings,
};
use super::settings::{Interval, SetSettings};
use super::{Refusal, Settings, actions};
use crate::model::{
    COLUMN_PATHS_MAX, CounterCollector, Destination, LogFormat, LogOverrides, Logs, Name, Segment, check_path,
};

/// What the settings say about the logs of an exported set.
pub(super) fn overrides(settings: &Settings, set: &SetSettings) -> Result<LogOverrides, Refusal> {
    Ok(LogOverrides {
        format: set.log_format,
        binary: settings.log_format,
        database: set.database.clone(),
        databases: settings.databases.keys().cloned().collect::<HashSet<_>>(),
        zone: set.time_zone.as_deref().map(zone).transpose()?,
        duration: set.duration.map(|time| time.0),
        sends_cabinets: settings.cabinets.is_some(),
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
        description: String::new(),
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
        manager: data_manager(settings, set.keep.as_ref())?,
        task: task.map_err(|(key, message)| (key.to_owned(), message))?,
        remarks: Vec::new(),
    })
}

fn paths(counters: &[String]) -> Result<Vec<CounterPath>, Refusal> {
    if counters.is_empty() || counters.len() > COLUMN_PATHS_MAX {
        return Err(("/counters".to_owned(), format!("list 1 to {COLUMN_PATHS_MAX} counters")));
    }
    let (mut paths, mut seen) = (Vec::new(), HashSet::new());
    for (index, text) in counters.iter().enumerate() {
        let place = || format!("/counters/{index}");
        let path: CounterPath =
            text.trim().parse().map_err(|error: PathError| (place(), error.to_string()))?;
        check_path(&path).map_err(|reason| (place(), reason.to_owned()))?;
        if !seen.insert(path.clone()) {
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

/// The name of the data collector of a set that is written in the configuration, and of its files.
const COLLECTOR: &str = "counters";
/// As Windows names folders.
const FOLDERS: &str = r"yyyyMMdd\-NNNNNN";

// What the data manager of a set of the configuration does.

/// A set of the configuration has a report of each run, and limits and actions where it says so.
pub(super) fn data_manager(settings: &Settings, keep: Option<&KeepSettings>) -> Result<DataManager, Refusal> {
    let KeepSettings { folders, size, free, delete, actions } = keep.cloned().unwrap_or_default();
    if actions.len() > ACTIONS_MAX {
        return Err(("/keep/actions".to_owned(), format!("list at most {ACTIONS_MAX} actions")));
    }
    let actions = actions.iter().enumerate().map(|(index, it)| {
        folder_action(settings, it)
            .map_err(|message| (format!("/keep/actions/{index}/do"), message.to_owned()))
    });
    Ok(DataManager {
        is_enabled: Some(true),
        folders_max: folders,
        size_max_mb: size.map(|size| size.0),
        free_disk_min_mb: free.map(|free| free.0),
        resource_policy: Some(match delete {
            DeleteFirst::Oldest => ResourcePolicy::DELETE_OLDEST,
            DeleteFirst::Largest => ResourcePolicy::DELETE_LARGEST,
        }),
        folder_actions: actions.collect::<Result<_, Refusal>>()?,
        ..DataManager::default()
    })
}

fn folder_action(settings: &Settings, action: &ActionSettings) -> Result<FolderAction, &'static str> {
    let ActionSettings { age, size, steps } = action;
    let steps = steps.iter().fold(FolderActionSteps(0), |all, step| all | step.bit());
    if steps == FolderActionSteps(0) {
        return Err("name at least one step, such as `create_cab`");
    }
    if steps.contains(FolderActionSteps::SEND_CAB) && settings.cabinets.is_none() {
        return Err("write where cabinet files are sent, `cabinets` at the module");
    }
    Ok(FolderAction {
        age_days: age.map(|Days(days)| days),
        size_mb: size.map(|size| size.0),
        actions: Some(steps),
        // For messages.
        send_cab_to: settings.cabinets.as_ref().map(|directory| directory.display().to_string()),
        ..FolderAction::default()
    })
}

const ACTIONS_MAX: usize = 16;
