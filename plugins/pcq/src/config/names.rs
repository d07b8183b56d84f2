//! Names and patterns of names in the settings.

use std::fmt;

use counter_types::{Filter, PatternText};
use serde::de::{self, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

/// A name, or a pattern of names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum NameSettings {
    /// Its meaning depends on the key.
    Plain(String),
    Exact(String),
    /// `*` for any characters, `?` for one.
    Wildcard(String),
    /// A regular expression for whole names.
    Regex(String),
}

/// The forms of a name in settings.
const EXPECTED: &str = "a name, `{exact: NAME}`, `{wildcard: 'svchost*'}` or `{regex: 'svchost.*'}`";

impl<'de> Deserialize<'de> for NameSettings {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Name;

        impl<'de> Visitor<'de> for Name {
            type Value = NameSettings;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(EXPECTED)
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<NameSettings, E> {
                Ok(NameSettings::Plain(text.to_owned()))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<NameSettings, A::Error> {
                let other = || de::Error::custom(format!("expected {EXPECTED}"));
                let kind: String = map.next_key()?.ok_or_else(other)?;
                let name = match kind.as_str() {
                    "exact" => NameSettings::Exact(map.next_value()?),
                    "wildcard" => NameSettings::Wildcard(map.next_value()?),
                    "regex" => NameSettings::Regex(map.next_value()?),
                    _ => return Err(other()),
                };
                if map.next_key::<String>()?.is_none() { Ok(name) } else { Err(other()) }
            }
        }

        deserializer.deserialize_any(Name)
    }
}

/// Included and excluded names.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields, expecting = "a mapping such as `{include: ['svchost.*']}`")]
pub(crate) struct FilterSettings {
    /// Included; everything by default.
    #[serde(default)]
    pub(crate) include: Vec<NameSettings>,
    /// Excluded, even if included.
    #[serde(default)]
    pub(crate) exclude: Vec<NameSettings>,
}

impl FilterSettings {
    /// Whether it includes instances that sum up others by name.
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
            Self::Plain(text) | Self::Exact(text) | Self::Wildcard(text) | Self::Regex(text) => text,
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
