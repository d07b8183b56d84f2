//! Wanted countersets of which there are no values, and what is said about them.

use std::fmt;

use crate::Nameless;
use crate::registration::Trouble;

/// A counterset that the host does not have now.
#[derive(Clone, Debug)]
pub struct Missing<U> {
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
    /// The name is that of a classic object, which no host offers here: what is said of it.
    Classic(String),
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
        let Self { name, why } = self;
        let meant = |nearest: &Option<String>| {
            nearest.as_ref().map(|nearest| format!("; did you mean `{nearest}`?")).unwrap_or_default()
        };
        match why {
            Why::Unknown { nearest, .. } => {
                write!(f, "the host has no counterset `{name}`{}", meant(nearest))
            }
            Why::Classic(explanation) => f.write_str(explanation),
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
            Self::Classic(_) | Self::Unlisted(_) | Self::UnknownCounter { .. } | Self::Trouble(_) => None,
        }
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
