//! Source plugin: the COM+ applications of a Windows host and their components, by [MS-COMT].
//!
//! For each target the plugin activates the host's COM+ tracker and keeps it. After that each collection is one call for
//! all applications, and one for the components of each. `plugin-session` keeps the object and activates it again.
//!
//! Where events are wanted, the host's event system calls a subscriber of the plugin with the state of the whole host. Both
//! ways lead to the same `HostFigures` of `model`, from which the series are made.
//!
//! | module | job |
//! | --- | --- |
//! | `config` | a module's settings |
//! | `model` | what is known of a host: applications, components, processes |
//! | `tracker`, `reasons` | the tracker's class; what failures mean |
//! | `poll`, `poller` | what the tracker says, within limits; the connection to it |
//! | `stalls` | applications that the host does not answer about |
//! | `progress` | how far a slow host was read |
//! | `events` | what the host tells by itself: listener, subscription, state, changes |
//! | `series` | families, series and values for the exporter |
//! | `list`, `dump` | `comt list` and `comt dump` on the command line |
//! | `dump_policy` | which dumps of processes the configuration allows |
//! | `source` | one collection, of what was polled and sent |

mod config;
mod dump;
mod dump_policy;
mod events;
mod list;
mod model;
mod poll;
mod poller;
mod progress;
mod reasons;
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
    settings: plugin_sdk::SettingsEntry::of::<events::listener::LibraryOptions>(),
}
