//! One set of the settings that is not the host's.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::settings::{LongHold, SetSettings};
use super::{Refusal, SetSource, Settings, check_name, logs};
use crate::files::{self, Overrides};
use crate::model::{Alert, Origin, Set, Start};

fn refuse(key: &str, message: &str) -> Refusal {
    (key.to_owned(), message.to_owned())
}

/// What of the settings of a set belongs to sets that are not the host's.
pub(super) fn has_own_content(set: &SetSettings) -> bool {
    let SetSettings { file, name, alerts, counters, log_format, database, time_zone, optional, .. } = set;
    let is_own = file.is_some() || name.is_some() || alerts.is_some() || optional.is_some();
    let is_logged = counters.is_some() || log_format.is_some() || database.is_some() || time_zone.is_some();
    is_own || is_logged || key_of_logs(set).is_some()
}

/// A key that only a set with `counters` has.
fn key_of_logs(set: &SetSettings) -> Option<&'static str> {
    let SetSettings { sample_interval, schedules, segment, keep, task, task_arguments, task_text, .. } = set;
    let keys = [
        ("sample_interval", sample_interval.is_some()),
        ("schedules", schedules.is_some()),
        ("segment", segment.is_some()),
        ("keep", keep.is_some()),
        ("task", task.is_some()),
        ("task_arguments", task_arguments.is_some()),
        ("task_text", task_text.is_some()),
    ];
    keys.into_iter().find(|(_, is_there)| *is_there).map(|(key, _)| key)
}

/// Keys that do not belong together.
pub(super) fn check(set: &SetSettings) -> Result<(), Refusal> {
    let SetSettings { file, name, start, alerts, counters, category, refresh, schedules, .. } = set;
    if category.is_some() || refresh.is_some() {
        return Err(refuse("", "`category` and `refresh` belong to sets of the host: write `host`, too"));
    }
    if let Some(name) = name {
        check_name(name).map_err(|reason| ("/name".to_owned(), reason))?;
    }
    match (file, alerts.is_some() || counters.is_some()) {
        (Some(_), true) => return Err(refuse("", "write `file`, or `alerts` and `counters`, not both")),
        (None, false) => return Err(refuse("", "`file`, `alerts`, `counters` or `host` is missing")),
        _ => {}
    }
    let names_logs = set.log_format.is_some() || set.database.is_some() || set.time_zone.is_some();
    if file.is_none() && counters.is_none() && names_logs {
        return Err(refuse("", "`log_format`, `database` and `time_zone` belong to a set with `counters`"));
    }
    if let Some(key) = key_of_logs(set).filter(|_| counters.is_none()) {
        let message = match file {
            Some(_) => format!("the file says this: a set with `file` has no `{key}`"),
            None => format!("only a set with `counters` has `{key}`"),
        };
        return Err((format!("/{key}"), message));
    }
    if *start == Start::Triggered && schedules.is_some() {
        return Err(refuse("/schedules", "a set with `start: triggered` has no schedules"));
    }
    Ok(())
}

/// A set in a file that a host exported.
pub(super) fn of_file(settings: &Settings, set: &SetSettings, path: &Path) -> Result<SetSource, Refusal> {
    if !path.is_absolute() {
        return Err(("/file".to_owned(), format!("write an absolute path, not `{}`", path.display())));
    }
    let overrides = Overrides {
        name: set.name.clone(),
        start: set.start,
        duration: set.duration.map(|LongHold(duration)| duration),
        logs: logs::overrides(settings, set)?,
        is_optional: set.optional.unwrap_or_default(),
    };
    let read = files::read(path, &overrides).map_err(|message| ("/file".to_owned(), message))?;
    check_duration(set, &read.set)?;
    Ok(SetSource::File { path: PathBuf::from(path), overrides: Box::new(overrides), read })
}

/// A set that is written in the configuration.
pub(super) fn written_here(
    settings: &Settings,
    set: &SetSettings,
    alerts: Vec<Alert>,
) -> Result<SetSource, Refusal> {
    let Some(name) = &set.name else { return Err(refuse("", "`name` is missing")) };
    let counters = set.counters.as_ref();
    let logs = counters.map(|counters| logs::logs(settings, set, name, counters)).transpose()?;
    let made = Set {
        name: name.clone(),
        origin: Origin::Configuration,
        start: set.start,
        duration: set.duration.unwrap_or_default().0,
        alerts,
        logs: logs.map(Arc::new),
        is_optional: set.optional.unwrap_or_default(),
        collectors: Default::default(),
        problems: Vec::new(),
        problems_left_out: 0,
    };
    check_duration(set, &made)?;
    Ok(SetSource::Here(made))
}

fn check_duration(settings: &SetSettings, set: &Set) -> Result<(), Refusal> {
    if settings.duration.is_some() && set.start == Start::Always && set.logs.is_none() {
        let message = "only a set with `start: triggered`, or one that logs counters, has a duration";
        return Err(refuse("/duration", message));
    }
    Ok(())
}
