use std::fmt;
use std::sync::Arc;

use parking_lot::Mutex;
use plugin_host::Library;
use support::telemetry::{Metric, Writer};

/// A plugin as the metrics see it.
#[derive(Clone)]
pub struct PluginSource {
    /// Its name in the configuration.
    pub name: String,
    pub library: Library,
}

/// The plugins of the configuration that is in use.
#[derive(Default)]
pub struct Plugins(Mutex<Arc<[PluginSource]>>);

impl Plugins {
    #[must_use]
    pub fn get(&self) -> Arc<[PluginSource]> {
        Arc::clone(&self.0.lock())
    }

    /// These from now on.
    pub fn set(&self, plugins: Vec<PluginSource>) {
        *self.0.lock() = plugins.into();
    }
}

impl Plugins {
    /// What the exporter says of them.
    pub fn write(&self, out: &mut Writer<'_, '_>) -> fmt::Result {
        let sources = self.get();
        let plugins = || sources.iter().map(|plugin| (plugin.name.as_str(), &plugin.library));
        let abi: Vec<String> = plugins().map(|(_, library)| library.info().abi.to_string()).collect();
        let rows = plugins()
            .zip(&abi)
            .map(|((name, library), abi)| [name, library.info().version.as_str(), abi.as_str()]);
        out.infos(&PLUGIN, rows)?;
        let counts = plugins().flat_map(|(name, library)| {
            let counts = library.violations().iter().filter(|(_, count)| *count > 0);
            counts.map(move |(violation, count)| ([name, violation.as_str()], count))
        });
        out.rows(&VIOLATIONS, counts.collect::<Vec<_>>())?;
        let now_ns = plugin_host::monotonic_ns();
        let quarantined = plugins().map(|(name, library)| ([name], library.quarantined(now_ns) as u64));
        out.rows(&QUARANTINED, quarantined.collect::<Vec<_>>())?;
        let lost = plugins().map(|(name, library)| ([name], library.lost_threads() as u64));
        out.rows(&LOST_THREADS, lost.collect::<Vec<_>>())?;
        let cells: Vec<_> = plugins().map(|(name, library)| ([name], library.cells())).collect();
        let sections = cells.iter().map(|(name, cells)| (*name, u64::from(cells.sections)));
        out.rows(&CELL_SECTIONS, sections.collect::<Vec<_>>())?;
        let pages_lost = cells.iter().map(|(name, cells)| (*name, cells.pages_lost));
        out.rows(&CELL_PAGES_LOST, pages_lost.collect::<Vec<_>>())
    }
}

/// What this file shows.
pub const METRICS: &[&Metric] =
    &[&PLUGIN, &VIOLATIONS, &QUARANTINED, &LOST_THREADS, &CELL_SECTIONS, &CELL_PAGES_LOST];

static PLUGIN: Metric = Metric::info(
    "perfmon_exporter_plugin",
    &["plugin", "version", "abi"],
    "A loaded plugin and its negotiated ABI version.",
);
static VIOLATIONS: Metric = Metric::counter(
    "perfmon_exporter_plugin_violations",
    &["plugin", "violation"],
    "Violations of the plugin contract.",
);
static QUARANTINED: Metric = Metric::gauge(
    "perfmon_exporter_plugin_quarantined_instances",
    &["plugin"],
    "Instances of a plugin that are paused after a contract violation.",
);
static LOST_THREADS: Metric = Metric::gauge(
    "perfmon_exporter_plugin_lost_threads",
    &["plugin"],
    "Threads of a plugin that hang in a call.",
);
static CELL_SECTIONS: Metric = Metric::gauge(
    "perfmon_exporter_plugin_rpc_state_sections",
    &["plugin"],
    "Sections of the file with the RPC state of a plugin; 0 if it keeps none.",
);
static CELL_PAGES_LOST: Metric = Metric::counter(
    "perfmon_exporter_plugin_rpc_state_pages_lost",
    &["plugin"],
    "Pages of the file with the RPC state of a plugin that were missing because the file was truncated.",
);
