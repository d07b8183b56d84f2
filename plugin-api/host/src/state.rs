//! The configuration and the state of an instance.

use std::fmt;

use plugin_abi::TargetInfo;

/// The configuration of an instance.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct InstanceConfig {
    pub target: TargetInfo,
    /// The settings as JSON: the module of the configuration without `plugin`, and the target's transport in
    /// `transport`, if the source declares one. Problems are pointers into this value.
    pub settings: serde_json::Value,
    /// Whether it collects when somebody asks, such as for a probe, and not on a schedule.
    pub is_on_demand: bool,
}

/// What an instance is made again from. Settings are a text here: as values they would take some 10 KiB for each instance.
#[derive(Clone, Debug)]
pub(crate) struct KeptConfig {
    pub(crate) target: TargetInfo,
    settings: Box<str>,
    is_on_demand: bool,
}

impl KeptConfig {
    pub(crate) fn restored(self) -> InstanceConfig {
        // They were written as JSON here.
        let settings = serde_json::from_str(&self.settings).unwrap_or_default();
        InstanceConfig { target: self.target, settings, is_on_demand: self.is_on_demand }
    }
}

impl From<&InstanceConfig> for KeptConfig {
    fn from(config: &InstanceConfig) -> Self {
        Self {
            target: config.target.clone(),
            settings: config.settings.to_string().into(),
            is_on_demand: config.is_on_demand,
        }
    }
}

/// Why an instance is in quarantine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum QuarantineCause {
    /// A call or a collection did not return.
    Hung,
    /// Calls that must return at once took too long, several times in a row.
    SlowCalls,
    Panicked,
    /// Its calls failed, several times in a row.
    Faults,
    /// It violated the contract repeatedly.
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

/// The state of an instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum InstanceState {
    Idle,
    Collecting,
    /// A collection was aborted and the plugin still works on it.
    Hung,
    /// It is in quarantine.
    Quarantined {
        /// The end of the pause on the monotonic clock.
        until_ns: u64,
        why: QuarantineCause,
    },
    Stopped,
}
