//! Wanted countersets of which there are no values, and what is said about them.

use std::fmt;

use counter_types::{nearest, same_name};

use crate::registration::Trouble;
use crate::{Counterset, Nameless, Wanted};

/// A counterset that the host does not have now.
#[derive(Clone, Debug)]
pub struct Missing<U> {
    /// Which of the wanted ones it is.
    pub wanted: usize,
    /// Its name, or what it was wanted by.
    pub name: String,
    /// Why.
    pub why: Why<U>,
}

/// Why a counterset, or a counter of it, is missing.
#[derive(Clone, Debug)]
pub enum Why<U> {
    /// No counterset has this name; the one that was meant, perhaps.
    Unknown {
        /// What is near.
        nearest: Option<String>,
        /// What may be it.
        nameless: Option<Nameless>,
    },
    /// The name is that of a classic object, and the host offers none of this name: what is said of it.
    Classic(String),
    /// No version 2 counterset is wanted by this, and this is why classic objects cannot be read.
    NoClassic(U),
    /// The host sent no data of a classic object that it has.
    NoData,
    /// No counterset's name matches the pattern.
    NoMatch {
        /// What may match.
        nameless: Option<Nameless>,
    },
    /// The host has more countersets than it can list, and this is why it is not known whether this is one of them.
    Unlisted(U),
    /// The counterset has no counter of this name; the one that was meant, perhaps.
    UnknownCounter {
        /// What was named.
        counter: String,
        /// What is near.
        nearest: Option<String>,
    },
    /// What the host answers about it is of no use.
    Trouble(Trouble),
}

impl<U: fmt::Display> fmt::Display for Missing<U> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, why, .. } = self;
        let meant = |nearest: &Option<String>| {
            nearest.as_ref().map(|nearest| format!("; did you mean `{nearest}`?")).unwrap_or_default()
        };
        match why {
            Why::Unknown { nearest, .. } => {
                write!(f, "the host has no counterset `{name}`{}", meant(nearest))
            }
            Why::Classic(explanation) => f.write_str(explanation),
            Why::NoClassic(reason) => {
                write!(
                    f,
                    "the host has no version 2 counterset `{name}`, and its classic counters cannot be read: {reason}"
                )
            }
            Why::NoData => write!(f, "the host sent no data of `{name}`: its provider may be disabled"),
            Why::NoMatch { .. } => write!(f, "the host has no counterset whose name matches `{name}`"),
            Why::Unlisted(reason) => write!(
                f,
                "the host has more countersets than it can list, so that `{name}` may be missing; its registry does \
                 not list them: {reason}; let us read the registry, or set the counterset's guid"
            ),
            Why::UnknownCounter { counter, nearest } => {
                write!(f, "counterset `{name}` has no counter `{counter}`{}", meant(nearest))
            }
            Why::Trouble(trouble) => write!(f, "counterset `{name}`: {trouble}"),
        }
    }
}

impl<U> Why<U> {
    /// Countersets among which the wanted one may be.
    #[must_use]
    pub const fn nameless(&self) -> Option<&Nameless> {
        match self {
            Self::Unknown { nameless, .. } | Self::NoMatch { nameless } => nameless.as_ref(),
            Self::Classic(_)
            | Self::NoClassic(_)
            | Self::NoData
            | Self::Unlisted(_)
            | Self::UnknownCounter { .. }
            | Self::Trouble(_) => None,
        }
    }

    /// Whether a classic object may be what was wanted: no version 2 counterset is.
    pub(crate) const fn may_be_classic(&self) -> bool {
        matches!(self, Self::Unknown { .. } | Self::Classic(_) | Self::NoMatch { .. })
    }

    /// What the host answered, where it has to do with it.
    #[must_use]
    pub fn trouble(&self) -> Option<&Trouble> {
        match self {
            Self::Trouble(trouble) => Some(trouble),
            other => other.nameless().map(|nameless| &nameless.trouble),
        }
    }
}

/// Counters that the settings name and the counterset does not have.
pub(crate) fn unknown_counters<U>(place: usize, wanted: &Wanted, counterset: &Counterset) -> Vec<Missing<U>> {
    if wanted.which.is_pattern() {
        return Vec::new();
    }
    let names = || counterset.counters.iter().map(|counter| counter.name.as_str());
    let is_unknown = |name: &&str| !names().any(|other| same_name(other, name));
    let included = wanted
        .selection
        .included_counters()
        .iter()
        .filter(|pattern| !names().any(|name| pattern.matches(name)));
    let by_name = included.filter_map(|pattern| pattern.exact_name());
    let ranked = wanted.top_n.iter().map(|top| top.counter.as_str()).filter(is_unknown);
    by_name
        .chain(ranked)
        .map(|counter| Missing {
            wanted: place,
            name: counterset.name.clone(),
            why: Why::UnknownCounter {
                counter: counter.to_owned(),
                nearest: nearest(counter, names()).map(str::to_owned),
            },
        })
        .collect()
}

/// A pattern of counters that matches none is worth a word, once.
pub(crate) fn warn_of_nothing(wanted: &Wanted, counterset: &Counterset) {
    let matches_none = |pattern: &&counter_types::NamePattern| {
        pattern.exact_name().is_none()
            && !counterset.counters.iter().any(|counter| pattern.matches(&counter.name))
    };
    for pattern in wanted.selection.included_counters().iter().filter(matches_none) {
        let (counterset, pattern) = (counterset.name.as_str(), pattern.as_str());
        tracing::warn!(counterset, pattern, "No counter matches a pattern of the settings");
    }
}
