//! The plugin in a host of its own, and processes that keep their state in a run directory.

use std::path::{Path, PathBuf};

use plugin_abi::TargetInfo;
use plugin_harness::{Collection, Watch};
use plugin_host::InstanceConfig;
use plugin_host::testing::RecordedFamily;
use rpc_cells::{Capacity, Level, RunDirectory, SectionFileOptions, SigbusGuard, Writer};
use serde_json::json;

/// A folder in which run directories are made.
pub(crate) struct Folder(tempfile::TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().expect("a folder"))
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// A file of this process in a run directory, which is made.
    pub(crate) fn writer(&self, directory: &str, owner: &str) -> Writer {
        self.writer_with(directory, owner, Capacity::default())
    }

    pub(crate) fn writer_with(&self, directory: &str, owner: &str, capacity: Capacity) -> Writer {
        let directory = RunDirectory::open(&self.path(directory)).expect("it is made");
        let guard = SigbusGuard::install().expect("handlers can be installed");
        let options = SectionFileOptions { name: owner, level: Level::FULL, capacity, now_ms: 1 };
        let file = directory.create(guard, &options).expect("there is room");
        Writer::over(file).expect("the file has a header")
    }

    /// The files in a run directory.
    pub(crate) fn files(&self, directory: &str) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(self.path(directory)).expect("it is readable");
        entries.map(|entry| entry.expect("it is readable").path()).collect()
    }
}

pub(crate) struct Plugin(pub(crate) plugin_harness::Plugin);

impl Plugin {
    pub(crate) fn new() -> Self {
        Self(plugin_harness::Plugin::new("rpc_state", plugin_rpc_state::entry))
    }

    /// An instance that reads these directories.
    pub(crate) fn watch(&self, directories: &[&Path]) -> Watch {
        self.watch_with(json!({ "directories": directories }))
    }

    pub(crate) fn watch_with(&self, settings: serde_json::Value) -> Watch {
        self.watch_as(settings, false)
    }

    /// The same for a single answer, as a check and a probe want it.
    pub(crate) fn watch_on_demand(&self, settings: serde_json::Value) -> Watch {
        self.watch_as(settings, true)
    }

    fn watch_as(&self, settings: serde_json::Value, is_on_demand: bool) -> Watch {
        let target = TargetInfo {
            name: "self".to_owned(),
            host: "localhost".to_owned(),
            port: None,
            identity: String::new(),
            service_principal: None,
        };
        self.0.watch("rpc_state", InstanceConfig { target, settings, is_on_demand })
    }
}

/// What is asked of collections.
pub(crate) trait Asked {
    /// The series of a family that are there: the values of their labels but for the process id, and their value.
    fn shown(&self, object: &str, item: &str) -> Vec<(String, f64)>;

    /// The value of the series with these labels.
    #[track_caller]
    fn figure(&self, object: &str, item: &str, labels: &str) -> f64;
}

impl Asked for Collection {
    fn shown(&self, object: &str, item: &str) -> Vec<(String, f64)> {
        let is_it = |family: &RecordedFamily| family.object == object && family.item == item;
        let Some((_, series)) = self.live().find(|(family, _)| is_it(family)) else { return Vec::new() };
        let process_id = series.labels.iter().position(|(name, _)| name == "process_id");
        let rows = self.rows(object, item).into_iter().map(|(mut labels, value)| {
            process_id.map(|place| labels.remove(place));
            (labels.join(" "), value)
        });
        let mut rows: Vec<_> = rows.collect();
        rows.sort_by(|(one, _), (other, _)| one.cmp(other));
        rows
    }

    fn figure(&self, object: &str, item: &str, labels: &str) -> f64 {
        let rows = self.shown(object, item);
        let row = rows.iter().find(|(own, _)| own == labels);
        row.unwrap_or_else(|| panic!("`{labels}` is not among {rows:?}")).1
    }
}
