//! `pla to-rules` as the program runs it: what it prints where, and how it ends.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use parking_lot::Mutex;
use plugin_host::{CommandOutput, CommandRequest, MetricNames};
use series::model::Target;
use series::pipeline::{Normalize, metric_name};

use crate::world::{PASSWORD, Plugin, SimHost};

#[derive(Default)]
struct SetState {
    out: Mutex<String>,
    err: Mutex<String>,
}

impl CommandOutput for SetState {
    fn out(&self, bytes: &[u8]) {
        *self.out.lock() += std::str::from_utf8(bytes).unwrap();
    }

    fn err(&self, bytes: &[u8]) {
        *self.err.lock() += std::str::from_utf8(bytes).unwrap();
    }

    fn progress(&self, _line: &str) {}
}

/// Exit code, standard output and standard error.
fn run(args: &[&str]) -> (i32, String, String) {
    let plugin = Plugin::new();
    let names =
        MetricNames::new(|_, family| metric_name(Normalize::default(), Target::new("target"), family));
    let request = CommandRequest {
        command: "to-rules".to_owned(),
        args: args.iter().map(|word| (*word).to_owned()).collect(),
        metric_names: Some(names),
        ..CommandRequest::default()
    };
    let kept = Arc::new(SetState::default());
    let running = plugin.library.run(&request, Arc::clone(&kept) as Arc<dyn CommandOutput>).unwrap();
    let code = running.wait();
    let (out, err) = (kept.out.lock().clone(), kept.err.lock().clone());
    assert!(!out.contains(PASSWORD) && !err.contains(PASSWORD));
    (code, out, err)
}

fn data(name: &str) -> String {
    format!("{}/tests/data/to_rules/{name}", env!("CARGO_MANIFEST_DIR"))
}

/// A file of this test.
fn file(name: &str, text: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::write(&path, text).unwrap();
    path
}

#[test]
fn rules_are_printed_and_it_succeeds_when_every_threshold_has_one() {
    let (code, out, err) = run(&["--discovered", &data("web1.json"), &data("counter_types.xml")]);
    assert_eq!((code, err.as_str()), (0, ""));
    assert_eq!(out, fs::read_to_string(data("counter_types.rules.yaml")).unwrap());
}

#[test]
fn a_host_is_asked_for_the_types_of_its_counters() {
    let sim = SimHost::new();
    let port = sim.port.to_string();
    let target = ["--target", "127.0.0.1", "--identity", "corp", "--port", &port];
    let (set, rest) = (data("counter_types.xml"), data("nightly.xml"));
    let (code, out, err) = run(&[&target[..], &[&set]].concat());
    assert_eq!((code, err.as_str()), (0, ""));
    let saved = fs::read_to_string(data("counter_types.rules.yaml")).unwrap();
    assert_eq!(out, saved.replace("those of web1", "those of 127.0.0.1"));
    // Classic objects, too.
    let (_, out, _) = run(&[&target[..], &["--severity", "warning", &rest]].concat());
    let saved = fs::read_to_string(data("nightly.rules.yaml")).unwrap();
    let rules = |text: &str| text[text.find("groups:").unwrap()..].to_owned();
    assert_eq!(rules(&out), rules(&saved));
    // Sums of instances, where the host says how they are added up.
    let of = |counter: &str| {
        file(
            "sums.xml",
            &format!(
                "<DataCollectorSet><AlertDataCollector><Alert>\\Workers Together\\{counter}&gt;5</Alert>\
                 </AlertDataCollector></DataCollectorSet>"
            ),
        )
    };
    let (code, out, _) = run(&[&target[..], &[of("Queue Length").to_str().unwrap()]].concat());
    assert!(
        code == 0 && out.contains("expr: 'perfmon_workers_together_aggregate_queue_length > 5'"),
        "{out}"
    );
    let (code, _, err) = run(&[&target[..], &[of("Version").to_str().unwrap()]].concat());
    assert!(code == 1 && err.contains("the instances of `Version` cannot be added up"), "{err}");
    let (code, out, err) = run(&["--target", "127.0.0.1", "--identity", "corp", "--port", "1", &set]);
    assert_eq!((code, out.as_str()), (1, ""));
    assert!(err.contains("connect"), "{err}");
}

#[test]
fn what_is_left_out_is_told_with_its_place_and_makes_it_fail() {
    let sets = [data("nightly.xml"), data("counter_types.xml")];
    let args = [
        "--discovered",
        &data("web1.json"),
        "--severity",
        "warning",
        "--matcher",
        "target=web1",
        &sets[0],
        &sets[1],
    ];
    let (code, out, err) = run(&args);
    assert_eq!(code, 1);
    let commas =
        format!("{}:19:3: left out: `\\LogicalDisk(*)\\% Free Space<10,5`: threshold: a comma", sets[0]);
    assert!(err.lines().any(|line| line.starts_with(&commas)), "{err}");
    assert!(out.contains("perfmon_memory_available_mbytes{target=\"web1\"} < 100"), "{out}");
    assert!(out.contains("  - name: 'Counter Types'\n"), "the other set is there, too: {out}");
    assert!(out.contains("severity: 'warning'"), "{out}");
}

#[test]
fn files_that_are_not_what_they_should_be_are_refused_with_their_places() {
    let bad_set = file("bad.xml", "<DataCollectorSet>\n  <Duration>x\n</DataCollectorSet>");
    let bad_host = file("bad.json", "{\"host\": \"web1\",\n \"countersets\": 7}");
    let (bad_set, bad_host) = (bad_set.to_str().unwrap(), bad_host.to_str().unwrap());
    let check = |host: &str, set: &str, expected: &str| {
        let (code, out, err) = run(&["--discovered", host, set]);
        assert_eq!((code, out.as_str()), (1, ""));
        assert!(err.contains(expected), "{expected}: {err}");
    };
    let (host, set) = (data("web1.json"), data("nightly.xml"));
    check(&host, bad_set, &format!("{bad_set}:3:"));
    // Nobody writes into it, so that a reader would wait.
    let pipe = file("pipe.xml", "").with_extension("pipe");
    let _ = fs::remove_file(&pipe);
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let pipe = pipe.to_str().unwrap();
    check(&host, pipe, &format!("{pipe}: is not a file; write `-` for the standard input"));
    check(pipe, &set, &format!("{pipe}: is not a file"));
    check(bad_host, &set, &format!("{bad_host}:2:"));
    check(&host, "/nonexistent/a.xml", "/nonexistent/a.xml: No such file");
    check("/nonexistent/a.json", &set, "/nonexistent/a.json: No such file");
    check(&set, &set, "is not the output of discover");
}

#[test]
fn a_wrong_command_line_is_a_matter_of_usage() {
    let set = data("nightly.xml");
    let wrong: [&[&str]; 5] = [
        &[],
        &["--matcher", "web1", &set],
        &["--scrape-interval", "soon", &set],
        &[&set],
        &["--target", "web1", "--identity", "corp", "--discovered", "web1.json", &set],
    ];
    for args in wrong {
        let (code, out, err) = run(args);
        assert_eq!((code, out.as_str(), err.is_empty()), (2, "", false), "{args:?}: {err}");
    }
}
