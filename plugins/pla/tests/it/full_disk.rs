//! A limit on the size of files, which the system enforces in the middle of a write, as a full disk does. It holds for the
//! process, so the test is run in one of its own.

use std::fs;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde_json::json;

use crate::logging::{Place, until, written};
use crate::steered::Mill;
use crate::world::{Ended, Plugin};

const LEVEL: &str = r"\Water\Level";
const TEST: &str = "full_disk::a_full_disk_is_seen_in_metrics_and_its_records_are_written_when_there_is_room";
const OWN_PROCESS: &str = "PLA_TEST_OF_A_FULL_DISK";
const SIGXFSZ: i32 = 25;

fn limit_files_to(bytes: Option<u64>) {
    let maximum = getrlimit(Resource::Fsize).maximum;
    setrlimit(Resource::Fsize, Rlimit { current: bytes, maximum }).expect("a lower limit");
}

fn of(ended: &Ended, item: &str, label: &str) -> f64 {
    let all = ended.of("Log", item).into_iter();
    all.filter(|(labels, _)| labels.ends_with(label)).map(|(_, value)| value).sum()
}

#[test]
fn a_full_disk_is_seen_in_metrics_and_its_records_are_written_when_there_is_room() {
    if std::env::var_os(OWN_PROCESS).is_some() {
        return fill_the_disk();
    }
    let own = std::env::current_exe().expect("tests have a path");
    let ended = Command::new(own).args(["--exact", TEST, "--nocapture"]).env(OWN_PROCESS, "1").output();
    let ended = ended.expect("it runs");
    let said = String::from_utf8_lossy(&ended.stdout);
    assert!(
        ended.status.success() && said.contains("1 passed"),
        "{said}{}",
        String::from_utf8_lossy(&ended.stderr)
    );
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
    plugin.end(watch);
    let files = place.files("Mill");
    let (_, text) = files.iter().find(|(name, _)| name.ends_with(".csv")).expect("a log");
    let whole = text.lines().skip(1).filter(|line| line.ends_with(r#","50""#));
    assert_eq!(whole.count(), 51, "{text}");
    let (_, report) = files.iter().find(|(name, _)| name.ends_with("report.html")).expect("a report");
    assert!(report.contains("A write failed"), "{report}");
    assert_eq!(fs::read_dir(place.path()).expect("it is there").count(), 1);
}
