//! How segments and runs end, and what of them is there after another start.

use std::fs;
use std::os::unix::net::UnixListener;

use serde_json::{Value, json};

use crate::logging::{Place, status, until, written};
use crate::steered::Mill;
use crate::world::{Ended, Plugin};

const LEVEL: &str = r"\Water\Level";

#[test]
fn the_task_of_a_set_gets_the_files_of_each_segment_under_their_real_names() {
    let (mill, plugin, place) = (Mill::new(), Plugin::new(), Place::new());
    let told = place.path().join("told");
    let script = format!("printf '%s\n' \"$@\" >> {}", told.display());
    let path = place.path().join("set.xml");
    let text = "<DataCollectorSet><Name>Mill</Name><Segment>-1</Segment><SubdirectoryFormat>512</SubdirectoryFormat>\
         <Subdirectory>out</Subdirectory><Task>Tell</Task><TaskArguments>{logs}</TaskArguments>\
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
    for _ in 0..2 {
        watch.full();
        mill.pass(15);
    }
    until(&watch, |ended| {
        let all = ended.of("Alert", "Actions");
        all.iter().any(|(labels, value)| labels == "Mill||task|done" && *value == 1.0)
    });
    plugin.end(watch);
    let files = place.files("Mill");
    let (name, _) = files.iter().find(|(_, text)| text.lines().count() == 3).expect("two records");
    let expected = format!("{}\n", place.directory().join("Mill").join(name).display());
    assert!(expected.contains("Counters ("), "{expected}");
    assert_eq!(fs::read_to_string(&told).expect("it ran"), expected);
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
    let mut ended = watch.full();
    for _ in 0..2_000 {
        if told.exists() {
            break;
        }
        mill.pass(1);
        ended = watch.full();
    }
    let path = fs::read_to_string(&told).expect("its task ran");
    assert!(path.ends_with("Counters.csv"), "{path}");
    assert_eq!(status(&ended), "Other|running");
    let state = fs::read_to_string(place.directory().join("Nightly/.run.json")).expect("it is stored");
    let state: Value = serde_json::from_str(&state).expect("it is JSON");
    assert_eq!((&state["run"]["running"], &state["run"]["serial_number"]), (&Value::Null, &json!(1)));
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
fn a_set_whose_state_cannot_be_read_waits_and_goes_on_with_the_next_serial_number() {
    let (mill, plugin, place) = (Mill::new(), Plugin::new(), Place::new());
    let settings = place.settings(&json!([{"name": "Mill", "counters": [LEVEL]}]));
    let watch = plugin.watch(&mill.sim, settings.clone());
    watch.full();
    plugin.end(watch);
    let (state, away) = (place.directory().join("Mill/.run.json"), place.path().join("away"));
    fs::rename(&state, &away).expect("it is there");
    // It is there, and the system does not open it.
    let socket = UnixListener::bind(&state).expect("a socket");
    let watch = plugin.watch(&mill.sim, settings);
    watch.full();
    assert_eq!(watch.full().of("Run", "Status"), []);
    drop(socket);
    fs::rename(&away, &state).expect("it is there");
    let ended = until(&watch, |ended| status(ended) == "Mill|running");
    assert_eq!(ended.of("Run", "Serial Number"), [("Mill".to_owned(), 2.0)]);
    plugin.end(watch);
}
