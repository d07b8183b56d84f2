//! What a source says of settings, so that the program need not know them.

/// A way to reach a target: a section of `transports:` in the configuration, which the source gets as an object under
/// `transport` of its settings, beside `connect_timeout_ms`, which every transport has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transport {
    /// The key of the section: `[a-z][a-z0-9_]*`.
    pub kind: &'static str,
    /// One line for people.
    pub help: &'static str,
    /// What can be set; one port at most.
    pub settings: &'static [Setting],
}

/// One setting of a transport.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setting {
    /// Its key: `[a-z][a-z0-9_]*`, unique in its transport.
    pub key: &'static str,
    /// One line for people.
    pub help: &'static str,
    /// What it can be.
    pub kind: SettingKind,
    /// What it is where nobody says anything, as JSON: `445`, `"preferred"`; empty where it is nothing then.
    pub default: &'static str,
    /// Whether its value is no secret, so that pages show it.
    pub is_shown: bool,
}

/// What a setting can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettingKind {
    /// Any text.
    Text,
    /// One of these words, each `[a-z][a-z0-9_-]*`.
    Word(&'static [&'static str]),
    /// A whole number within these bounds.
    Integer {
        /// The least.
        min: i64,
        /// The greatest.
        max: i64,
    },
    /// True or false.
    Bool,
    /// A time, which the source gets in milliseconds.
    Duration {
        /// The shortest.
        min_ms: u32,
        /// The longest.
        max_ms: u32,
    },
    /// A port, which the source gets as [`crate::Target::port`] and not among its settings.
    Port,
}
