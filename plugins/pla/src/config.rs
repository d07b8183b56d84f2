//! The settings of a module, and the sets that they name.

mod actions;
mod settings;

use std::collections::HashMap;
use std::path::PathBuf;
use std::time::Duration;

use counter_types::{NamePattern, PathError, PatternText};
use pla_engine::{Comparison, Threshold};
use plugin_sdk::Problem;

pub(crate) use self::settings::Settings;
use self::settings::{AlertSettings, Hold, Limit, Refresh, SetSettings};
use crate::files::{self, FileSet, Overrides};
use crate::host::Wanted;
use crate::model::links;
use crate::model::{self, ALERTS_MAX, Alert, NAME_CHARS_MAX, Origin, ProblemKind, Set, Start, Tasks};

/// Keys whose values are not secret: all but the words of commands, which may hold passwords.
pub(crate) const SHOWN: &[&str] = &[
    "above",
    "alerts",
    "below",
    "category",
    "control",
    "counter",
    "duration",
    "event",
    "file",
    "for",
    "host",
    "name",
    "refresh",
    "sample_interval",
    "sets",
    "start",
    "start_set",
    "task",
    "threshold",
    "timeout",
];

/// A set as the settings name it, so that files can be read again.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum SetSource {
    /// It is in the configuration.
    Here(Set),
    /// It is in a file.
    File {
        /// The file.
        path: PathBuf,
        /// What the settings say about it.
        overrides: Overrides,
        /// As it was read last.
        read: FileSet,
    },
}

impl SetSource {
    /// The set.
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
    /// Sets of the host itself.
    pub(crate) wanted: Vec<Wanted>,
    /// Sets of the host that may be started and stopped.
    pub(crate) control: Vec<NamePattern>,
}

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
        compiled.add(&format!("/sets/{index}"), set);
    }
    let control = compiled.patterns("/control", &settings.control);
    for (place, message) in actions::check(&settings.tasks) {
        compiled.refuse(place, message);
    }
    if compiled.problems.is_empty() {
        compiled.link(settings);
    }
    let Compiled { sets, wanted, problems, .. } = compiled;
    if problems.is_empty() { Ok(Module { sets, wanted, control }) } else { Err(problems) }
}

impl Settings {
    /// Whether the host's set of this name may be started and stopped.
    pub(crate) fn allows_control(&self, name: &str) -> bool {
        let patterns = self.control.iter().filter_map(|text| pattern(text).ok());
        patterns.into_iter().any(|pattern| pattern.matches(name))
    }
}

/// Names of sets, in which `*` and `?` may stand.
fn pattern(text: &str) -> Result<NamePattern, String> {
    check_name(text)?;
    NamePattern::new(&PatternText::Wildcard(text.to_owned())).map_err(|error| error.to_string())
}

/// The tasks of settings that compile.
pub(crate) fn tasks(settings: &Settings) -> Tasks {
    actions::tasks(&settings.tasks)
}

#[derive(Default)]
struct Compiled {
    sets: Vec<SetSource>,
    /// Where each of them is.
    places: Vec<String>,
    wanted: Vec<Wanted>,
    problems: Vec<Problem>,
    /// Where each name is.
    names: HashMap<String, String>,
    alerts: usize,
}

