//! How segments and runs end, and what of them is there after another start.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::logging::{Place, collect, status, until, written};
use crate::steered::Mill;
use crate::world::{Ended, Plugin};

const LEVEL: &str = r"\Water\Level";

#[test]
fn the_task_of_a_set_gets_the_files_of_each_segment_and_whether_the_set_goes_on() {
    let (mill, plugin, place) = (Mill::new(), Plugin::new(), Place::new());
    let told = place.path().join("told");
    let script = format!("printf '%s %s\n' \"$1\" \"$2\" >> {}", told.display());
    let path = place.path().join("set.xml");
    let text = "<DataCollectorSet><Name>Mill</Name><Segment>-1</Segment><SubdirectoryFormat>512</SubdirectoryFormat>\
         <Subdirectory>out</Subdirectory><Task>Tell</Task><TaskArguments>{state} {logs}</TaskArguments>\
         <Duration>70</Duration>\
         <PerformanceCounterDataCollector><Name>Counters</Name><LogFileFormat>0</LogFileFormat>\
         <SegmentMaxRecords>2</SegmentMaxRecords><Counter>\\Water\\Level</Counter></PerformanceCounterDataCollector>\
         </DataCollectorSet>";
    fs::write(&path, text).expect("a file");
    let mut settings = place.settings(&json!([{"file": path}]));
    settings["tasks"] = json!({"Tell": {"command": ["/bin/sh", "-c", script, "tell"]}});
    // A file of somebody else has the name of the first one.
    let first = place.directory().join("Mill/out_000001");
    fs::create_dir_all(&first).expect("a folder");
    fs::write(first.join("Counters.csv"), "").expect("a file");
    let watch = plugin.watch(&mill.sim, settings);
    // Two segments with two records each, and one that ends with the run.
    for _ in 0..5 {
        watch.full();
        mill.pass(15);
    }
    until(&watch, |ended| {
        let all = ended.of("Alert", "Actions");
        all.iter().any(|(labels, value)| labels == "Mill||task|done" && *value == 3.0)
    });
    plugin.end(watch);
    let files = place.files("Mill");
    let logs = files.iter().filter(|(_, text)| text.lines().count() > 1);
    let path = |name: &str| place.directory().join("Mill").join(name).display().to_string();
    let expected: Vec<String> =
        logs.zip([1, 1, 0]).map(|((name, _), state)| format!("{state} {}", path(name))).collect();
    assert!(expected.len() == 3 && expected[0].contains("Counters ("), "{expected:?}");
    let told = fs::read_to_string(&told).expect("it ran");
    // The three may run beside each other.
    let mut told: Vec<&str> = told.lines().collect();
    told.sort_by_key(|line| line.split_once(' ').map(|(_, path)| path));
    assert_eq!(told, expected);
}

#[test]
fn a_set_that_is_removed_finishes_and_does_not_go_on_when_it_comes_back() {
    let (mill, plugin, place) = (Mill::new(), Plugin::new(), Place::new());
    let told = place.path().join("told");
    let script = format!("printf '%s' \"$@\" > {}", told.display());
    // No data manager, and started by a schedule of long ago: what runs is only what was stored as running.
    let path = place.path().join("set.xml");
    let text = "<DataCollectorSet><Name>Nightly</Name><Task>Tell</Task><TaskArguments>{logs}</TaskArguments>\
         <PerformanceCounterDataCollector><Name>Counters</Name><LogFileFormat>0</LogFileFormat>\
         <Counter>\\Water\\Level</Counter></PerformanceCounterDataCollector></DataCollectorSet>";
    fs::write(&path, text).expect("a file");
    let settings = |sets: Value| {
        let mut settings = place.settings(&sets);
        settings["tasks"] = json!({"Tell": {"command": ["/bin/sh", "-c", script, "tell"]}});
        settings
    };
    let set = json!({"file": path});
    let watch = plugin.watch(&mill.sim, settings(json!([set])));
    watch.full();
    written(&watch, "Nightly", 1.0);
    watch.reconfigure(settings(json!([{"name": "Other", "counters": [LEVEL]}])));
    let state = || -> Value {
        let text = fs::read_to_string(place.directory().join("Nightly/.run.json")).expect("it is stored");
        serde_json::from_str(&text).expect("it is JSON")
    };
    // The task, the other set and the state are beside the collections. The shell makes the file before it writes into it.
    until(&watch, |ended| {
        mill.pass(1);
        let has_run = fs::read(&told).is_ok_and(|text| !text.is_empty());
        has_run && status(ended) == "Other|running" && state()["run"]["running"] == Value::Null
    });
    let path = fs::read_to_string(&told).expect("its task ran");
    assert!(path.ends_with("Counters.csv"), "{path}");
    assert_eq!(state()["run"]["serial_number"], json!(1));
    plugin.end(watch);
}

