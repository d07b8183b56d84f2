//! Data collector sets and their alerts, wherever they come from.

mod exported;
mod exported_logs;
pub(crate) mod links;
mod logs;
mod neglected;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use counter_types::CounterPath;
use pla_engine::{TaskArguments, Threshold};
use serde::Deserialize;

pub(crate) use self::exported::{LIMITS, clean};
pub(crate) use self::exported_logs::{LogOverrides, schedule};
#[cfg(feature = "logs")]
pub(crate) use self::logs::COLUMNS_MAX;
pub(crate) use self::logs::{
    COLUMN_PATHS_MAX, CounterCollector, Destination, LogFormat, Logs, Name, Segment, check_path,
};
pub(crate) use self::neglected::Neglected;

/// A data collector set, as far as its alerts and its counters are concerned.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Set {
    /// Its name, unique in a module.
    pub(crate) name: String,
    /// Where it comes from.
    pub(crate) origin: Origin,
    /// When its alerts are judged.
    pub(crate) start: Start,
    /// For how long, once an alert has started it; zero is without an end.
    pub(crate) duration: Duration,
    /// Its alerts, one for each threshold.
    pub(crate) alerts: Vec<Alert>,
    pub(crate) logs: Option<Arc<Logs>>,
    /// Whether hosts may lack what its logs are about.
    pub(crate) is_optional: bool,
    /// How many data collectors it has of each kind, in the order of [`COLLECTOR_KINDS`].
    pub(crate) collectors: [usize; COLLECTOR_KINDS.len()],
    /// What of it is not done here.
    pub(crate) problems: Vec<Problem>,
    /// Further ones, which the last one counts.
    pub(crate) problems_left_out: usize,
}

/// When the alerts of a set are judged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case", expecting = "`always` or `triggered`")]
pub(crate) enum Start {
    #[default]
    Always,
    /// After an alert of another set has started it, for its duration.
    Triggered,
}

/// Where a set comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    Configuration,
    /// A file that a host exported.
    File(PathBuf),
    Host,
}

/// A threshold of a counter, and what belongs to it. An alert data collector of Windows may have several thresholds: here
/// each is an alert.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Alert {
    /// The name of its data collector. With the counter it is unique in its set.
    pub(crate) name: String,
    pub(crate) threshold: Threshold,
    /// When the counter is sampled.
    pub(crate) interval: SampleInterval,
    /// How long a value has to be across before it fires.
    pub(crate) hold: Duration,
    /// Whether there is an event when it begins and ends to fire.
    pub(crate) logs_events: bool,
    /// The task that is started when it begins to fire.
    pub(crate) task: Option<TaskCall>,
    /// The set that each sample across the threshold starts.
    pub(crate) start_set: Option<String>,
    /// Whether hosts may lack its counter.
    pub(crate) is_optional: bool,
}

/// A task as an alert names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TaskCall {
    pub(crate) name: String,
    /// What follows its command.
    pub(crate) arguments: TaskArguments,
    /// What replaces `{usertext}` in them.
    pub(crate) user_text: String,
}

/// A task as the settings name it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Task {
    /// The program, by its absolute path, and its first arguments.
    pub(crate) command: Vec<String>,
    /// When it is ended if it still runs.
    pub(crate) timeout: Duration,
}

/// The tasks of a module by name.
pub(crate) type Tasks = HashMap<String, Arc<Task>>;

/// How often a counter is sampled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum SampleInterval {
    Every(Duration),
    /// Once, and never again.
    Once,
}

/// Something of a set that is not done here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Problem {
    /// The data collector; empty for the set.
    pub(crate) alert: String,
    pub(crate) kind: ProblemKind,
    /// What is said about it.
    pub(crate) message: String,
}

/// What is not done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum ProblemKind {
    /// A threshold that cannot be read.
    Threshold,
    /// A task that an alert starts.
    Task,
    /// A set that an alert starts.
    TriggeredSet,
    /// A data collector that is not run.
    Collector,
    /// A counter of a log whose path cannot be read.
    Counter,
    /// A log in a format, or in a database, that there is not.
    LogFormat,
    /// A log without a folder of the exporter.
    Storage,
    /// A value that cannot be read, so that it counts as missing.
    Value,
    /// Times of schedules and names that count as UTC, though nobody said so.
    TimeZone,
    /// A counter of another host.
    OtherHost,
    /// A file that was good and is not any more, so that what it said before holds.
    File,
    /// More than there may be.
    Limit,
    /// A set of the host that cannot be read any more, so that what it said before holds.
    Host,
    /// A set of the host whose name another set of the module has.
    Name,
}

impl Origin {
    /// Its name in metrics.
    pub(crate) const fn as_str(&self) -> &'static str {
        match self {
            Self::Configuration => "configuration",
            Self::File(_) => "file",
            Self::Host => "host",
        }
    }
}

/// What a threshold must not be, beyond its syntax.
///
/// # Errors
/// What is wrong, for people.
pub(crate) fn check(threshold: &Threshold) -> Result<(), &'static str> {
    let CounterPath { counterset, counter, .. } = &threshold.path;
    if counterset.contains(WILDCARDS) || counter.contains(WILDCARDS) {
        return Err("name one counterset and one counter: only instances may have `*` and `?`");
    }
    if threshold.path.to_string().len() > COUNTER_BYTES_MAX {
        return Err("the path is longer than 1,024 bytes");
    }
    Ok(())
}

