//! What the metrics of sets that log mean, over segments, other definitions and other places.

use std::fs;

use serde_json::json;

use crate::logging::{Place, status, until, written};
use crate::steered::Mill;
use crate::world::{Ended, Plugin};

const LOAD: &str = r"\Wheels(*)\Load";
const LEVEL: &str = r"\Water\Level";

/// The only value of an item.
#[track_caller]
fn of(ended: &Ended, object: &str, item: &str) -> f64 {
    match &ended.of(object, item)[..] {
        [(_, value)] => *value,
        other => panic!("one value, and not {other:?}"),
    }
}

#[test]
fn nothing_waits_while_the_disk_keeps_up() {
    let (mill, plugin, place) = (Mill::new(), Plugin::new(), Place::new());
    let set = json!([{"name": "Mill", "counters": [LEVEL]}]);
    let watch = plugin.watch(&mill.sim, place.settings(&set));
    for records in 1..=5_u32 {
        assert_eq!(of(&watch.full(), "Log", "Waiting"), 0.0, "the record of now does not count");
        written(&watch, "Mill", f64::from(records));
        mill.pass(15);
    }
    plugin.end(watch);
}

#[test]
fn an_instance_is_left_out_once_however_many_counters_it_has() {
    let (mill, plugin, place) = (Mill::new(), Plugin::new(), Place::new());
    let paths = [r"\Wheels(*)\Load", r"\Wheels(*)\*"];
    let set = json!([{"name": "Mill", "counters": paths}]);
    let watch = plugin.watch(&mill.sim, place.settings(&set));
    let left_out = |ended: &Ended| of(ended, "Log", "Left Out Instances");
    assert_eq!(left_out(&watch.full()), 0.0);
    mill.wheel("new", |wheel| wheel.load = 3);
    mill.pass(15);
    assert_eq!(left_out(&watch.full()), 1.0);
    mill.wheel("newer", |wheel| wheel.load = 3);
    mill.remove("big");
    mill.pass(15);
    assert_eq!(left_out(&watch.full()), 2.0);
    mill.remove("new");
    mill.pass(15);
    assert_eq!(left_out(&watch.full()), 1.0, "those that the host has now");
    plugin.end(watch);
}

#[test]
fn no_instance_is_left_out_of_a_log_that_has_ended() {
    let (mill, plugin, place) = (Mill::new(), Plugin::new(), Place::new());
    let path = place.path().join("set.xml");
    let text = "<DataCollectorSet><Name>Nightly</Name><StopOnCompletion>-1</StopOnCompletion>\
         <PerformanceCounterDataCollector><Name>Counters</Name><LogFileFormat>0</LogFileFormat>\
         <SegmentMaxRecords>2</SegmentMaxRecords><Counter>\\Wheels(*)\\Load</Counter></PerformanceCounterDataCollector>\
         </DataCollectorSet>";
    fs::write(&path, text).expect("a file");
    let watch = plugin.watch(&mill.sim, place.settings(&json!([{"file": path}])));
    assert_eq!(status(&watch.full()), "Nightly|running");
    mill.wheel("new", |wheel| wheel.load = 3);
    mill.pass(15);
    let ended = watch.full();
    assert_eq!(status(&ended), "Nightly|stopped");
    assert_eq!(of(&ended, "Log", "Left Out Instances"), 0.0);
    plugin.end(watch);
}

#[test]
fn what_is_counted_of_a_set_goes_on_when_it_is_defined_otherwise_or_moves() {
    let (mill, plugin, place) = (Mill::new(), Plugin::new(), Place::new());
    let sets = |counter: &str| json!([{"name": "Mill", "counters": [counter]}]);
    let watch = plugin.watch(&mill.sim, place.settings(&sets(LOAD)));
    watch.full();
    mill.pass(15);
    watch.full();
    let before = written(&watch, "Mill", 2.0);
    watch.reconfigure(place.settings(&sets(LEVEL)));
    mill.pass(15);
    let ended = watch.full();
    assert_eq!(of(&ended, "Log", "Segments"), 2.0);
    let after = written(&watch, "Mill", 3.0);
    assert_eq!((of(&after, "Log", "Records"), of(&after, "Run", "Starts")), (3.0, 1.0));
    assert!(of(&after, "Log", "Bytes") > of(&before, "Log", "Bytes"));

    let elsewhere = json!({"sets": sets(LEVEL), "storage": {"directory": place.path().join("elsewhere")}});
    watch.reconfigure(elsewhere);
    mill.pass(15);
    watch.full();
    let ended = written(&watch, "Mill", 4.0);
    assert_eq!((of(&ended, "Log", "Records"), of(&ended, "Log", "Segments")), (4.0, 3.0));
    assert_eq!(of(&ended, "Run", "Starts"), 2.0, "it has started there");
    assert_eq!(of(&ended, "Run", "Serial Number"), 1.0);
    // The data manager works on what it left behind.
    until(&watch, |ended| !ended.of("Run", "Last Compile Timestamp").is_empty());
    plugin.end(watch);
}

#[test]
fn the_series_of_a_set_and_a_log_that_are_gone_end() {
    let (mill, plugin, place) = (Mill::new(), Plugin::new(), Place::new());
    let path = place.path().join("set.xml");
    let export = |collectors: &[&str]| {
        let collector = |name: &&str| {
            format!(
                "<PerformanceCounterDataCollector><Name>{name}</Name><LogFileFormat>0</LogFileFormat>\
                 <Counter>{LEVEL}</Counter></PerformanceCounterDataCollector>"
            )
        };
        let collectors: String = collectors.iter().map(collector).collect();
        let text = format!("<DataCollectorSet><Name>Nightly</Name>{collectors}</DataCollectorSet>");
        fs::write(&path, text).expect("a file");
    };
    export(&["One", "Two"]);
    let watch = plugin.watch(&mill.sim, place.settings(&json!([{"file": path}])));
    let logs = |ended: &Ended| -> Vec<String> {
        ended.of("Log", "Records").into_iter().map(|(labels, _)| labels).collect()
    };
    assert_eq!(logs(&watch.full()), ["Nightly|One", "Nightly|Two"]);
    export(&["Two", "Three"]);
    mill.pass(15);
    let ended = watch.full();
    assert_eq!(logs(&ended), ["Nightly|Three", "Nightly|Two"]);
    let segments = ended.of("Log", "Segments");
    assert_eq!(segments, [("Nightly|Three".to_owned(), 1.0), ("Nightly|Two".to_owned(), 2.0)]);
    watch
        .reconfigure(place.settings(&json!([{"name": "Other", "alerts": [{"counter": LEVEL, "above": 1}]}])));
    let ended = watch.full();
    let is_left = |family: &str| ended.page().lines().any(|line| line.starts_with(family));
    assert!(!is_left("Log ") && !is_left("Run "), "{}", ended.page());
    plugin.end(watch);
}
