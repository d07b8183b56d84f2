//! What an instance is made of, and what it is doing.

use std::fmt;

use plugin_contract::TargetInfo;

/// What an instance is made of.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct InstanceConfig {
    /// The target.
    pub target: TargetInfo,
    /// What the source is told, as JSON: the module as the configuration has it, less `plugin`, and the target's
    /// transport under `transport`. Problems come back as pointers into this value.
    pub settings: serde_json::Value,
}

/// Why an instance is in quarantine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum QuarantineCause {
    /// A call or a collection did not come back.
    Hung,
    /// Calls that must return at once took too long, several times in a row.
    SlowCalls,
    /// It panicked.
    Panicked,
    /// Its calls failed, several times in a row.
    Faults,
    /// It sent what the contract forbids, again and again.
    Violations,
}

impl fmt::Display for QuarantineCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Hung => "hung",
            Self::SlowCalls => "slow_calls",
            Self::Panicked => "panicked",
            Self::Faults => "faults",
            Self::Violations => "violations",
        })
    }
}

/// What an instance is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum InstanceState {
    /// Nothing.
    Idle,
    /// Collecting.
    Collecting,
    /// A collection was given up and the plugin still works on it.
    Hung,
    /// It misbehaved and is given a pause.
    Quarantined {
        /// The end of the pause on the monotonic clock.
        until_ns: u64,
        /// What it did.
        why: QuarantineCause,
    },
    /// Destroyed.
    Stopped,
}
