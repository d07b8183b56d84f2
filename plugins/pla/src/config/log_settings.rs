//! The settings of logs as they are written.

use std::path::PathBuf;
use std::time::Duration;

use jiff::civil::{Date, Time};
use ms_pla::FolderActionSteps;
use plugin_session::command::parse_duration;
use serde::Deserialize;

/// When a set starts.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a schedule such as `{days: [mon, tue], at: '22:00'}`")]
pub(super) struct ScheduleSettings {
    /// The days of the week; every day without any.
    #[serde(default)]
    pub(super) days: Vec<WeekDay>,
    /// The time of day.
    pub(super) at: AtTime,
    #[serde(default)]
    pub(super) from: Option<OnDate>,
    #[serde(default)]
    pub(super) to: Option<OnDate>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case", expecting = "`mon`, `tue`, `wed`, `thu`, `fri`, `sat` or `sun`")]
pub(super) enum WeekDay {
    Sun,
    Mon,
    Tue,
    Wed,
    Thu,
    Fri,
    Sat,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(try_from = "String", expecting = "a time of day such as `'22:00'`")]
pub(super) struct AtTime(pub(super) Time);

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(try_from = "String", expecting = "a day such as `2026-12-31`")]
pub(super) struct OnDate(pub(super) Date);

/// When the next file begins.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "limits of a file such as `{every: 1h, size: 100MB, records: 10000}`"
)]
pub(super) struct SegmentSettings {
    #[serde(default)]
    pub(super) every: Option<LongTime>,
    #[serde(default)]
    pub(super) size: Option<Megabytes>,
    #[serde(default)]
    pub(super) records: Option<u32>,
}

/// What the data manager keeps.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "limits of what is kept, such as `{folders: 30, size: 10GB, free: 1GB}`"
)]
pub(super) struct KeepSettings {
    #[serde(default)]
    pub(super) folders: Option<u32>,
    #[serde(default)]
    pub(super) size: Option<Megabytes>,
    #[serde(default)]
    pub(super) free: Option<Megabytes>,
    #[serde(default)]
    pub(super) delete: DeleteFirst,
    /// What is done with folders before that.
    #[serde(default)]
    pub(super) actions: Vec<ActionSettings>,
}

/// [MS-PLA] 3.2.4.3: what is done with folders that are old and large enough.
#[derive(Clone, Debug, Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "an action such as `{age: 7d, size: 10MB, do: [create_cab, delete_data]}`"
)]
pub(super) struct ActionSettings {
    /// At any age without it.
    #[serde(default)]
    pub(super) age: Option<Days>,
    /// At any size without it.
    #[serde(default)]
    pub(super) size: Option<Megabytes>,
    #[serde(rename = "do")]
    pub(super) steps: Vec<StepWord>,
}

/// [MS-PLA] 2.2.2.8: a step, by the name that it has there.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(
    rename_all = "snake_case",
    expecting = "`create_cab`, `delete_data`, `send_cab`, `delete_cab` or `delete_report`"
)]
pub(super) enum StepWord {
    CreateCab,
    DeleteData,
    SendCab,
    DeleteCab,
    DeleteReport,
}

/// Whole days, in which ages of folders are.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(try_from = "String", expecting = "days such as `7d`")]
pub(super) struct Days(pub(super) u32);

/// Which folders are removed first.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "snake_case", expecting = "`oldest` or `largest`")]
pub(super) enum DeleteFirst {
    #[default]
    Oldest,
    Largest,
}

/// A database of logs.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a database such as `{sqlite: archive.db}`")]
pub(super) struct DatabaseSettings {
    /// The name of a file beside the folders of the target's sets.
    #[serde(default)]
    pub(super) sqlite: Option<String>,
    #[serde(default)]
    pub(super) postgresql: Option<PostgresqlSettings>,
}

/// A database of PostgreSQL.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a server such as `{host: db1, database: perfmon, user: perfmon}`")]
pub(super) struct PostgresqlSettings {
    pub(super) host: String,
    #[serde(default)]
    pub(super) port: Option<u16>,
    pub(super) database: String,
    pub(super) user: String,
    #[serde(default)]
    pub(super) password_file: Option<PathBuf>,
    #[serde(default)]
    pub(super) tls: Option<TlsWord>,
    #[serde(default)]
    pub(super) ca_file: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case", expecting = "`require` or `off`")]
pub(super) enum TlsWord {
    Require,
    Off,
}

/// A time that may be days.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(try_from = "String", expecting = "a time such as `8h` or `7d`")]
pub(super) struct LongTime(pub(super) Duration);

/// Of 1,048,576 bytes, as Windows counts them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String", expecting = "a size such as `100MB`")]
pub(crate) struct Megabytes(pub(crate) u32);

impl WeekDay {
    /// [MS-PLA] 2.2.2.12: its bit.
    pub(super) const fn bit(self) -> u16 {
        1 << self as u16
    }
}

impl StepWord {
    pub(super) const fn bit(self) -> FolderActionSteps {
        match self {
            Self::CreateCab => FolderActionSteps::CREATE_CAB,
            Self::DeleteData => FolderActionSteps::DELETE_DATA,
            Self::SendCab => FolderActionSteps::SEND_CAB,
            Self::DeleteCab => FolderActionSteps::DELETE_CAB,
            Self::DeleteReport => FolderActionSteps::DELETE_REPORT,
        }
    }
}

impl TryFrom<String> for Days {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, &'static str> {
        match text.strip_suffix('d').map(str::parse) {
            Some(Ok(days @ 1..=AGE_DAYS_MAX)) => Ok(Self(days)),
            _ => Err("write 1 to 3660 days, such as `7d`"),
        }
    }
}

impl TryFrom<String> for AtTime {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, &'static str> {
        text.parse().map(Self).map_err(|_| "write a time of day such as `'22:00'`")
    }
}

impl TryFrom<String> for OnDate {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, &'static str> {
        text.parse().map(Self).map_err(|_| "write a day such as `2026-12-31`")
    }
}

impl TryFrom<String> for LongTime {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, &'static str> {
        let days = text.strip_suffix('d').map(str::parse::<u32>);
        match days {
            Some(Ok(days @ 1..=DAYS_MAX)) => Ok(Self(Duration::from_secs(u64::from(days) * 86_400))),
            Some(_) => Err("write 1 to 366 days, such as `7d`"),
            None => match parse_duration(&text)? {
                time if time < Duration::from_secs(1) => Err("write at least `1s`"),
                time => Ok(Self(time)),
            },
        }
    }
}

impl TryFrom<String> for Megabytes {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, &'static str> {
        let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
        let factor = match text[end..].trim() {
            "MB" => Some(1),
            "GB" => Some(1 << 10),
            "TB" => Some(1 << 20),
            _ => None,
        };
        let number: Option<u32> = text[..end].parse().ok();
        let megabytes = number.zip(factor).and_then(|(number, factor)| number.checked_mul(factor));
        megabytes
            .filter(|megabytes| *megabytes > 0)
            .map(Self)
            .ok_or("write a size such as `100MB`, `2GB` or `1TB`")
    }
}

const DAYS_MAX: u32 = 366;
const AGE_DAYS_MAX: u32 = 3_660;
