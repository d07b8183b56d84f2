//! What arrives of a collection, and how it ends.

use std::sync::Arc;
use std::time::Duration;

use plugin_abi::Start;
use plugin_host::testing::{RecordedOutcome, RecordingSink, Value};
use plugin_host::{InstanceConfig, InstanceState, QuarantineCause, monotonic_ns};
use plugin_sdk::Stage;
use serde_json::json;

use super::plugin::{SEVEN, let_go, wait_occupied};
use super::{collected, failure, linked, made};
use crate::support::{config, wait_until};

#[test]
fn a_source_in_rust_registers_once_and_sends_values_with_the_cost_of_its_stages() {
    let (host, library) = linked(|_| {});
    let (instance, sink) = made(&library, "counting", json!({"start": 41}));
    collected(&instance, &sink);
    let recorded = collected(&instance, &sink);
    assert_eq!(recorded.families.len(), 1);
    assert_eq!(recorded.series.len(), 1);
    assert_eq!(recorded.series[0].value, Some(Value::U64(42)));
    assert_eq!(recorded.series[0].start, Some(Start { unix_nanos: 5, is_inferred: true }));
    let stages: Vec<_> =
        recorded.completions[0].stages.iter().map(|r| (r.stage, r.calls, r.bytes_in)).collect();
    assert_eq!(stages, [(Stage::Tcp, 1, 200), (Stage::Decode, 0, 0)]);
    drop(instance);
    assert_eq!(host.wait_destroyed(Duration::from_secs(10)), 0);
}

#[test]
fn a_collection_that_passes_its_deadline_fails_at_the_stage_that_it_was_in() {
    let (_host, library) = linked(|_| {});
    let (instance, sink) = made(&library, "counting", json!({"action": "wait"}));
    instance.collect(monotonic_ns() + 20_000_000).expect("the collection begins");
    let recorded = sink.wait_completions(1).expect("the SDK keeps the deadline");
    assert_eq!(failure(&recorded), "tcp: timeout: the deadline passed");
    assert_eq!(recorded.completions[0].stages[0].bytes_out, 100, "what it cost is told all the same");
}

#[test]
fn a_collection_that_is_cancelled_ends_once() {
    let (_host, library) = linked(|_| {});
    for (source, stages) in [("counting", ["plugin", "tcp"]), ("blocking", ["query"; 2])] {
        let (instance, sink) = made(&library, source, json!({"action": "wait"}));
        let collection = instance.collect(monotonic_ns() + 60_000_000_000).expect("the collection begins");
        // Cancelling a collection that the plugin has not been asked for does nothing, so that it is cancelled until it
        // ends. It may have been asked for and not begun.
        wait_until("the collection ends", || {
            instance.cancel(collection);
            !sink.recorded().completions.is_empty()
        });
        instance.cancel(collection);
        let failure = failure(&sink.recorded());
        assert!(stages.iter().any(|stage| failure == format!("{stage}: cancelled")), "{failure}");
        assert_eq!(sink.recorded().completions.len(), 1);
    }
}

#[test]
fn a_target_that_waits_for_a_thread_ends_at_its_deadline_and_who_keeps_the_threads_has_hung() {
    let (host, library) = linked(|_| {});
    let occupying = [(); 2].map(|()| made(&library, "counting", json!({"action": "occupy"})));
    let deadline_ns = monotonic_ns() + 60_000_000_000;
    for (instance, _) in &occupying {
        instance.collect(deadline_ns).expect("the collection begins");
    }
    wait_occupied(2);
    let (waiting, sink) = made(&library, "counting", json!({}));
    waiting.collect(deadline_ns).expect("the collection begins");
    // The deadline, and the end of the grace after it.
    wait_until("the collection ends", || {
        host.poll_deadlines(deadline_ns);
        !sink.recorded().completions.is_empty()
    });
    assert_eq!(failure(&sink.recorded()), "plugin: cancelled");
    host.poll_deadlines(deadline_ns + 1_000_000_000);
    assert_eq!(waiting.state(), InstanceState::Idle);
    for (instance, _) in &occupying {
        let state = instance.state();
        assert!(matches!(state, InstanceState::Quarantined { why: QuarantineCause::Hung, .. }), "{state:?}");
    }
    let_go();
    collected(&waiting, &sink);
    assert_eq!(sink.recorded().completions.len(), 2, "each collection ends once");
}

