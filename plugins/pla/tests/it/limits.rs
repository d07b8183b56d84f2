//! What ends the segments and runs of exported sets, and what does not.

use std::fs;

use serde_json::{Value, json};

use crate::logging::{Place, status, until, written};
use crate::steered::Mill;
use crate::world::{Ended, Plugin};

/// Settings with a set that is exported, with these properties of it and of its collector.
fn exported(place: &Place, of_set: &str, of_collector: &str) -> Value {
    let path = place.path().join("set.xml");
    let text = format!(
        "<DataCollectorSet><Name>Nightly</Name><SubdirectoryFormat>512</SubdirectoryFormat>{of_set}\
         <PerformanceCounterDataCollector><Name>Counters</Name><LogFileFormat>0</LogFileFormat>{of_collector}\
         </PerformanceCounterDataCollector></DataCollectorSet>"
    );
    fs::write(&path, text).expect("a file");
    place.settings(&json!([{"file": path}]))
}

#[test]
fn a_set_that_is_redefined_goes_on_in_other_files_and_has_a_report_of_each() {
    let (mill, plugin, place) = (Mill::new(), Plugin::new(), Place::new());
    let mut settings = exported(
        &place,
        "<DataManager><Enabled>-1</Enabled></DataManager>",
        r"<LogOverwrite>-1</LogOverwrite><Counter>\Water\Level</Counter>",
    );
    let watch = plugin.watch(&mill.sim, settings.clone());
    mill.level(1);
    // What is kept of a set is read beside the collections.
    written(&watch, "Nightly", 1.0);
    settings["sets"][0]["time_zone"] = json!("Asia/Kolkata");
    watch.reconfigure(settings);
    mill.pass(15);
    mill.level(2);
    let ended = written(&watch, "Nightly", 2.0);
    assert_eq!(ended.of("Run", "Serial Number"), [("Nightly".to_owned(), 1.0)]);
    plugin.end(watch);
    let files = place.files("Nightly");
    let names: Vec<&str> = files.iter().map(|(name, _)| name.as_str()).collect();
    let reports = ["report (2).html", "report (2).xml", "report.html", "report.xml"];
    let expected = ["Counters (2).csv", "Counters.csv"].into_iter().chain(reports);
    assert_eq!(names, expected.map(|name| format!("000001/{name}")).collect::<Vec<_>>());
    for (at, zone, level) in [(0, "(India Standard Time)(-330)", "\"2\""), (1, "(0)", "\"1\"")] {
        let lines: Vec<&str> = files[at].1.lines().collect();
        assert!(lines.len() == 2 && lines[0].contains(zone) && lines[1].ends_with(level), "{lines:?}");
    }
}

#[test]
fn a_start_that_the_limits_refuse_is_tried_again_after_a_minute() {
    let (mill, plugin, place) = (Mill::new(), Plugin::new(), Place::new());
    let settings = exported(
        &place,
        "<DataManager><Enabled>-1</Enabled><CheckBeforeRunning>-1</CheckBeforeRunning><MaxFolderCount>1</MaxFolderCount>\
         </DataManager>",
        r"<Counter>\Water\Level</Counter>",
    );
    let root = place.directory().join("Nightly");
    for folder in ["one", "two"] {
        fs::create_dir_all(root.join(folder)).expect("a folder");
    }
    let watch = plugin.watch(&mill.sim, settings);
    let failed = |ended: &Ended, starts: f64| {
        ended.of("Run", "Failures").contains(&("Nightly|start".to_owned(), starts))
    };
    let ended = until(&watch, |ended| failed(ended, 1.0));
    assert_eq!(status(&ended), "Nightly|stopped");
    mill.pass(59);
    let ended = watch.full();
    assert!(status(&ended) == "Nightly|stopped" && failed(&ended, 1.0), "{}", ended.page());
    mill.pass(1);
    until(&watch, |ended| failed(ended, 2.0));
    fs::remove_dir(root.join("two")).expect("it is empty");
    mill.pass(60);
    watch.full();
    written(&watch, "Nightly", 1.0);
    plugin.end(watch);
    let files = place.files("Nightly");
    assert!(files.iter().any(|(name, _)| name == "000003/Counters.csv"), "{files:?}");
}

#[test]
fn a_set_that_stops_on_completion_does_not_begin_again() {
    let (mill, plugin, place) = (Mill::new(), Plugin::new(), Place::new());
    let settings = exported(
        &place,
        "<Segment>-1</Segment><StopOnCompletion>-1</StopOnCompletion>",
        r"<SegmentMaxRecords>2</SegmentMaxRecords><Counter>\Water\Level</Counter>",
    );
    let watch = plugin.watch(&mill.sim, settings);
    for level in 1..=4 {
        mill.level(level);
        watch.full();
        mill.pass(15);
    }
    let ended = watch.full();
    assert_eq!(status(&ended), "Nightly|stopped");
    assert_eq!(ended.of("Run", "Starts"), [("Nightly".to_owned(), 1.0)]);
    plugin.end(watch);
    let lines = place.lines("Nightly");
    let values: Vec<&str> = lines[1..].iter().filter_map(|line| Some(line.rsplit_once(',')?.1)).collect();
    assert_eq!(values, ["\"1\"", "\"2\""]);
}

#[test]
fn a_circular_file_that_is_full_keeps_its_newest_records_and_ends_no_segment() {
    let (mill, plugin, place) = (Mill::new(), Plugin::new(), Place::new());
    let settings = exported(
        &place,
        "<Segment>-1</Segment><SegmentMaxSize>1</SegmentMaxSize>",
        r"<LogCircular>-1</LogCircular><Counter>\Wheels(*)\Load</Counter>",
    );
    // Their names alone, in the first line, are more than the size of the file.
    for number in 0..1_100 {
        mill.wheel(&format!("{number:01000}"), |_| {});
    }
    let watch = plugin.watch(&mill.sim, settings);
    for load in 1..=5_u32 {
        mill.wheel("big", |wheel| wheel.load = load.into());
        watch.full();
        let ended = written(&watch, "Nightly", f64::from(load));
        assert_eq!(ended.of("Run", "Serial Number"), [("Nightly".to_owned(), 1.0)]);
        mill.pass(15);
    }
    plugin.end(watch);
    let files = place.files("Nightly");
    let of_big = files.iter().map(|(name, text)| {
        let place =
            text.lines().next().and_then(|header| header.split(',').position(|cell| cell.contains("(big)")));
        let values = text.lines().skip(1).filter_map(|line| line.split(',').nth(place?));
        (name.as_str(), values.collect::<Vec<_>>().join(" "))
    });
    assert_eq!(
        of_big.collect::<Vec<_>>(),
        [("000001/Counters (previous).csv", "\"4\"".to_owned()), ("000001/Counters.csv", "\"5\"".to_owned())]
    );
}
