//! The settings as they are written.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use plugin_sdk::Storage;
use plugin_session::TransportSettings;
use plugin_session::command::parse_duration;
use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer};

use super::actions::TaskSettings;
use super::log_settings::{DatabaseSettings, KeepSettings, LongTime, ScheduleSettings, SegmentSettings};
use crate::host::CategoryWord;
use crate::model::{LogFormat, SampleInterval, Start};

/// What is judged, and how the host is reached.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a mapping such as `sets: [{file: /etc/perfmon-exporter/set.xml}]`")]
pub(crate) struct Settings {
    /// There is at least one.
    pub(super) sets: Vec<SetSettings>,
    /// Names of the host's sets that commands may start and stop, and alerts start.
    #[serde(default)]
    pub(super) control: Vec<String>,
    /// The tasks that alerts may start.
    #[serde(default)]
    pub(super) tasks: BTreeMap<String, TaskSettings>,
    /// The format of logs that exported sets want in the binary format.
    #[serde(default)]
    pub(super) log_format: Option<LogFormat>,
    /// The databases that logs may be written to.
    #[serde(default)]
    pub(super) databases: BTreeMap<String, DatabaseSettings>,
    /// The folder to which cabinet files are sent.
    #[serde(default)]
    pub(super) cabinets: Option<PathBuf>,
    /// Where the files of the target are kept; the exporter fills it in.
    #[serde(default)]
    pub(crate) storage: Option<Storage>,
    /// The target's transport; the exporter fills it in.
    #[serde(default)]
    pub(crate) transport: TransportSettings,
}

/// A set, in a file or here.
#[derive(Debug, Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "a set such as `{file: /etc/perfmon-exporter/set.xml}`, one with `name` and `alerts` or `counters`, or `{host: ['Office*']}`"
)]
pub(super) struct SetSettings {
    /// A set that a host exported.
    #[serde(default)]
    pub(super) file: Option<PathBuf>,
    /// Its name; that of a file's set is used otherwise.
    #[serde(default)]
    pub(super) name: Option<String>,
    /// When its alerts are judged.
    #[serde(default)]
    pub(super) start: Start,
    /// For how long, once an alert has started it.
    #[serde(default)]
    pub(super) duration: Option<LongHold>,
    /// The paths of the counters that it logs, where there is no file.
    #[serde(default)]
    pub(super) counters: Option<Vec<String>>,
    /// The time between two records.
    #[serde(default)]
    pub(super) sample_interval: Option<Interval>,
    /// The format of its logs.
    #[serde(default)]
    pub(super) log_format: Option<LogFormat>,
    /// The database that it logs to.
    #[serde(default)]
    pub(super) database: Option<String>,
    /// The time zone of schedules, names and times, by its name in the IANA database.
    #[serde(default)]
    pub(super) time_zone: Option<String>,
    #[serde(default)]
    pub(super) schedules: Option<Vec<ScheduleSettings>>,
    /// When the next file begins.
    #[serde(default)]
    pub(super) segment: Option<SegmentSettings>,
    /// What is kept of its files.
    #[serde(default)]
    pub(super) keep: Option<KeepSettings>,
    /// The task that is started when it has stopped.
    #[serde(default)]
    pub(super) task: Option<String>,
    /// What follows the task's command, with variables.
    #[serde(default)]
    pub(super) task_arguments: Option<String>,
    /// What replaces `{usertext}` in them.
    #[serde(default)]
    pub(super) task_text: Option<String>,
    /// Its alerts, where there is no file.
    #[serde(default)]
    pub(super) alerts: Option<Vec<AlertSettings>>,
    /// Whether hosts may lack its counters.
    #[serde(default)]
    pub(super) optional: Option<bool>,
    /// Names of sets of the host itself.
    #[serde(default)]
    pub(super) host: Option<Vec<String>>,
    /// The category of these.
    #[serde(default)]
    pub(super) category: Option<CategoryWord>,
    /// How often these are read.
    #[serde(default)]
    pub(super) refresh: Option<Refresh>,
}

/// An alert: a threshold, or a counter with a number that it must not be above or below.
#[derive(Debug, Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "an alert such as `{counter: '\\Processor(*)\\% Processor Time', above: 90}`"
)]
pub(super) struct AlertSettings {
    /// Its name; that of the counter otherwise.
    #[serde(default)]
    pub(super) name: Option<String>,
    /// Whether hosts may lack its counter; as its set says otherwise.
    #[serde(default)]
    pub(super) optional: Option<bool>,
    #[serde(default)]
    pub(super) threshold: Option<String>,
    #[serde(default)]
    pub(super) counter: Option<String>,
    #[serde(default)]
    pub(super) above: Option<Limit>,
    #[serde(default)]
    pub(super) below: Option<Limit>,
    /// How long a value has to be across.
    #[serde(default, rename = "for")]
    pub(super) hold: Hold,
    /// The time between two samples.
    #[serde(default)]
    pub(super) sample_interval: Interval,
    /// Whether there are events.
    #[serde(default = "yes")]
    pub(super) event: bool,
    /// The task that it starts.
    #[serde(default)]
    pub(super) task: Option<String>,
    /// What follows the task's command, with variables.
    #[serde(default)]
    pub(super) task_arguments: Option<String>,
    /// What replaces `{usertext}` in them.
    #[serde(default)]
    pub(super) task_text: Option<String>,
    /// The set that it starts.
    #[serde(default)]
    pub(super) start_set: Option<String>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Limit(pub(super) f64);

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(try_from = "String", expecting = "a time such as `5m`")]
pub(super) struct Hold(pub(super) Duration);

/// As [`Hold`], and it may be days.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(try_from = "String", expecting = "a time such as `8h` or `7d`")]
pub(super) struct LongHold(pub(super) Duration);

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(try_from = "String", expecting = "a time such as `5m`")]
pub(super) struct Refresh(pub(super) Duration);

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(try_from = "String", expecting = "a time such as `15s`, or `once`")]
pub(super) struct Interval(pub(super) SampleInterval);

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

impl TryFrom<String> for LongHold {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, &'static str> {
        match text.as_str() {
            "0" | "0s" => Ok(Self::default()),
            _ => LongTime::try_from(text).map(|LongTime(time)| Self(time)),
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
