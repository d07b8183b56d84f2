//! The settings of a module, and the sets that they name.

mod actions;

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use counter_types::{NamePattern, PathError, PatternText};
use pla_engine::{Comparison, Threshold};
use plugin_sdk::Problem;
use plugin_session::TransportSettings;
use plugin_session::command::parse_duration;
use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer};

use self::actions::TaskSettings;
use crate::files::{self, FileSet, Overrides};
use crate::host::{CategoryWord, Wanted};
use crate::model::links;
use crate::model::{
    self, ALERTS_MAX, Alert, NAME_CHARS_MAX, Origin, ProblemKind, SampleInterval, Set, Start, Tasks,
};

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

/// What is judged, and how the host is reached.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a mapping such as `sets: [{file: /etc/perfmon-exporter/set.xml}]`")]
pub(crate) struct Settings {
    /// At least one.
    sets: Vec<SetSettings>,
    /// Names of the host's sets that commands may start and stop.
    #[serde(default)]
    control: Vec<String>,
    /// The tasks that alerts may start.
    #[serde(default)]
    tasks: BTreeMap<String, TaskSettings>,
    /// The target's transport; the exporter fills it in.
    #[serde(default)]
    pub(crate) transport: TransportSettings,
}

/// A set, in a file or here.
#[derive(Debug, Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "a set such as `{file: /etc/perfmon-exporter/set.xml}`, one with `name` and `alerts`, or `{host: ['Office*']}`"
)]
struct SetSettings {
    /// A set that a host exported.
    #[serde(default)]
    file: Option<PathBuf>,
    /// Its name; that of a file's set is used otherwise.
    #[serde(default)]
    name: Option<String>,
    /// When its alerts are judged.
    #[serde(default)]
    start: Start,
    /// For how long, once an alert has started it.
    #[serde(default)]
    duration: Option<Hold>,
    /// Its alerts, where there is no file.
    #[serde(default)]
    alerts: Option<Vec<AlertSettings>>,
    /// Names of sets of the host itself.
    #[serde(default)]
    host: Option<Vec<String>>,
    /// The category of these.
    #[serde(default)]
    category: Option<CategoryWord>,
    /// How often these are read.
    #[serde(default)]
    refresh: Option<Refresh>,
}

/// An alert: a threshold, or a counter with a number that it must not be above or below.
#[derive(Debug, Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "an alert such as `{counter: '\\Processor(*)\\% Processor Time', above: 90}`"
)]
struct AlertSettings {
    /// Its name; that of the counter otherwise.
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    threshold: Option<String>,
    #[serde(default)]
    counter: Option<String>,
    #[serde(default)]
    above: Option<Limit>,
    #[serde(default)]
    below: Option<Limit>,
    /// How long a value has to be across.
    #[serde(default, rename = "for")]
    hold: Hold,
    /// The time between two samples.
    #[serde(default)]
    sample_interval: Interval,
    /// Whether there are events.
    #[serde(default = "yes")]
    event: bool,
    /// The task that it starts.
    #[serde(default)]
    task: Option<String>,
    /// What follows the task's command, with variables.
    #[serde(default)]
    task_arguments: Option<String>,
    /// What replaces `{usertext}` in them.
    #[serde(default)]
    task_text: Option<String>,
    /// The set that it starts.
    #[serde(default)]
    start_set: Option<String>,
}

#[derive(Clone, Copy, Debug)]
struct Limit(f64);

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(try_from = "String", expecting = "a time such as `5m`")]
struct Hold(Duration);

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(try_from = "String", expecting = "a time such as `5m`")]
struct Refresh(Duration);

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(try_from = "String", expecting = "a time such as `15s`, or `once`")]
struct Interval(SampleInterval);

const fn yes() -> bool {
    true
}

/// Reads a number. `8,5` is text in YAML.
impl<'de> Deserialize<'de> for Limit {
    #[expect(clippy::cast_precision_loss, reason = "thresholds of Windows are such numbers, too")]
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct NumberVisitor;

        impl Visitor<'_> for NumberVisitor {
            type Value = f64;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number such as 90.5")
            }

            fn visit_f64<E: de::Error>(self, number: f64) -> Result<f64, E> {
                Ok(number)
            }

            fn visit_i64<E: de::Error>(self, number: i64) -> Result<f64, E> {
                Ok(number as f64)
            }

            fn visit_u64<E: de::Error>(self, number: u64) -> Result<f64, E> {
                Ok(number as f64)
            }

            fn visit_str<E: de::Error>(self, _: &str) -> Result<f64, E> {
                Err(E::custom("write a number such as 90.5, with a point and without quotation marks"))
            }
        }

        match deserializer.deserialize_any(NumberVisitor)? {
            number if number.is_finite() => Ok(Self(number)),
            _ => Err(de::Error::custom("the number is too large")),
        }
    }
}

