//! The plugin in a host of its own, and processes that keep their state in a run directory.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use plugin_contract::{Failure, Stage, TargetInfo};
use plugin_host::testing::{Recorded, RecordedOutcome, RecordingSink, Value};
use plugin_host::{Host, HostOptions, Instance, InstanceConfig, Library, monotonic_ns};
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

/// The plugin, linked into this program.
pub(crate) struct Plugin(pub(crate) Library);

impl Plugin {
    pub(crate) fn new() -> Self {
        let host = Host::new(HostOptions::default());
        Self(host.link("rpc_state", plugin_rpc_state::entry).expect("the plugin is linked"))
    }

    /// An instance that reads these directories.
    pub(crate) fn watch(&self, directories: &[&Path]) -> Watch {
        self.watch_with(json!({ "directories": directories }))
    }

    pub(crate) fn watch_with(&self, settings: serde_json::Value) -> Watch {
        let target = TargetInfo {
            name: "self".to_owned(),
            host: "localhost".to_owned(),
            port: None,
            identity: String::new(),
        };
        let config = InstanceConfig { target, settings, is_on_demand: false };
        let sink = Arc::new(RecordingSink::default());
        let created = self.0.create("rpc_state", &config, Arc::<RecordingSink>::clone(&sink));
        Watch { instance: created.expect("the source takes the settings"), sink, config }
    }
}

/// One instance of the source with all that it said.
pub(crate) struct Watch {
    pub(crate) instance: Instance,
    sink: Arc<RecordingSink>,
    pub(crate) config: InstanceConfig,
}

/// How one collection ended, and all that had arrived by then.
#[derive(Debug)]
pub(crate) struct Ended {
    outcome: RecordedOutcome,
    recorded: Recorded,
}

impl Watch {
    pub(crate) fn collect(&self) -> Ended {
        let before = self.sink.recorded().completions.len();
        let deadline_ns = monotonic_ns() + u64::try_from(DEADLINE.as_nanos()).expect("a short time");
        self.instance.collect(deadline_ns).expect("the collection begins");
        let recorded = self.sink.wait_completions(before + 1).expect("the collection ends");
        let outcome = recorded.completions.last().expect("a completion").outcome.clone();
        Ended { outcome, recorded }
    }

    /// Collects, and insists that it is complete.
    #[track_caller]
    pub(crate) fn full(&self) -> Ended {
        let ended = self.collect();
        assert_eq!(ended.outcome, RecordedOutcome::Full);
        ended
    }
}

impl Ended {
    /// Reason and message of the failure.
    #[track_caller]
    pub(crate) fn failed(&self) -> (&str, &str) {
        match &self.outcome {
            RecordedOutcome::Failed(failure) => in_words(failure),
            other => panic!("it did not fail: {other:?}"),
        }
    }

    /// The same for a collection that is not complete.
    #[track_caller]
    pub(crate) fn partial(&self) -> (&str, &str) {
        match &self.outcome {
            RecordedOutcome::Partial(families, Some(failure)) => {
                assert_eq!(families.len(), self.recorded.families.len(), "what was read is shown");
                in_words(failure)
            }
            other => panic!("it is not partial: {other:?}"),
        }
    }

    /// The series of a family that are there: the values of their labels but for the process id, and their value.
    pub(crate) fn rows(&self, object: &str, item: &str) -> Vec<(String, f64)> {
        let of_family = self.recorded.series.iter().filter(|series| {
            let family = &self.recorded.families[series.family as usize];
            !series.retired && (family.object.as_str(), family.item.as_str()) == (object, item)
        });
        let mut rows: Vec<(String, f64)> = of_family
            .filter_map(|series| {
                let labels = series.labels.iter().filter(|(name, _)| name != "process_id");
                let labels: Vec<&str> = labels.map(|(_, value)| value.as_str()).collect();
                let value = match series.value? {
                    Value::U64(value) => value as f64,
                    Value::F64(value) => value,
                    other => panic!("no family has such values: {other:?}"),
                };
                Some((labels.join(" "), value))
            })
            .collect();
        rows.sort_by(|(a, _), (b, _)| a.cmp(b));
        rows
    }

    /// The value of the series with these labels.
    #[track_caller]
    pub(crate) fn value(&self, object: &str, item: &str, labels: &str) -> f64 {
        let rows = self.rows(object, item);
        let row = rows.iter().find(|(own, _)| own == labels);
        row.unwrap_or_else(|| panic!("`{labels}` is not among {rows:?}")).1
    }

    /// How many series were ever there.
    pub(crate) fn registered(&self) -> usize {
        self.recorded.series.len()
    }
}

#[track_caller]
fn in_words(failure: &Failure) -> (&str, &str) {
    assert_eq!(failure.stage, Stage::Plugin);
    (failure.reason.as_str(), &failure.message)
}

const DEADLINE: Duration = Duration::from_secs(60);
