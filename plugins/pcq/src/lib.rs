//! Source plugin: the performance counters of a Windows host by [MS-PCQ].
//!
//! For each target: connect and log on, find the wanted countersets by their English names, open one query, add
//! each counterset by wildcard, and from then on one call a collection. `plugin-session` keeps the connection and opens
//! again what was lost, `counter-poll` finds, fetches and reads.
//!
//! | module | job |
//! | --- | --- |
//! | `config` | a module's settings |
//! | `series` | families, series and values of countersets, as the exporter takes them |
//! | `channel` | the calls of `counter-poll`, over a session |
//! | `missing` | how a collection fails over countersets without values |
//! | `notes` | what the plugin tells of its own work |
//! | `source` | one collection, from whatever state the last one left |
//! | `commands` | `discover` and `query` on the command line |

mod channel;
mod commands;
mod config;
mod missing;
mod notes;
mod registry;
mod series;
mod session;
mod source;

use self::source::PcqSource;

plugin_sdk::export_plugin! {
    name: "pcq",
    version: env!("CARGO_PKG_VERSION"),
    description: "Performance counters of Windows hosts, by the Performance Counter Query Protocol [MS-PCQ]",
    sources: [plugin_sdk::SourceEntry::of::<PcqSource>()],
    commands: [
        plugin_sdk::CommandEntry::of::<commands::Discover>(),
        plugin_sdk::CommandEntry::of::<commands::Query>(),
    ],
}
