//! Log records and events.

/// How much a log record matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// Somebody must act.
    Error,
    /// Somebody should look.
    Warn,
    /// Worth knowing.
    Info,
    /// For who searches a fault.
    Debug,
    /// Everything.
    Trace,
}

/// Something that happened on the target: an alert that fired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event<'a> {
    /// What kind of event: `[a-z][a-z0-9_.]*`.
    pub name: &'a str,
    /// How much it matters.
    pub level: Level,
    /// When it happened, in Unix nanoseconds, where the source knows it.
    pub time_unix_nanos: Option<i64>,
    /// A sentence for people.
    pub body: &'a str,
    /// Details.
    pub fields: &'a [(&'a str, &'a str)],
    /// The alert that it is about, if any.
    pub alert: Option<Alert<'a>>,
}

/// An alert, and what became of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Alert<'a> {
    /// Which: not empty, one line, unique in its instance.
    pub id: &'a str,
    /// Whether it fires.
    pub state: AlertState,
}

/// Whether an alert fires.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AlertState {
    /// From now on.
    Opened,
    /// Still, for who missed that it opened.
    Open,
    /// No longer.
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
}
