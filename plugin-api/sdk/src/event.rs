//! What happens on a target.

use plugin_abi::{ALERT_CLOSED, ALERT_OPEN, ALERT_OPENED, LEVEL_DEBUG, LEVEL_ERROR, LEVEL_INFO, LEVEL_WARN};

/// How much an event matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// Somebody must act.
    Error,
    /// Somebody should look.
    Warn,
    /// Worth knowing.
    Info,
    /// For who searches a fault.
    Debug,
}

/// Something that happened on the target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event<'a> {
    /// What kind of event: `[a-z][a-z0-9_.]*`.
    pub name: &'a str,
    /// How much it matters.
    pub severity: Severity,
    /// When it happened, where that is known.
    pub time_unix_nanos: Option<i64>,
    /// A sentence for people.
    pub body: &'a str,
    /// Details.
    pub fields: &'a [(&'a str, &'a str)],
    /// The alert that it is about, and what became of it. An exporter before version 1.3 does not hear of it.
    pub alert: Option<(&'a str, AlertState)>,
}

/// Whether an alert fires.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AlertState {
    /// From now on.
    Opened,
    /// Still: say so now and then, for who missed that it opened.
    Open,
    /// No longer.
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
