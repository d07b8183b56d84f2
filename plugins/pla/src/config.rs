//! The settings of a module, and the sets that they name.

mod actions;
mod compile;
mod log_settings;
mod logs;
mod settings;
mod storage;

use std::collections::HashMap;
use std::path::PathBuf;
use std::time::Duration;

use counter_types::{NamePattern, PathError, PatternText};
use pla_engine::{Comparison, Threshold};
use plugin_sdk::Problem;

pub(crate) use self::compile::compile;
pub(crate) use self::settings::Settings;
pub(crate) use self::storage::{Database, StorageSettings, odd_passwords};

use self::compile::Compiled;
use self::settings::{AlertSettings, Limit};
use super::model::Alert;
use crate::files::{FileSet, Overrides};
use crate::host::{Wanted, may_control};
use crate::model::links::{self, Links};
use crate::model::{self, NAME_CHARS_MAX, Set, Tasks};

#[cfg(feature = "logs")]
pub(crate) use self::log_settings::Megabytes;
#[cfg(feature = "logs")]
pub(crate) use self::storage::{Postgresql, password};

/// The key below a set that is wrong, and why.
type Refusal = (String, String);

/// Keys whose values are not secret: all but the words of commands, which may hold passwords.
pub(crate) const SHOWN: &[&str] = &[
    "above",
    "actions",
    "age",
    "alerts",
    "at",
    "below",
    "cabinets",
    "category",
    "control",
    "counter",
    "counters",
    "database",
    "databases",
    "days",
    "delete",
    "do",
    "duration",
    "event",
    "every",
    "file",
    "folders",
    "for",
    "free",
    "from",
    "host",
    "keep",
    "log_format",
    "log_memory",
    "name",
    "optional",
    "port",
    "postgresql",
    "records",
    "refresh",
    "sample_interval",
    "schedules",
    "segment",
    "sets",
    "size",
    "sqlite",
    "start",
    "start_set",
    "task",
    "threshold",
    "time_zone",
    "timeout",
    "tls",
    "to",
];

/// A set as the settings name it, so that files can be read again.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum SetSource {
    /// It is in the configuration.
    Here(Set),
    /// It is in a file.
    File {
        path: PathBuf,
        /// What the settings say about it.
        overrides: Box<Overrides>,
        /// As it was read last.
        read: FileSet,
    },
}

impl SetSource {
    pub(crate) const fn set(&self) -> &Set {
        match self {
            Self::Here(set) => set,
            Self::File { read, .. } => &read.set,
        }
    }
}

/// What the settings of a module say.
#[derive(Debug)]
pub(crate) struct Module {
    /// Its sets, but for those of the host.
    pub(crate) sets: Vec<SetSource>,
    /// Where each of them is.
    pub(crate) places: Vec<String>,
    /// Sets of the host itself.
    pub(crate) wanted: Vec<Wanted>,
    /// Sets of the host that may be started and stopped.
    pub(crate) control: Vec<NamePattern>,
}

impl Settings {
    /// Whether the host's set of this name may be started and stopped.
    pub(crate) fn allows_control(&self, name: &str) -> bool {
        let patterns: Vec<_> = self.control.iter().filter_map(|text| pattern(text).ok()).collect();
        may_control(&patterns, name)
    }
}

/// Names of sets, in which `*` and `?` may stand.
fn pattern(text: &str) -> Result<NamePattern, String> {
    check_name(text)?;
    NamePattern::new(&PatternText::Wildcard(text.to_owned())).map_err(|error| error.to_string())
}

/// What the logs of the sets need that the exporter's configuration does not have.
pub(crate) fn check_storage(settings: &Settings, module: &Module) -> Vec<Problem> {
    if settings.storage.is_some() || !HAS_LOGS {
        return Vec::new();
    }
    let StorageSettings { databases, .. } = StorageSettings::new(settings, false);
    let is_file = |database: &str| matches!(databases.get(database), Some(Database::Sqlite(_)));
    let logs = |set: &SetSource| set.set().logs.as_ref().is_some_and(|logs| logs.needs_storage(is_file));
    let first = module.sets.iter().find(|set| logs(set));
    let message = |set: &SetSource| {
        let name = &set.set().name;
        format!(
            "the set `{name}` logs to files: configure `storage: {{directory: …}}` in the exporter's configuration"
        )
    };
    first.map(|set| Problem::new("/sets", message(set))).into_iter().collect()
}

/// What of the sets is not done here. The log says it in the same words.
pub(crate) fn warnings(settings: &Settings, module: &Module) -> Vec<Problem> {
    let sets: Vec<&Set> = module.sets.iter().map(SetSource::set).collect();
    let mut undone: HashMap<usize, Vec<model::Problem>> = HashMap::new();
    for problem in links_of(settings, &sets).problems {
        undone.entry(problem.set).or_default().push(problem.of(&sets));
    }
    let of_set = |(index, (source, place)): (usize, (&SetSource, &String))| {
        let set = source.set();
        let said = Set::sentences(&set.problems, set.problems_left_out)
            .into_iter()
            .chain(undone.get(&index).into_iter().flat_map(|undone| Set::sentences(undone, 0)))
            .chain(sampled_too_often(settings, set))
            .chain(not_logged(set, HAS_LOGS));
        let named = move |text| format!("the set `{}`: {text}", set.name);
        let place = place.clone();
        said.map(named).map(move |text| Problem::warning(place.clone(), text)).collect::<Vec<_>>()
    };
    let passwords = odd_passwords(settings).into_iter().map(|(place, text)| Problem::warning(place, text));
    module.sets.iter().zip(&module.places).enumerate().flat_map(of_set).chain(passwords).collect()
}

