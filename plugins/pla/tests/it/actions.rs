//! What follows when an alert fires: tasks, and sets that it starts.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::steered::Mill;
use crate::world::{Ended, Plugin, Watch};

const LOAD: &str = r"\Wheels(*)\Load";
const LEVEL: &str = r"\Water\Level";

/// Waits for another process.
#[track_caller]
fn until<T>(what: &str, mut found: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + Duration::from_secs(600);
    loop {
        match found() {
            Some(found) => return found,
            None => assert!(Instant::now() < deadline, "it waits for {what}"),
        }
        std::thread::yield_now();
    }
}

/// A directory, and a task that writes its arguments to the file `words` there.
fn recorder() -> (TempDir, Value) {
    let directory = TempDir::new().expect("a directory");
    let words = directory.path().join("words");
    let script = r#"out=$1; shift; printf '<%s>' "$@" "$PERFMON_TARGET" > "$out.new"; mv "$out.new" "$out""#;
    let command = json!({"command": ["/bin/sh", "-c", script, "sh", words, "first"], "timeout": "10m"});
    (directory, json!({"Tell operators": command}))
}

fn words(directory: &TempDir) -> String {
    let path = directory.path().join("words");
    until("the task", || fs::read_to_string(&path).ok())
}

/// Collects until the count of an action is that.
#[track_caller]
fn counted(watch: &Watch, labels: &str, count: f64) -> Ended {
    until(labels, || {
        let ended = watch.full();
        let actions = ended.of("Alert", "Actions");
        actions.contains(&(labels.to_owned(), count)).then_some(ended)
    })
}

#[test]
fn a_task_is_started_once_when_an_instance_begins_to_fire() {
    let (directory, tasks) = recorder();
    let (mill, plugin) = (Mill::new(), Plugin::new());
    let alert = json!({"name": "High", "counter": LOAD, "above": 80, "task": "Tell operators",
        "task_arguments": "--about {counter} \"{value} > {threshold}\" {usertext}", "task_text": "a {name}"});
    let hostile = "--x $(touch y) \"z' ;{usertext}";
    let watch =
        plugin.watch(&mill.sim, json!({"tasks": tasks, "sets": [{"name": "Mill", "alerts": [alert]}]}));
    mill.wheel(hostile, |wheel| wheel.load = 1);
    let first = watch.full();
    let zeros: Vec<_> =
        ["event|done", "task|done", "task|failed", "task|refused", "task|skipped", "task|timed_out"]
            .map(|of| (format!("Mill|High|{of}"), 0.0))
            .to_vec();
    assert_eq!(first.of("Alert", "Actions"), zeros);
    mill.pass(15);
    mill.wheel(hostile, |wheel| wheel.load = 81);
    watch.full();
    let expected = format!(r"<first><--about><\Wheels({hostile})\Load><81 > 80><a {{name}}><web1>");
    assert_eq!(words(&directory), expected);
    counted(&watch, "Mill|High|task|done", 1.0);
    fs::remove_file(directory.path().join("words")).expect("it is there");
    for _ in 0..2 {
        mill.pass(14);
        let ended = watch.full();
        let actions = ended.of("Alert", "Actions");
        assert!(actions.contains(&("Mill|High|task|done".to_owned(), 1.0)), "{actions:?}");
        assert!(actions.contains(&("Mill|High|event|done".to_owned(), 1.0)), "{actions:?}");
    }
    // It falls and rises within a minute.
    let fall_and_rise = || {
        for load in [1, 99] {
            mill.wheel(hostile, |wheel| wheel.load = load);
            mill.pass(14);
            watch.full();
        }
    };
    fall_and_rise();
    counted(&watch, "Mill|High|task|skipped", 1.0);
    assert!(!directory.path().join("words").exists());
    fall_and_rise();
    counted(&watch, "Mill|High|task|done", 2.0);
    assert!(directory.path().join("words").exists(), "more than a minute has passed");
}

#[test]
fn a_task_is_started_only_if_the_settings_name_it() {
    let (directory, tasks) = recorder();
    let path = directory.path().join("set.xml");
    let alert = "<AlertDataCollector><Name>High</Name><Alert>\\Water\\Level&gt;1</Alert><Task>Tell operators</Task>\
                 <TaskArguments>{name}</TaskArguments></AlertDataCollector>";
    fs::write(&path, format!("<DataCollectorSet><Name>Nightly</Name>{alert}</DataCollectorSet>"))
        .expect("a file");
    let (mill, plugin) = (Mill::new(), Plugin::new());
    let watch = plugin.watch(&mill.sim, json!({"sets": [{"file": path}]}));
    let ended = watch.full();
    assert_eq!(ended.states(), ["High() firing"]);
    assert!(ended.of("Set", "Problems").contains(&("Nightly|task".to_owned(), 1.0)));
    assert_eq!(ended.of("Alert", "Actions"), [("Nightly|High|event|done".to_owned(), 1.0)]);
    let watch = plugin.watch(&mill.sim, json!({"tasks": tasks, "sets": [{"file": path}]}));
    let ended = watch.full();
    assert!(ended.of("Set", "Problems").contains(&("Nightly|task".to_owned(), 0.0)));
    assert_eq!(words(&directory), "<first><High><web1>");
}

