//! Sets that log counters to files: when they run, where the files are, and what metrics say of that.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use crate::steered::Mill;
use crate::world::{Ended, Plugin, Watch};

pub(crate) const LOAD: &str = r"\Wheels(*)\Load";
pub(crate) const TURNS: &str = r"\Wheels(*)\Turns/sec";
pub(crate) const LEVEL: &str = r"\Water\Level";

/// The folder that the exporter has for the target, in a folder that is there.
pub(crate) struct Place(tempfile::TempDir);

impl Place {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().expect("a folder"))
    }

    pub(crate) fn directory(&self) -> PathBuf {
        self.0.path().join("web1")
    }

    /// The folder that it is in.
    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    /// Settings with these sets.
    pub(crate) fn settings(&self, sets: &Value) -> Value {
        json!({"sets": sets, "storage": {"directory": self.directory()}})
    }

    /// The files below the folder of a set that are not hidden, by their paths in it.
    pub(crate) fn files(&self, set: &str) -> Vec<(String, String)> {
        let root = self.directory().join(set);
        let mut files = Vec::new();
        collect(&root, &root, &mut files);
        files.sort();
        files
    }

    /// The lines of the only log of a set.
    #[track_caller]
    pub(crate) fn lines(&self, set: &str) -> Vec<String> {
        let mut files = self.files(set);
        files.retain(|(name, _)| !name.contains("/report."));
        let [(_, text)] = &files[..] else { panic!("one file, and not {files:?}") };
        text.lines().map(str::to_owned).collect()
    }
}

/// Adds the files below a folder that are not hidden, by their paths in `root`.
pub(crate) fn collect(root: &Path, folder: &Path, files: &mut Vec<(String, String)>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries {
        let path = entry.expect("it is read").path();
        if path.is_dir() {
            collect(root, &path, files);
        } else if !path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.')) {
            let name = path.strip_prefix(root).expect("it is below").display().to_string();
            files.push((name, String::from_utf8_lossy(&fs::read(&path).expect("it is read")).into_owned()));
        }
    }
}

/// Collects until this is so: what is beside collections is another thread's.
#[track_caller]
pub(crate) fn until(watch: &Watch, is_so: impl Fn(&Ended) -> bool) -> Ended {
    let began = Instant::now();
    loop {
        let ended = watch.full();
        if is_so(&ended) {
            return ended;
        }
        assert!(began.elapsed() < PATIENCE, "it does not come to that: {}", ended.page());
        std::thread::yield_now();
    }
}

/// Writers wait a second and longer between two attempts, and other programs of a busy machine take their time.
const PATIENCE: Duration = Duration::from_secs(60);

/// Collects until all records that were taken are written.
#[track_caller]
pub(crate) fn written(watch: &Watch, set: &str, records: f64) -> Ended {
    let label = format!("{set}|");
    until(watch, |ended| {
        let of = |item: &str| -> f64 {
            let all = ended.of("Log", item).into_iter();
            all.filter(|(labels, _)| labels.starts_with(&label)).map(|(_, value)| value).sum()
        };
        of("Waiting") == 0.0 && of("Records") >= records
    })
}

/// The set that runs, waits or works, and what of that it does.
pub(crate) fn status(ended: &Ended) -> String {
    let all = ended.of("Run", "Status").into_iter();
    all.filter(|(_, value)| *value == 1.0).map(|(labels, _)| labels).collect::<Vec<_>>().join(" ")
}

/// A time of day so many hours from now, as settings say it, and when that is. The clock of a test may go on for minutes before
/// it comes, however slow the machine is.
pub(crate) fn start_in_hours(hours: i64) -> (String, Timestamp) {
    let at = Timestamp::now() + SignedDuration::from_hours(hours);
    let at = Timestamp::from_second(at.as_second()).expect("it is in this century");
    (at.to_zoned_datetime(TimeZone::UTC).strftime("%H:%M:%S").to_string(), at)
}

/// The cells of a line of CSV.
pub(crate) fn cells(line: &str) -> Vec<String> {
    line.split(',').map(|cell| cell.trim_matches('"').to_owned()).collect()
}

#[test]
fn a_run_goes_on_after_a_new_start_with_the_next_serial_number() {
    let (mill, plugin, place) = (Mill::new(), Plugin::new(), Place::new());
    let settings = place.settings(&json!([{"name": "Mill", "counters": [LOAD]}]));
    let serial = |ended: &Ended| ended.of("Run", "Serial Number")[0].1;
    for start in 1..=3_u32 {
        let watch = plugin.watch(&mill.sim, settings.clone());
        let ended = watch.full();
        assert_eq!(serial(&ended), f64::from(start));
        mill.pass(15);
        watch.full();
        // It ends in the middle: what was taken is written.
        plugin.end(watch);
        mill.pass(60);
    }
    let lines: Vec<usize> = place
        .files("Mill")
        .iter()
        .filter(|(name, _)| name.ends_with(".csv"))
        .map(|(_, text)| text.lines().count())
        .collect();
    assert_eq!(lines, [3, 3, 3]);
}

