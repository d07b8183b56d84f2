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
}
