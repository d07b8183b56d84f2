use counters::pcq::types::DetailLevel;

use crate::pattern::{NamePattern, PatternError, PatternText};

/// The selected counters and instances of a counterset, as a configuration has them. Exclusion overrides inclusion;
/// an empty inclusion means all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SelectionRules {
    /// Which counters, by their English names.
    pub counters: Filter,
    /// Which instances, by their names.
    pub instances: Filter,
    /// How instances that sum up others ([`Selection::is_total`]) are handled.
    pub totals: Totals,
    /// Counters above this level are not selected.
    pub detail: Option<DetailLevel>,
}

/// Included and excluded names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Only these; all if empty.
    pub include: Vec<PatternText>,
    pub exclude: Vec<PatternText>,
}

/// How instances that sum up others are handled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Totals {
    /// They are instances like the others. A sum over all instances counts everything twice.
    #[default]
    Keep,
    Drop,
    /// They are dropped if there are instances that they sum up; see [`Selection::instance_among`].
    DropBesideParts,
    /// They are shown apart from the others.
    Separate,
}

/// Whether an instance is selected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// It is not selected.
    No,
    Yes,
    /// It sums up others and is shown separately ([`Totals::Separate`]).
    Total,
}

#[derive(Clone, Debug, Default)]
pub struct Selection {
    counters: Names,
    instances: Names,
    totals: Totals,
    detail: Option<DetailLevel>,
}

/// An invalid pattern, and its place.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {error}")]
pub struct SelectionError {
    pub place: Place,
    /// What is wrong with it, and the probable intention.
    #[source]
    pub error: PatternError,
}

/// The place of a pattern in [`SelectionRules`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    pub filter: &'static str,
    pub list: &'static str,
    pub index: usize,
}

impl Place {
    /// The JSON pointer relative to the rules: `/instances/include/0`.
    #[must_use]
    pub fn pointer(&self) -> String {
        format!("/{}/{}/{}", self.filter, self.list, self.index)
    }
}

impl core::fmt::Display for Place {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{}.{}[{}]", self.filter, self.list, self.index)
    }
}

impl Selection {
    /// Checks the rules.
    ///
    /// # Errors At the first invalid pattern.
    pub fn new(rules: &SelectionRules) -> Result<Self, SelectionError> {
        Ok(Self {
            counters: Names::new(&rules.counters, "counters")?,
            instances: Names::new(&rules.instances, "instances")?,
            totals: rules.totals,
            detail: rules.detail,
        })
    }

    /// Whether a counter is selected. One without a name is selected unless counters are included by name.
    #[must_use]
    pub fn wants_counter(&self, name: Option<&str>, detail: DetailLevel) -> bool {
        let is_for_us = self.detail.is_none_or(|highest| detail.0 <= highest.0);
        is_for_us && name.map_or(self.counters.include.is_empty(), |name| self.counters.contain(name))
    }

    /// Whether an instance is selected.
    #[must_use]
    pub fn instance(&self, name: &str) -> Choice {
        match (self.instances.contain(name), self.totals) {
            (false, _) => Choice::No,
            (true, Totals::Keep | Totals::DropBesideParts) => Choice::Yes,
            (true, _) if !Self::is_total(name) => Choice::Yes,
            (true, Totals::Drop) => Choice::No,
            (true, Totals::Separate) => Choice::Total,
        }
    }

    /// Whether an instance is selected; `has_parts` says whether there are instances that sum up no others.
    #[must_use]
    pub fn instance_among(&self, name: &str, has_parts: bool) -> Choice {
        if self.drops_totals_beside_parts() && has_parts && Self::is_total(name) {
            Choice::No
        } else {
            self.instance(name)
        }
    }

    /// Whether the decision depends on other instances.
    #[must_use]
    pub const fn drops_totals_beside_parts(&self) -> bool {
        matches!(self.totals, Totals::DropBesideParts)
    }

    /// Whether an instance is selected or a total.
    #[must_use]
    pub fn wants_instance(&self, name: &str) -> bool {
        self.instance(name) != Choice::No
    }

    /// Whether instances that sum up others are shown separately.
    #[must_use]
    pub const fn separates_totals(&self) -> bool {
        matches!(self.totals, Totals::Separate)
    }

    /// The patterns of included counters, in the order of the rules. Each of them should match something.
    #[must_use]
    pub fn included_counters(&self) -> &[NamePattern] {
        &self.counters.include
    }

    /// The patterns of included instances, in the order of the rules.
    #[must_use]
    pub fn included_instances(&self) -> &[NamePattern] {
        &self.instances.include
    }

    /// Whether an instance sums up others: `_Total` (`__Total__` in ASP.NET, `_Global_` in the .NET runtime), or a
    /// name whose part after the last comma is one of these (`0,_Total`).
    #[must_use]
    pub fn is_total(name: &str) -> bool {
        let last = name.rsplit(',').next().unwrap_or_default().trim();
        TOTALS.iter().any(|total| last.eq_ignore_ascii_case(total))
    }
}

const TOTALS: [&str; 3] = ["_total", "__total__", "_global_"];

#[derive(Clone, Debug, Default)]
struct Names {
    include: Vec<NamePattern>,
    exclude: Vec<NamePattern>,
}

impl Names {
    fn new(filter: &Filter, name: &'static str) -> Result<Self, SelectionError> {
        let compile = |texts: &[PatternText], list| {
            let compile_one = |(index, text)| {
                let place = Place { filter: name, list, index };
                NamePattern::new(text).map_err(|error| SelectionError { place, error })
            };
            texts.iter().enumerate().map(compile_one).collect::<Result<Vec<_>, _>>()
        };
        Ok(Self {
            include: compile(&filter.include, "include")?,
            exclude: compile(&filter.exclude, "exclude")?,
        })
    }

    fn contain(&self, name: &str) -> bool {
        let among = |patterns: &[NamePattern]| patterns.iter().any(|pattern| pattern.matches(name));
        (self.include.is_empty() || among(&self.include)) && !among(&self.exclude)
    }
}