#[test]
fn a_program_that_is_not_there_is_a_failed_task() {
    let (mill, plugin) = (Mill::new(), Plugin::new());
    let alert = json!({"name": "Low", "counter": LEVEL, "below": 60, "task": "Tell"});
    let settings = json!({"tasks": {"Tell": {"command": ["/nowhere/tell"]}}, "sets": [{"name": "a", "alerts": [alert]}]});
    let watch = plugin.watch(&mill.sim, settings);
    counted(&watch, "a|Low|task|failed", 1.0);
}

#[test]
fn a_task_that_hangs_keeps_no_collection_and_ends_with_its_instance() {
    let directory = TempDir::new().expect("a directory");
    let file = directory.path().join("pids");
    let script = format!("sleep 1000 & echo $$ $! > {0}.new; mv {0}.new {0}; wait", file.display());
    let (mill, plugin) = (Mill::new(), Plugin::new());
    let alert = json!({"name": "Low", "counter": LEVEL, "below": 60, "task": "Hang"});
    let tasks = json!({"Hang": {"command": ["/bin/sh", "-c", script], "timeout": "1h"}});
    let watch = plugin.watch(&mill.sim, json!({"tasks": tasks, "sets": [{"name": "a", "alerts": [alert]}]}));
    watch.full();
    let pids = until("the task", || fs::read_to_string(&file).ok());
    mill.pass(15);
    assert_eq!(watch.full().states(), ["Low() firing"]);
    drop(watch);
    for pid in pids.split_whitespace() {
        let stat = Path::new("/proc").join(pid).join("stat");
        // One that has ended and waits for being reaped runs no more.
        let runs = || fs::read_to_string(&stat).is_ok_and(|stat| !stat.contains(") Z "));
        until("the end of the task", || (!runs()).then_some(()));
    }
}

fn chain(second: &Value) -> Value {
    let first = json!({"name": "Low", "counter": LEVEL, "below": 10, "start_set": "More"});
    json!({"sets": [{"name": "Water", "alerts": [first]}, second]})
}

#[test]
fn a_triggered_set_is_judged_for_its_duration_after_an_alert_started_it() {
    let (mill, plugin) = (Mill::new(), Plugin::new());
    let more = json!({"name": "High", "counter": LOAD, "above": 80});
    let more = json!({"name": "More", "start": "triggered", "duration": "1m", "alerts": [more]});
    let watch = plugin.watch(&mill.sim, chain(&more));
    mill.wheel("big", |wheel| wheel.load = 90);
    let ended = watch.full();
    assert_eq!(ended.states(), ["High() waiting", "Low() ok"]);
    let running = |ended: &Ended| ended.of("Set", "Judged").into_iter().map(|(_, on)| on).collect::<Vec<_>>();
    assert_eq!(running(&ended), [0.0, 1.0]);
    mill.pass(15);
    mill.level(5);
    let ended = watch.full();
    assert_eq!(ended.states(), ["High(big) firing", "Low() firing"], "it is judged at once");
    assert_eq!(running(&ended), [1.0, 1.0]);
    assert_eq!(watch.alerts().len(), 2);
    mill.pass(15);
    let ended = watch.full();
    let actions = ended.of("Alert", "Actions");
    for count in ["Water|Low|trigger|done", "Water|Low|trigger|skipped"] {
        assert!(actions.contains(&(count.to_owned(), 1.0)), "{actions:?}");
    }
    mill.level(50);
    mill.pass(30);
    assert_eq!(watch.full().states(), ["High(big) firing", "Low() ok"], "it is not a minute yet");
    mill.pass(15);
    let ended = watch.full();
    assert_eq!(ended.states(), ["High() waiting", "Low() ok"]);
    assert_eq!(running(&ended), [0.0, 1.0]);
    let (_, body) = ended.recorded.events.last().expect("what fired is closed").clone();
    assert!(body.ends_with("`big` is not watched any more"), "{body}");
}

#[test]
fn a_set_without_a_duration_goes_on_and_survives_other_settings() {
    let (mill, plugin) = (Mill::new(), Plugin::new());
    let more = |above: u64| {
        let alert = json!({"name": "High", "counter": LOAD, "above": above});
        chain(&json!({"name": "More", "start": "triggered", "alerts": [alert]}))
    };
    let watch = plugin.watch(&mill.sim, more(80));
    mill.wheel("big", |wheel| wheel.load = 90);
    mill.level(5);
    assert_eq!(watch.full().states(), ["High(big) firing", "Low() firing"]);
    mill.level(50);
    mill.pass(86_400);
    assert_eq!(watch.full().states(), ["High(big) firing", "Low() ok"]);
    watch.reconfigure(more(95));
    mill.pass(15);
    assert_eq!(watch.full().states(), ["High(big) ok", "Low() ok"]);
}

