use std::collections::BTreeSet;

use cap_std::ambient_authority;
use counter_log::data_manager::reports::Statistics;
use counter_log::data_manager::{DataManager, Request};
use counter_log::writer::LogCounts;
use counter_log::{Batch, LogHeader};
use jiff::SignedDuration;
use ms_pla::FolderActionSteps;

use super::*;

const BEGAN: i64 = 1_795_694_400;

fn closed(file: &str) -> ClosedLog {
    let header = LogHeader { columns: Vec::new(), zone: TimeZone::UTC, description: String::new() };
    ClosedLog {
        file: Some(file.to_owned()),
        bytes: 3,
        header: header.into(),
        statistics: Statistics::new(Batch::new(0).columns()),
        gaps: Vec::new(),
        counts: LogCounts::default(),
    }
}

/// The names in a folder of a run after the reports of its logs were written, each of which has the text `log`.
fn written(run: &Dir, manager: &xml::DataManager, logs: &[&str]) -> BTreeSet<String> {
    logs.iter().for_each(|name| run.write(name, "log").expect("the folder is ours"));
    let closed: Vec<_> = logs.iter().map(|name| closed(name)).collect();
    assert_eq!(write(run, &about(), manager, &closed), [""; 0]);
    logs.iter().for_each(|name| assert_eq!(run.read_to_string(name).expect("it is there"), "log", "{name}"));
    names(run)
}

fn about() -> SegmentInfo {
    let began = Timestamp::from_second(BEGAN).expect("it is in this century");
    SegmentInfo {
        set: "Shop".to_owned(),
        machine: "web1".to_owned(),
        began,
        ended: began + SignedDuration::from_mins(1),
        zone: TimeZone::UTC,
        serial_number: 1,
        remarks: Vec::new(),
    }
}

fn names(folder: &Dir) -> BTreeSet<String> {
    let entries = folder.entries().expect("it can be read");
    entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect()
}

fn manager(xml: &str, html: &str) -> xml::DataManager {
    let (rule_target_file_name, report_file_name) = (Some(xml.to_owned()), Some(html.to_owned()));
    xml::DataManager { rule_target_file_name, report_file_name, ..xml::DataManager::default() }
}

#[test]
fn no_report_replaces_a_log_or_another_report() {
    let long = "r".repeat(250);
    for (xml, html) in [
        ("counters.csv", "counters.csv"),
        ("counters (2).tsv", "counters.parquet"),
        ("same", "same"),
        ("same.xml", "same.xml"),
        ("a.html", "a.HTM"),
        ("report (2).xml", "report (2).html"),
        ("", ""),
        ("..", "../x"),
        (&long, &long),
    ] {
        let folder = tempfile::tempdir().expect("a folder");
        let run = Dir::open_ambient_dir(folder.path(), ambient_authority()).expect("it is there");
        let logs = ["counters.csv", "counters (2).tsv", "counters.parquet"];
        let names = written(&run, &manager(xml, html), &logs);
        assert_eq!(names.len(), 9, "{xml} {html}: {names:?}");
        let of =
            |ending: &str| names.iter().filter(|name| name.to_ascii_lowercase().ends_with(ending)).count();
        assert_eq!((of(".xml"), of(".html") + of(".htm")), (3, 3), "{xml} {html}: {names:?}");
    }
}

#[test]
fn a_data_manager_that_deletes_data_keeps_all_reports() {
    // In memory where there is such a folder: each report is brought to the disk.
    let memory = std::path::Path::new("/dev/shm");
    let folder = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() };
    let folder = folder.expect("a folder");
    let set = Dir::open_ambient_dir(folder.path(), ambient_authority()).expect("it is there");
    for (xml, html) in [("", ""), ("day:1", "counters.csv")] {
        set.create_dir("000001").expect("it is new");
        let run = set.open_dir("000001").expect("it is there");
        let mut manager = manager(xml, html);
        let logs: Vec<String> = (0..101).map(|number| format!("{number} counters.csv")).collect();
        let logs: Vec<&str> = logs.iter().map(String::as_str).collect();
        let reports = written(&run, &manager, &logs);
        let action = xml::FolderAction {
            actions: Some(FolderActionSteps::DELETE_DATA),
            ..xml::FolderAction::default()
        };
        (manager.is_enabled, manager.folder_actions) = (Some(true), vec![action]);
        let now = Timestamp::now() + SignedDuration::from_hours(48);
        let managed = DataManager::new(settings(&manager)).run(&Request::new(&set, now));
        assert!(managed.failures.is_empty(), "{:?}", managed.failures);
        let left = names(&run).into_iter().filter(|name| !name.starts_with('.')).collect::<Vec<_>>();
        let reports: Vec<_> = reports.into_iter().filter(|name| !name.ends_with("s.csv")).collect();
        assert_eq!(left, reports);
        assert_eq!(left.len(), 202);
        set.remove_dir_all("000001").expect("it is ours");
    }
}

#[test]
fn reports_of_as_many_logs_as_a_module_has_are_known() {
    let manager = manager("", "");
    let known: BTreeSet<String> = settings(&manager).report_files.into_iter().collect();
    for number in [1, 2, 1_000] {
        let Names { xml, html } = Names::of(&manager, number);
        assert!(known.contains(&xml) && known.contains(&html), "{xml} {html}");
    }
}