impl SampleInterval {
    /// [MS-PLA] 3.2.4.8: 15 seconds if nothing is said.
    pub(crate) const DEFAULT: Self = Self::Every(Duration::from_secs(15));

    /// Of the property `SampleInterval`, in seconds. Below the minimum of 1 it is 1.
    pub(crate) fn of_seconds(seconds: u32) -> Self {
        match seconds {
            u32::MAX => Self::Once,
            seconds => Self::Every(Duration::from_secs(u64::from(seconds.max(1)))),
        }
    }

    /// The time between two samples, if there is more than one.
    pub(crate) const fn period(self) -> Option<Duration> {
        match self {
            Self::Every(period) => Some(period),
            Self::Once => None,
        }
    }

    /// Whether it is time for a sample after the `last` one. Collections do not begin to the millisecond, and one that is a
    /// little early is not left out.
    pub(crate) fn is_due(self, last: Option<Duration>, now: Duration) -> bool {
        let Some(last) = last else { return true };
        self.period()
            .is_some_and(|period| now.saturating_sub(last) >= period.saturating_sub(period / EARLY_PART))
    }
}

impl Set {
    /// Logs what of it is not done: the first of `problems`, and how many more there are. `left_out` are not among them.
    pub(crate) fn tell(&self, problems: &[Problem], left_out: usize) {
        let set = &self.name;
        let what = match self.origin {
            Origin::Host => "A part of a set of the host is not done here",
            Origin::Configuration | Origin::File(_) => "A part of it is not done here",
        };
        for Problem { alert, kind, message } in problems.iter().take(SAID_MAX) {
            let kind = kind.as_str();
            tracing::warn!(set, alert, kind, problem = message, "{what}");
        }
        if let Some(problem) = more(problems, left_out) {
            tracing::warn!(set, problem, next_step = MEND_FIRST, "{what}");
        }
    }

    /// The same, for the check of the settings.
    pub(crate) fn sentences(problems: &[Problem], left_out: usize) -> Vec<String> {
        let more = more(problems, left_out).map(|more| format!("{more}: {MEND_FIRST}"));
        problems.iter().take(SAID_MAX).map(Problem::sentence).chain(more).collect()
    }
}

/// How many problems there are besides those that are said.
fn more(problems: &[Problem], left_out: usize) -> Option<String> {
    // Of those that are left out one stands for all.
    let more = problems.len().checked_sub(SAID_MAX + 1)? + 1 + left_out.saturating_sub(1);
    Some(format!("and {more} more"))
}

impl Problem {
    /// What is said about it, with its data collector.
    pub(crate) fn sentence(&self) -> String {
        let Self { alert, message, .. } = self;
        if alert.is_empty() { message.clone() } else { format!("`{alert}`: {message}") }
    }

    /// Whether something that was asked for is lost by a mistake in the set, and not because it is done otherwise here.
    pub(crate) const fn is_mistake(&self) -> bool {
        use ProblemKind::{Counter, Limit, LogFormat, Threshold, Value};
        matches!(self.kind, Threshold | Counter | Limit | LogFormat | Value)
    }
}

impl ProblemKind {
    /// Those that a set which is judged may have.
    pub(crate) const SHOWN: [Self; 14] = [
        Self::Task,
        Self::TriggeredSet,
        Self::Collector,
        Self::Counter,
        Self::LogFormat,
        Self::Storage,
        Self::Value,
        Self::TimeZone,
        Self::OtherHost,
        Self::File,
        Self::Threshold,
        Self::Limit,
        Self::Host,
        Self::Name,
    ];

    /// Its name in metrics.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Threshold => "threshold",
            Self::Task => "task",
            Self::TriggeredSet => "triggered_set",
            Self::Collector => "collector",
            Self::Counter => "counter",
            Self::LogFormat => "log_format",
            Self::Storage => "storage",
            Self::Value => "value",
            Self::TimeZone => "time_zone",
            Self::OtherHost => "other_host",
            Self::File => "file",
            Self::Limit => "limit",
            Self::Host => "host",
            Self::Name => "name",
        }
    }
}

/// A sample may be early by this part of the interval.
const EARLY_PART: u32 = 10;
/// Kinds of data collectors, as metrics and people call them.
pub(crate) const COLLECTOR_KINDS: [&str; 5] = ["counter", "trace", "api_trace", "configuration", "alert"];
/// Alerts of one set, and of all sets of a module; what is above is left out.
pub(crate) const ALERTS_MAX: usize = 10_000;
/// Characters of a name.
pub(crate) const NAME_CHARS_MAX: usize = 256;
/// Characters of the text for `{usertext}`.
pub(crate) const USER_TEXT_CHARS_MAX: usize = 4_096;
/// Bytes of a counter's path, which is a label.
const COUNTER_BYTES_MAX: usize = 1_024;
const WILDCARDS: [char; 2] = ['*', '?'];
/// Problems of a set that are listed at a time: more would leave no room for what others have to say.
const SAID_MAX: usize = 20;
const MEND_FIRST: &str = "mend those before first, or leave the set out";
