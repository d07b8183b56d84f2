//! Source plugin: the performance counters of a Windows host, by [MS-PCQ] and, for classic ones, by its registry.
//!
//! For each target the plugin connects and logs on, finds the selected countersets by their English names, opens
//! one query and adds each counterset with a wildcard. After that each collection is one call. `plugin-session`
//! keeps the connection and reopens it, its `perflib` makes the calls; `counter-poll` finds countersets, fetches and reads their
//! data.
//!
//! | module | job |
//! | --- | --- |
//! | `config` | a module's settings |
//! | `classic` | objects of the registry's performance data |
//! | `series` | families, series and values of countersets for the exporter |
//! | `host_info` | facts of the host that are no counters |
//! | `missing` | failures because of countersets without values |
//! | `notes` | the plugin's own metrics |
//! | `source` | one collection, from any state after the last one |
//! | `commands` | `discover`, `query` and `selects` on the command line |

mod classic;
mod commands;
mod config;
mod host_info;
mod missing;
mod notes;
mod series;
mod source;

use counter_poll::over_host::{NAMES, PERFLIB_INTERFACES, REGISTRY_INTERFACES, WINREG};
use plugin_session::Service;

use self::source::PcqSource;

plugin_sdk::export_plugin! {
    name: "pcq",
    version: env!("CARGO_PKG_VERSION"),
    description: "Performance counters of Windows hosts, by the Performance Counter Query Protocol [MS-PCQ]",
    sources: [plugin_sdk::SourceEntry::of::<PcqSource>()],
    commands: [
        plugin_sdk::CommandEntry::of::<commands::Discover>(),
        plugin_sdk::CommandEntry::of::<commands::Query>(),
        plugin_sdk::CommandEntry::of::<commands::SelectsInstances>(),
    ],
}

/// The counters of version 2.
pub(crate) const PERFLIB: Service =
    Service { endpoint: WINREG, interfaces: PERFLIB_INTERFACES, names: NAMES };

/// What classic objects are asked of.
pub(crate) const REGISTRY: Service =
    Service { endpoint: WINREG, interfaces: REGISTRY_INTERFACES, names: NAMES };
