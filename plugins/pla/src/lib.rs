//! Source plugin: performance logs and alerts of a Windows host, judged here.
//!
//! A data collector set has alerts, and an alert a threshold of a counter. On Windows a service of the host samples the
//! counters and judges them; here the plugin does, with the host's counters of [MS-PCQ] and its registry. The host needs
//! nothing, and nothing is changed there.
//!
//! | module | job |
//! | --- | --- |
//! | `model` | data collector sets and their alerts, wherever they come from |
//! | `config` | a module's settings, and the sets that they name |
//! | `files` | exported sets |
//! | `host`, `reasons` | sets of the host itself, over DCOM; what failures of theirs mean |
//! | `sets` | the sets while the module runs: files are read again when they change |
//! | `counters` | the counters of all alerts and logs: found, fetched |
//! | `logs` | the columns of logs, and their records; a feature, on by default |
//! | `runs` | sets that log: when they run, and what becomes of their files; `no_logs` is there without the feature |
//! | `clock`, `calendar` | the time of samples, and that of people |
//! | `alert_table` | all alerts of a target, and how they are judged |
//! | `actions` | what follows when an alert fires: tasks, and sets that it starts |
//! | `events` | what is reported when an alert begins and ends to fire |
//! | `series` | families, series and values for the exporter |
//! | `measured` | what a benchmark measures |
//! | `threads` | limits on work that may wait for a disk |
//! | `source` | one collection, from any state after the last one |
//! | `commands` | `pla list`, `show`, `export`, `start` and `stop`: sets of a host |
//! | `to_rules` | `pla to-rules` on the command line: alerting rules of Prometheus that say the same |
#![cfg_attr(not(feature = "logs"), expect(dead_code, reason = "sets are read with what they say of logs"))]

mod actions;
mod alert_table;
mod calendar;
mod clock;
mod commands;
mod config;
mod counters;
mod events;
mod files;
mod host;
#[cfg(feature = "logs")]
mod logs;
#[cfg(feature = "logs")]
#[doc(hidden)]
pub mod measured;
mod model;
mod reasons;
#[cfg(feature = "logs")]
mod runs;
#[cfg(not(feature = "logs"))]
#[path = "no_logs.rs"]
mod runs;
mod series;
mod sets;
mod source;
mod threads;
mod to_rules;

use counter_poll::over_host::{NAMES, PERFLIB_INTERFACES, REGISTRY_INTERFACES, WINREG};
use plugin_session::Service;

plugin_sdk::export_plugin! {
    name: "pla",
    version: env!("CARGO_PKG_VERSION"),
    description: "Performance logs and alerts of Windows hosts: thresholds of counters, judged outside of the host",
    sources: [plugin_sdk::SourceEntry::of::<source::PlaSource>()],
    commands: [
        plugin_sdk::CommandEntry::of::<to_rules::ToRules>(),
        plugin_sdk::CommandEntry::of::<commands::List>(),
        plugin_sdk::CommandEntry::of::<commands::Show>(),
        plugin_sdk::CommandEntry::of::<commands::Export>(),
        plugin_sdk::CommandEntry::of::<commands::Start>(),
        plugin_sdk::CommandEntry::of::<commands::Stop>(),
        plugin_sdk::CommandEntry::of::<commands::Validate>(),
    ],
    settings: plugin_sdk::SettingsEntry::of::<runs::LibraryOptions>(),
}

/// The counters of version 2.
pub(crate) const PERFLIB: Service =
    Service { endpoint: WINREG, interfaces: PERFLIB_INTERFACES, names: NAMES };

/// What classic objects are asked of.
pub(crate) const REGISTRY: Service =
    Service { endpoint: WINREG, interfaces: REGISTRY_INTERFACES, names: NAMES };
