//! How a metric gets its name: a [`Profile`] is a set of rules for it.

mod native;
#[cfg(test)]
mod tests;
mod verbatim;

use self::native::native;
use self::verbatim::verbatim;
use crate::model::Kind;

/// The parts of a plugin's family that determine its name.
#[derive(Clone, Copy, Debug)]
pub struct Nameable<'a> {
    /// Empty for performance counters, else `complus`, `pla`, `rpc` …
    pub namespace: &'a str,
    /// `Processor Information`.
    pub object: &'a str,
    /// `% Processor Time`.
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

/// Which rules make the names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Profile {
    /// `perfmon_<object>_<item>…` by the rules of `native`. All names, those of labels too, are legal in every version of every format.
    #[default]
    Native,
    /// The source's own texts with dots between them. Names may be any UTF-8.
    Verbatim,
}

impl Profile {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Native, Self::Verbatim];

    /// The word in the configuration.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Native => "native",
            Self::Verbatim => "verbatim",
        }
    }

    /// The name of a family.
    #[must_use]
    pub fn family_name(self, family: &Nameable<'_>) -> FamilyName {
        match self {
            Self::Native => native(family),
            Self::Verbatim => verbatim(family),
        }
    }

    /// Whether names may be more than `[a-zA-Z_:][a-zA-Z0-9_:]*`.
    #[must_use]
    pub fn is_utf8(self) -> bool {
        self == Self::Verbatim
    }
}