#[test]
fn sets_that_start_each_other_do_not_go_on_for_ever() {
    let directory = TempDir::new().expect("a directory");
    let write = |name: &str, starts: &str| {
        let path = directory.path().join(format!("{name}.xml"));
        let text = format!(
            "<DataCollectorSet><Name>{name}</Name><Duration>60</Duration><AlertDataCollector><Name>{name}</Name>\
             <Alert>\\Water\\Level&lt;10</Alert><TriggerDataCollectorSet>{starts}</TriggerDataCollectorSet>\
             </AlertDataCollector></DataCollectorSet>"
        );
        fs::write(&path, text).expect("a file");
        json!({"file": path, "start": "triggered"})
    };
    let first = json!({"name": "z", "counter": LOAD, "above": 80, "start_set": "a"});
    let sets = json!([{"name": "z", "alerts": [first]}, write("a", "b"), write("b", "a")]);
    let (mill, plugin) = (Mill::new(), Plugin::new());
    let watch = plugin.watch(&mill.sim, json!({"sets": sets}));
    mill.wheel("big", |wheel| wheel.load = 90);
    mill.level(5);
    let ended = watch.full();
    assert_eq!(ended.states(), ["a() firing", "b() firing", "z(big) firing"]);
    let problems = ended.of("Set", "Problems");
    for (set, count) in [("a", 0.0), ("b", 1.0)] {
        assert!(problems.contains(&(format!("{set}|triggered_set"), count)), "{problems:?}");
    }
    mill.wheel("big", |wheel| wheel.load = 1);
    mill.pass(30);
    assert_eq!(watch.full().states(), ["a() firing", "b() firing", "z(big) ok"]);
    mill.pass(30);
    let ended = watch.full();
    assert_eq!(ended.states(), ["a() waiting", "b() waiting", "z(big) ok"]);
}

#[test]
fn actions_that_cannot_be_done_are_refused_where_they_are_written() {
    let plugin = Plugin::new();
    let check = |tasks: Value, sets: Value| {
        let settings = json!({"tasks": tasks, "sets": sets});
        let config = plugin_host::InstanceConfig { settings, ..plugin_host::InstanceConfig::default() };
        let found = plugin.library.validate("pla", &config).expect("it answers");
        found
            .into_iter()
            .map(|problem| format!("{}: {}", problem.pointer, problem.message))
            .collect::<Vec<_>>()
    };
    let alert = |more: Value| {
        let mut alert = json!({"counter": LEVEL, "below": 10});
        let of = alert.as_object_mut().expect("it is one");
        of.extend(more.as_object().expect("it is one").clone());
        alert
    };
    let set = |name: &str, more: Value| json!({"name": name, "start": "triggered", "alerts": [alert(more)]});
    assert_eq!(
        check(json!({}), json!([set("a", json!({"start_set": "b"})), set("b", json!({"start_set": "a"}))])),
        [
            "/sets/1/alerts/0/start_set: the set `a` is not started: `a` starts `b`, and they would start each other without end"
        ]
    );
    let one = |more: Value| check(json!({}), json!([{"name": "a", "alerts": [alert(more)]}]));
    let table = [
        (
            json!({"start_set": "x"}),
            "start_set: the set `x` is not started: the module has no such set, and `control` names none of the host",
        ),
        (json!({"task": "x"}), "task: the task `x` is not started: `tasks` does not name it"),
        (json!({"task_arguments": "a"}), "task_arguments: `task` is missing"),
        (
            json!({"task": "x", "task_arguments": "a \"b"}),
            "task_arguments: task arguments: this quotation mark is not closed, at character 3",
        ),
    ];
    for (more, expected) in table {
        assert_eq!(one(more), [format!("/sets/0/alerts/0/{expected}")]);
    }
    let always = json!([{"name": "a", "duration": "1m", "alerts": [alert(json!({}))]}]);
    assert_eq!(
        check(json!({}), always),
        ["/sets/0/duration: only a set with `start: triggered`, or one that logs counters, has a duration"]
    );
    let plain = || json!([{"name": "a", "alerts": [alert(json!({}))]}]);
    let table = [
        (json!([]), "command: write a program and its arguments"),
        (json!(["tell"]), "command/0: write the absolute path of a program"),
        (json!(["/bin/tell", "a\0"]), "command/1: write at most 4096 bytes, none of them 0"),
    ];
    for (command, expected) in table {
        assert_eq!(
            check(json!({"Tell": {"command": command}}), plain()),
            [format!("/tasks/Tell/{expected}")]
        );
    }
    let timeout = json!({"Tell": {"command": ["/bin/tell"], "timeout": "2h"}});
    let [found] = &check(timeout, plain())[..] else { panic!("it is refused once") };
    assert!(found.starts_with("/tasks/Tell/timeout: write a time from `1s` to `1h`"), "{found}");
}
