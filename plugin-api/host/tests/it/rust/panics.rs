//! A plugin that panics.

use std::sync::Arc;

use plugin_abi::Level;
use plugin_host::testing::{RecordedOutcome, RecordingSink, Value};
use plugin_host::{InstanceConfig, InstanceState, QuarantineCause, Violation};
use serde_json::json;

use super::{collected, failure, linked, made};
use crate::support::config;

#[test]
fn a_panic_poisons_the_instance_alone_which_starts_anew_after_a_pause() {
    let (_host, library) = linked(|options| options.limits.quarantine_s = 0);
    let (other, other_sink) = made(&library, "counting", json!({}));
    for source in ["counting", "blocking"] {
        let (instance, sink) = made(&library, source, json!({"action": "panic"}));
        let recorded = collected(&instance, &sink);
        assert!(failure(&recorded).starts_with("plugin: panicked: the "), "{}", failure(&recorded));
        assert!(
            recorded.logs.iter().any(|log| log.message == "Collection panicked" && log.level == Level::Error)
        );
        let harmless = InstanceConfig { settings: json!({"start": 7}), ..config("web1.example") };
        instance.reconfigure(&harmless).expect("new settings are accepted");
        let recorded = collected(&instance, &sink);
        assert_eq!((recorded.resets, recorded.series[0].value), (1, Some(Value::U64(7))));
        assert_eq!(
            collected(&other, &other_sink).completions.last().map(|c| &c.outcome),
            Some(&RecordedOutcome::Full)
        );
    }
}

#[test]
fn a_panic_costs_a_pause() {
    let (_host, library) = linked(|_| {});
    let (instance, sink) = made(&library, "counting", json!({"action": "panic"}));
    collected(&instance, &sink);
    let InstanceState::Quarantined { why, .. } = instance.state() else { panic!("it goes on") };
    assert_eq!(why, QuarantineCause::Panicked);
}

#[test]
fn a_panic_while_an_instance_is_made_is_answered() {
    let (_host, library) = linked(|_| {});
    let config = InstanceConfig { settings: json!({"start": 13}), ..config("web1.example") };
    let error =
        library.create("counting", &config, Arc::new(RecordingSink::default())).expect_err("it panics");
    let error = error.to_string();
    assert!(
        error.starts_with("rust: create failed with status PANICKED: thirteen brings bad luck (at "),
        "{error}"
    );
    assert_eq!(library.violations().of(Violation::Panic), 1);
}
