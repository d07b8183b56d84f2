//! Names and patterns of names, as the settings say them.

use counters::{Filter, PatternText};
use serde::Deserialize;

/// A name, or a pattern of names.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(
    untagged,
    expecting = "expected a name, `{exact: NAME}`, `{wildcard: 'svchost*'}` or `{regex: 'svchost.*'}`"
)]
pub(crate) enum NameSettings {
    /// What it means depends on where it stands.
    Plain(String),
    /// The name itself.
    Exact(ExactSettings),
    /// `*` for any characters, `?` for one.
    Wildcard(WildcardSettings),
    /// A regular expression for whole names.
    Regex(RegexSettings),
}

#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub(crate) struct ExactSettings {
    exact: String,
}

#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub(crate) struct WildcardSettings {
    wildcard: String,
}

#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub(crate) struct RegexSettings {
    regex: String,
}

/// What is in and what is out.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields, expecting = "a mapping such as `{include: ['svchost.*']}`")]
pub(crate) struct FilterSettings {
    /// What is wanted; everything where nothing is said.
    #[serde(default)]
    pub(crate) include: Vec<NameSettings>,
    /// What is not, even when it is included.
    #[serde(default)]
    pub(crate) exclude: Vec<NameSettings>,
}

impl FilterSettings {
    /// Whether instances that sum up others are asked for by name.
    pub(super) fn names_totals(&self) -> bool {
        self.include.iter().any(|name| name.text().to_ascii_lowercase().contains("_total"))
    }

    pub(super) fn rules(&self) -> Filter {
        let texts = |names: &[NameSettings]| names.iter().map(NameSettings::pattern).collect();
        Filter { include: texts(&self.include), exclude: texts(&self.exclude) }
    }
}

impl NameSettings {
    pub(super) fn text(&self) -> &str {
        match self {
            Self::Plain(text)
            | Self::Exact(ExactSettings { exact: text })
            | Self::Wildcard(WildcardSettings { wildcard: text })
            | Self::Regex(RegexSettings { regex: text }) => text,
        }
    }

    fn pattern(&self) -> PatternText {
        let text = self.text().to_owned();
        match self {
            Self::Plain(_) => PatternText::Plain(text),
            Self::Exact(_) => PatternText::Exact(text),
            Self::Wildcard(_) => PatternText::Wildcard(text),
            Self::Regex(_) => PatternText::Regex(text),
        }
    }
}
