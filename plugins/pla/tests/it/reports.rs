//! What reports say: of segments that end with the exporter, and of what a set wants and does not get.

use std::fs;
use std::path::Path;

use serde_json::json;

use crate::logging::{Place, until, written};
use crate::steered::Mill;
use crate::world::Plugin;

const LEVEL: &str = r"\Water\Level";
const CUT_OFF: &str = "The exporter ended while this segment was written";

/// The reports of a set by their paths.
fn reports(place: &Place, set: &str) -> Vec<(String, String)> {
    let mut files = place.files(set);
    files.retain(|(name, _)| name.ends_with(".html"));
    files
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).expect("it is there") {
        let path = entry.expect("it is read").path();
        let to = to.join(path.file_name().expect("it has a name"));
        if path.is_dir() {
            copy(&path, &to);
        } else {
            fs::copy(&path, &to).expect("it is copied");
        }
    }
}

#[test]
fn a_segment_that_ends_with_the_exporter_has_its_figures() {
    let (mill, plugin, place) = (Mill::new(), Plugin::new(), Place::new());
    let settings = place.settings(&json!([{"name": "Mill", "counters": [LEVEL]}]));
    let watch = plugin.watch(&mill.sim, settings.clone());
    watch.full();
    plugin.end(watch);
    let before = reports(&place, "Mill");
    let [(_, text)] = &before[..] else { panic!("one report: {before:?}") };
    assert!(text.contains("Level") && !text.contains(CUT_OFF), "{text}");
    let watch = plugin.watch(&mill.sim, settings);
    until(&watch, |ended| ended.of("Run", "Last Compile Timestamp").iter().any(|(_, time)| *time > 0.0));
    plugin.end(watch);
    assert_eq!(reports(&place, "Mill")[0], before[0], "the next start leaves it as it is");
}

#[test]
fn a_segment_that_was_cut_off_says_so_instead_of_figures() {
    let (mill, plugin, place, after) = (Mill::new(), Plugin::new(), Place::new(), Place::new());
    let set = json!([{"name": "Mill", "counters": [LEVEL]}]);
    let watch = plugin.watch(&mill.sim, place.settings(&set));
    watch.full();
    written(&watch, "Mill", 1.0);
    // As the disk is after SIGKILL.
    copy(&place.directory(), &after.directory());
    plugin.end(watch);
    assert_eq!(reports(&after, "Mill"), []);
    mill.pass(600);
    let watch = plugin.watch(&mill.sim, after.settings(&set));
    until(&watch, |_| !reports(&after, "Mill").is_empty());
    plugin.end(watch);
    let (name, text) = &reports(&after, "Mill")[0];
    assert!(name.contains("-000001/"), "{name}");
    assert!(text.contains(CUT_OFF) && text.contains("counters.csv"), "{text}");
    assert!(!text.contains("Level"), "no figures: {text}");
}

#[test]
fn a_time_in_which_nobody_asked_the_host_is_a_gap_in_the_report() {
    let (mill, plugin, place) = (Mill::new(), Plugin::new(), Place::new());
    let watch = plugin.watch(&mill.sim, place.settings(&json!([{"name": "Mill", "counters": [LEVEL]}])));
    for seconds in [15, 15, 300, 15] {
        watch.full();
        mill.pass(seconds);
    }
    let ended = watch.full();
    let gaps = [("Mill|counters".to_owned(), 1.0)];
    assert_eq!(ended.of("Log", "Gaps"), gaps, "the metric counts what the report lists");
    assert_eq!(ended.of("Log", "Dropped Records"), [("Mill|counters".to_owned(), 0.0)]);
    plugin.end(watch);
    let (_, text) = &reports(&place, "Mill")[0];
    assert_eq!(text.matches("the host gave no values, or was not asked").count(), 1, "{text}");
}

#[test]
fn a_report_names_the_format_that_was_replaced_and_properties_that_are_ignored() {
    let (mill, plugin, place) = (Mill::new(), Plugin::new(), Place::new());
    let path = place.path().join("set.xml");
    let text = format!(
        "<DataCollectorSet><Name>Nightly</Name><RootPath>C:\\PerfLogs</RootPath><PerformanceCounterDataCollector>\
         <LogAppend>-1</LogAppend><LogFileFormat>3</LogFileFormat><Counter>{LEVEL}</Counter>\
         </PerformanceCounterDataCollector><AlertDataCollector><FileName>x</FileName></AlertDataCollector><DataManager>\
         <Enabled>-1</Enabled></DataManager></DataCollectorSet>"
    );
    fs::write(&path, text).expect("a file in a new folder");
    let mut settings = place.settings(&json!([{"file": path}]));
    settings["log_format"] = json!("tsv");
    let watch = plugin.watch(&mill.sim, settings);
    watch.full();
    plugin.end(watch);
    let (_, text) = &reports(&place, "Nightly")[0];
    for expected in [
        "PerformanceCounterDataCollector[1]/LogFileFormat is ignored: the binary format has no public description: \
         the set logs as `tsv`, as `log_format` says.",
        "PerformanceCounterDataCollector[1]/LogAppend is ignored: a file that is there is replaced, or the log is written beside it.",
        "RootPath is ignored: files go below `storage.directory` of the exporter.",
    ] {
        assert!(text.contains(expected), "{expected}: {text}");
    }
    assert!(!text.contains("AlertDataCollector"), "the report is about counters: {text}");
}
