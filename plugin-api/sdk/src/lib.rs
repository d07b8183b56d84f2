//! For plugin authors: a source is a few safe traits and one macro.
//!
//! A plugin is a crate of the types `cdylib` and `rlib` with one [`export_plugin!`]. A [`Source`] declares its
//! settings and collects. The SDK does everything else: the C ABI, one tokio runtime per library, batches,
//! deadlines, cancellation, panics, logs. Nothing in a plugin needs `unsafe`.
//!
//! ```
//! use plugin_sdk::{Collection, Coverage, Display, DisplayRule, Failure, FamilyDef, Kind, Problem};
//! use plugin_sdk::{SeriesDef, Setup, Source};
//!
//! #[derive(serde::Deserialize)]
//! #[serde(deny_unknown_fields)]
//! struct Settings { start: u64 }
//!
//! struct Ticks { next: u64, series: Option<plugin_sdk::SeriesId> }
//!
//! impl Source for Ticks {
//!     const NAME: &'static str = "ticks";
//!     const HELP: &'static str = "Counts its own collections";
//!     type Settings = Settings;
//!
//!     fn create(setup: Setup<Settings>) -> Result<Self, Vec<Problem>> {
//!         Ok(Self { next: setup.settings.start, series: None })
//!     }
//!     fn reconfigure(&mut self, settings: Settings) { self.next = settings.start; }
//!     async fn collect(&mut self, collection: &mut Collection) -> Result<Coverage, Failure> {
//!         let output = collection.output();
//!         if self.series.is_none() {
//!             let family = FamilyDef { item: "Ticks", kind: Kind::Counter, help: "Collections so far.",
//!                 display: Display::by(DisplayRule::Rate), ..FamilyDef::gauge("", "Ticks") };
//!             if let [Some(family)] = output.register_families(&[family])[..] {
//!                 self.series = output.register_series(&[SeriesDef { family, labels: &[], start: None }])[0];
//!             }
//!         }
//!         if let Some(id) = self.series {
//!             output.push_u64(id, self.next);
//!         }
//!         self.next += 1;
//!         Ok(Coverage::Full)
//!     }
//! }
//!
//! plugin_sdk::export_plugin! {
//!     name: "ticks",
//!     version: "1.0",
//!     description: "An example",
//!     sources: [plugin_sdk::SourceEntry::of::<Ticks>()],
//!     commands: [],
//! }
//! # fn main() {}
//! ```

mod arguments;
mod cells;
mod collection;
mod command;
mod credential;
mod declared;
#[doc(hidden)]
pub mod exports;
mod failure;
mod handle;
mod host;
mod log;
mod output;
mod plugin;
mod process;
mod runtime;
mod schema;
mod settings;
mod slot;
mod source;
mod state;
#[cfg(feature = "testing")]
pub mod testing;
mod token;

pub use plugin_abi;
pub use plugin_abi::{
    Alert, AlertState, Comparison, CredentialKind, Display, DisplayRule, Evaluation, Event, FamilyDef,
    FamilyId, FamilyKey, GeneralReason, Kind, Level, NoRoom, Problem, Selects, SeriesDef, SeriesId, Stage,
    Start, ValueKind,
};

pub use self::cells::{CellMemory, cell_memory};
pub use self::collection::{Collection, Stages};
pub use self::command::{Command, Configured, Exit, NoArguments, Run};
pub use self::credential::Credential;
pub use self::failure::{Coverage, DeclaredReason, Failure, Reason};
pub use self::handle::Handle;
pub use self::output::{Buckets, HistogramId, Output, Stamp};
pub use self::plugin::{CommandEntry, Plugin, PluginDef, SettingsEntry, SourceEntry};
pub use self::process::{listening_socket, unblock_signals};
pub use self::schema::{Setting, SettingKind, Transport};
pub use self::settings::{parse as parse_settings, pointer_token};
pub use self::source::{BlockingSource, End, EndReason, LibrarySettings, Setup, Source};

use std::path::PathBuf;

use serde::Deserialize;

/// Makes a crate a plugin: declares its sources and commands, and settings of the whole library if there are any
/// (`settings: SettingsEntry::of::<MySettings>()`), and exports the entry function.
///
/// Besides the symbol it defines `entry`, for programs that link the crate and pass it to their host.
#[macro_export]
macro_rules! export_plugin {
    (
        name: $name:expr,
        version: $version:expr,
        description: $description:expr,
        sources: [$($source:expr),* $(,)?],
        commands: [$($command:expr),* $(,)?]
        $(, settings: $settings:expr)? $(,)?
    ) => {
        /// The library that this crate exports.
        #[derive(Debug)]
        pub struct ExportedPlugin;

        impl $crate::PluginDef for ExportedPlugin {
            fn plugin() -> &'static $crate::Plugin {
                static PLUGIN: $crate::Plugin = $crate::Plugin::new(
                    $name,
                    $version,
                    $description,
                    &[$($source),*],
                    &[$($command),*],
                )$(.with_settings($settings))?;
                &PLUGIN
            }
        }

        /// The entry of this plugin, for programs that link it.
        ///
        /// # Safety
        /// As `perfmon_plugin_entry_v1` of the plugin header.
        #[allow(unsafe_code, reason = "the plugin's one exported function; it goes through the SDK's guard")]
        pub unsafe extern "C" fn entry(
            host: *const $crate::plugin_abi::raw::HostApi,
            plugin_host: *mut $crate::plugin_abi::raw::PluginApi,
            error_host: *mut $crate::plugin_abi::raw::Text,
        ) -> i32 {
            // SAFETY: passed on from the host.
            unsafe { $crate::exports::entry::<ExportedPlugin>(host, plugin_host, error_host) }
        }

        $crate::__export_symbol!();
    };
}

/// The symbol that the host looks up.
#[doc(hidden)]
#[cfg(not(feature = "all-in-one"))]
#[macro_export]
macro_rules! __export_symbol {
    () => {
        #[doc(hidden)]
        #[allow(unsafe_code, reason = "the plugin's one exported symbol")]
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn perfmon_plugin_entry_v1(
            host: *const $crate::plugin_abi::raw::HostApi,
            plugin_host: *mut $crate::plugin_abi::raw::PluginApi,
            error_host: *mut $crate::plugin_abi::raw::Text,
        ) -> i32 {
            // SAFETY: passed on from the host.
            unsafe { entry(host, plugin_host, error_host) }
        }
    };
}

/// Linked into a program: several plugins must not define one symbol.
#[doc(hidden)]
#[cfg(feature = "all-in-one")]
#[macro_export]
macro_rules! __export_symbol {
    () => {};
}

/// Where a source keeps the files of its target: the member `storage` of the settings of a source with
/// [`Source::KEEPS_FILES`]. It is missing if no directory is configured, in the settings of
/// commands, and for instances on demand, which must not write what another instance writes.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Storage {
    /// An absolute path. It may not exist yet; the directory above it does. Sources of one target share it.
    pub directory: PathBuf,
    /// How often the target is collected, in milliseconds: files get no more records.
    #[serde(default)]
    pub interval_ms: Option<u64>,
}

/// The target of an instance.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Target {
    /// Its unique name in the exporter.
    pub name: String,
    /// Host name or address.
    pub host: String,
    /// The port, if it is configured.
    pub port: Option<u16>,
    /// The identity to use; empty for none.
    pub identity: String,
    /// Whether the instance collects when somebody asks, such as for a probe, and not on a schedule: then leave nothing on the
    /// target that is there for later collections, and write no files.
    pub is_on_demand: bool,
}
