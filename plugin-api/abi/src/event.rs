//! Log records and events.

use std::fmt;
use std::time::Duration;

use crate::raw::{
    ALERT_CLOSED, ALERT_OPEN, ALERT_OPENED, COMPARISON_ABOVE, COMPARISON_BELOW, LEVEL_DEBUG, LEVEL_ERROR,
    LEVEL_INFO, LEVEL_TRACE, LEVEL_WARN,
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
#[derive(Clone, Copy, Debug, PartialEq)]
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
    /// What it says by name: the labels of its alert, its fields, and the numbers of its alert.
    pub fn attributes(&self) -> impl Iterator<Item = (&'a str, Attribute<'a>)> {
        let labels: &'a [(&'a str, &'a str)] = self.alert.map_or(&[], |alert| alert.labels);
        labels.iter().map(|(name, value)| (*name, Attribute::Text(value))).chain(self.details())
    }

    /// Those that do not identify the alert.
    pub fn details(&self) -> impl Iterator<Item = (&'a str, Attribute<'a>)> {
        let fields = self.fields.iter().map(|(name, value)| (*name, Attribute::Text(value)));
        fields.chain(self.alert.into_iter().flat_map(Alert::numbers))
    }
}

/// A value that an event has under a name.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Attribute<'a> {
    Text(&'a str),
    Number(f64),
}

impl fmt::Display for Attribute<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => f.write_str(text),
            Self::Number(number) => write!(f, "{number}"),
        }
    }
}

/// An alert and its state.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Alert<'a> {
    /// Its name: not empty, one line, unique in its instance.
    pub id: &'a str,
    pub state: AlertState,
    /// What identifies it for receivers, the same in each of its events. Their names are valid as names of labels.
    pub labels: &'a [(&'a str, &'a str)],
    /// What it compares, if it compares numbers.
    pub evaluation: Option<Evaluation>,
    /// Between two evaluations; zero if that is not known.
    pub interval: Duration,
    /// How long its value has to be across before it fires.
    pub hold: Duration,
}

impl<'a> Alert<'a> {
    /// One that compares no numbers.
    #[must_use]
    pub const fn new(id: &'a str, state: AlertState, labels: &'a [(&'a str, &'a str)]) -> Self {
        Self { id, state, labels, evaluation: None, interval: Duration::ZERO, hold: Duration::ZERO }
    }

    /// Its numbers, under the names that receivers and logs have for them; times are in seconds.
    fn numbers(self) -> impl Iterator<Item = (&'a str, Attribute<'a>)> {
        let compared = self.evaluation;
        let number = |name: &'a str, number: f64| (name, Attribute::Number(number));
        let time =
            |name: &'a str, time: Duration| (!time.is_zero()).then(|| number(name, time.as_secs_f64()));
        [
            compared.and_then(|it| Some(number("value", it.value?))),
            compared.map(|it| ("operator", Attribute::Text(it.comparison.operator()))),
            compared.map(|it| number("threshold", it.threshold)),
            time("interval", self.interval),
            time("for", self.hold),
        ]
        .into_iter()
        .flatten()
    }
}

/// A value and what it is compared with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Evaluation {
    /// `None` if there is no value now. It is finite, as the threshold is.
    pub value: Option<f64>,
    pub comparison: Comparison,
    pub threshold: f64,
}

/// On which side of its threshold an alert fires.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Comparison {
    Above,
    Below,
}

impl Comparison {
    /// As it is written between value and threshold.
    #[must_use]
    pub const fn operator(self) -> &'static str {
        match self {
            Self::Above => ">",
            Self::Below => "<",
        }
    }

    #[must_use]
    pub const fn code(self) -> u32 {
        match self {
            Self::Above => COMPARISON_ABOVE,
            Self::Below => COMPARISON_BELOW,
        }
    }

    /// `None` for an alert that compares no numbers.
    #[must_use]
    pub const fn from_code(code: u32) -> Option<Self> {
        Some(match code {
            COMPARISON_ABOVE => Self::Above,
            COMPARISON_BELOW => Self::Below,
            _ => return None,
        })
    }
}

/// An event that is not taken now: too much is said in this second, or too many alerts are open. It may be reported again later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoRoom;

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