#[test]
fn a_reason_of_the_sources_own_arrives_with_its_sentence_and_next_step() {
    let (_host, library) = linked(|_| {});
    let (instance, sink) = made(&library, "counting", json!({"action": "refuse"}));
    let recorded = collected(&instance, &sink);
    let RecordedOutcome::Failed(failure) = &recorded.completions[0].outcome else { panic!("it fails") };
    assert_eq!(failure.to_string(), "query: asleep: snoring");
    assert_eq!(failure.retry_after, Some(std::time::Duration::from_millis(1)), "never less than it can say");
    assert_eq!((failure.reason.sentence(), failure.reason.next_step()), ("The target sleeps.", "Wake it."));
}

#[test]
fn a_partial_collection_names_its_families_and_the_reason() {
    let (_host, library) = linked(|_| {});
    let (instance, sink) = made(&library, "counting", json!({"action": "partial"}));
    let recorded = collected(&instance, &sink);
    let RecordedOutcome::Partial(families, Some(failure)) = &recorded.completions[0].outcome else {
        panic!("partial")
    };
    assert_eq!(
        (families.as_slice(), failure.to_string().as_str()),
        ([0].as_slice(), "decode: malformed_reply: half of it")
    );
}

#[test]
fn a_hundred_instances_collect_side_by_side() {
    let (_host, library) = linked(|_| {});
    let all: Vec<_> = (0..100)
        .map(|number| {
            let sink = Arc::new(RecordingSink::default());
            let settings = json!({"start": 100 + number});
            let config = InstanceConfig { settings, ..config(&format!("host{number}")) };
            let made = library.create("counting", &config, Arc::<RecordingSink>::clone(&sink));
            (made.expect("the instance is made"), sink, number)
        })
        .collect();
    for (instance, ..) in &all {
        instance.collect(monotonic_ns() + 60_000_000_000).expect("the collection begins");
    }
    for (_, sink, number) in &all {
        let recorded = sink.wait_completions(1).expect("the collection ends");
        assert_eq!(recorded.series[0].value, Some(Value::U64(100 + *number)));
    }
}

#[test]
fn threads_of_the_run_time_take_no_signals() {
    let (_host, library) = linked(|_| {});
    let (instance, sink) = made(&library, "counting", json!({}));
    collected(&instance, &sink);
    let mut seen = 0;
    for task in std::fs::read_dir("/proc/self/task").expect("this is Linux").flatten() {
        let status = std::fs::read_to_string(task.path().join("status")).unwrap_or_default();
        let field =
            |name: &str| status.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default().trim();
        if field("Name:") == "plugin-rust" {
            seen += 1;
            let blocked = u64::from_str_radix(field("SigBlk:"), 16).expect("a mask");
            let term_and_hup = 1 << (15 - 1) | 1 << (1 - 1);
            assert_eq!(blocked & term_and_hup, term_and_hup, "{status}");
        }
    }
    assert!(seen > 0, "the run time has threads");
}

#[test]
fn stopping_the_host_ends_everything() {
    let (host, library) = linked(|_| {});
    let (instance, sink) = made(&library, "counting", json!({"action": "wait"}));
    instance.collect(monotonic_ns() + 60_000_000_000).expect("the collection begins");
    host.stop(std::time::Duration::from_secs(10));
    assert_eq!(failure(&sink.recorded()), "plugin: cancelled: destroyed");
    assert_eq!(host.wait_destroyed(Duration::from_secs(10)), 0);
    assert_eq!(instance.state(), InstanceState::Stopped);
    let config = config("web1.example");
    library.create("counting", &config, Arc::new(RecordingSink::default())).expect_err("no more are made");
}

#[test]
fn an_event_may_open_an_alert() {
    let (_host, library) = linked(|_| {});
    let (instance, sink) = made(&library, "counting", json!({"start": 7}));
    let recorded = collected(&instance, &sink);
    assert_eq!(recorded.events, [("counting.began".to_owned(), "It counts.".to_owned())]);
    assert_eq!(recorded.alerts, [("seven".to_owned(), plugin_abi::AlertState::Opened)]);
    assert_eq!(recorded.alert_labels, [[("number".to_owned(), "7".to_owned())]]);
    assert_eq!(recorded.evaluations, [Some(SEVEN)]);
}
