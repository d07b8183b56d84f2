use std::error::Error;
use std::fmt;

use counter_types::CounterPath;

use crate::classic::ClassicError;
use crate::registration::Trouble;

/// Why a search for what paths mean ended.
#[derive(Debug)]
pub enum FindError<E: Error + 'static> {
    Call(counters::pcq::Error<E>),
    /// A call for classic objects failed.
    Classic(ClassicError<E>),
    /// The host has no such thing.
    Path(PathProblem),
}

/// Why a path means nothing at a host.
#[derive(Clone, Debug)]
pub enum PathProblem {
    /// A part of it is no pattern.
    Pattern(String),
    /// The host has no counterset of this name; the one that was meant, perhaps.
    UnknownCounterset { path: Box<CounterPath>, nearest: Option<String> },
    /// The name is that of a classic object, which no host offers here.
    Classic {
        path: Box<CounterPath>,
        /// What is said of the object.
        explanation: String,
    },
    /// What the host tells of the counterset is of no use.
    Unusable { counterset: String, trouble: Trouble },
    /// The counterset has instances, and the path names none.
    LacksInstance { path: Box<CounterPath>, counterset: String },
    /// The path names an instance, and the counterset has none.
    HasNoInstances { path: Box<CounterPath>, counterset: String },
    /// The counterset has no such counter; the one that was meant, perhaps.
    UnknownCounter { path: Box<CounterPath>, counterset: String, nearest: Option<String> },
}

impl PathProblem {
    /// Whether the host has no such counterset or counter.
    #[must_use]
    pub const fn is_absence(&self) -> bool {
        matches!(self, Self::UnknownCounterset { .. } | Self::Classic { .. } | Self::UnknownCounter { .. })
    }
}

impl<E: Error + 'static> From<PathProblem> for FindError<E> {
    fn from(problem: PathProblem) -> Self {
        Self::Path(problem)
    }
}

impl<E: Error + 'static> From<ClassicError<E>> for FindError<E> {
    fn from(error: ClassicError<E>) -> Self {
        Self::Classic(error)
    }
}

impl<E: Error + 'static> From<counters::pcq::Error<E>> for FindError<E> {
    fn from(error: counters::pcq::Error<E>) -> Self {
        Self::Call(error)
    }
}

impl fmt::Display for PathProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let meant = |nearest: &Option<String>| {
            nearest.as_ref().map(|name| format!("; did you mean `{name}`?")).unwrap_or_default()
        };
        match self {
            Self::Pattern(reason) => f.write_str(reason),
            Self::UnknownCounterset { path, nearest } => {
                write!(f, "{path}: the host has no counterset `{}`{}", path.counterset, meant(nearest))
            }
            Self::Classic { path, explanation } => write!(f, "{path}: {explanation}"),
            Self::Unusable { counterset, trouble } => write!(f, "counterset `{counterset}`: {trouble}"),
            Self::LacksInstance { path, counterset } => {
                write!(f, "{path}: `{counterset}` has instances: name one, or write `{counterset}(*)`")
            }
            Self::HasNoInstances { path, counterset } => {
                write!(f, "{path}: `{counterset}` has no instances")
            }
            Self::UnknownCounter { path, counterset, nearest } => {
                write!(f, "{path}: `{counterset}` has no counter `{}`{}", path.counter, meant(nearest))
            }
        }
    }
}