#[test]
fn a_reload_keeps_the_log_of_a_set_that_stays_and_ends_that_of_one_that_goes() {
    let (mill, plugin, place) = (Mill::new(), Plugin::new(), Place::new());
    let (stays, goes) =
        (json!({"name": "Stays", "counters": [LOAD]}), json!({"name": "Goes", "counters": [LEVEL]}));
    let watch = plugin.watch(&mill.sim, place.settings(&json!([goes, stays])));
    watch.full();
    watch.reconfigure(place.settings(&json!([stays, {"name": "New", "counters": [TURNS]}])));
    mill.pass(15);
    watch.full();
    let ended = written(&watch, "Stays", 2.0);
    assert_eq!(ended.of("Run", "Serial Number"), [("New".to_owned(), 1.0), ("Stays".to_owned(), 1.0)]);
    plugin.end(watch);
    assert_eq!(place.lines("Stays").len(), 3, "one file");
    let gone: Vec<String> = place.files("Goes").into_iter().map(|(name, _)| name).collect();
    let ends = |ending: &str| gone.iter().any(|name| name.ends_with(ending));
    assert!(ends("/counters.csv") && ends("/report.xml") && ends("/report.html"), "{gone:?}");
}

#[test]
fn a_set_starts_by_its_schedule_ends_after_its_duration_and_leaves_a_report() {
    let (mill, plugin, place) = (Mill::new(), Plugin::new(), Place::new());
    let (at, start) = start_in_hours(2);
    let set = json!([{"name": "Mill", "counters": [LOAD], "schedules": [{"at": at}], "duration": "1h"}]);
    let watch = plugin.watch(&mill.sim, place.settings(&set));
    let calls = mill.sim.calls(6);
    let ended = watch.full();
    assert_eq!(status(&ended), "Mill|stopped");
    assert_eq!(ended.of("Run", "Next Start Timestamp"), [("Mill".to_owned(), start.as_second() as f64)]);
    assert_eq!(mill.sim.calls(6), calls, "nothing is asked for before");
    mill.pass(2 * 3_600);
    assert_eq!(status(&watch.full()), "Mill|running");
    mill.pass(15);
    watch.full();
    mill.pass(3_600);
    let ended = until(&watch, |ended| status(ended) == "Mill|stopped");
    assert_eq!(
        ended.of("Run", "Failures"),
        [("Mill|data_manager".to_owned(), 0.0), ("Mill|start".to_owned(), 0.0)]
    );
    let files = place.files("Mill");
    let names: Vec<&str> =
        files.iter().map(|(name, _)| name.rsplit('/').next().unwrap_or_default()).collect();
    assert_eq!(names, ["counters.csv", "report.html", "report.xml"]);
    assert!(files[2].1.contains(r"Wheels"), "{}", files[2].1);
    plugin.end(watch);
}

#[test]
fn names_do_not_leave_the_folder() {
    let (mill, plugin, place) = (Mill::new(), Plugin::new(), Place::new());
    let names = ["../../escape", "/etc", "con", "a/b", "..", "."];
    let sets: Vec<Value> = names.iter().map(|name| json!({"name": name, "counters": [LEVEL]})).collect();
    let watch = plugin.watch(&mill.sim, place.settings(&json!(sets)));
    watch.full();
    for name in names {
        written(&watch, name, 1.0);
    }
    plugin.end(watch);
    let folders = fs::read_dir(place.directory()).expect("it is there").count();
    assert_eq!(folders, names.len());
    assert_eq!(fs::read_dir(place.0.path()).expect("it is there").count(), 1, "nothing beside it");
}

#[test]
fn a_folder_that_is_not_there_delays_nothing_and_takes_what_waited_when_it_comes() {
    let (mill, plugin, place) = (Mill::new(), Plugin::new(), Place::new());
    let directory = place.0.path().join("mount").join("web1");
    let settings = json!({
        "sets": [{"name": "Mill", "counters": [LEVEL], "alerts": [{"counter": LEVEL, "above": 1}]}],
        "storage": {"directory": directory},
    });
    let watch = plugin.watch(&mill.sim, settings);
    for earlier in 0..4_u32 {
        mill.pass(15);
        let ended = watch.full();
        assert_eq!(ended.of("Alert", "Firing")[0].1, 1.0);
        assert_eq!(ended.of("Log", "Records")[0].1, 0.0);
        assert_eq!(ended.of("Log", "Waiting")[0].1, f64::from(earlier));
    }
    let fails = |ended: &Ended| {
        let failures = ended.of("Log", "Failures");
        failures.iter().any(|(labels, count)| labels == "Mill|counters|unavailable" && *count > 0.0)
    };
    until(&watch, fails);
    fs::create_dir(place.0.path().join("mount")).expect("it is made");
    // The writer tries again at the latest when the log ends.
    plugin.end(watch);
    let mut files = Vec::new();
    collect(&directory, &directory, &mut files);
    let text = &files.iter().find(|(name, _)| name.ends_with(".csv")).expect("a log").1;
    assert_eq!(text.lines().count(), 5, "{text}");
}

#[test]
fn a_run_begins_although_the_logs_of_the_last_one_wait_for_their_disk() {
    let (mill, plugin, place) = (Mill::new(), Plugin::new(), Place::new());
    let directory = place.path().join("mount").join("web1");
    let settings = json!({
        "sets": [{"name": "Mill", "counters": [LEVEL], "duration": "30s"}],
        "storage": {"directory": directory},
    });
    let watch = plugin.watch(&mill.sim, settings);
    for _ in 0..4 {
        watch.full();
        mill.pass(15);
    }
    fs::create_dir(place.path().join("mount")).expect("it is made");
    plugin.end(watch);
    let mut files = Vec::new();
    collect(&directory, &directory, &mut files);
    let logs = files.iter().filter(|(name, _)| name.ends_with(".csv"));
    let records: usize = logs.map(|(_, text)| text.lines().count() - 1).sum();
    assert_eq!(records, 4, "{files:#?}");
}
