//! Log records and events.

use crate::raw::{
    ALERT_CLOSED, ALERT_OPEN, ALERT_OPENED, LEVEL_DEBUG, LEVEL_ERROR, LEVEL_INFO, LEVEL_TRACE, LEVEL_WARN,
};

/// The severity of a log record or an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    Error,
    Warn,
    Info,
    Debug,
    Trace,
}

impl Level {
    #[must_use]
    pub const fn code(self) -> u32 {
        match self {
            Self::Error => LEVEL_ERROR,
            Self::Warn => LEVEL_WARN,
            Self::Info => LEVEL_INFO,
            Self::Debug => LEVEL_DEBUG,
            Self::Trace => LEVEL_TRACE,
        }
    }

    /// An unknown number means `Trace`.
    #[must_use]
    pub const fn from_code(code: u32) -> Self {
        match code {
            LEVEL_ERROR => Self::Error,
            LEVEL_WARN => Self::Warn,
            LEVEL_INFO => Self::Info,
            LEVEL_DEBUG => Self::Debug,
            _ => Self::Trace,
        }
    }
}

/// Something that happened on the target, such as an alert that fired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event<'a> {
    /// The kind of event: `[a-z][a-z0-9_.]*`.
    pub name: &'a str,
    pub level: Level,
    /// When it happened, in Unix nanoseconds, if known.
    pub time_unix_nanos: Option<i64>,
    /// A sentence for people.
    pub body: &'a str,
    pub fields: &'a [(&'a str, &'a str)],
    /// The alert that it is about, if any.
    pub alert: Option<Alert<'a>>,
}

impl<'a> Event<'a> {
    /// The fields that do not identify the alert.
    #[must_use]
    pub fn details(&self) -> &'a [(&'a str, &'a str)] {
        let labels = self.alert.map_or(0, |alert| alert.labels.len());
        self.fields.get(labels..).unwrap_or_default()
    }
}

/// An alert and its state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Alert<'a> {
    /// Its name: not empty, one line, unique in its instance.
    pub id: &'a str,
    pub state: AlertState,
    /// The event's first fields, which identify the alert for receivers. Their names are valid as names of labels.
    pub labels: &'a [(&'a str, &'a str)],
}

/// Whether an alert fires.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AlertState {
    /// It fires from now on.
    Opened,
    /// It still fires. Repeated for receivers that missed `Opened`.
    Open,
    /// It no longer fires.
    Closed,
}

impl AlertState {
    /// The word for logs and records.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Opened => "opened",
            Self::Open => "open",
            Self::Closed => "closed",
        }
    }

    #[must_use]
    pub const fn code(self) -> u32 {
        match self {
            Self::Opened => ALERT_OPENED,
            Self::Open => ALERT_OPEN,
            Self::Closed => ALERT_CLOSED,
        }
    }

    /// `None` for an event that is about no alert.
    #[must_use]
    pub const fn from_code(code: u32) -> Option<Self> {
        Some(match code {
            ALERT_OPENED => Self::Opened,
            ALERT_OPEN => Self::Open,
            ALERT_CLOSED => Self::Closed,
            _ => return None,
        })
    }
}
