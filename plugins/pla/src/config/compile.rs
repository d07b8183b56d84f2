//! The sets of a module, as its settings name them.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use counter_types::NamePattern;
use plugin_sdk::Problem;

use super::settings::{LongHold, Refresh, SetSettings};
use super::{Module, Refusal, SetSource, Settings, actions, check_name, logs, pattern, storage};
use crate::files::{self, Overrides};
use crate::host::Wanted;
use crate::model::{ALERTS_MAX, Alert, Origin, ProblemKind, Set, Start, links};

/// Reads the settings of a module, and its files.
///
/// # Errors
/// What is wrong with the settings or the files.
pub(crate) fn compile(settings: &Settings) -> Result<Module, Vec<Problem>> {
    let mut compiled = Compiled::default();
    if settings.sets.is_empty() {
        compiled.refuse("/sets", "list at least one set".to_owned());
    } else if settings.sets.len() > SETS_MAX {
        compiled.refuse("/sets", format!("list at most {SETS_MAX} sets, not {}", settings.sets.len()));
    }
    for (index, set) in settings.sets.iter().enumerate().take(SETS_MAX) {
        compiled.add(settings, &format!("/sets/{index}"), set);
    }
    let control = compiled.patterns("/control", &settings.control);
    for (place, message) in actions::check(&settings.tasks).into_iter().chain(storage::check(settings)) {
        compiled.refuse(place, message);
    }
    if compiled.problems.is_empty() {
        compiled.link(settings);
    }
    let Compiled { sets, places, wanted, mut problems, left_out, .. } = compiled;
    if left_out > 0 {
        problems.push(Problem::new("/sets", format!("and {left_out} more: mend those before first")));
    }
    if problems.is_empty() { Ok(Module { sets, places, wanted, control }) } else { Err(problems) }
}

#[derive(Default)]
pub(super) struct Compiled {
    sets: Vec<SetSource>,
    /// Where each of them is.
    places: Vec<String>,
    wanted: Vec<Wanted>,
    problems: Vec<Problem>,
    left_out: usize,
    /// Where each name is.
    names: HashMap<String, String>,
    alerts: usize,
    logs: usize,
}

impl Compiled {
    fn add(&mut self, settings: &Settings, place: &str, set: &SetSettings) {
        if let Some(host) = &set.host {
            return self.add_host(place, set, host);
        }
        if let Err((key, message)) = check_set(set) {
            return self.refuse(format!("{place}{key}"), message);
        }
        let source = match &set.file {
            Some(path) => set_of_file(settings, set, path),
            None => {
                let is_optional = set.optional.unwrap_or_default();
                let alerts = set.alerts.as_ref().map(|alerts| self.alerts(place, alerts, is_optional));
                set_written_here(settings, set, alerts.unwrap_or_default())
            }
        };
        let source = match source {
            Ok(source) => source,
            Err((key, message)) => return self.refuse(format!("{place}{key}"), message),
        };
        let set = source.set();
        self.alerts += set.alerts.len();
        if self.alerts > ALERTS_MAX {
            return self.refuse(place, format!("all sets together have more than {ALERTS_MAX} alerts"));
        }
        self.logs += set.logs.as_ref().map_or(0, |logs| logs.collectors.len());
        if self.logs > LOGS_MAX {
            return self.refuse(place, format!("all sets together have more than {LOGS_MAX} logs"));
        }
        if let Some(earlier) = self.names.insert(set.name.clone(), place.to_owned()) {
            let message = format!("{earlier} is a set `{}`, too: give this one another `name`", set.name);
            return self.refuse(place, message);
        }
        self.sets.push(source);
        self.places.push(place.to_owned());
    }

    fn add_host(&mut self, place: &str, settings: &SetSettings, names: &[String]) {
        let SetSettings { start, duration, category, refresh, .. } = settings;
        if has_own_content(settings) {
            let message = "sets of the host have their names, alerts and counters there: write `host` with `category` and `refresh` \
                           alone";
            return self.refuse(place, message.to_owned());
        }
        if *start == Start::Triggered || duration.is_some() {
            let message = "sets of the host are always judged: write `host` without `start` and `duration`";
            return self.refuse(place, message.to_owned());
        }
        let place = format!("{place}/host");
        if names.is_empty() {
            return self.refuse(place, "name at least one set, such as `'Office*'`".to_owned());
        }
        let names = self.patterns(&place, names);
        let refresh = refresh.map_or(REFRESH, |Refresh(time)| time);
        self.wanted.push(Wanted { names, category: category.unwrap_or_default(), refresh });
    }

    fn patterns(&mut self, place: &str, texts: &[String]) -> Vec<NamePattern> {
        if texts.len() > PATTERNS_MAX {
            self.refuse(place, format!("list at most {PATTERNS_MAX} names, not {}", texts.len()));
        }
        let mut patterns = Vec::new();
        for (index, text) in texts.iter().enumerate().take(PATTERNS_MAX) {
            match pattern(text) {
                Ok(pattern) => patterns.push(pattern),
                Err(reason) => self.refuse(format!("{place}/{index}"), reason),
            }
        }
        patterns
    }

    /// Refuses actions of alerts that are written here and cannot be done. Those of files are shown as problems: a file may
    /// be changed at any time.
    fn link(&mut self, settings: &Settings) {
        let sets: Vec<&Set> = self.sets.iter().map(SetSource::set).collect();
        for problem in super::links_of(settings, &sets).problems {
            let links::LinkProblem { set, alert, kind, message } = problem;
            let key = match (alert, kind) {
                (None, ProblemKind::Task) => "/task".to_owned(),
                // That nothing starts a set may change with a file.
                (None, _) => continue,
                (Some(alert), ProblemKind::Task) => format!("/alerts/{alert}/task"),
                (Some(alert), _) => format!("/alerts/{alert}/start_set"),
            };
            if matches!(self.sets[set], SetSource::Here(_)) {
                self.refuse(format!("{}{key}", self.places[set]), message);
            }
        }
    }

    pub(super) fn refuse(&mut self, place: impl Into<String>, message: String) {
        if self.problems.len() < PROBLEMS_MAX {
            self.problems.push(Problem::new(place, message));
        } else {
            self.left_out += 1;
        }
    }
}

/// Each file is looked at with every collection.
const SETS_MAX: usize = 64;
/// Each has a queue and a file of its own.
const LOGS_MAX: usize = 1_000;
/// Names of sets of the host in one list.
const PATTERNS_MAX: usize = 256;
/// Sets of hosts change rarely.
const REFRESH: Duration = Duration::from_secs(300);
/// What people read at a time.
const PROBLEMS_MAX: usize = 100;

// One set of the settings that is not the host's.

fn refuse(key: &str, message: &str) -> Refusal {
    (key.to_owned(), message.to_owned())
}

/// What of the settings of a set belongs to sets that are not the host's.
fn has_own_content(set: &SetSettings) -> bool {
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
fn check_set(set: &SetSettings) -> Result<(), Refusal> {
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
fn set_of_file(settings: &Settings, set: &SetSettings, path: &Path) -> Result<SetSource, Refusal> {
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
fn set_written_here(
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
