//! Limits that hold for a process, each in one of its own: on the size of files, which the system enforces in the middle of a
//! write, as a full disk does, and on the memory for records of all logs that wait.

use std::fs;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use plugin_abi::Level;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde_json::json;

use crate::logging::{Place, until, written};
use crate::steered::Mill;
use crate::world::{Ended, Plugin, config};

const LEVEL: &str = r"\Water\Level";
const OWN_PROCESS: &str = "PLA_TEST_IN_ITS_OWN_PROCESS";
const SIGXFSZ: i32 = 25;

fn limit_files_to(bytes: Option<u64>) {
    let maximum = getrlimit(Resource::Fsize).maximum;
    setrlimit(Resource::Fsize, Rlimit { current: bytes, maximum }).expect("a lower limit");
}

fn of(ended: &Ended, item: &str, label: &str) -> f64 {
    let all = ended.of("Log", item).into_iter();
    all.filter(|(labels, _)| labels.ends_with(label)).map(|(_, value)| value).sum()
}

/// Runs a test in another process, where this returns `true`.
fn is_own_process(test: &str) -> bool {
    if std::env::var_os(OWN_PROCESS).is_some() {
        return true;
    }
    let own = std::env::current_exe().expect("tests have a path");
    let ended = Command::new(own).args(["--exact", test, "--nocapture"]).env(OWN_PROCESS, "1").output();
    let ended = ended.expect("it runs");
    let said = String::from_utf8_lossy(&ended.stdout);
    assert!(
        ended.status.success() && said.contains("1 passed"),
        "{said}{}",
        String::from_utf8_lossy(&ended.stderr)
    );
    false
}

#[test]
fn a_full_disk_is_seen_in_metrics_and_its_records_are_written_when_there_is_room() {
    if is_own_process(
        "full_disk::a_full_disk_is_seen_in_metrics_and_its_records_are_written_when_there_is_room",
    ) {
        fill_the_disk();
    }
}

#[test]
fn records_of_all_targets_that_wait_take_no_more_than_the_memory_that_is_configured() {
    if is_own_process(
        "full_disk::records_of_all_targets_that_wait_take_no_more_than_the_memory_that_is_configured",
    ) {
        wait_in_little_memory();
    }
}

fn wait_in_little_memory() {
    let (mill, plugin, place) = (Mill::new(), Plugin::new(), Place::new());
    plugin.library.configure(&json!({"log_memory": "1MB"})).expect("the plugin takes it");
    // A record has more than 64 KiB.
    for number in 0..1_500 {
        mill.wheel(&format!("wheel {number}"), |_| {});
    }
    let sets = json!([{"name": "Wide", "counters": [r"\Wheels(*)\*"]}]);
    let watch = |target: &str| {
        let directory = place.path().join("mount").join(target);
        let settings = json!({"sets": sets, "storage": {"directory": directory}});
        let mut config = config(&mill.sim, settings);
        config.target.name = target.to_owned();
        plugin.watch_as(config)
    };
    let watches = ["web1", "web2"].map(watch);
    let collect = || watches.each_ref().map(|watch| watch.full());
    for _ in 0..30 {
        mill.pass(15);
        collect();
    }
    let all = collect();
    let sum = |item: &str| all.iter().map(|ended| of(ended, item, "")).sum::<f64>();
    let (memory, dropped) = (sum("Waiting Memory"), sum("Dropped Records"));
    // One record of each log fits whatever the limit is.
    assert!(memory > 500_000.0 && memory < 1_400_000.0, "{memory}");
    assert_eq!(sum("Waiting") + dropped, 60.0);
    assert!(dropped > 20.0, "{dropped}");
    fs::create_dir(place.path().join("mount")).expect("it is made");
}

fn fill_the_disk() {
    // Without a handler, the signal would end the process; with one, the write fails.
    signal_hook::flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false))).expect("a handler");
    let (mill, plugin, place) = (Mill::new(), Plugin::new(), Place::new());
    let set = json!([{"name": "Mill", "counters": [LEVEL], "alerts": [{"counter": LEVEL, "above": 1}]}]);
    let watch = plugin.watch(&mill.sim, place.settings(&set));
    watch.full();
    written(&watch, "Mill", 1.0);
    let length = place.files("Mill")[0].1.len() as u64;
    limit_files_to(Some(length + 200));
    for _ in 0..50 {
        mill.pass(15);
        let ended = watch.full();
        assert_eq!(ended.of("Alert", "Firing")[0].1, 1.0, "collections go on");
    }
    let ended = until(&watch, |ended| of(ended, "Failures", "|full") > 0.0);
    let (records, waiting) = (of(&ended, "Records", ""), of(&ended, "Waiting", ""));
    assert!((2.0..20.0).contains(&records), "what fits is written: {records}");
    assert_eq!(records + waiting, 51.0, "the rest waits");
    assert_eq!(of(&ended, "Failing", ""), 1.0);
    assert!(of(&ended, "Waiting Memory", "") >= waiting * 16.0, "{}", ended.page());
    limit_files_to(None);
    let ended = until(&watch, |ended| of(ended, "Waiting", "") == 0.0);
    assert_eq!((of(&ended, "Failing", ""), of(&ended, "Waiting Memory", "")), (0.0, 0.0));
    assert_eq!((of(&ended, "Records", ""), of(&ended, "Dropped Records", "")), (51.0, 0.0));
    for (message, expected) in [
        ("Records of a set cannot be written; they wait in memory", Level::Warn),
        ("Records of a set are written again", Level::Info),
    ] {
        let levels: Vec<_> = ended.lines(message).map(|(level, _)| level).collect();
        assert_eq!([levels, plugin.said(message)].concat(), [expected], "{message}");
    }
    plugin.end(watch);
    let files = place.files("Mill");
    let (_, text) = files.iter().find(|(name, _)| name.ends_with(".csv")).expect("a log");
    let whole = text.lines().skip(1).filter(|line| line.ends_with(r#","50""#));
    assert_eq!(whole.count(), 51, "{text}");
    let (_, report) = files.iter().find(|(name, _)| name.ends_with("report.html")).expect("a report");
    assert!(report.contains("A write failed"), "{report}");
    assert_eq!(fs::read_dir(place.path()).expect("it is there").count(), 1);
}
