//! The schema of a source's settings.

use serde_json::Value;

/// What a source declares about its settings, so that the exporter need not know them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SettingsSchema {
    /// Keys whose values are not secret, at any level of the settings.
    pub shown: Vec<String>,
    /// The ways to reach its targets; the first one is used if the configuration names none of them.
    pub transports: Vec<TransportInfo>,
    /// Whether it keeps files of its targets. It gets a directory for these, if one is configured.
    pub keeps_files: bool,
}

/// A way to reach a target: a section of a transport in the configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TransportInfo {
    /// The key of the section: `[a-z][a-z0-9_]*`.
    pub kind: String,
    /// One line for people.
    pub help: String,
    /// Its settings; at most one port.
    pub settings: Vec<SettingInfo>,
}

impl TransportInfo {
    /// The setting that is the port.
    #[must_use]
    pub fn port(&self) -> Option<&SettingInfo> {
        self.settings.iter().find(|setting| setting.kind == SettingKind::Port)
    }

    /// Whether both have the same settings. Texts for people are not compared.
    #[must_use]
    pub fn is_like(&self, other: &Self) -> bool {
        let is_there = |setting: &SettingInfo| {
            other.settings.iter().any(|known| {
                (&known.key, &known.kind, &known.default, known.is_shown)
                    == (&setting.key, &setting.kind, &setting.default, setting.is_shown)
            })
        };
        self.kind == other.kind
            && self.settings.len() == other.settings.len()
            && self.settings.iter().all(is_there)
    }
}

/// One setting of a transport.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingInfo {
    /// Its key: `[a-z][a-z0-9_]*`, unique in its transport.
    pub key: String,
    /// One line for people.
    pub help: String,
    pub kind: SettingKind,
    /// Its default value, which is valid for `kind`.
    pub default: Option<Value>,
    /// Whether pages show its value.
    pub is_shown: bool,
}

/// The type of a setting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SettingKind {
    Text,
    /// One of these words.
    Word(Vec<String>),
    /// A whole number within these bounds.
    Integer {
        min: i64,
        max: i64,
    },
    Bool,
    /// A time, which the source gets in milliseconds.
    Duration {
        min_ms: u64,
        max_ms: u64,
    },
    /// A port, which the source gets with the target; of several transports also with the settings of each.
    Port,
}

impl SettingKind {
    /// Whether a value, as the source gets it, is valid for this type.
    #[must_use]
    pub fn admits(&self, value: &Value) -> bool {
        match self {
            Self::Text => value.is_string(),
            Self::Word(words) => value.as_str().is_some_and(|word| words.iter().any(|known| known == word)),
            Self::Integer { min, max } => value.as_i64().is_some_and(|value| (*min..=*max).contains(&value)),
            Self::Bool => value.is_boolean(),
            Self::Duration { min_ms, max_ms } => {
                value.as_u64().is_some_and(|value| (*min_ms..=*max_ms).contains(&value))
            }
            Self::Port => value.as_u64().is_some_and(|port| (1..=65_535).contains(&port)),
        }
    }
}
