//! Source plugin: the COM+ applications of a Windows host and their components, by [MS-COMT].
//!
//! For each target the plugin activates the host's COM+ tracker and keeps it. After that each collection is one call for
//! all applications, and one for the components of each. `plugin-session` keeps the object and activates it again.
//!
//! | module | job |
//! | --- | --- |
//! | `config` | a module's settings |
//! | `tracker` | the tracker's class, and what its failures mean |
//! | `poll` | what the tracker says, as applications and components, within limits |
//! | `stalls` | applications that the host does not answer about |
//! | `series` | families, series and values for the exporter |
//! | `list`, `dump` | `comt list` and `comt dump` on the command line |
//! | `dump_policy` | which dumps of processes the configuration allows |
//! | `source` | one collection, from any state after the last one |

mod config;
mod dump;
mod dump_policy;
mod list;
mod poll;
mod series;
mod source;
mod stalls;
#[cfg(test)]
mod steady;
mod tracker;

use self::source::ComtSource;

plugin_sdk::export_plugin! {
    name: "comt",
    version: env!("CARGO_PKG_VERSION"),
    description: "COM+ applications of Windows hosts, by the COM+ Tracker Service Protocol [MS-COMT]",
    sources: [plugin_sdk::SourceEntry::of::<ComtSource>()],
    commands: [plugin_sdk::CommandEntry::of::<list::List>(), plugin_sdk::CommandEntry::of::<dump::Dump>()],
}
