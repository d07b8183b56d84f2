//! The settings of a module, as the exporter passes them.

mod selects;
mod wanted;

use std::fmt;

use counter_poll::Aggregate;
use counter_types::{Filter, PatternText};
use counters::pcq::types::DetailLevel;
use plugin_session::TransportSettings;
use serde::de::{self, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

pub(crate) use self::selects::{counterset_of, selects, selects_instance};
pub(crate) use self::wanted::{compile, facts, language};

/// What is collected, and how the host is reached.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a mapping such as `countersets: [{name: Processor Information}]`")]
pub(crate) struct Settings {
    /// There is at least one.
    #[serde(deserialize_with = "countersets")]
    pub(crate) countersets: Vec<CountersetSettings>,
    /// An LCID: HELP also has the host's names in this language.
    #[serde(default)]
    pub(crate) language: Option<u32>,
    /// Counters above this level are excluded.
    #[serde(default)]
    pub(crate) detail: Option<DetailSettings>,
    /// Whether facts of the host are read from its registry.
    #[serde(default)]
    pub(crate) host_info: bool,
    /// How many services of the host are shown at most.
    #[serde(default)]
    pub(crate) max_services: u32,
    /// The target's transport; the exporter fills it in.
    #[serde(default)]
    pub(crate) transport: TransportSettings,
}

/// One counterset, or all whose names match.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields, expecting = "a counterset such as `name: Processor Information`")]
pub(crate) struct CountersetSettings {
    /// The English name; case does not matter. A plain text is the name itself.
    #[serde(default)]
    pub(crate) name: Option<NameSettings>,
    /// Its identifier, for countersets that cannot be found by name.
    #[serde(default)]
    pub(crate) guid: Option<String>,
    /// English names in the place of `name`: the first that the host has.
    #[serde(default)]
    pub(crate) first_of: Vec<NameSettings>,
    /// Whether it is no failure if the host has none. By default so for a pattern of names.
    #[serde(default)]
    pub(crate) optional: Option<bool>,
    /// Which instances; all by default.
    #[serde(default)]
    pub(crate) instances: FilterSettings,
    /// Which counters, by English name; all by default.
    #[serde(default)]
    pub(crate) counters: FilterSettings,
    /// How instances that sum up others are handled. By default they are dropped if there are instances that they
    /// sum up and `instances` does not name them.
    #[serde(default)]
    pub(crate) totals: Option<TotalsSettings>,
    /// Whether series carry the instance's number as label `instance_id`, for countersets whose instances
    /// share names.
    #[serde(default)]
    pub(crate) instance_id: bool,
    /// Whether the plugin aggregates the instances of an aggregate counterset.
    #[serde(default, deserialize_with = "aggregate")]
    pub(crate) aggregate: Aggregate,
    /// Only the instances with the largest values of a counter.
    #[serde(default)]
    pub(crate) top_n: Option<TopNSettings>,
}

/// How instances that sum up others are handled.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub(crate) enum TotalsSettings {
    /// They are instances like the others.
    Keep,
    Drop,
    /// They have families of their own.
    Separate,
}

/// The highest selected level of detail.
#[derive(Clone, Copy, Debug, Deserialize, clap::ValueEnum, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub(crate) enum DetailSettings {
    Novice,
    Advanced,
    Expert,
    Wizard,
}

/// Only the instances with the largest values of a counter.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields, expecting = "a mapping such as `{counter: 'Working Set', n: 20}`")]
pub(crate) struct TopNSettings {
    pub(crate) counter: String,
    pub(crate) n: u32,
}

impl DetailSettings {
    pub(crate) const fn level(self) -> DetailLevel {
        DetailLevel(match self {
            Self::Novice => 100,
            Self::Advanced => 200,
            Self::Expert => 300,
            Self::Wizard => 400,
        })
    }
}

/// A list; the error shows an example.
fn countersets<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<CountersetSettings>, D::Error> {
    struct List;

    impl<'de> Visitor<'de> for List {
        type Value = Vec<CountersetSettings>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a list such as `- name: Processor Information`")
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
            let mut countersets = Vec::new();
            while let Some(counterset) = seq.next_element()? {
                countersets.push(counterset);
            }
            Ok(countersets)
        }
    }

    deserializer.deserialize_seq(List)
}

/// `true`, `false` or `only`.
fn aggregate<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Aggregate, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged, expecting = "expected `true`, `false` or `only`")]
    enum Written {
        Flag(bool),
        Word(String),
    }
    match Written::deserialize(deserializer)? {
        Written::Flag(false) => Ok(Aggregate::No),
        Written::Flag(true) => Ok(Aggregate::Beside),
        Written::Word(word) if word == "only" => Ok(Aggregate::Only),
        Written::Word(word) => {
            Err(serde::de::Error::custom(format!("`{word}` is none of `true`, `false` and `only`")))
        }
    }
}

/// Keys whose values are not secret: all of them.
pub(crate) const SHOWN: &[&str] = &[
    "aggregate",
    "counter",
    "counters",
    "countersets",
    "detail",
    "exact",
    "exclude",
    "first_of",
    "guid",
    "host_info",
    "include",
    "instance_id",
    "instances",
    "language",
    "max_services",
    "n",
    "name",
    "optional",
    "regex",
    "totals",
    "wildcard",
];

// Names and patterns of names in the settings.

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
    fn names_totals(&self) -> bool {
        self.include.iter().any(|name| name.text().to_ascii_lowercase().contains("_total"))
    }

    fn rules(&self) -> Filter {
        let texts = |names: &[NameSettings]| names.iter().map(NameSettings::pattern).collect();
        Filter { include: texts(&self.include), exclude: texts(&self.exclude) }
    }
}

impl NameSettings {
    fn text(&self) -> &str {
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