/// Whether this plugin can write logs.
const HAS_LOGS: bool = cfg!(feature = "logs");

/// What is said of logs where nobody writes them.
fn not_logged(set: &Set, has_logs: bool) -> Option<String> {
    let says = "it logs nothing: this plugin is built without the feature `logs`; install the one that has it, or remove `counters`";
    (set.logs.is_some() && !has_logs).then(|| says.to_owned())
}

/// Which actions of these sets the settings do not let be done.
fn links_of(settings: &Settings, sets: &[&Set]) -> Links {
    let has_task = |name: &str| settings.tasks.contains_key(name);
    links::find(sets, has_task, |name| settings.allows_control(name))
}

/// What is said of logs that have records less often than they say.
pub(crate) fn sampled_too_often(settings: &Settings, set: &Set) -> Option<String> {
    let interval = Duration::from_millis(settings.storage.as_ref()?.interval_ms?);
    let periods = set.logs.iter().flat_map(|logs| &logs.collectors).filter_map(|one| one.interval.period());
    let shortest = periods.min().filter(|period| *period < interval)?;
    Some(format!(
        "it samples every {} s, and its target is collected every {} s only, which is how often it gets a record: shorten \
         `interval` of the target, or lengthen `sample_interval`",
        shortest.as_secs_f64(),
        interval.as_secs_f64()
    ))
}

/// The tasks of settings that compile.
pub(crate) fn tasks(settings: &Settings) -> Tasks {
    actions::tasks(&settings.tasks)
}

fn check_name(name: &str) -> Result<(), String> {
    if name.trim() != name || name.is_empty() || name.chars().any(char::is_control) {
        return Err("write a name without blanks at its ends and without control characters".to_owned());
    }
    if name.chars().count() > NAME_CHARS_MAX {
        return Err(format!("write at most {NAME_CHARS_MAX} characters"));
    }
    Ok(())
}

// The alerts of a set that is written in the configuration.

impl Compiled {
    fn alerts(&mut self, place: &str, settings: &[AlertSettings], is_optional: bool) -> Vec<Alert> {
        if settings.is_empty() {
            self.refuse(format!("{place}/alerts"), "list at least one alert".to_owned());
        }
        let mut seen: HashMap<(String, String), usize> = HashMap::new();
        let mut alerts = Vec::new();
        for (index, one) in settings.iter().enumerate() {
            let place = format!("{place}/alerts/{index}");
            let alert = match alert(one, is_optional) {
                Ok(alert) => alert,
                Err((key, message)) => {
                    self.refuse(format!("{place}{key}"), message);
                    continue;
                }
            };
            let key = (alert.name.clone(), alert.threshold.path.to_string());
            if let Some(earlier) = seen.insert(key, index) {
                let message = format!(
                    "alert {earlier} of the set has the same counter and name: give this one a `name` of its own"
                );
                self.refuse(place, message);
            }
            alerts.push(alert);
        }
        alerts
    }
}

/// The alert, or the key below it and what is wrong there. `of_set` is whether its set is optional.
fn alert(settings: &AlertSettings, of_set: bool) -> Result<Alert, (&'static str, String)> {
    let AlertSettings { name, threshold, counter, above, below, .. } = settings;
    let AlertSettings {
        hold,
        sample_interval,
        event,
        task,
        task_arguments,
        task_text,
        start_set,
        optional,
        ..
    } = settings;
    let (threshold, key) = match (threshold, counter, above, below) {
        (Some(text), None, None, None) => {
            let read: Result<Threshold, _> = text.parse();
            (read.map_err(|error| ("/threshold", error.to_string()))?, "/threshold")
        }
        (None, Some(text), Some(limit), None) => (crossed(text, Comparison::Above, *limit)?, "/counter"),
        (None, Some(text), None, Some(limit)) => (crossed(text, Comparison::Below, *limit)?, "/counter"),
        _ => {
            let message = "write `counter` with `above` or `below`, or `threshold` alone";
            return Err(("", message.to_owned()));
        }
    };
    model::check(&threshold).map_err(|reason| (key, reason.to_owned()))?;
    if let Some(name) = name {
        check_name(name).map_err(|reason| ("/name", reason))?;
    }
    let own_name = || threshold.path.counter.chars().take(NAME_CHARS_MAX).collect();
    Ok(Alert {
        name: name.clone().unwrap_or_else(own_name),
        threshold,
        interval: sample_interval.0,
        hold: hold.0,
        logs_events: *event,
        task: actions::call(task.as_ref(), task_arguments.as_ref(), task_text.as_ref())?,
        start_set: start_set.clone(),
        is_optional: optional.unwrap_or(of_set),
    })
}

fn crossed(
    counter: &str,
    comparison: Comparison,
    Limit(limit): Limit,
) -> Result<Threshold, (&'static str, String)> {
    let path = counter.trim().parse().map_err(|error: PathError| ("/counter", error.to_string()))?;
    Ok(Threshold { path, comparison, limit })
}

#[cfg(test)]
mod tests;
