//! A plugin in Rust as a file of its own, with its own standard library, run time and logs.

use std::path::PathBuf;

use plugin_host::testing::{RecordedOutcome, Value};
use plugin_host::{Host, HostOptions, InstanceState, QuarantineCause, check};
use serde_json::json;

use crate::rust::{collected, made};

/// Where cargo puts an example, beside this test.
pub(crate) fn example(name: &str) -> PathBuf {
    let test = std::env::current_exe().expect("this test is a file");
    let profile = test.parent().and_then(|deps| deps.parent()).expect("a folder of the build");
    let file = profile.join(format!("examples/lib{name}.so"));
    assert!(
        file.is_file(),
        "{} is not built: run `cargo test -p plugin-host`, which does it",
        file.display()
    );
    file
}

#[test]
fn a_panic_in_a_library_of_its_own_stays_there() {
    let host = Host::new(HostOptions::default());
    let library = host.load(&example("ticks")).expect("the plugin loads");
    let (instance, sink) = made(&library, "ticks", json!({"start": 7, "trouble_at": 8}));
    let recorded = collected(&instance, &sink);
    assert_eq!(recorded.series[0].value, Some(Value::U64(7)));
    let log = &recorded.logs[0];
    assert_eq!((log.message.as_str(), &log.fields[0]), ("Tick", &("number".to_owned(), "7".to_owned())));
    let failures: Vec<_> = (0..2)
        .map(|_| match collected(&instance, &sink).completions.last().map(|last| last.outcome.clone()) {
            Some(RecordedOutcome::Failed(failure)) => failure.to_string(),
            other => format!("{other:?}"),
        })
        .collect();
    assert_eq!(failures[0], "query: other: trouble, as configured");
    // The place is the line of the assertion, which the plugin's author looks for.
    let place = failures[1].strip_prefix("plugin: panicked: a tick too many (at ").unwrap_or(&failures[1]);
    assert!(place.contains("examples/ticks.rs:"), "{place}");
    let InstanceState::Quarantined { why, .. } = instance.state() else { panic!("it goes on") };
    assert_eq!(why, QuarantineCause::Panicked);
}

#[test]
fn a_plugin_made_with_the_sdk_keeps_the_contract() {
    let mut out = Vec::new();
    let report = check::run(&example("ticks"), &mut out).expect("the output is kept");
    let text = String::from_utf8(out).expect("the output is text");
    assert!(report.is_ok() && report.skipped == 0, "{text}");
    assert!(text.contains("at `/no such setting`: unknown key `no such setting`"), "{text}");
}