impl TryFrom<String> for Hold {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, &'static str> {
        match text.as_str() {
            "0" | "0s" => Ok(Self::default()),
            text => parse_duration(text).map(Self),
        }
    }
}

/// `0s` is each collection.
impl TryFrom<String> for Refresh {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, &'static str> {
        Hold::try_from(text).map(|Hold(time)| Self(time))
    }
}

impl Default for Interval {
    fn default() -> Self {
        Self(SampleInterval::DEFAULT)
    }
}

impl TryFrom<String> for Interval {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, &'static str> {
        if text == "once" {
            return Ok(Self(SampleInterval::Once));
        }
        match parse_duration(&text)? {
            time if time < Duration::from_secs(1) => Err("write at least `1s`, as on Windows"),
            time => Ok(Self(SampleInterval::Every(time))),
        }
    }
}

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
    compiled.patterns("/control", &settings.control);
    for (place, message) in actions::check(&settings.tasks) {
        compiled.refuse(place, message);
    }
    if compiled.problems.is_empty() {
        compiled.link(&settings.tasks);
    }
    let Compiled { sets, wanted, problems, .. } = compiled;
    if problems.is_empty() { Ok(Module { sets, wanted }) } else { Err(problems) }
}

impl Settings {
    /// Whether commands may start and stop the host's set of this name.
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
    fn link(&mut self, tasks: &BTreeMap<String, TaskSettings>) {
        let sets: Vec<&Set> = self.sets.iter().map(SetSource::set).collect();
        let problems = links::find(&sets, |name| tasks.contains_key(name)).problems;
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
mod tests {
    use super::*;

    fn problems(settings: &str) -> Vec<String> {
        let said = |it: Problem| format!("{}: {}", it.pointer, it.message);
        match plugin_sdk::parse_settings::<Settings>(settings) {
            Ok(settings) => compile(&settings).err().unwrap_or_default().into_iter().map(said).collect(),
            Err(problem) => vec![said(problem)],
        }
    }

    fn of_alert(alert: &str) -> Vec<String> {
        problems(&format!(r#"{{"sets": [{{"name": "a", "alerts": [{alert}]}}]}}"#))
    }

    #[test]
    fn an_alert_is_written_in_two_ways() {
        let text = r#"{"sets": [{"name": "Office", "alerts": [
            {"counter": "\\Processor(*)\\% Processor Time", "above": 90, "for": "5m", "sample_interval": "1m"},
            {"name": "Full", "threshold": "\\Memory\\Available MBytes < 100", "sample_interval": "once", "event": false}
        ]}]}"#;
        let settings = plugin_sdk::parse_settings::<Settings>(text).unwrap();
        let sets = compile(&settings).unwrap().sets;
        let [first, second] = &sets[0].set().alerts[..] else { panic!("{sets:?}") };
        assert_eq!(first.threshold.to_string(), r"\Processor(*)\% Processor Time>90");
        assert_eq!((&*first.name, first.hold), ("% Processor Time", Duration::from_secs(300)));
        assert_eq!(first.interval, SampleInterval::Every(Duration::from_secs(60)));
        assert_eq!(second.threshold.to_string(), r"\Memory\Available MBytes<100");
        let rest = (&*second.name, second.hold, second.interval, first.logs_events, second.logs_events);
        assert_eq!(rest, ("Full", Duration::ZERO, SampleInterval::Once, true, false));
    }

