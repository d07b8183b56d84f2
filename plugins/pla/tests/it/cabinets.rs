//! Folder actions: cabinet files are made, and sent to a folder of this machine.

use std::fs;
use std::path::Path;

use cap_std::ambient_authority;
use cap_std::fs::Dir;
use counter_log::data_manager::{ExtractLimits, extract};
use serde_json::json;

use crate::logging::{Place, until};
use crate::steered::Mill;
use crate::world::{Ended, Plugin};

const LEVEL: &str = r"\Water\Level";
/// Makes a cabinet file, deletes the data, sends the cabinet file, and deletes it and the report.
const ALL_STEPS: u32 = 0x1F;

/// Names in a folder that are not hidden; none if it is not there.
fn names(folder: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut names: Vec<String> =
        entries.map(|entry| entry.expect("it is read").file_name().to_string_lossy().into_owned()).collect();
    names.retain(|name| !name.starts_with('.'));
    names.sort();
    names
}

/// What the cabinet files of a folder have: names, and their texts.
fn unpacked(folder: &Path) -> Vec<(String, String)> {
    let from = Dir::open_ambient_dir(folder, ambient_authority()).expect("it is there");
    let mut files = Vec::new();
    for cabinet in names(folder) {
        let place = tempfile::tempdir().expect("a folder");
        let to = Dir::open_ambient_dir(place.path(), ambient_authority()).expect("it is there");
        extract(&from, &cabinet, &to, &ExtractLimits::default(), &|| false).expect("a cabinet file");
        for name in names(place.path()) {
            let text = fs::read_to_string(place.path().join(&name)).expect("a text");
            files.push((name, text));
        }
    }
    files
}

fn failures(ended: &Ended) -> f64 {
    let all = ended.of("Run", "Failures").into_iter();
    all.filter(|(labels, _)| labels.ends_with("|data_manager")).map(|(_, value)| value).sum()
}

#[test]
fn cabinet_files_of_two_sets_with_folders_of_one_name_are_sent_to_folders_of_their_own() {
    let (mill, plugin, place) = (Mill::new(), Plugin::new(), Place::new());
    let (exported, cabinets) = (place.path().join("set.xml"), place.path().join("cabinets"));
    let text = format!(
        "<DataCollectorSet><Name>Nightly</Name><Subdirectory>run</Subdirectory><SubdirectoryFormat>512</SubdirectoryFormat>\
         <Segment>-1</Segment><PerformanceCounterDataCollector><Name>Levels</Name><LogFileFormat>0</LogFileFormat>\
         <SegmentMaxRecords>2</SegmentMaxRecords><Counter>{LEVEL}</Counter></PerformanceCounterDataCollector><DataManager>\
         <Enabled>-1</Enabled><FolderAction><Size>0</Size><Age>0</Age><Actions>{ALL_STEPS}</Actions>\
         <SendCabTo>\\\\srv\\share</SendCabTo></FolderAction></DataManager></DataCollectorSet>"
    );
    fs::write(&exported, &text).expect("a file");
    let twin = place.path().join("twin.xml");
    fs::write(&twin, text).expect("a file");
    fs::create_dir(&cabinets).expect("a folder");
    let mut settings = place.settings(&json!([{"file": exported}, {"file": twin, "name": "Twin/1"}]));
    let watch = plugin.watch(&mill.sim, settings.clone());
    let problem = |ended: &Ended| ended.of("Set", "Problems").iter().map(|(_, value)| value).sum::<f64>();
    assert_eq!(problem(&watch.full()), 2.0, "nothing stands for the share");
    settings["cabinets"] = json!(cabinets);
    plugin.end(watch);
    let watch = plugin.watch(&mill.sim, settings);
    assert_eq!(problem(&watch.full()), 0.0);
    for level in 1..=4 {
        mill.pass(15);
        mill.level(level);
        watch.full();
    }
    let (own, other) = (cabinets.join("web1/Nightly"), cabinets.join("web1/Twin%2F1"));
    let ended = until(&watch, |_| names(&own).len() >= 3 && names(&other).len() >= 3);
    assert_eq!(failures(&ended), 0.0);
    plugin.end(watch);
    assert_eq!(names(&own)[..3], ["run_000001.cab", "run_000002.cab", "run_000003.cab"]);
    assert_eq!(names(&own), names(&other));
    let files = unpacked(&own);
    let logs: Vec<&str> =
        files.iter().filter(|(name, _)| name.ends_with(".csv")).map(|(_, text)| text.as_str()).collect();
    let values = |text: &str| -> Vec<String> {
        text.lines().skip(1).filter_map(|line| Some(line.rsplit_once(',')?.1.to_owned())).collect()
    };
    assert_eq!(values(logs[1]), [r#""50""#, r#""1""#], "{files:#?}");
    let left = names(&place.directory().join("Nightly/run_000002"));
    assert_eq!(left, [""; 0], "data, report and cabinet file are gone");
}

#[test]
fn cabinet_files_wait_while_their_folder_is_away() {
    let (mill, plugin, place) = (Mill::new(), Plugin::new(), Place::new());
    let cabinets = place.path().join("mount");
    let actions = json!([{"do": ["create_cab", "send_cab", "delete_data", "delete_cab"]}]);
    let mut settings = place.settings(&json!([
        {"name": "Mill", "counters": [LEVEL], "segment": {"records": 1}, "keep": {"actions": actions}},
    ]));
    settings["cabinets"] = json!(cabinets);
    let watch = plugin.watch(&mill.sim, settings);
    watch.full();
    mill.pass(15);
    until(&watch, |ended| failures(ended) >= 1.0);
    let waits = || {
        let folders =
            names(&place.directory().join("Mill")).into_iter().filter(|name| !name.starts_with('.'));
        folders
            .flat_map(|run| names(&place.directory().join("Mill").join(run)))
            .any(|it| it.ends_with(".cab"))
    };
    until(&watch, |_| waits());
    fs::create_dir(&cabinets).expect("it is mounted");
    mill.pass(15);
    until(&watch, |_| {
        mill.pass(15);
        !names(&cabinets.join("web1/Mill")).is_empty()
    });
    plugin.end(watch);
    let files = unpacked(&cabinets.join("web1/Mill"));
    assert!(
        files.iter().any(|(name, text)| name == "counters.csv" && text.contains(r#","50""#)),
        "{files:#?}"
    );
    // A report that no step deletes stays beside.
    assert!(place.files("Mill").iter().any(|(name, _)| name.ends_with("/report.xml")));
}
