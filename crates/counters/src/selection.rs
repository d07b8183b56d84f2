use regex::{Regex, RegexBuilder};

/// Which counters and instances of a counterset are wanted, as a configuration says it. What is excluded is not
/// wanted even if it is included; nothing included means all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SelectionRules {
    /// Names of counters, exact but for upper and lower case.
    pub counters: Filter,
    /// Regular expressions that match whole names of instances.
    pub instances: Filter,
    /// Leaves out the instances that sum up others ([`Selection::is_total`]).
    pub without_totals: bool,
}

/// What is in and what is out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Only these; all where there are none.
    pub include: Vec<String>,
    /// Not these.
    pub exclude: Vec<String>,
}

/// [`SelectionRules`] that were checked once.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    counters: Filter,
    include: Vec<Regex>,
    exclude: Vec<Regex>,
    without_totals: bool,
}

/// A rule that is no regular expression, and where it stands.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{pattern} is no regular expression: {reason}")]
pub struct SelectionError {
    /// Which rule.
    pub pattern: Pattern,
    /// What is wrong with it.
    pub reason: String,
}

/// Where a rule stands in [`SelectionRules::instances`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pattern {
    /// In `include`, at this index.
    Include(usize),
    /// In `exclude`, at this index.
    Exclude(usize),
}

impl core::fmt::Display for Pattern {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Include(index) => write!(f, "instances.include[{index}]"),
            Self::Exclude(index) => write!(f, "instances.exclude[{index}]"),
        }
    }
}

impl Selection {
    /// Checks the rules.
    ///
    /// # Errors
    /// At the first that is no regular expression, or too large a one.
    pub fn new(rules: SelectionRules) -> Result<Self, SelectionError> {
        let SelectionRules { counters, instances, without_totals } = rules;
        let include = compile(&instances.include, Pattern::Include)?;
        let exclude = compile(&instances.exclude, Pattern::Exclude)?;
        Ok(Self { counters, include, exclude, without_totals })
    }

    /// Whether a counter is wanted. One without a name is wanted as long as none are chosen by name.
    #[must_use]
    pub fn wants_counter(&self, name: Option<&str>) -> bool {
        let among = |names: &[String]| {
            name.is_some_and(|name| names.iter().any(|other| other.to_lowercase() == name.to_lowercase()))
        };
        let Filter { include, exclude } = &self.counters;
        (include.is_empty() || among(include)) && !among(exclude)
    }

    /// Whether an instance is wanted.
    #[must_use]
    pub fn wants_instance(&self, name: &str) -> bool {
        let among = |patterns: &[Regex]| patterns.iter().any(|pattern| pattern.is_match(name));
        (self.include.is_empty() || among(&self.include))
            && !among(&self.exclude)
            && !(self.without_totals && Self::is_total(name))
    }

    /// Whether an instance sums up others: `_Total`, and one whose last part behind a comma is (`0,_Total`).
    #[must_use]
    pub fn is_total(name: &str) -> bool {
        name.rsplit(',').next().is_some_and(|last| last.trim().eq_ignore_ascii_case("_total"))
    }
}

/// Bytes that one compiled expression may take; rules come from people, so this only stops accidents.
const PATTERN_BYTES_MAX: usize = 1 << 20;

fn compile(patterns: &[String], place: impl Fn(usize) -> Pattern) -> Result<Vec<Regex>, SelectionError> {
    let build = |text: &str| RegexBuilder::new(text).size_limit(PATTERN_BYTES_MAX).build();
    let compile_one = |(index, pattern): (usize, &String)| {
        // Alone first: parentheses that do not match must not find their partners in what anchors them.
        build(pattern)
            .and_then(|_alone| build(&format!("^(?:{pattern})$")))
            .map_err(|error| SelectionError { pattern: place(index), reason: error.to_string() })
    };
    patterns.iter().enumerate().map(compile_one).collect()
}
