//! Events on a target.

use plugin_abi::{ALERT_CLOSED, ALERT_OPEN, ALERT_OPENED, LEVEL_DEBUG, LEVEL_ERROR, LEVEL_INFO, LEVEL_WARN};

/// The severity of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// Somebody must act.
    Error,
    /// Somebody should look.
    Warn,
    /// Worth knowing.
    Info,
    /// For debugging.
    Debug,
}

/// Something that happened on the target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event<'a> {
    /// The kind of event: `[a-z][a-z0-9_.]*`.
    pub name: &'a str,
    /// Its severity.
    pub severity: Severity,
    /// When it happened, if known.
    pub time_unix_nanos: Option<i64>,
    /// A sentence for people.
    pub body: &'a str,
    /// Details.
    pub fields: &'a [(&'a str, &'a str)],
    /// The alert that it is about, and its state.
    pub alert: Option<(&'a str, AlertState)>,
    /// How many of the first fields identify the alert: the same in each of its events. Receivers of alerts get them as
    /// labels, and the other fields as annotations.
    pub alert_labels: usize,
}

/// Whether an alert fires.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AlertState {
    /// It fires from now on.
    Opened,
    /// It still fires. Repeat this from time to time, for receivers that missed `Opened`.
    Open,
    /// It no longer fires.
    Closed,
}

impl Severity {
    pub(crate) const fn level(self) -> u32 {
        match self {
            Self::Error => LEVEL_ERROR,
            Self::Warn => LEVEL_WARN,
            Self::Info => LEVEL_INFO,
            Self::Debug => LEVEL_DEBUG,
        }
    }
}

impl AlertState {
    pub(crate) const fn code(self) -> u32 {
        match self {
            Self::Opened => ALERT_OPENED,
            Self::Open => ALERT_OPEN,
            Self::Closed => ALERT_CLOSED,
        }
    }
}
