//! Log records and events.

/// The severity of a log record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// Somebody must act.
    Error,
    /// Somebody should look.
    Warn,
    /// Worth knowing.
    Info,
    /// For debugging.
    Debug,
    /// Everything.
    Trace,
}

/// Something that happened on the target, such as an alert that fired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event<'a> {
    /// The kind of event: `[a-z][a-z0-9_.]*`.
    pub name: &'a str,
    /// Its severity.
    pub level: Level,
    /// When it happened, in Unix nanoseconds, if known.
    pub time_unix_nanos: Option<i64>,
    /// A sentence for people.
    pub body: &'a str,
    /// Details.
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
    /// Whether it fires.
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
}