impl Compiled {
    fn add(&mut self, place: &str, settings: &SetSettings) {
        let SetSettings { file, name, start, duration, alerts, host, category, refresh } = settings;
        if let Some(host) = host {
            return self.add_host(place, settings, host);
        }
        if category.is_some() || refresh.is_some() {
            let message = "`category` and `refresh` belong to sets of the host: write `host`, too";
            return self.refuse(place, message.to_owned());
        }
        if duration.is_some() && *start == Start::Always {
            let message = "only a set with `start: triggered` has a duration".to_owned();
            return self.refuse(format!("{place}/duration"), message);
        }
        if let Some(name) = name
            && let Err(reason) = check_name(name)
        {
            return self.refuse(format!("{place}/name"), reason);
        }
        let source = match (file, alerts) {
            (Some(path), None) if path.is_absolute() => {
                let duration = duration.map(|Hold(duration)| duration);
                let overrides = Overrides { name: name.clone(), start: *start, duration };
                match files::read(path, &overrides) {
                    Ok(read) => SetSource::File { path: path.clone(), overrides, read },
                    Err(message) => return self.refuse(format!("{place}/file"), message),
                }
            }
            (Some(path), None) => {
                let message = format!("write an absolute path, not `{}`", path.display());
                return self.refuse(format!("{place}/file"), message);
            }
            (None, Some(alerts)) => {
                let Some(name) = name else {
                    return self.refuse(place, "`name` is missing".to_owned());
                };
                let alerts = self.alerts(place, alerts);
                SetSource::Here(Set {
                    name: name.clone(),
                    origin: Origin::Configuration,
                    start: *start,
                    duration: duration.unwrap_or_default().0,
                    alerts,
                    collectors: Default::default(),
                    problems: Vec::new(),
                })
            }
            (Some(_), Some(_)) => {
                return self.refuse(place, "write `file` or `alerts`, not both".to_owned());
            }
            (None, None) => return self.refuse(place, "`file`, `alerts` or `host` is missing".to_owned()),
        };
        let set = source.set();
        self.alerts += set.alerts.len();
        if self.alerts > ALERTS_MAX {
            return self.refuse(place, format!("all sets together have more than {ALERTS_MAX} alerts"));
        }
        if let Some(earlier) = self.names.insert(set.name.clone(), place.to_owned()) {
            let message = format!("{earlier} is a set `{}`, too: give this one another `name`", set.name);
            return self.refuse(place, message);
        }
        self.sets.push(source);
        self.places.push(place.to_owned());
    }

    fn add_host(&mut self, place: &str, settings: &SetSettings, names: &[String]) {
        let SetSettings { file, name, start, duration, alerts, category, refresh, .. } = settings;
        if file.is_some() || name.is_some() || alerts.is_some() {
            let message = "sets of the host have their names and alerts there: write `host` without `file`, `name` and `alerts`";
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

    fn alerts(&mut self, place: &str, settings: &[AlertSettings]) -> Vec<Alert> {
        if settings.is_empty() {
            self.refuse(format!("{place}/alerts"), "list at least one alert".to_owned());
        }
        let mut seen: HashMap<(String, String), usize> = HashMap::new();
        let mut alerts = Vec::new();
        for (index, one) in settings.iter().enumerate() {
            let place = format!("{place}/alerts/{index}");
            let alert = match alert(one) {
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

    /// Refuses actions of alerts that are written here and cannot be done. Those of files are shown as problems: a file may
    /// be changed at any time.
    fn link(&mut self, settings: &Settings) {
        let sets: Vec<&Set> = self.sets.iter().map(SetSource::set).collect();
        let has_task = |name: &str| settings.tasks.contains_key(name);
        let problems = links::find(&sets, has_task, |name| settings.allows_control(name)).problems;
        for problem in problems {
            let links::LinkProblem { set, alert: Some(alert), kind, message } = problem else { continue };
            let key = if kind == ProblemKind::Task { "task" } else { "start_set" };
            if matches!(self.sets[set], SetSource::Here(_)) {
                self.refuse(format!("{}/alerts/{alert}/{key}", self.places[set]), message);
            }
        }
    }

    fn refuse(&mut self, place: impl Into<String>, message: String) {
        if self.problems.len() < PROBLEMS_MAX {
            self.problems.push(Problem::new(place, message));
        }
    }
}

/// The alert, or the key below it and what is wrong there.
fn alert(settings: &AlertSettings) -> Result<Alert, (&'static str, String)> {
    let AlertSettings { name, threshold, counter, above, below, .. } = settings;
    let AlertSettings { hold, sample_interval, event, task, task_arguments, task_text, start_set, .. } =
        settings;
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

fn check_name(name: &str) -> Result<(), String> {
    if name.trim() != name || name.is_empty() || name.chars().any(char::is_control) {
        return Err("write a name without blanks at its ends and without control characters".to_owned());
    }
    if name.chars().count() > NAME_CHARS_MAX {
        return Err(format!("write at most {NAME_CHARS_MAX} characters"));
    }
    Ok(())
}

/// Each file is looked at with every collection.
const SETS_MAX: usize = 64;
/// Names of sets of the host in one list.
const PATTERNS_MAX: usize = 256;
/// Sets of hosts change rarely.
const REFRESH: Duration = Duration::from_secs(300);
/// What people read at a time.
const PROBLEMS_MAX: usize = 100;

#[cfg(test)]
mod tests;
