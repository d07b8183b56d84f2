//! Wanted countersets of which there are no values, and what is said about them.

use std::fmt;

use counter_types::same_name;
use safe_text::nearest::nearest;

use crate::registration::Trouble;
use crate::{Counterset, CountersetPoller, Nameless, SeriesIds, SeriesSink, Wanted};

/// A counterset that the host does not have now.
#[derive(Clone, Debug)]
pub struct Missing<U> {
    /// Which of the wanted ones it is.
    pub wanted: usize,
    /// Its name, or what it was wanted by.
    pub name: String,
    pub why: Why<U>,
}

/// Why a counterset, or a counter of it, is missing.
#[derive(Clone, Debug)]
pub enum Why<U> {
    /// No counterset has this name; the one that was meant, perhaps.
    Unknown {
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
    NoMatch { nameless: Option<Nameless> },
    /// None of the names of a choice is that of a counterset.
    NoneOf {
        /// What may be one of them.
        nameless: Option<Nameless>,
    },
    /// The host has more countersets than it can list, and this is why it is not known whether this is one of them.
    Unlisted(U),
    /// The counterset has no counter of this name; the one that was meant, perhaps.
    UnknownCounter { counter: String, nearest: Option<String> },
    /// What the host answers about it is of no use.
    Trouble(Trouble),
}

impl<U: fmt::Display> fmt::Display for Missing<U> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.why.said_of(&[&self.name]))
    }
}

/// What is said of all that is missing, in sentences: one for all that is missing for the same reason.
pub fn sentences<U: fmt::Display>(missing: &[Missing<U>]) -> Vec<String> {
    let mut groups: Vec<(String, &Why<U>, Vec<&str>)> = Vec::new();
    for Missing { name, why, .. } in missing {
        let reason = why.said_of(&[""]);
        match groups.iter_mut().find(|(known, ..)| *known == reason) {
            Some((.., names)) => names.push(name),
            None => groups.push((reason, why, vec![name])),
        }
    }
    groups.into_iter().map(|(_, why, names)| why.said_of(&names)).collect()
}

impl<U: fmt::Display> Why<U> {
    /// What is said of countersets that are missing for this reason.
    fn said_of(&self, names: &[&str]) -> String {
        let listed: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
        let (all, s) = (listed.join(", "), if names.len() > 1 { "s" } else { "" });
        let meant = |nearest: &Option<String>| {
            nearest.as_ref().map(|nearest| format!("; did you mean `{nearest}`?")).unwrap_or_default()
        };
        match self {
            Self::Unknown { nearest, .. } => format!("the host has no counterset {all}{}", meant(nearest)),
            Self::Classic(explanation) => explanation.clone(),
            Self::NoClassic(reason) => {
                let its = if names.len() > 1 { "their" } else { "its" };
                format!(
                    "the host has no version 2 counterset{s} {all}, and {its} classic counters cannot be read: {reason}"
                )
            }
            Self::NoData => format!("the host sent no data of {all}: its provider may be disabled"),
            Self::NoMatch { .. } => format!("the host has no counterset whose name matches {all}"),
            Self::NoneOf { .. } => format!("the host has none of the countersets {all}"),
            Self::Unlisted(reason) => format!(
                "the host has more countersets than it can list, so that {all} may be missing; its registry does \
                 not list them: {reason}; let us read the registry, or set the counterset's guid"
            ),
            Self::UnknownCounter { counter, nearest } => {
                let has = if names.len() > 1 { "have" } else { "has" };
                format!("counterset{s} {all} {has} no counter `{counter}`{}", meant(nearest))
            }
            Self::Trouble(trouble) => format!("counterset{s} {all}: {trouble}"),
        }
    }
}

impl<U> Why<U> {
    /// Countersets among which the wanted one may be.
    #[must_use]
    pub const fn nameless(&self) -> Option<&Nameless> {
        match self {
            Self::Unknown { nameless, .. } | Self::NoMatch { nameless } | Self::NoneOf { nameless } => {
                nameless.as_ref()
            }
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
        matches!(self, Self::Unknown { .. } | Self::Classic(_) | Self::NoMatch { .. } | Self::NoneOf { .. })
    }

    /// Whether the host does not have it now, as far as it says: it failed over nothing.
    pub(crate) const fn is_absence(&self) -> bool {
        match self {
            Self::NoData => true,
            Self::Trouble(trouble) => trouble.is_absence(),
            other => other.may_be_classic(),
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

/// What is `absent` of the `watched`, each with which of the wanted ones it is, need not be there: it is covered, without series.
pub(crate) fn excuse<'a, I: SeriesIds + 'a, S: SeriesSink<I>>(
    watched: impl Iterator<Item = (usize, &'a Counterset, &'a mut CountersetPoller<I>)>,
    absent: &[Missing<I::Unlisted>],
    covered: &mut [bool],
    output: &mut S,
) {
    for ((wanted, counterset, poller), covered) in watched.zip(covered).filter(|(_, covered)| !**covered) {
        if absent.iter().any(|absent| absent.wanted == wanted && absent.name == counterset.name) {
            poller.clear(output);
            *covered = true;
        }
    }
}

/// Remembers what is `covered`. Returns whether something is not that was.
pub(crate) fn note_losses<'a>(were_there: impl Iterator<Item = &'a mut bool>, covered: &[bool]) -> bool {
    let mut has_lost_some = false;
    for (was_there, covered) in were_there.zip(covered) {
        has_lost_some |= std::mem::replace(was_there, *covered) && !covered;
    }
    has_lost_some
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
