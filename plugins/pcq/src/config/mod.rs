//! The settings of a module, as the exporter hands them over.

mod names;
mod schema;
mod wanted;

use std::fmt;

use counter_poll::Aggregate;
use ms_pcq::types::DetailLevel;
use plugin_session::TransportSettings;
use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

use self::names::{FilterSettings, NameSettings};
pub(crate) use self::schema::SHOWN;
pub(crate) use self::wanted::{compile, language};

/// What is fetched, and how the host is spoken to.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a mapping such as `countersets: [{name: Processor Information}]`")]
pub(crate) struct Settings {
    /// At least one.
    #[serde(deserialize_with = "countersets")]
    pub(crate) countersets: Vec<CountersetSettings>,
    /// An LCID: help shows the host's own names in this language, too.
    #[serde(default)]
    pub(crate) language: Option<u32>,
    /// Counters above this level are left out.
    #[serde(default)]
    pub(crate) detail: Option<DetailSettings>,
    /// The target's transport; the exporter fills it in.
    #[serde(default)]
    pub(crate) transport: TransportSettings,
}

/// One counterset, or those whose names match.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields, expecting = "a counterset such as `name: Processor Information`")]
pub(crate) struct CountersetSettings {
    /// The English name; case does not matter. A plain text is the name itself.
    #[serde(default)]
    pub(crate) name: Option<NameSettings>,
    /// Its identifier, for those that cannot be found by name.
    #[serde(default)]
    pub(crate) guid: Option<String>,
    /// Which instances; all where nothing is said.
    #[serde(default)]
    pub(crate) instances: FilterSettings,
    /// Which counters, by English name; all where nothing is said.
    #[serde(default)]
    pub(crate) counters: FilterSettings,
    /// What becomes of the instances that sum up others. Where nothing is said they are left out if the instances that
    /// they sum up are there, and if `instances` does not name them.
    #[serde(default)]
    pub(crate) totals: Option<TotalsSettings>,
    /// Whether series carry the instance's number as label `instance_id`, for countersets whose instances
    /// share names.
    #[serde(default)]
    pub(crate) instance_id: bool,
    /// Whether the instances of an aggregate counterset are added up here.
    #[serde(default, deserialize_with = "aggregate")]
    pub(crate) aggregate: Aggregate,
    /// Only the instances with the largest values of a counter.
    #[serde(default)]
    pub(crate) top_n: Option<TopNSettings>,
}

/// What becomes of the instances that sum up others.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub(crate) enum TotalsSettings {
    /// They are instances like the others.
    Keep,
    /// They are left out.
    Drop,
    /// They have families of their own.
    Separate,
}

/// The highest level of detail that is wanted.
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
    /// Its English name.
    pub(crate) counter: String,
    /// How many instances.
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

/// A list, of which a refusal shows an example.
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