#[test]
fn limits_are_checked_before_a_run_and_not_before_each_segment() {
    let (mill, plugin, place) = (Mill::new(), Plugin::new(), Place::new());
    let path = place.path().join("set.xml");
    let text = "<DataCollectorSet><Name>Nightly</Name><Segment>-1</Segment><SubdirectoryFormat>512</SubdirectoryFormat>\
         <PerformanceCounterDataCollector><Name>Counters</Name><LogFileFormat>0</LogFileFormat>\
         <SegmentMaxRecords>1</SegmentMaxRecords><Counter>\\Water\\Level</Counter></PerformanceCounterDataCollector>\
         <DataManager><Enabled>-1</Enabled><CheckBeforeRunning>-1</CheckBeforeRunning>\
         <MaxFolderCount>1</MaxFolderCount></DataManager></DataCollectorSet>";
    fs::write(&path, text).expect("a file");
    let watch = plugin.watch(&mill.sim, place.settings(&json!([{"file": path}])));
    let records = |ended: &Ended| ended.of("Log", "Records").first().map_or(0.0, |(_, records)| *records);
    let ended = until(&watch, |ended| {
        mill.pass(15);
        records(ended) >= 4.0
    });
    let failed = ended.of("Run", "Failures");
    assert!(failed.contains(&("Nightly|start".to_owned(), 0.0)), "{failed:?}");
    plugin.end(watch);
}

#[test]
fn a_journal_is_brought_to_an_end_although_no_run_goes_on() {
    let (mill, plugin, place) = (Mill::new(), Plugin::new(), Place::new());
    let settings = place.settings(&json!([{"name": "Mill", "counters": [LEVEL], "log_format": "parquet"}]));
    let watch = plugin.watch(&mill.sim, settings.clone());
    watch.full();
    written(&watch, "Mill", 1.0);
    let root = place.directory().join("Mill");
    let files = place.files("Mill");
    let (journal, _) = files.iter().find(|(name, _)| name.ends_with(".parquet.part")).expect("a journal");
    let bytes = fs::read(root.join(journal)).expect("it is read");
    plugin.end(watch);
    // As a process leaves it that was killed when a run had ended.
    fs::create_dir(root.join("earlier")).expect("a folder");
    fs::write(root.join("earlier/counters.parquet.part"), bytes).expect("a file");
    let state = fs::read_to_string(root.join(".run.json")).expect("it is stored");
    let mut state: Value = serde_json::from_str(&state).expect("it is JSON");
    state["run"]["running"] = Value::Null;
    fs::write(root.join(".run.json"), state.to_string()).expect("a file");
    let watch = plugin.watch(&mill.sim, settings);
    until(&watch, |ended| status(ended) == "Mill|running");
    plugin.end(watch);
    let log = fs::read(root.join("earlier/counters.parquet")).expect("it is at its end");
    assert!(log.ends_with(b"PAR1"));
}

#[test]
fn a_set_whose_folder_cannot_be_read_waits_and_goes_on_with_the_next_serial_number() {
    let (mill, plugin, place) = (Mill::new(), Plugin::new(), Place::new());
    let settings = place.settings(&json!([{"name": "Mill", "counters": [LEVEL]}]));
    let watch = plugin.watch(&mill.sim, settings.clone());
    watch.full();
    plugin.end(watch);
    let (directory, away) = (place.directory(), place.path().join("away"));
    fs::rename(&directory, &away).expect("it is there");
    // No folder and not nothing: what a disk that fails says.
    fs::write(&directory, "").expect("a file");
    let watch = plugin.watch(&mill.sim, settings);
    watch.full();
    assert_eq!(watch.full().of("Run", "Status"), []);
    fs::remove_file(&directory).expect("it is there");
    fs::rename(&away, &directory).expect("it is there");
    let ended = until(&watch, |ended| status(ended) == "Mill|running");
    assert_eq!(ended.of("Run", "Serial Number"), [("Mill".to_owned(), 2.0)]);
    plugin.end(watch);
}

