//! How a metric gets its name: a [`Profile`] is a set of rules for it.

mod label_map;
mod mapped;
mod native;
#[cfg(test)]
mod tests;
mod verbatim;

use std::sync::Arc;

use self::mapped::Mapped;
use self::native::native;
use self::verbatim::verbatim;
use crate::model::Kind;

pub use self::label_map::{Group, INSTANCE_LABELS, LabelMap, LabelValue};
pub use self::mapped::{Conflict, ConflictReason, Entry, MappedMetric, MappedSource, NameMap, Others};

/// The parts of a plugin's family that determine its name.
#[derive(Clone, Copy, Debug)]
pub struct Nameable<'a> {
    /// Empty for performance counters, else `complus`, `pla`, `rpc` …
    pub namespace: &'a str,
    pub object: &'a str,
    pub item: &'a str,
    /// Empty, `base`, `inactive` …
    pub part: &'a str,
    /// What the values mean.
    pub kind: Kind,
    /// The base unit, or empty.
    pub unit: &'a str,
}

/// A family's name by OpenMetrics' rules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FamilyName {
    /// Without the suffix of the kind.
    pub name: String,
    /// The unit as the name ends with it; empty for none.
    pub unit: String,
}

/// What a profile makes of a family.
#[derive(Debug)]
pub(super) enum Naming {
    /// It gets a name; everything else is the source's.
    Named(FamilyName),
    /// It becomes this metric.
    Mapped(Arc<MappedMetric>),
    Dropped,
}

/// Which rules make the names.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Profile {
    /// `perfmon_<object>_<item>…` by the rules of `native`. All names, those of labels too, are legal in every version of every format.
    #[default]
    Native,
    /// The source's own texts with dots between them. Names may be any UTF-8.
    Verbatim,
    /// Those of a profile file, legal in every version of every format.
    Mapped(Arc<NameMap>),
}

impl Profile {
    /// The word in the configuration, and the profile, of those that need no file.
    pub const WORDS: [(&'static str, Self); 2] = [("native", Self::Native), ("verbatim", Self::Verbatim)];

    /// The name of a family, or that it is dropped.
    pub(super) fn names(&self, family: &Nameable<'_>) -> Naming {
        match self {
            Self::Native => Naming::Named(native(family)),
            Self::Verbatim => Naming::Named(verbatim(family)),
            Self::Mapped(map) => match map.of(family) {
                Mapped::Metric(metric) => Naming::Mapped(metric),
                Mapped::Native => Naming::Named(native(family)),
                Mapped::Dropped => Naming::Dropped,
            },
        }
    }

    /// Whether names may be more than `[a-zA-Z_:][a-zA-Z0-9_:]*`.
    #[must_use]
    pub fn is_utf8(&self) -> bool {
        *self == Self::Verbatim
    }
}