    #[test]
    fn a_threshold_that_cannot_be_read_is_refused_where_it_is_wrong() {
        let table = [
            (
                r#"{"threshold": "\\Memory\\Pages/sec > 10,5"}"#,
                "/threshold: threshold: a comma: write decimals with a point, and thousands without a separator, at character 23",
            ),
            (
                r#"{"threshold": "\\A\\B > 1; \\A\\C > 2"}"#,
                "/threshold: threshold: a semicolon: write each threshold as an entry of its own, at character 9",
            ),
            (
                r#"{"counter": "Memory", "above": 1}"#,
                "/counter: counter path: a path begins with `\\`, at character 1",
            ),
            (
                r#"{"counter": "\\A\\B", "above": "1,5"}"#,
                "/above: write a number such as 90.5, with a point and without quotation marks",
            ),
            (
                r#"{"counter": "\\A\\*", "above": 1}"#,
                "/counter: name one counterset and one counter: only instances may have `*` and `?`",
            ),
            (
                r#"{"counter": "\\A\\B", "above": 1, "sample_interval": "500ms"}"#,
                "/sample_interval: write at least `1s`, as on Windows",
            ),
            (
                r#"{"counter": "\\A\\B", "above": 1, "below": 2}"#,
                ": write `counter` with `above` or `below`, or `threshold` alone",
            ),
            (r#"{"counter": "\\A\\B"}"#, ": write `counter` with `above` or `below`, or `threshold` alone"),
        ];
        for (settings, problem) in table {
            assert_eq!(of_alert(settings), [format!("/sets/0/alerts/0{problem}")], "{settings}");
        }
    }

    #[test]
    fn the_words_of_commands_may_be_secret_and_are_not_shown() {
        for key in ["command", "task_arguments", "task_text", "tasks"] {
            assert!(!SHOWN.contains(&key), "{key}");
        }
    }

    #[test]
    fn names_tell_alerts_and_sets_apart() {
        let twice = r#"{"counter": "\\A\\B", "above": 1}, {"counter": "\\A\\B", "below": 0}"#;
        let expected = "/sets/0/alerts/1: alert 0 of the set has the same counter and name: give this one a `name` of its own";
        assert_eq!(of_alert(twice), [expected]);
        let set = r#"{"name": "a", "alerts": [{"counter": "\\A\\B", "above": 1}]}"#;
        let found = problems(&format!(r#"{{"sets": [{set}, {set}]}}"#));
        assert_eq!(found, ["/sets/1: /sets/0 is a set `a`, too: give this one another `name`"]);
    }

    #[test]
    fn a_set_is_a_file_or_has_alerts() {
        assert_eq!(problems(r#"{"sets": []}"#), ["/sets: list at least one set"]);
        assert_eq!(
            problems(r#"{"sets": [{"name": "a"}]}"#),
            ["/sets/0: `file`, `alerts` or `host` is missing"]
        );
        assert_eq!(
            problems(r#"{"sets": [{"file": "set.xml"}]}"#),
            ["/sets/0/file: write an absolute path, not `set.xml`"]
        );
        assert_eq!(
            problems(r#"{"sets": [{"file": "/nowhere/set.xml"}]}"#),
            ["/sets/0/file: `/nowhere/set.xml` cannot be read: No such file or directory (os error 2)"]
        );
    }

    #[test]
    fn sets_of_the_host_are_named_by_patterns() {
        let text = r#"{"sets": [{"host": ["Office*", "Nightly"]}, {"host": ["*"], "category": "system", "refresh": "0s"}],
            "control": ["Night?y"]}"#;
        let settings = plugin_sdk::parse_settings::<Settings>(text).unwrap();
        let wanted = compile(&settings).unwrap().wanted;
        let [first, second] = &wanted[..] else { panic!("{wanted:?}") };
        assert!(first.names[0].matches("office hours") && !first.names[1].matches("Nightly 2"));
        assert_eq!((first.category, first.refresh), (CategoryWord::UserDefined, Duration::from_secs(300)));
        assert_eq!((second.category, second.refresh), (CategoryWord::System, Duration::ZERO));
        assert!(settings.allows_control("NIGHTLY") && !settings.allows_control("Office hours"));
        let none = plugin_sdk::parse_settings::<Settings>(r#"{"sets": [{"host": ["*"]}]}"#).unwrap();
        assert!(!none.allows_control("Nightly"), "nothing may be controlled by default");
        for (set, expected) in [
            (r#"{"host": []}"#, "/sets/0/host: name at least one set, such as `'Office*'`"),
            (
                r#"{"host": ["a", " b"]}"#,
                "/sets/0/host/1: write a name without blanks at its ends and without control characters",
            ),
            (
                r#"{"host": ["a"], "name": "b"}"#,
                "/sets/0: sets of the host have their names and alerts there: write `host` without `file`, `name` and `alerts`",
            ),
            (
                r#"{"name": "b", "alerts": [], "refresh": "1m"}"#,
                "/sets/0: `category` and `refresh` belong to sets of the host: write `host`, too",
            ),
            (
                r#"{"host": ["a"], "refresh": "soon"}"#,
                "/sets/0/refresh: write a time such as `500ms`, `1s` or `1m`",
            ),
        ] {
            assert_eq!(problems(&format!(r#"{{"sets": [{set}]}}"#)), [expected]);
        }
        assert_eq!(problems(r#"{"sets": [{"host": ["a"], "category": "users"}]}"#).len(), 1);
    }
}