#[test]
fn a_set_whose_folder_comes_late_leaves_the_runs_of_before_alone() {
    let folders = come_late(false);
    let beside = folders.iter().filter(|name| name.contains("-000001 2")).count();
    assert_eq!(beside, 1, "the run that knew nothing has a folder of its own: {folders:?}");
}

#[test]
fn a_disk_that_is_mounted_late_over_a_folder_keeps_its_runs() {
    come_late(true);
}

/// Twenty segments are on a disk that comes back after a set has begun without it, in place of another folder perhaps. Returns the
/// folders that there are in the end.
fn come_late(has_other_folder: bool) -> BTreeSet<String> {
    let (mill, plugin, place) = (Mill::new(), Plugin::new(), Place::new());
    let (mount, away) = (place.path().join("mount"), place.path().join("away"));
    fs::create_dir(&mount).expect("it is new");
    let settings = json!({
        "sets": [{"name": "Mill", "counters": [LEVEL], "segment": {"records": 2}, "keep": {"folders": 100}}],
        "storage": {"directory": mount.join("web1")},
    });
    let runs = |root: &Path| {
        let mut files = Vec::new();
        collect(&root.join("web1/Mill"), &root.join("web1/Mill"), &mut files);
        files.into_iter().collect::<BTreeMap<_, _>>()
    };
    let watch = plugin.watch(&mill.sim, settings.clone());
    // Twenty segments, once it is known that there was none.
    until(&watch, |ended| status(ended) == "Mill|running");
    for _ in 0..39 {
        mill.pass(15);
        watch.full();
    }
    written(&watch, "Mill", 40.0);
    plugin.end(watch);
    let before = runs(&mount);
    assert_eq!(before.keys().filter(|name| name.ends_with(".csv")).count(), 20, "{:?}", before.keys());

    fs::rename(&mount, &away).expect("it is there");
    if has_other_folder {
        fs::create_dir(&mount).expect("it is away");
    }
    let watch = plugin.watch(&mill.sim, settings.clone());
    let ended = until(&watch, |ended| status(ended) == "Mill|running");
    assert_eq!(ended.of("Run", "Serial Number"), [("Mill".to_owned(), 1.0)], "nothing is known of before");
    if has_other_folder {
        until(&watch, |ended| {
            mill.pass(15);
            ended.of("Run", "Serial Number")[0].1 >= 3.0
        });
        fs::rename(&mount, place.path().join("under")).expect("it is there");
    }
    fs::rename(&away, &mount).expect("it is there");
    // Each collection begins a record, and each second record a segment.
    let numbered = |ended: &Ended| ended.of("Run", "Serial Number").iter().any(|(_, number)| *number >= 25.0);
    until(&watch, |ended| {
        mill.pass(15);
        numbered(ended)
    });
    // Writers wait for a moment before they look for a folder again.
    written(&watch, "Mill", 0.0);
    plugin.end(watch);
    let after = runs(&mount);
    for (name, text) in &before {
        assert!(after.get(name) == Some(text), "{name} is not what it was: {:?}", after.get(name));
    }
    let folders = after.keys().filter_map(|name| name.split_once('/'));
    let folders: BTreeSet<String> = folders.map(|(folder, _)| folder.to_owned()).collect();
    assert!(folders.iter().any(|name| name.ends_with("-000024")), "{folders:?}");

    let watch = plugin.watch(&mill.sim, settings);
    let ended = until(&watch, |ended| status(ended) == "Mill|running");
    assert!(ended.of("Run", "Serial Number")[0].1 >= 26.0, "{}", ended.page());
    plugin.end(watch);
    folders
}
