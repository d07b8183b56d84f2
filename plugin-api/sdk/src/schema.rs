//! The schema of a source's settings, so that the program need not know them.

/// A way to reach a target: a section of `transports:` in the configuration, which the source gets as an object under
/// `transport` of its settings, beside `connect_timeout_ms`, which every transport has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transport {
    /// The key of the section: `[a-z][a-z0-9_]*`.
    pub kind: &'static str,
    /// One line for people.
    pub help: &'static str,
    /// Its settings; at most one port.
    pub settings: &'static [Setting],
}

/// One setting of a transport.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setting {
    /// Its key: `[a-z][a-z0-9_]*`, unique in its transport.
    pub key: &'static str,
    /// One line for people.
    pub help: &'static str,
    pub kind: SettingKind,
    /// Its default value as JSON: `445`, `"preferred"`; empty for none.
    pub default: &'static str,
    /// Whether pages show its value.
    pub is_shown: bool,
}

/// The type of a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettingKind {
    Text,
    /// One of these words, each `[a-z][a-z0-9_-]*`.
    Word(&'static [&'static str]),
    /// A whole number within these bounds.
    Integer {
        min: i64,
        max: i64,
    },
    Bool,
    /// A time, which the source gets in milliseconds.
    Duration {
        min_ms: u32,
        max_ms: u32,
    },
    /// A port, which the source gets as [`crate::Target::port`] and not among its settings.
    Port,
}
