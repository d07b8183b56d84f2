//! What others put into the folder of a set: it is left alone and not followed, and the set runs all the same.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use serde_json::{Value, json};

use crate::logging::{Place, start_in_hours, status, until, written};
use crate::steered::Mill;
use crate::world::{Ended, Plugin};

const LEVEL: &str = r"\Water\Level";
const STATE: &str = ".run.json";

/// Puts a state into the folder of a set.
type Make<'a> = &'a dyn Fn(&Path);

/// What the exporter's log says of the state of a set.
fn reason(ended: &Ended) -> Option<String> {
    let said = "What was kept of a set cannot be read; it begins again";
    let log = ended.recorded.logs.iter().find(|log| log.message == said)?;
    log.fields.iter().find(|(name, _)| name == "reason").map(|(_, reason)| reason.clone())
}

fn serial(ended: &Ended) -> f64 {
    ended.of("Run", "Serial Number")[0].1
}

#[test]
fn a_state_that_is_damaged_is_said_and_the_set_begins_anew() {
    let huge = json!({"segment": null, "run": {
        "serial_number": u32::MAX, "schedules": "", "considered": "2020-01-01T00:00:00Z", "handled": [], "running": null,
        "compiling": null, "queued": null,
    }});
    let huge = huge.to_string();
    let half = &huge[..huge.len() / 2];
    let states: [(&str, Make<'_>, &str); 6] = [
        ("garbage", &|state| fs::write(state, [0xFF; 300]).expect("a file"), "expected value"),
        ("truncated", &|state| fs::write(state, half).expect("a file"), "EOF"),
        ("empty", &|state| fs::write(state, "").expect("a file"), "EOF"),
        ("huge", &|state| fs::write(state, &huge).expect("a file"), "no set had 4294967295 segments"),
        (
            "link",
            &|state| symlink("precious", state).expect("a link"),
            "`.run.json` is a link, not a file: delete it",
        ),
        (
            "folder",
            &|state| fs::create_dir(state).expect("a folder"),
            "`.run.json` is a folder, not a file: delete it",
        ),
    ];
    for (name, make, expected) in states {
        let (mill, plugin, place) = (Mill::new(), Plugin::new(), Place::new());
        let root = place.directory().join("Mill");
        fs::create_dir_all(&root).expect("a folder");
        fs::write(root.join("precious"), "precious").expect("a file");
        make(&root.join(STATE));
        let watch = plugin.watch(&mill.sim, place.settings(&json!([{"name": "Mill", "counters": [LEVEL]}])));
        watch.full();
        let ended = written(&watch, "Mill", 1.0);
        let said = reason(&ended).expect(name);
        assert!(said.contains(expected), "{name}: {said}");
        assert_eq!((serial(&ended), status(&ended).as_str()), (1.0, "Mill|running"), "{name}");
        plugin.end(watch);
        assert_eq!(fs::read_to_string(root.join("precious")).expect("it is there"), "precious");
        if name != "folder" {
            let watch =
                plugin.watch(&mill.sim, place.settings(&json!([{"name": "Mill", "counters": [LEVEL]}])));
            let ended = watch.full();
            assert_eq!((reason(&ended), serial(&ended)), (None, 2.0), "{name}: it was replaced");
            plugin.end(watch);
        }
    }
}

#[test]
fn a_state_from_the_future_does_not_keep_a_set_from_its_schedule() {
    let (mill, plugin, place) = (Mill::new(), Plugin::new(), Place::new());
    let (at, _) = start_in_hours(2);
    let set = json!([{"name": "Mill", "counters": [LEVEL], "schedules": [{"at": at}], "duration": "1h"}]);
    let watch = plugin.watch(&mill.sim, place.settings(&set));
    watch.full();
    plugin.end(watch);
    let file = place.directory().join("Mill").join(STATE);
    let mut state: Value = serde_json::from_slice(&fs::read(&file).expect("it is there")).expect("JSON");
    state["run"]["considered"] = json!("2100-01-01T00:00:00Z");
    state["run"]["serial_number"] = json!(70_000);
    fs::write(&file, state.to_string()).expect("it is there");
    let watch = plugin.watch(&mill.sim, place.settings(&set));
    assert_eq!(status(&watch.full()), "Mill|stopped");
    mill.pass(2 * 3_600);
    let ended = until(&watch, |ended| status(ended) == "Mill|running");
    assert_eq!(serial(&ended), 70_001.0);
    plugin.end(watch);
}

#[test]
fn foreign_files_and_links_are_neither_followed_nor_removed() {
    let (mill, plugin, place) = (Mill::new(), Plugin::new(), Place::new());
    let root = place.directory().join("Mill");
    let outside = place.path().join("outside");
    fs::create_dir_all(root.join("by hand")).expect("a folder");
    fs::create_dir(&outside).expect("a folder");
    fs::write(outside.join("precious"), "precious").expect("a file");
    fs::write(root.join("notes.txt"), "notes").expect("a file");
    symlink(&outside, root.join("link")).expect("a link");
    symlink("../..", root.join("up")).expect("a link");
    symlink("nowhere", root.join(".run.json.new")).expect("a link");
    // The first folder of the set leads elsewhere, also if a day begins meanwhile.
    for hours in [0, 24] {
        let day = jiff::Timestamp::now() + jiff::SignedDuration::from_hours(hours);
        let day = day.to_zoned_datetime(jiff::tz::TimeZone::UTC).strftime("%Y%m%d");
        symlink(&outside, root.join(format!("web1_{day}-000001"))).expect("a link");
    }
    let set =
        json!([{"name": "Mill", "counters": [LEVEL], "segment": {"records": 2}, "keep": {"size": "1TB"}}]);
    let watch = plugin.watch(&mill.sim, place.settings(&set));
    watch.full();
    let fails = |ended: &Ended| {
        let failures = ended.of("Log", "Failures");
        failures.iter().map(|(_, count)| count).sum::<f64>() > 0.0
    };
    until(&watch, fails);
    for _ in 0..3 {
        mill.pass(15);
        watch.full();
    }
    assert!(serial(&watch.full()) >= 2.0, "the first segment ends all the same");
    until(&watch, |ended| ended.of("Log", "Records")[0].1 >= 2.0);
    plugin.end(watch);
    let names = |folder: &Path| -> Vec<String> {
        let entries = fs::read_dir(folder).expect("it is there");
        entries.map(|entry| entry.expect("it is read").file_name().to_string_lossy().into_owned()).collect()
    };
    assert_eq!(names(&outside), ["precious"]);
    let left = names(&root);
    for name in ["by hand", "notes.txt", "link", "up"] {
        assert!(left.iter().any(|other| other == name), "{name}: {left:?}");
    }
}
